// SPDX-License-Identifier: GPL-2.0-or-later
#include "base/temporary.hpp"
#include "sources/netdev.hpp"
#include "sources/sysfs.hpp"
#include "sources/sysfs_text.hpp"

#include <gmock/gmock.h>

namespace fabric_check {
namespace {

using test::TemporaryDirectory;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Pair;

/// A node with one Ethernet card as the kernel shows it, its device/ a link to the PCI device.
class RoceTree {
public:
    RoceTree() {
        directory_.write("proc/sys/kernel/random/boot_id", "b\n");
        port("link_layer", "Ethernet\n");
        port("state", "4: ACTIVE\n");
        port("phys_state", "5: LinkUp\n");
        port("rate", "100 Gb/sec (4X EDR)\n");
        port("counters/port_xmit_data", "25\n");
        port("hw_counters/packet_seq_err", "3\n");
        pci("current_link_width", "8\n");
        pci("max_link_width", "16\n");
        pci("current_link_speed", "8.0 GT/s PCIe\n");
        pci("max_link_speed", "16.0 GT/s PCIe\n");
        directory_.write(card_ + "/hca_type", "MT4125\n");
        std::filesystem::create_symlink("../../../devices/0000:81:00.0", directory_.path(card_ + "/device"));
    }
    void port(const std::string &file, const std::string &text) { directory_.write(card_ + "/ports/1/" + file, text); }
    void pci(const std::string &file, const std::string &text) {
        directory_.write("sys/devices/0000:81:00.0/" + file, text);
    }
    void netdev(const std::string &name, const std::string &statistics, const std::string &dev_port = "0\n") {
        pci("net/" + name + "/dev_port", dev_port);
        pci("net/" + name + "/ethtool_stats", statistics);
    }
    void write(const std::string &file, const std::string &text) { directory_.write(file, text); }
    NodeSnapshot read(NetdevStatistics keep = NetdevStatistics::known) const {
        return read_node("node07", directory_.path("sys"), directory_.path("proc"), keep);
    }
    HcaPort read_port() const { return read().ports.at(0); }

private:
    TemporaryDirectory directory_;
    std::string card_ = "sys/class/infiniband/mlx5_0";
};

TEST(ReadNode, ReadsWhereTheCardIsAndItsPciLink) {
    const RoceTree tree;
    const HcaPort port = tree.read_port();
    EXPECT_EQ(port.pci, "0000:81:00.0");
    EXPECT_EQ(port.model, "MT4125");
    EXPECT_EQ(port.pcie, (PcieLink{8, 16, 8, 16}));
}
TEST(ReadNode, LeavesAPciLinkThatIsNotShownUnknown) {
    RoceTree tree;
    tree.pci("current_link_width", "0\n");
    tree.pci("current_link_speed", "Unknown\n");
    const HcaPort port = tree.read_port();
    EXPECT_FALSE(port.pcie.known());
    EXPECT_EQ(port.pcie.max_lanes, 16U);
}
TEST(ReadNode, FindsTheNetdevByTheFirstGid) {
    RoceTree tree;
    tree.netdev("ens1", "rx_prio3_pause: 1\n");
    tree.netdev("ens2", "rx_prio3_pause: 2\n");
    tree.port("gid_attrs/ndevs/0", "ens2\n");
    const HcaPort port = tree.read_port();
    EXPECT_EQ(port.netdev, "ens2");
    EXPECT_EQ(port.counters.at("rx_prio3_pause"), Reading::of(2));
}
TEST(ReadNode, FindsTheNetdevByItsPortWhereNoGidTells) {
    RoceTree tree;
    tree.netdev("ens1f1", "rx_prio3_pause: 1\n", "1\n");
    tree.netdev("ens1f0", "rx_prio3_pause: 2\n", "0\n");
    EXPECT_EQ(tree.read_port().netdev, "ens1f0");
}
TEST(ReadNode, KeepsOfTheNetdevsStatisticsThoseOfTheTable) {
    RoceTree tree;
    tree.netdev("ens1", "rx_prio3_pause: 4\nrx7_packets: 5\nrx_discards_phy: 6\npacket_seq_err: 99\n");
    const Counters known = tree.read().ports.at(0).counters;
    EXPECT_EQ(known.at("rx_discards_phy"), Reading::of(6));
    EXPECT_FALSE(known.contains("rx7_packets"));
    EXPECT_EQ(known.at("packet_seq_err"), Reading::of(3)) << "the card's own counter, not the network device's";
    EXPECT_EQ(tree.read(NetdevStatistics::all).ports.at(0).counters.at("rx7_packets"), Reading::of(5));
}
TEST(ReadNode, SumsTheMembersOfABond) {
    RoceTree tree;
    tree.netdev("ens1f0", "rx_prio3_pause: 4\n");
    tree.netdev("ens1f1", "rx_prio3_pause: 5\ntx_prio3_pause: 1\n");
    tree.port("gid_attrs/ndevs/0", "bond0\n");
    tree.write("sys/class/net/bond0/bonding/slaves", "ens1f0 ens1f1\n");
    const NodeSnapshot snapshot = tree.read();
    EXPECT_THAT(snapshot.problems, IsEmpty());
    EXPECT_EQ(snapshot.ports.at(0).netdev, "bond0");
    EXPECT_EQ(snapshot.ports.at(0).counters.at("rx_prio3_pause"), Reading::of(9));
    EXPECT_EQ(snapshot.ports.at(0).counters.at("tx_prio3_pause"), Reading::of(1));
}
TEST(ReadNode, TakesNoPartOfABondForTheWhole) {
    RoceTree tree;
    tree.netdev("ens1f0", "rx_prio3_pause: 4\n");
    tree.port("gid_attrs/ndevs/0", "bond0\n");
    tree.write("sys/class/net/bond0/bonding/slaves", "ens1f0 ens1f1\n");
    const NodeSnapshot snapshot = tree.read();
    EXPECT_FALSE(snapshot.ports.at(0).counters.contains("rx_prio3_pause"));
    ASSERT_EQ(snapshot.problems.size(), 1U);
    EXPECT_THAT(snapshot.problems[0].reason, HasSubstr("ethtool statistics: "));
}
TEST(ReadNode, SaysThatAnEthernetPortHasNoNetdev) {
    const RoceTree tree;
    const NodeSnapshot snapshot = tree.read();
    ASSERT_EQ(snapshot.problems.size(), 1U);
    EXPECT_EQ(snapshot.problems[0].where, "node07/mlx5_0:1");
    EXPECT_EQ(snapshot.problems[0].reason,
              "its network device was not found: no statistics of pauses and discards");
    EXPECT_EQ(snapshot.ports.at(0).counters.at("packet_seq_err"), Reading::of(3)) << "it costs nothing else";
}
TEST(ReadNode, AsksAnInfiniBandPortsNetdevForNoStatistics) {
    RoceTree tree;
    tree.port("link_layer", "InfiniBand\n");
    tree.netdev("ib0", "rx_prio3_pause: 4\n");
    const NodeSnapshot snapshot = tree.read();
    EXPECT_EQ(snapshot.ports.at(0).netdev, "ib0");
    EXPECT_FALSE(snapshot.ports.at(0).counters.contains("rx_prio3_pause"));
    EXPECT_THAT(snapshot.problems, IsEmpty());
}

TEST(SysfsText, ReadsPciSpeedsOfOldAndNewKernels) {
    EXPECT_DOUBLE_EQ(sysfs::pcie_speed_from("16.0 GT/s PCIe\n"), 16);
    EXPECT_DOUBLE_EQ(sysfs::pcie_speed_from("2.5 GT/s\n"), 2.5);
    for (const char *text : {"", "Unknown", "Unknown speed", "GT/s", "-1 GT/s", "16", "1e9 GT/s", "nan GT/s"}) {
        EXPECT_EQ(sysfs::pcie_speed_from(text), 0) << text;
    }
}
TEST(SysfsText, ReadsPciLanes) {
    EXPECT_EQ(sysfs::pcie_lanes_from("16\n"), 16U);
    EXPECT_EQ(sysfs::pcie_lanes_from("32"), 32U);
    for (const char *text : {"", "0", "33", "255", "x"}) {
        EXPECT_EQ(sysfs::pcie_lanes_from(text), 0U) << text;
    }
}
TEST(SysfsText, ReadsAPciLinkAsPeopleWriteIt) {
    EXPECT_EQ(parse_pcie("16x 16GT/s"), (PcieLink{16, 0, 16, 0}));
    EXPECT_EQ(parse_pcie(" 8x 32.0 GT/s "), (PcieLink{8, 0, 32, 0}));
    for (const char *text : {"", "16", "16x", "x16 16GT/s", "16x 16", "0x 16GT/s", "16x 0GT/s", "16 16GT/s"}) {
        EXPECT_EQ(parse_pcie(text), std::nullopt) << text;
    }
}

} // namespace
} // namespace fabric_check
