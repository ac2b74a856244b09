// SPDX-License-Identifier: GPL-2.0-or-later
#include "fabric/other_tables.hpp"

#include "base/temporary.hpp"
#include "fabric/fabrics.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace fabric_check::fabric {
namespace {

namespace ft = fabric_check::fabric::testing;
using ::testing::HasSubstr;

/// A table of the map in the format of opensm-lfts.dump.
std::string dump_of(const MapDraft &map) {
    std::string out;
    for (const auto &node : map.nodes) {
        if (node.kind != NodeKind::switch_node)
            continue;
        out += fmt::format("Unicast lids [0-{}] of switch Lid {} guid 0x{:016x} ('{}'):\n", node.lft.size() - 1, node.lid,
                           node.guid, node.description);
        for (std::size_t lid = 0; lid < node.lft.size(); ++lid)
            if (node.lft[lid] != no_route)
                out += fmt::format("0x{:04x} {:03} # \n", lid, node.lft[lid]);
    }
    return out;
}

struct OtherTables : ::testing::Test {
    test::TemporaryDirectory directory;
    std::string file(const std::string &text) const { return directory.write("other.lfts", text); }
    MapDraft map = ft::two_switches(ft::collapsed());
};

TEST_F(OtherTables, RoutesAreTheFilesAndLinksTheMaps) {
    const auto other = with_tables(map, {file(dump_of(ft::two_switches(ft::even())))});
    ASSERT_TRUE(other) << other.error().message;
    EXPECT_EQ(analyse(LftView(*other), ft::clients_and_servers(*other)).imbalance, 1.0);
    EXPECT_EQ(analyse(LftView(map), ft::clients_and_servers(map)).imbalance, 3.0) << "the map itself stays";
    EXPECT_EQ(other->nodes()[1].ports[25].peer, 0U);
    EXPECT_THAT(other->source(), HasSubstr("other.lfts"));
}

TEST_F(OtherTables, ASwitchThatTheFileLacksHasNoRoutes) {
    const std::string dump = dump_of(map);
    const auto other = with_tables(map, {file(dump.substr(dump.find("Unicast", 1)))});
    ASSERT_TRUE(other);
    EXPECT_TRUE(other->nodes()[0].lft().empty()) << "not the map's old table";
    ASSERT_EQ(other->problems().size(), 1U);
    EXPECT_THAT(other->problems()[0].reason, HasSubstr("SwitchA has no forwarding table"));
}

TEST_F(OtherTables, AMissingFileIsTheCommandLinesFault) {
    const auto other = with_tables(map, {directory.path("none")});
    ASSERT_FALSE(other);
    EXPECT_EQ(other.error().code, Errc::usage);
    EXPECT_THAT(other.error().message, HasSubstr("/none: No such file"));
}

TEST_F(OtherTables, AFileWithoutTablesIsMalformed) {
    const auto other = with_tables(map, {file("nothing here\n")});
    ASSERT_FALSE(other);
    EXPECT_EQ(other.error().code, Errc::malformed);
}

TEST_F(OtherTables, DifferencesAreCountedForTheseLidsOnly) {
    const MapDraft other = ft::two_switches(ft::even());
    const std::vector<std::uint16_t> clients = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12};
    EXPECT_EQ(differing_entries(map, other, clients), 10U) << "LIDs 1 and 10 leave SwitchB as before";
    EXPECT_EQ(differing_entries(map, other, std::vector<std::uint16_t>{1, 10, 21}), 0U);
    EXPECT_EQ(differing_entries(map, map, clients), 0U);
}

} // namespace
} // namespace fabric_check::fabric
