// SPDX-License-Identifier: GPL-2.0-or-later
#include "verdict/delta.hpp"

#include <gtest/gtest.h>

#include <optional>

namespace fabric_check {
namespace {

Delta value(std::uint64_t v) { return {v, NoDelta::absent}; }
Delta none(NoDelta why) { return {std::nullopt, why}; }

Delta delta(std::uint64_t before, std::uint64_t after, std::uint8_t width, std::uint8_t bits_before = 0,
            std::uint8_t bits_after = 0) {
    const Reading b = Reading::of(before, bits_before);
    const Reading a = Reading::of(after, bits_after);
    return delta_of(&b, &a, width);
}

Delta missing(std::optional<Absence> before, std::optional<Absence> after) {
    const Reading b = before ? Reading::missing(*before) : Reading::of(3);
    const Reading a = after ? Reading::missing(*after) : Reading::of(5);
    return delta_of(&b, &a, 16);
}

TEST(DeltaOf, IsTheDifference) { EXPECT_EQ(delta(9, 10, 16), value(1)); }
TEST(DeltaOf, NoMovementIsZeroAndNotMissing) { EXPECT_EQ(delta(7, 7, 16), value(0)); }
TEST(DeltaOf, LargeLifetimeValuesWithoutMovementAreZero) { EXPECT_EQ(delta(254, 254, 8), value(0)); }
TEST(DeltaOf, OneBelowTheCapCounts) { EXPECT_EQ(delta(253, 254, 8), value(1)); }
TEST(DeltaOf, AtTheCapAfterwardsIsSaturated) { EXPECT_EQ(delta(3, 255, 8), none(NoDelta::saturated)); }
TEST(DeltaOf, AtTheCapOnBothSidesIsSaturatedNotZero) { EXPECT_EQ(delta(255, 255, 8), none(NoDelta::saturated)); }
TEST(DeltaOf, AtTheCapBeforeAndLowerAfterwardsIsAReset) { EXPECT_EQ(delta(255, 0, 8), none(NoDelta::reset)); }
TEST(DeltaOf, EveryWidthHasItsCap) {
    EXPECT_EQ(delta(0, 15, 4), none(NoDelta::saturated));
    EXPECT_EQ(delta(0, 65535, 16), none(NoDelta::saturated));
    EXPECT_EQ(delta(0, 0xffffffff, 32), none(NoDelta::saturated));
    EXPECT_EQ(delta(0, UINT64_MAX, 64), none(NoDelta::saturated));
}
TEST(DeltaOf, JustBelowTheWidestCapIsADelta) { EXPECT_EQ(delta(0, UINT64_MAX - 1, 64), value(UINT64_MAX - 1)); }
TEST(DeltaOf, WithoutAVerifiedWidthThereIsNoCap) {
    EXPECT_EQ(delta(0, 255, 0), value(255));
    EXPECT_EQ(delta(0, UINT64_MAX, 0), value(UINT64_MAX));
}
TEST(DeltaOf, ADecreaseIsAResetNeverAWrap) { EXPECT_EQ(delta(900, 12, 0), none(NoDelta::reset)); }
TEST(DeltaOf, AWideCopyHasNoNarrowCap) { EXPECT_EQ(delta(3, 255, 8, 64, 64), value(252)); }
TEST(DeltaOf, AWideCopyMayPassTheNarrowCap) { EXPECT_EQ(delta(200, 70000, 16, 64, 64), value(69800)); }
TEST(DeltaOf, TheReadingsWidthOutranksTheTables) { EXPECT_EQ(delta(3, 15, 8, 4, 4), none(NoDelta::saturated)); }
TEST(DeltaOf, FieldsOfDifferentWidthAreTwoCounters) {
    EXPECT_EQ(delta(65535, 70000, 16, 16, 64), none(NoDelta::width_changed));
    EXPECT_EQ(delta(70000, 70001, 16, 64, 0), none(NoDelta::width_changed));
    EXPECT_EQ(delta(5, 5, 16, 64, 16), none(NoDelta::width_changed));
}
TEST(DeltaOf, TheSameWidthSaidAndImpliedIsOneCounter) { EXPECT_EQ(delta(5, 8, 16, 0, 16), value(3)); }
TEST(DeltaOf, AValueAboveTheCapDisprovesTheWidth) { EXPECT_EQ(delta(255, 300, 8), value(45)); }

TEST(DeltaOf, AbsentSidesAreTold) {
    const Reading there = Reading::of(4);
    EXPECT_EQ(delta_of(nullptr, &there, 16), none(NoDelta::absent_before));
    EXPECT_EQ(delta_of(&there, nullptr, 16), none(NoDelta::absent_after));
    EXPECT_EQ(delta_of(nullptr, nullptr, 16), none(NoDelta::absent));
}
TEST(DeltaOf, AbsentReadingsAreLikeNone) {
    EXPECT_EQ(missing(Absence::absent, std::nullopt), none(NoDelta::absent_before));
    EXPECT_EQ(missing(std::nullopt, Absence::absent), none(NoDelta::absent_after));
    EXPECT_EQ(missing(Absence::absent, Absence::absent), none(NoDelta::absent));
}
TEST(DeltaOf, UnsupportedOnBothSidesIsUnsupported) {
    EXPECT_EQ(missing(Absence::unsupported, Absence::unsupported), none(NoDelta::unsupported));
}
TEST(DeltaOf, UnsupportedOnOneSideIsAbsentThere) {
    EXPECT_EQ(missing(std::nullopt, Absence::unsupported), none(NoDelta::absent_after));
    EXPECT_EQ(missing(Absence::unsupported, std::nullopt), none(NoDelta::absent_before));
}
TEST(DeltaOf, WhatKeptItFromBeingReadIsTheReason) {
    EXPECT_EQ(missing(std::nullopt, Absence::denied), none(NoDelta::denied));
    EXPECT_EQ(missing(Absence::unparsable, std::nullopt), none(NoDelta::unparsable));
    EXPECT_EQ(missing(Absence::absent, Absence::timed_out), none(NoDelta::timed_out));
    EXPECT_EQ(missing(Absence::denied, Absence::absent), none(NoDelta::denied));
}

TEST(DeltasOf, CoversWhatEitherSideHas) {
    const Counters before{{"a", Reading::of(1)}, {"b", Reading::of(2)}};
    const Counters after{{"b", Reading::of(5)}, {"c", Reading::of(1)}};
    const Deltas expected{{"a", none(NoDelta::absent_after)}, {"b", value(3)}, {"c", none(NoDelta::absent_before)}};
    EXPECT_EQ(deltas_of(before, after), expected);
}
TEST(DeltasOf, WidthsComeFromTheTable) {
    const Deltas deltas =
        deltas_of({{"LinkDownedCounter", Reading::of(255)}}, {{"LinkDownedCounter", Reading::of(255)}});
    EXPECT_EQ(deltas.at("LinkDownedCounter"), none(NoDelta::saturated));
}
TEST(DeltasOf, UnknownCountersHaveNoCap) {
    const Deltas deltas = deltas_of({{"novelty", Reading::of(0)}}, {{"novelty", Reading::of(255)}});
    EXPECT_EQ(deltas.at("novelty"), value(255));
}

TEST(NoDeltaReasons, AreMissingOrWithoutEvidence) {
    for (const NoDelta why : {NoDelta::absent_before, NoDelta::absent_after, NoDelta::absent, NoDelta::unsupported,
                              NoDelta::unparsable, NoDelta::denied, NoDelta::timed_out}) {
        EXPECT_TRUE(is_missing(why)) << to_string(why);
    }
    for (const NoDelta why : {NoDelta::reset, NoDelta::saturated, NoDelta::width_changed}) {
        EXPECT_FALSE(is_missing(why)) << to_string(why);
    }
}

} // namespace
} // namespace fabric_check
