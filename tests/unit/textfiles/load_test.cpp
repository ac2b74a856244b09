// SPDX-License-Identifier: GPL-2.0-or-later
#include "textfiles/load.hpp"

#include "base/temporary.hpp"

#include <fcntl.h>
#include <filesystem>
#include <gmock/gmock.h>
#include <sys/stat.h>
#include <thread>
#include <unistd.h>

namespace fabric_check::textfiles {
namespace {

using test::TemporaryDirectory;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

Loaded loaded(const std::string &path) {
    auto result = load(path);
    EXPECT_TRUE(result.ok()) << (result ? "" : result.error().message);
    return result ? std::move(result).value() : Loaded{};
}
std::vector<std::string> ports(const Loaded &loaded) {
    std::vector<std::string> names;
    for (const PortCounters &port : loaded.ports) {
        names.push_back(port.port);
    }
    return names;
}

TEST(LoadTree, OfAWholeNodeIsNamedAfterTheNode) {
    const TemporaryDirectory directory;
    for (const char *node : {"node07", "node08"}) {
        const std::string port = std::string("d/") + node + "/infiniband/mlx5_0/ports/1/";
        directory.write(port + "counters/symbol_error", "3\n");
        directory.write(port + "link_layer", "InfiniBand\n");
    }
    const Loaded found = loaded(directory.path("d"));
    EXPECT_THAT(ports(found), ElementsAre("node07/mlx5_0:1", "node08/mlx5_0:1"));
    EXPECT_EQ(found.ports[0].link_layer, LinkLayer::infiniband);
    EXPECT_THAT(found.problems, IsEmpty());
}
TEST(LoadTree, OfAllOfSysfsIsNamedAfterTheCard) {
    const TemporaryDirectory directory;
    directory.write("d/infiniband/hfi1_0/ports/1/counters/symbol_error", "3\n");
    directory.write("d/infiniband/mlx5_0/ports/1/counters/symbol_error", "3\n");
    EXPECT_THAT(ports(loaded(directory.path("d"))), ElementsAre("hfi1_0:1", "mlx5_0:1"));
    EXPECT_THAT(ports(loaded(directory.path("d/infiniband"))), ElementsAre("hfi1_0:1", "mlx5_0:1"));
}
TEST(LoadTree, GivesACardsOwnHwCountersToItsOnlyPort) {
    const TemporaryDirectory directory;
    directory.write("d/irdma0/ports/1/state", "4: ACTIVE\n");
    directory.write("d/irdma0/ports/1/link_layer", "Ethernet\n");
    directory.write("d/irdma0/hw_counters/ip4InDiscards", "4\n");
    directory.write("d/irdma0/hw_counters/lifespan", "10\n");
    const Loaded found = loaded(directory.path("d"));
    EXPECT_THAT(ports(found), ElementsAre("irdma0:1"));
    EXPECT_EQ(found.ports[0].counters.size(), 1U);
}
TEST(LoadTree, SaysHowToCopyLinks) {
    const TemporaryDirectory directory;
    directory.write("d/a.txt", "packet_seq_err:1\n");
    std::filesystem::create_symlink("/nowhere/at/all", directory.path("d/mlx5_0"));
    const Loaded found = loaded(directory.path("d"));
    ASSERT_EQ(found.problems.size(), 1U);
    EXPECT_EQ(found.problems[0].text(),
              directory.path("d/mlx5_0") + ": a link that leads nowhere: copy trees of sysfs with cp -rL");
}

TEST(LoadDirectory, UnitesEthtoolAndHwCountersOfTheOnlyPort) {
    const TemporaryDirectory directory;
    directory.write("d/eth.txt", "NIC statistics:\n     rx_prio3_pause: 1\n");
    directory.write("d/hw.txt", "/sys/class/infiniband/mlx5_0/ports/1/hw_counters/packet_seq_err:2\n");
    const Loaded found = loaded(directory.path("d"));
    EXPECT_THAT(ports(found), ElementsAre("mlx5_0:1"));
    EXPECT_EQ(found.ports[0].counters.size(), 2U);
    directory.write("d/eth.txt", "eth0:\nNIC statistics:\n     rx_prio3_pause: 1\n");
    EXPECT_THAT(ports(loaded(directory.path("d"))), ElementsAre("mlx5_0:1"));
}
TEST(LoadDirectory, DoesNotGuessWhichOfTwoCardsAnEthtoolFileIsOf) {
    const TemporaryDirectory directory;
    directory.write("d/eth.txt", "eth0:\nNIC statistics:\n     rx_prio3_pause: 1\n");
    directory.write("d/hw.txt", "link mlx5_0/1 packet_seq_err 2\nlink mlx5_1/1 packet_seq_err 2\n");
    EXPECT_THAT(ports(loaded(directory.path("d"))), ElementsAre("eth0", "mlx5_0:1", "mlx5_1:1"));
}
TEST(LoadDirectory, NamesUnnamedPortsAfterTheirFilesWhenTheyContradict) {
    const TemporaryDirectory directory;
    directory.write("d/ethtool_eth0.txt", "NIC statistics:\n     rx_prio3_pause: 1\n");
    directory.write("d/ethtool_eth1.txt", "NIC statistics:\n     rx_prio3_pause: 2\n");
    const Loaded found = loaded(directory.path("d"));
    EXPECT_THAT(ports(found), ElementsAre("ethtool_eth0", "ethtool_eth1"));
    EXPECT_THAT(found.problems, IsEmpty());
}

TEST(LoadDirectory, ReadsNoDirectoryTwice) {
    const TemporaryDirectory directory;
    directory.write("d/node07/a.txt", "link mlx5_0/1 packet_seq_err 2\n");
    for (const char *link : {"d/node07/up", "d/node07/again", "d/node07/zz"}) {
        std::filesystem::create_directory_symlink(directory.path("d"), directory.path(link));
    }
    const Loaded found = loaded(directory.path("d"));
    EXPECT_THAT(ports(found), ElementsAre("node07/mlx5_0:1"));
    ASSERT_EQ(found.problems.size(), 1U) << "told once";
    EXPECT_EQ(found.problems[0].text(), directory.path("d/node07/again") + ": a link to a directory that was read already: "
                                        "not read again, nor are others of that kind");
}
TEST(LoadDirectory, StopsAtItsLimits) {
    const TemporaryDirectory directory;
    for (const char *name : {"a/1", "b/1", "c/1", "d/1"}) {
        directory.write(std::string("d/") + name, "link mlx5_0/1 packet_seq_err 2\n");
    }
    struct Case {
        LoadLimits limits;
        const char *problem;
    };
    LoadLimits files, directories, bytes;
    files.files = 2;
    directories.directories = 3; // with the first one
    bytes.bytes = 70;
    for (const auto &[limits, problem] : {Case{files, "c/1: more than 2 files: the rest is not read"},
                                          Case{directories, "c: more than 3 directories: the rest is not read"},
                                          Case{bytes, "c/1: more than 0 MiB of files: the rest is not read"}}) {
        const auto found = load(directory.path("d"), limits);
        ASSERT_TRUE(found.ok());
        EXPECT_THAT(ports(*found), ElementsAre("a/mlx5_0:1", "b/mlx5_0:1"));
        ASSERT_EQ(found->problems.size(), 1U);
        EXPECT_EQ(found->problems[0].text(), directory.path("d/") + problem);
    }
}
TEST(LoadDirectory, CountsProblemsBeyondAThousand) {
    const TemporaryDirectory directory;
    directory.write("d/zz.txt", "link mlx5_0/1 packet_seq_err 2\n");
    for (int i = 0; i < 60; ++i) {
        std::string lines;
        for (int line = 0; line < 20; ++line) {
            lines += "???\n";
        }
        directory.write("d/f" + std::to_string(i), lines);
    }
    const Loaded found = loaded(directory.path("d"));
    ASSERT_EQ(found.problems.size(), 1001U);
    EXPECT_EQ(found.problems.back().text(), directory.path("d") + ": and 200 more problems");
}

TEST(LoadDirectory, HasNoValueForACounterOfTwoFilesThatContradict) {
    const TemporaryDirectory directory;
    directory.write("d/a.txt", "link mlx5_0/1 packet_seq_err 2 rnr_nak_retry_err 7\n");
    directory.write("d/b.txt", "link mlx5_0/1 packet_seq_err 3 rnr_nak_retry_err 7\n");
    const Loaded found = loaded(directory.path("d"));
    ASSERT_THAT(ports(found), ElementsAre("mlx5_0:1"));
    EXPECT_EQ(found.ports[0].counters.at("packet_seq_err"), Reading::missing(Absence::unparsable));
    EXPECT_EQ(found.ports[0].counters.at("rnr_nak_retry_err"), Reading::of(7));
    ASSERT_EQ(found.problems.size(), 1U);
    EXPECT_EQ(found.problems[0].text(), directory.path("d/b.txt") + ": packet_seq_err of mlx5_0:1 is given twice with "
                                        "different values, first in " + directory.path("d/a.txt") + ": none is used");
}
TEST(LoadTree, HasNoValueForACounterWhoseFilesContradict) {
    const TemporaryDirectory directory;
    directory.write("d/mlx5_0/ports/1/counters/symbol_error", "3\n");
    directory.write("d/mlx5_0/ports/1/counters/SymbolErrorCounter", "4\n");
    const Loaded found = loaded(directory.path("d"));
    ASSERT_THAT(ports(found), ElementsAre("mlx5_0:1"));
    EXPECT_EQ(found.ports[0].counters.at("SymbolErrorCounter"), Reading::missing(Absence::unparsable));
    ASSERT_EQ(found.problems.size(), 1U);
    EXPECT_THAT(found.problems[0].text(), HasSubstr("SymbolErrorCounter is given twice"));
}

TEST(LoadStream, ReadsAPipeToItsEnd) {
    const TemporaryDirectory directory;
    const std::string pipe = directory.path("pipe");
    ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
    std::thread writer([&pipe] {
        const int fd = ::open(pipe.c_str(), O_WRONLY);
        for (const std::string_view part : {"packet_seq_err:1\n", "out_of_sequence:2\n"}) {
            EXPECT_EQ(::write(fd, part.data(), part.size()), static_cast<ssize_t>(part.size()));
        }
        ::close(fd);
    });
    const Loaded found = loaded(pipe);
    writer.join();
    ASSERT_EQ(found.ports.size(), 1U);
    EXPECT_EQ(found.ports[0].counters.size(), 2U);
}
TEST(LoadStream, RefusesAPipeOfADirectory) {
    const TemporaryDirectory directory;
    directory.write("d/a.txt", "packet_seq_err:1\n");
    ASSERT_EQ(::mkfifo(directory.path("d/pipe").c_str(), 0600), 0);
    const Loaded found = loaded(directory.path("d"));
    ASSERT_EQ(found.problems.size(), 1U) << "nobody writes into it: reading would wait for ever";
    EXPECT_THAT(found.problems[0].text(), HasSubstr(directory.path("d/pipe")));
}

} // namespace
} // namespace fabric_check::textfiles
