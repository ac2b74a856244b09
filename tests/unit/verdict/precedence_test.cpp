// SPDX-License-Identifier: GPL-2.0-or-later
#include "verdict/precedence.hpp"

#include <gmock/gmock.h>

#include <fmt/format.h>

namespace fabric_check {
namespace {

using ::testing::ElementsAre;
using ::testing::Field;
using ::testing::IsEmpty;

constexpr std::array layers{Layer::physical,        Layer::pause_storm,       Layer::lossless_broken,
                            Layer::transport_retry, Layer::routing_imbalance, Layer::congestion};

Finding live(Layer layer, std::uint64_t delta = 1) { return {"x", "c", delta, layer, true, "", ""}; }
UnreadCounter gap(Layer layer, bool missing) { return {"y", "d", "because", layer, missing}; }

/// One unreadable layer against one live layer: causes come first.
class EveryPair : public ::testing::TestWithParam<std::tuple<Layer, Layer, bool>> {};

TEST_P(EveryPair, FollowsCausation) {
    const auto [unread, alive, missing] = GetParam();
    const Ruling ruling = rule({live(alive)}, {gap(unread, missing)}, false);
    if (unread < alive) {
        EXPECT_EQ(ruling.verdict, missing ? "incomplete" : "unusable");
        EXPECT_EQ(ruling.rest, to_string(alive));
    } else {
        EXPECT_EQ(ruling.verdict, to_string(alive));
        EXPECT_EQ(ruling.rest, "");
    }
}

std::string pair_name(const ::testing::TestParamInfo<std::tuple<Layer, Layer, bool>> &info) {
    const auto [unread, alive, missing] = info.param;
    std::string name = fmt::format("{}_{}_live_{}", to_string(unread), missing ? "missing" : "unreadable", to_string(alive));
    std::replace(name.begin(), name.end(), '-', '_');
    return name;
}

INSTANTIATE_TEST_SUITE_P(Layers, EveryPair,
                         ::testing::Combine(::testing::ValuesIn(layers), ::testing::ValuesIn(layers),
                                            ::testing::Bool()),
                         pair_name);

TEST(Rule, NothingLiveAndNothingUnreadIsClean) { EXPECT_EQ(rule({}, {}, false).verdict, "clean"); }

TEST(Rule, AnythingUnreadKeepsItFromClean) {
    for (const Layer layer : layers) {
        const Ruling ruling = rule({}, {gap(layer, false)}, false);
        EXPECT_EQ(ruling.verdict, "unusable") << to_string(layer);
        EXPECT_EQ(ruling.rest, "clean") << to_string(layer);
    }
}

TEST(Rule, WhatIsUngradedHidesNothing) { EXPECT_EQ(rule({}, {gap(Layer::ungraded, true)}, false).verdict, "clean"); }

TEST(Rule, MissingOutranksUnusableAtTheSameLayer) {
    for (const auto &unread : {std::vector{gap(Layer::physical, true), gap(Layer::physical, false)},
                               std::vector{gap(Layer::physical, false), gap(Layer::physical, true)}}) {
        EXPECT_EQ(rule({}, unread, false).verdict, "incomplete");
    }
}

TEST(Rule, TheLowestUnreadLayerNamesTheGap) {
    for (const auto &unread : {std::vector{gap(Layer::physical, false), gap(Layer::transport_retry, true)},
                               std::vector{gap(Layer::transport_retry, true), gap(Layer::physical, false)}}) {
        EXPECT_EQ(rule({live(Layer::congestion)}, unread, false).verdict, "unusable");
    }
}

TEST(Rule, TheLowestLiveLayerIsTheVerdict) {
    EXPECT_EQ(rule({live(Layer::congestion), live(Layer::lossless_broken), live(Layer::transport_retry)}, {}, false).verdict,
              "lossless-broken");
}

TEST(Rule, FindingsThatDoNotLeadDoNotDecide) {
    Finding aside = live(Layer::transport_retry);
    aside.leads = false;
    EXPECT_EQ(rule({aside}, {}, false).verdict, "clean");
}

TEST(Rule, WithoutTrafficOnlyPhysicalFindingsAreAVerdict) {
    EXPECT_EQ(rule({live(Layer::transport_retry)}, {}, true).verdict, "no-traffic");
    EXPECT_EQ(rule({live(Layer::physical)}, {}, true).verdict, "physical");
}

TEST(Rule, AGapOutranksNoTraffic) {
    const Ruling ruling = rule({}, {gap(Layer::physical, true)}, true);
    EXPECT_EQ(ruling.verdict, "incomplete");
    EXPECT_EQ(ruling.rest, "no-traffic");
}

TEST(FindingsOf, AreThoseOfTheLayerWorstFirstAndWithoutACounterBeforeAll) {
    const std::vector<Finding> findings{live(Layer::physical, 3), live(Layer::congestion, 99), live(Layer::physical, 0),
                                        live(Layer::physical, 8)};
    EXPECT_THAT(findings_of(rule(findings, {}, false).layer, findings),
                ElementsAre(Field(&Finding::delta, 0U), Field(&Finding::delta, 8U), Field(&Finding::delta, 3U)));
}

TEST(FindingsOf, AreNoneWhereTheVerdictRestsOnAGap) {
    const std::vector<Finding> findings{live(Layer::congestion)};
    EXPECT_THAT(findings_of(rule(findings, {gap(Layer::physical, true)}, false).layer, findings), IsEmpty());
}

TEST(FindingsOf, OfARestAreThoseThatItRestsOn) {
    const std::vector<Finding> findings{live(Layer::congestion, 7), live(Layer::transport_retry, 3)};
    const Ruling ruling = rule(findings, {gap(Layer::physical, true)}, false);
    EXPECT_EQ(ruling.rest, "transport-retry");
    EXPECT_THAT(findings_of(ruling.rest_layer, findings), ElementsAre(Field(&Finding::delta, 3U)));
    EXPECT_FALSE(rule({}, {gap(Layer::physical, true)}, false).rest_layer) << "a clean rest rests on nothing";
}

} // namespace
} // namespace fabric_check
