// SPDX-License-Identifier: GPL-2.0-or-later
#include "base/temporary.hpp"
#include "sources/sysfs.hpp"
#include "sources/sysfs_text.hpp"

#include <gmock/gmock.h>

#include <cerrno>
#include <sys/stat.h>
#include <unistd.h>

namespace fabric_check {
namespace {

using test::TemporaryDirectory;
using testing::Contains;
using testing::ElementsAre;
using testing::Field;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

/// A node's tree as the kernel shows it.
class Tree {
public:
    Tree() { directory_.write("proc/sys/kernel/random/boot_id", "0b1d-e2\n"); }

    void card(const std::string &device, const std::string &driver = "mlx5_core") {
        const std::string pci = directory_.path(card_path(device) + "/device");
        std::filesystem::create_directories(pci);
        std::filesystem::create_directories(directory_.path("sys/bus/pci/drivers/" + driver));
        std::filesystem::create_symlink("../../../../bus/pci/drivers/" + driver, pci + "/driver");
    }
    void port(const std::string &device, unsigned number, const std::string &lid = "0x1a") {
        const std::string path = port_path(device, number);
        directory_.write(path + "/link_layer", "InfiniBand\n");
        directory_.write(path + "/state", "4: ACTIVE\n");
        directory_.write(path + "/phys_state", "5: LinkUp\n");
        directory_.write(path + "/rate", "200 Gb/sec (4X HDR)\n");
        directory_.write(path + "/lid", lid + "\n");
        directory_.write(path + "/lid_mask_count", "3\n");
        directory_.write(path + "/gids/0", "fe80:0000:0000:0000:0002:c903:00fa:7941\n");
        counter(device, number, "counters/symbol_error", "7\n");
        counter(device, number, "counters/port_xmit_data", "25\n");
        counter(device, number, "hw_counters/packet_seq_err", "12\n");
    }
    void counter(const std::string &device, unsigned number, const std::string &file, const std::string &text) {
        directory_.write(port_path(device, number) + "/" + file, text);
    }
    void write(const std::string &name, const std::string &text) {
        directory_.write("sys/class/infiniband/" + name, text);
    }
    void remove(const std::string &name) {
        std::filesystem::remove_all(directory_.path("sys/class/infiniband/" + name));
    }
    std::string path(const std::string &name) const { return directory_.path("sys/class/infiniband/" + name); }
    NodeSnapshot read() const { return read_node("node07", directory_.path("sys"), directory_.path("proc")); }

private:
    static std::string card_path(const std::string &device) { return "sys/class/infiniband/" + device; }
    static std::string port_path(const std::string &device, unsigned number) {
        return card_path(device) + "/ports/" + std::to_string(number);
    }
    TemporaryDirectory directory_;
};

std::vector<std::string> reasons(const NodeSnapshot &snapshot) {
    std::vector<std::string> texts;
    for (const Problem &problem : snapshot.problems) {
        texts.push_back(problem.where + "|" + problem.counter + "|" + problem.reason);
    }
    return texts;
}

TEST(ReadNode, ReadsAPortWhole) {
    Tree tree;
    tree.card("mlx5_0");
    tree.port("mlx5_0", 1);
    const NodeSnapshot snapshot = tree.read();
    EXPECT_THAT(reasons(snapshot), IsEmpty());
    EXPECT_EQ(snapshot.node, "node07");
    EXPECT_EQ(snapshot.boot_id, "0b1d-e2");
    EXPECT_GT(snapshot.time_ns, 1'700'000'000'000'000'000);
    EXPECT_GT(snapshot.took_ns, 0);
    ASSERT_THAT(snapshot.ports, SizeIs(1));
    const HcaPort &port = snapshot.ports[0];
    EXPECT_EQ(port.name(), "mlx5_0:1");
    EXPECT_EQ(port.driver, "mlx5_core");
    EXPECT_EQ(port.guid, 0x0002c90300fa7941U);
    EXPECT_EQ(port.lid, 26);
    EXPECT_EQ(port.lmc, 3);
    EXPECT_EQ(port.link_layer, LinkLayer::infiniband);
    EXPECT_EQ(port.state, "ACTIVE");
    EXPECT_EQ(port.phys_state, "LinkUp");
    EXPECT_EQ(port.rate, link_rate(4, "HDR"));
}
TEST(ReadNode, NamesCountersCanonicallyAndKeepsTheirUnits) {
    Tree tree;
    tree.card("mlx5_0");
    tree.port("mlx5_0", 1);
    const NodeSnapshot snapshot = tree.read();
    ASSERT_THAT(snapshot.ports, SizeIs(1));
    EXPECT_EQ(snapshot.ports[0].counters, (Counters{{"PortXmitData", Reading::of(25)},
                                                    {"SymbolErrorCounter", Reading::of(7)},
                                                    {"packet_seq_err", Reading::of(12)}}));
}
TEST(ReadNode, ReadsSeveralCardsAndPortsInOrder) {
    Tree tree;
    for (const char *device : {"mlx5_1", "mlx5_0"}) {
        tree.card(device);
        tree.port(device, 2);
        tree.port(device, 1);
    }
    std::vector<std::string> names;
    for (const HcaPort &port : tree.read().ports) {
        names.push_back(port.name());
    }
    EXPECT_THAT(names, ElementsAre("mlx5_0:1", "mlx5_0:2", "mlx5_1:1", "mlx5_1:2"));
}
TEST(ReadNode, WithoutACardIsAProblemAndNoError) {
    const Tree tree;
    const NodeSnapshot snapshot = tree.read();
    EXPECT_THAT(snapshot.ports, IsEmpty());
    EXPECT_THAT(reasons(snapshot), ElementsAre(HasSubstr("node07||no RDMA card in ")));
}
TEST(ReadNode, ABrokenCardCostsNoOther) {
    Tree tree;
    tree.write("broken/ports", "a file where a directory should be");
    tree.card("mlx5_0");
    tree.port("mlx5_0", 1);
    const NodeSnapshot snapshot = tree.read();
    ASSERT_THAT(snapshot.ports, SizeIs(1));
    EXPECT_EQ(snapshot.ports[0].device, "mlx5_0");
    EXPECT_THAT(reasons(snapshot), ElementsAre(HasSubstr("node07/broken||its ports cannot be listed: ")));
}
TEST(ReadNode, AGarbageCounterCostsItselfAndSaysWhy) {
    Tree tree;
    tree.card("mlx5_0");
    tree.port("mlx5_0", 1);
    tree.counter("mlx5_0", 1, "counters/link_downed", "garbage\x1b\n");
    tree.counter("mlx5_0", 1, "counters/port_rcv_errors", "");
    const NodeSnapshot snapshot = tree.read();
    ASSERT_THAT(snapshot.ports, SizeIs(1));
    const Counters &counters = snapshot.ports[0].counters;
    EXPECT_EQ(counters.at("LinkDownedCounter"), Reading::missing(Absence::unparsable));
    EXPECT_EQ(counters.at("PortRcvErrors"), Reading::missing(Absence::unparsable));
    EXPECT_EQ(counters.at("SymbolErrorCounter"), Reading::of(7));
    EXPECT_THAT(reasons(snapshot), ElementsAre("node07/mlx5_0:1|LinkDownedCounter|not a number: garbage\\x1b",
                                               "node07/mlx5_0:1|PortRcvErrors|the file is empty"));
}
TEST(ReadNode, WithoutPmaIsUnsupportedAndNoProblem) {
    Tree tree;
    tree.card("i40iw0", "i40iw");
    tree.port("i40iw0", 1);
    tree.counter("i40iw0", 1, "counters/symbol_error", "N/A (no PMA)\n");
    const NodeSnapshot snapshot = tree.read();
    EXPECT_EQ(snapshot.ports.at(0).counters.at("SymbolErrorCounter"), Reading::missing(Absence::unsupported));
    EXPECT_THAT(reasons(snapshot), IsEmpty());
}
TEST(ReadNode, ACounterFileThatIsAFifoIsNotWaitedFor) {
    Tree tree;
    tree.card("mlx5_0");
    tree.port("mlx5_0", 1);
    ASSERT_EQ(::mkfifo(tree.path("mlx5_0/ports/1/counters/link_downed").c_str(), 0600), 0);
    EXPECT_EQ(tree.read().ports.at(0).counters.at("LinkDownedCounter"), Reading::missing(Absence::unparsable));
}
TEST(ReadNode, AnEndlessCounterFileIsCutOff) {
    Tree tree;
    tree.card("mlx5_0");
    tree.port("mlx5_0", 1);
    tree.counter("mlx5_0", 1, "counters/link_downed", std::string(5000, '1'));
    EXPECT_EQ(tree.read().ports.at(0).counters.at("LinkDownedCounter"), Reading::missing(Absence::unparsable));
}
TEST(ReadNode, TakesLifespanForTheSettingItIs) {
    Tree tree;
    tree.card("mlx5_0");
    tree.port("mlx5_0", 1);
    tree.counter("mlx5_0", 1, "hw_counters/lifespan", "10\n");
    EXPECT_FALSE(tree.read().ports.at(0).counters.contains("lifespan"));
}
TEST(ReadNode, KeepsCountersItDoesNotKnow) {
    Tree tree;
    tree.card("bnxt_re0", "bnxt_en");
    tree.port("bnxt_re0", 1);
    tree.counter("bnxt_re0", 1, "hw_counters/rx_roce_discards", "3\n");
    EXPECT_EQ(tree.read().ports.at(0).counters.at("rx_roce_discards"), Reading::of(3));
}
TEST(ReadNode, WithoutCountersDirectoryNamesTheDriver) {
    Tree tree;
    tree.card("efa_0", "efa");
    tree.port("efa_0", 1);
    tree.remove("efa_0/ports/1/counters");
    EXPECT_THAT(reasons(tree.read()), ElementsAre("node07/efa_0:1||driver efa shows no counters/"));
}
TEST(ReadNode, GivesACardsOwnHwCountersToItsOnlyPort) {
    Tree tree;
    tree.card("irdma0", "irdma");
    tree.port("irdma0", 1);
    tree.remove("irdma0/ports/1/hw_counters");
    tree.write("irdma0/hw_counters/ip4InDiscards", "4\n");
    EXPECT_EQ(tree.read().ports.at(0).counters.at("ip4InDiscards"), Reading::of(4));
}
TEST(ReadNode, GivesACardsOwnHwCountersToNoneOfTwoPorts) {
    Tree tree;
    tree.card("irdma0", "irdma");
    for (const unsigned number : {1U, 2U}) {
        tree.port("irdma0", number);
        tree.remove("irdma0/ports/" + std::to_string(number) + "/hw_counters");
    }
    tree.write("irdma0/hw_counters/ip4InDiscards", "4\n");
    const NodeSnapshot snapshot = tree.read();
    EXPECT_FALSE(snapshot.ports.at(0).counters.contains("ip4InDiscards"));
    EXPECT_THAT(reasons(snapshot),
                Contains(HasSubstr("irdma0:2||hw_counters/ of this card counts all its ports together")));
}
TEST(ReadNode, TakesADownPortsLidForNone) {
    for (const char *lid : {"0xffff", "0x0", "", "junk"}) {
        Tree tree;
        tree.card("mlx5_0");
        tree.port("mlx5_0", 1, lid);
        EXPECT_EQ(tree.read().ports.at(0).lid, 0) << lid;
    }
}
TEST(ReadNode, AsksAnEthernetPortForNoLidOrGuid) {
    Tree tree;
    tree.card("mlx5_0");
    tree.port("mlx5_0", 1);
    tree.write("mlx5_0/ports/1/link_layer", "Ethernet\n");
    const HcaPort port = tree.read().ports.at(0);
    EXPECT_EQ(port.link_layer, LinkLayer::ethernet);
    EXPECT_EQ(port.lid, 0);
    EXPECT_EQ(port.guid, 0U);
}
TEST(ReadNode, WithoutADriverLinkLeavesTheDriverUnknown) {
    Tree tree;
    tree.port("mlx5_0", 1);
    EXPECT_EQ(tree.read().ports.at(0).driver, "");
}
TEST(ReadNode, KnowsThatUnicastCountersMeanThe64BitSet) {
    Tree tree;
    tree.card("mlx5_0");
    tree.port("mlx5_0", 1);
    tree.counter("mlx5_0", 1, "counters/unicast_rcv_packets", "1\n");
    const NodeSnapshot snapshot = tree.read();
    EXPECT_EQ(snapshot.ports.at(0).counters.at("PortXmitData"), Reading::of(25, 64));
    EXPECT_EQ(snapshot.ports.at(0).counters.at("SymbolErrorCounter"), Reading::of(7));
}
TEST(ReadNode, PrefersThe64BitCopiesOfOldKernels) {
    Tree tree;
    tree.card("mlx4_0", "mlx4_core");
    tree.port("mlx4_0", 1);
    tree.counter("mlx4_0", 1, "counters/port_xmit_data", "4294967295\n");
    tree.counter("mlx4_0", 1, "counters_ext/port_xmit_data_64", "8589934592\n");
    EXPECT_EQ(tree.read().ports.at(0).counters.at("PortXmitData"), Reading::of(8589934592, 64));
}

struct TextCase {
    int error;
    const char *content;
    Reading expected;
};
class CounterText : public testing::TestWithParam<TextCase> {};
TEST_P(CounterText, BecomesAReadingOrAReason) {
    EXPECT_EQ(sysfs::counter_from(GetParam().error, GetParam().content), GetParam().expected)
        << "errno " << GetParam().error << ", \"" << GetParam().content << '"';
}
INSTANTIATE_TEST_SUITE_P(Sysfs, CounterText,
                         testing::Values(TextCase{0, "0\n", Reading::of(0)},
                                         TextCase{0, "18446744073709551615\n", Reading::of(UINT64_MAX)},
                                         TextCase{0, "18446744073709551616\n", Reading::missing(Absence::unparsable)},
                                         TextCase{0, "-1\n", Reading::missing(Absence::unparsable)},
                                         TextCase{0, "1 2\n", Reading::missing(Absence::unparsable)},
                                         TextCase{0, "", Reading::missing(Absence::unparsable)},
                                         TextCase{0, "N/A (no PMA)\n", Reading::missing(Absence::unsupported)},
                                         TextCase{EINVAL, "", Reading::missing(Absence::unsupported)},
                                         TextCase{EOPNOTSUPP, "", Reading::missing(Absence::unsupported)},
                                         TextCase{EACCES, "", Reading::missing(Absence::denied)},
                                         TextCase{EPERM, "", Reading::missing(Absence::denied)},
                                         TextCase{ENOENT, "", Reading::missing(Absence::absent)},
                                         TextCase{ETIMEDOUT, "", Reading::missing(Absence::timed_out)},
                                         TextCase{EIO, "", Reading::missing(Absence::unparsable)}));

TEST(SysfsText, TakesTheNumberOffAState) {
    EXPECT_EQ(sysfs::state_from("1: DOWN\n"), "DOWN");
    EXPECT_EQ(sysfs::state_from("2: Polling\n"), "Polling");
    EXPECT_EQ(sysfs::state_from("ACTIVE\n"), "ACTIVE");
    EXPECT_EQ(sysfs::state_from(""), "");
}
TEST(SysfsText, ReadsThePortGuidFromAGid) {
    EXPECT_EQ(sysfs::guid_from("fe80:0000:0000:0000:ffff:ffff:ffff:ffff\n"), UINT64_MAX);
    EXPECT_EQ(sysfs::guid_from("0000:0000:0000:0000:0000:0000:0000:0000\n"), 0U);
}
TEST(SysfsText, TakesABrokenGidForNone) {
    for (const char *text : {"", "fe80::1", "fe80:0000:0000:0000:0002:c903:00fa:794",
                             "fe80-0000-0000-0000-0002-c903-00fa-7941", "fe80:0000:0000:0000:0002:c903:00fa:79 1"}) {
        EXPECT_EQ(sysfs::guid_from(text), 0U) << text;
    }
}

struct RateCase {
    const char *text;
    unsigned lanes;
    const char *speed;
    double data, signalling;
};
class Rate : public testing::TestWithParam<RateCase> {};
TEST_P(Rate, IsUnderstood) {
    const LinkRate rate = parse_rate(GetParam().text);
    EXPECT_EQ(rate.lanes, GetParam().lanes);
    EXPECT_EQ(rate.speed, GetParam().speed);
    EXPECT_NEAR(rate.data_gbps, GetParam().data, 0.05);
    EXPECT_DOUBLE_EQ(rate.signalling_gbps, GetParam().signalling);
}
INSTANTIATE_TEST_SUITE_P(Sysfs, Rate,
                         testing::Values(RateCase{"2.5 Gb/sec (1X SDR)\n", 1, "SDR", 2, 2.5},
                                         RateCase{"10 Gb/sec (4X)\n", 4, "SDR", 8, 2.5},
                                         RateCase{"20 Gb/sec (4X DDR)\n", 4, "DDR", 16, 5},
                                         RateCase{"40 Gb/sec (4X QDR)\n", 4, "QDR", 32, 10},
                                         RateCase{"40 Gb/sec (4X FDR10)\n", 4, "FDR10", 40, 10.3125},
                                         RateCase{"56 Gb/sec (4X FDR)\n", 4, "FDR", 54.5, 14.0625},
                                         RateCase{"25 Gb/sec (1X EDR)\n", 1, "EDR", 25, 25.78125},
                                         RateCase{"300 Gb/sec (12X EDR)\n", 12, "EDR", 300, 25.78125},
                                         RateCase{"100 Gb/sec (2X HDR)\n", 2, "HDR", 100, 53.125},
                                         RateCase{"200 Gb/sec (4X HDR)\n", 4, "HDR", 200, 53.125},
                                         RateCase{"400 Gb/sec (4X NDR)\n", 4, "NDR", 400, 106.25},
                                         RateCase{"800 Gb/sec (8X NDR)\n", 8, "NDR", 800, 106.25},
                                         RateCase{"800 Gb/sec (4X XDR)\n", 4, "XDR", 800, 212.5}));
TEST(Rate, OfTextNotUnderstoodIsNotKnown) {
    for (const char *text : {"", "200", "200 Gb/sec", "200 Gb/sec (4X HDR", "x Gb/sec (4X HDR)", "200 Gb/sec (3X HDR)",
                             "200 Gb/sec (0X HDR)", "200 Gb/sec (4X ZDR)", "200 Gb/sec (HDR)", "200 Gb/sec (X)",
                             "-200 Gb/sec (4X HDR)", "200 Gb/sec (4294967300X HDR)"}) {
        EXPECT_EQ(parse_rate(text), LinkRate{}) << text;
    }
}

} // namespace
} // namespace fabric_check
