// SPDX-License-Identifier: GPL-2.0-or-later
#include "report/routes_notes.hpp"

#include "fabric/fabrics.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace fabric_check {
namespace {

using fabric::Map;
using fabric::testing::Builder;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(FoldReasons, NamesOfOneReasonAreOne) {
    EXPECT_THAT(fold_reasons({"io3: not in the map (nearest: io1, io2)", "io4: not in the map (nearest: io1, io2)",
                              "SwitchA: is a switch, not a host", "io5: not in the map (nearest: io2, io1, io6)"}),
                ElementsAre("io[3-5]: not in the map (nearest: io1, io2, io6)", "SwitchA: is a switch, not a host"));
}

TEST(FoldReasons, OneAloneStaysAsItIs) {
    for (const char *message : {"x1: not in the map", "x1: not in the map (nearest: y1)", "x1: in the map, but no port of it has a LID", "x"})
        EXPECT_THAT(fold_reasons({message}), ElementsAre(message));
}

TEST(FoldReasons, OfNothingThereIsNothing) { EXPECT_THAT(fold_reasons({}), IsEmpty()); }

/// Hosts by their cards.
std::vector<std::string> fewer(const std::vector<std::pair<std::string, unsigned>> &hosts) {
    Builder b;
    std::uint16_t lid = 1;
    std::vector<std::string> names, missing;
    for (const auto &[name, cards] : hosts) {
        for (unsigned card = 0; card < cards; ++card)
            b.add_host(fmt::format("{} mlx5_{}", name, card), lid++);
        names.push_back(name);
    }
    b.map.index();
    const Map map(b.map);
    return fewer_cards(map, fabric::endpoints_by_name(map, names, missing));
}

TEST(FewerCards, HostsThatLackSomeAreNamed) {
    EXPECT_THAT(fewer({{"a1", 4}, {"a2", 4}, {"a3", 3}, {"a4", 4}, {"a5", 3}, {"a6", 1}, {"a7", 4}}),
                ElementsAre("a6: 1 card where most have 4", "a[3,5]: 3 cards where most have 4"));
}

TEST(FewerCards, HostsThatHaveMoreLackNothing) { EXPECT_THAT(fewer({{"a1", 1}, {"a2", 1}, {"b1", 4}}), IsEmpty()); }

TEST(FewerCards, WhereNoNumberIsMostHostsNobodyLacksAny) { EXPECT_THAT(fewer({{"a1", 1}, {"b1", 4}}), IsEmpty()); }

TEST(FewerCards, CardsWithoutAHostsNameAreNoHosts) {
    Builder b;
    for (std::uint16_t lid = 1; lid <= 2; ++lid)
        b.add_host(fmt::format("a1 mlx5_{}", lid), lid);
    b.add_host("MT4129 ConnectX7   Mellanox Technologies", 3);
    b.map.index();
    EXPECT_THAT(fewer_cards(Map(b.map), fabric::all_host_endpoints(Map(b.map))), IsEmpty());
}

TEST(WithoutTables, ATopologyAloneHasNone) {
    fabric::MapDraft draft = fabric::testing::two_switches(fabric::testing::even());
    EXPECT_FALSE(without_tables(Map(draft)));
    draft.nodes[1].lft.clear();
    EXPECT_FALSE(without_tables(Map(draft))) << "one has";
    draft.nodes[0].lft.clear();
    EXPECT_TRUE(without_tables(Map(draft)));
}

TEST(WithoutTables, WithoutSwitchesThereIsNoneToMiss) {
    Builder b;
    b.add_host("a1", 1);
    b.map.index();
    EXPECT_FALSE(without_tables(Map(b.map)));
}

} // namespace
} // namespace fabric_check
