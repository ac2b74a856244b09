// SPDX-License-Identifier: GPL-2.0-or-later
#include "textfiles/load.hpp"

#include "base/temporary.hpp"

#include <gmock/gmock.h>

namespace fabric_check::textfiles {
namespace {

using test::TemporaryDirectory;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class Unite : public testing::Test {
protected:
    void write(const std::string &name, const std::string &text) const { directory_.write("d/" + name, text); }
    Loaded loaded() const {
        auto result = load(directory_.path("d"));
        EXPECT_TRUE(result.ok()) << (result ? "" : result.error().message);
        return result ? std::move(result).value() : Loaded{};
    }
    static std::vector<std::string> ports(const Loaded &loaded) {
        std::vector<std::string> names;
        for (const PortCounters &port : loaded.ports) {
            names.push_back(port.port);
        }
        return names;
    }
    std::vector<std::string> problems(const Loaded &loaded) const {
        std::vector<std::string> all;
        for (const TextProblem &problem : loaded.problems) {
            all.push_back(problem.what);
        }
        return all;
    }
    static std::string perfquery(unsigned port, unsigned symbol_errors, std::uint64_t data) {
        return "# Port counters: Lid 4 port " + std::to_string(port) + " (CapMask: 0x200)\nPortSelect:...." +
               std::to_string(port) + "\nSymbolErrorCounter:...." + std::to_string(symbol_errors) + "\nPortXmitData:...." +
               std::to_string(data) + "\n";
    }

    TemporaryDirectory directory_;
};

TEST_F(Unite, NeverASwitchsPortWithACards) {
    write("host", "/sys/class/infiniband/mlx5_0/ports/1/hw_counters/packet_seq_err:2\n");
    write("switch", perfquery(17, 5, 100));
    const Loaded found = loaded();
    EXPECT_THAT(ports(found), ElementsAre("mlx5_0:1", "lid 4:17"));
    EXPECT_THAT(problems(found),
                ElementsAre("mlx5_0:1 and lid 4:17 are taken for two ports: lid 4:17 is a switch's port"));
}
TEST_F(Unite, NeverPortsOfDifferentNumbers) {
    write("host", "/sys/class/infiniband/mlx5_0/ports/1/hw_counters/packet_seq_err:2\n");
    write("other", perfquery(2, 5, 100));
    EXPECT_THAT(ports(loaded()), ElementsAre("mlx5_0:1", "lid 4:2"));
}
TEST_F(Unite, NeverPortsWhoseErrorsDiffer) {
    write("host", "/sys/class/infiniband/mlx5_0/ports/1/counters/symbol_error:4\n");
    write("switch", perfquery(1, 5, 100));
    const Loaded found = loaded();
    EXPECT_THAT(ports(found), ElementsAre("mlx5_0:1", "lid 4:1"));
    EXPECT_EQ(found.ports[1].counters.at("SymbolErrorCounter"), Reading::of(5));
    EXPECT_THAT(problems(found), ElementsAre(HasSubstr("they tell different values of SymbolErrorCounter")));
}
TEST_F(Unite, NeverPortsThatMovedDifferentAmounts) {
    write("host", "/sys/class/infiniband/mlx5_0/ports/1/counters/port_xmit_data:4000\n");
    write("switch", perfquery(1, 0, 100000));
    EXPECT_THAT(ports(loaded()), ElementsAre("mlx5_0:1", "lid 4:1"));
}
TEST_F(Unite, TakesPortsThatMovedALittleBetweenTheReadings) {
    write("host", "/sys/class/infiniband/mlx5_0/ports/1/counters/port_xmit_data:100000\n");
    write("port", perfquery(1, 0, 100500));
    const Loaded found = loaded();
    ASSERT_THAT(ports(found), ElementsAre("mlx5_0:1"));
    EXPECT_EQ(found.ports[0].counters.at("PortXmitData"), Reading::of(100000)) << "the device's, on both sides";
    EXPECT_THAT(problems(found), IsEmpty());
}
TEST_F(Unite, TakesAFullCounterAndItsWideCopy) {
    write("host", "/sys/class/infiniband/mlx5_0/ports/1/counters/link_downed:255\n");
    write("port", "# Port extended counters: Lid 4 port 1 (CapMask: 0x200)\nLinkDownedCounter:....300\n");
    const Loaded found = loaded();
    ASSERT_THAT(ports(found), ElementsAre("mlx5_0:1"));
    EXPECT_EQ(found.ports[0].counters.at("LinkDownedCounter"), Reading::of(300, 64));
}
TEST_F(Unite, NeverAnEthernetCardWithALid) {
    write("port", perfquery(1, 5, 100));
    for (const char *device : {"bnxt_re0", "irdma0", "efa_0", "rocep59s0"}) {
        write("host", std::string("/sys/class/infiniband/") + device + "/ports/1/hw_counters/packet_seq_err:2\n");
        EXPECT_THAT(ports(loaded()), ElementsAre(std::string(device) + ":1", "lid 4:1"));
    }
}
TEST_F(Unite, NeverACardOfEthernetsLinkLayerWithALid) {
    write("port", perfquery(1, 5, 100));
    write("mlx5_0/ports/1/link_layer", "Ethernet\n");
    write("mlx5_0/ports/1/hw_counters/packet_seq_err", "2\n");
    EXPECT_THAT(ports(loaded()), ElementsAre("mlx5_0:1", "lid 4:1"));
}
TEST_F(Unite, NeverAnUnnamedBlockWithANamedOneOfItsFile) {
    const std::string statistics = "NIC statistics:\n     rx_prio3_pause: ";
    for (const std::string &text : {"# eth0\n" + statistics + "1\n" + statistics + "1\n",
                                    statistics + "1\n# eth0\n" + statistics + "1\n"}) {
        write("both", text);
        const Loaded found = loaded();
        EXPECT_THAT(ports(found), testing::UnorderedElementsAre("both", "eth0"));
        EXPECT_THAT(problems(found), ElementsAre(HasSubstr("some counters name no port")));
    }
}
TEST_F(Unite, TreatsNamelessFilesAlikeWhateverTheirValues) {
    write("hw", "link mlx5_0/1 packet_seq_err 2\n");
    write("a.txt", "NIC statistics:\n     rx_prio3_pause: 1\n");
    for (const char *value : {"1", "2"}) {
        write("b.txt", std::string("NIC statistics:\n     rx_prio3_pause: ") + value + "\n");
        const Loaded found = loaded();
        EXPECT_THAT(ports(found), testing::UnorderedElementsAre("mlx5_0:1", "a", "b"));
        EXPECT_THAT(problems(found), ElementsAre("a.txt, b.txt have the same counters and do not say of which port: each is "
                                                 "taken for a port of its own; make one directory for each port"));
    }
}
TEST_F(Unite, TakesNamelessFilesOfDifferentCountersForOnePort) {
    write("counters.txt", "counters/symbol_error:3\n");
    write("hw_counters.txt", "hw_counters/packet_seq_err:4\n");
    const Loaded found = loaded();
    EXPECT_THAT(ports(found), ElementsAre(""));
    EXPECT_THAT(problems(found), IsEmpty());
}
TEST_F(Unite, DoesNotReachAcrossDirectories) {
    write("node07/hw", "link mlx5_0/1 packet_seq_err 2\n");
    write("port", perfquery(1, 5, 100));
    EXPECT_THAT(ports(loaded()), ElementsAre("lid 4:1", "node07/mlx5_0:1"));
}

TEST_F(Unite, GivesACardsOwnHwCountersToItsOnlyPort) {
    write("hw", "/sys/class/infiniband/irdma0/hw_counters/ip4InDiscards:4\n");
    EXPECT_THAT(ports(loaded()), ElementsAre("irdma0:1"));
    write("pma", "/sys/class/infiniband/irdma0/ports/1/counters/symbol_error:3\n");
    const Loaded found = loaded();
    EXPECT_THAT(ports(found), ElementsAre("irdma0:1"));
    EXPECT_EQ(found.ports.at(0).counters.size(), 2U);
}
TEST_F(Unite, UsesTheHwCountersOfACardWithTwoPortsForNeither) {
    write("hw", "node07: /sys/class/infiniband/mlx4_0/hw_counters/packet_seq_err:4\n");
    write("pma", "node07: /sys/class/infiniband/mlx4_0/ports/1/counters/symbol_error:3\n"
                 "node07: /sys/class/infiniband/mlx4_0/ports/2/counters/symbol_error:3\n");
    const Loaded found = loaded();
    ASSERT_THAT(ports(found), ElementsAre("node07/mlx4_0:1", "node07/mlx4_0:2"));
    EXPECT_FALSE(found.ports[0].counters.contains("packet_seq_err"));
    EXPECT_THAT(problems(found),
                ElementsAre("node07/mlx4_0: hw_counters/ of this card counts all its ports together: not used"));
}
TEST_F(Unite, UsesTheHwCountersOfACopiedCardWithTwoPortsForNeither) {
    for (const char *file : {"ports/1/counters/symbol_error", "ports/2/counters/symbol_error", "hw_counters/packet_seq_err"}) {
        write(std::string("mlx4_0/") + file, "4\n");
    }
    const Loaded found = loaded();
    ASSERT_THAT(ports(found), ElementsAre("mlx4_0:1", "mlx4_0:2"));
    EXPECT_FALSE(found.ports[0].counters.contains("packet_seq_err"));
    EXPECT_THAT(problems(found), ElementsAre("hw_counters/ of this card counts all its ports together: not used"));
}

} // namespace
} // namespace fabric_check::textfiles
