// SPDX-License-Identifier: GPL-2.0-or-later
#include "fabric/lid_list.hpp"

#include "base/temporary.hpp"
#include "fabric/fabrics.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace fabric_check::fabric {
namespace {

namespace ft = fabric_check::fabric::testing;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

TEST(LidList, TakesNumbersRangesAndComments) {
    const auto lids = parse_lid_list("5, 0x1f\t7-9 # and no 12\r\n# nothing\n49151\n", "f");
    ASSERT_TRUE(lids) << lids.error().message;
    EXPECT_THAT(*lids, ElementsAre(5, 31, 7, 8, 9, 49151));
}

TEST(LidList, ALidNamedTwiceCountsOnce) {
    EXPECT_THAT(*parse_lid_list("3-5 4 5-6", "f"), ElementsAre(3, 4, 5, 6));
}

TEST(LidList, WhatIsNoUnicastLidIsQuotedWithItsLine) {
    for (const char *bad : {"0", "49152", "9-5", "-3", "5-", "x", "0x", "1-99999"}) {
        const auto lids = parse_lid_list("1\n" + std::string(bad) + "\n", "file");
        ASSERT_FALSE(lids) << bad;
        EXPECT_EQ(lids.error().code, Errc::usage);
        EXPECT_EQ(lids.error().message, fmt::format("file:2: '{}' is no LID; valid are 1 to 49151, ranges as 5-9", bad));
    }
}

TEST(LidList, NoneAtAllIsAnError) {
    const auto lids = parse_lid_list(" # 5\n", "file");
    ASSERT_FALSE(lids);
    EXPECT_EQ(lids.error().message, "file: no LID in it");
}

TEST(LidList, AnArgumentThatIsNoFileIsTheListItself) {
    EXPECT_THAT(*read_lid_list("1,3-4"), ElementsAre(1, 3, 4));
    const auto missing = read_lid_list("/nowhere/lids");
    ASSERT_FALSE(missing);
    EXPECT_EQ(missing.error().code, Errc::usage);
    EXPECT_THAT(missing.error().message, HasSubstr("/nowhere/lids: No such file"));
}

TEST(InNoTable, NamesLidsThatNoSwitchHas) {
    MapDraft map = ft::two_switches(ft::even());
    Query query = ft::clients_and_servers(map);
    EXPECT_THAT(in_no_table(map, query.job), IsEmpty());
    map.nodes[0].lft[3] = no_route;
    EXPECT_THAT(in_no_table(map, query.job), IsEmpty()) << "SwitchB still has it";
    map.nodes[1].lft[3] = no_route;
    EXPECT_THAT(in_no_table(map, query.job), ElementsAre("LID 3 (node03)"));
}

} // namespace
} // namespace fabric_check::fabric
