// SPDX-License-Identifier: GPL-2.0-or-later
#include "fabric/even_spread.hpp"

#include "fabric/fabrics.hpp"

#include <gtest/gtest.h>
#include <random>

namespace fabric_check::fabric {
namespace {

using testing::Builder;

/// One item at a time to the link that it leaves the least busy.
double one_by_one(const std::vector<double> &rates, std::vector<Items> items) {
    std::vector<double> sizes(rates.size(), 0);
    std::sort(items.begin(), items.end(), [](const Items &a, const Items &b) { return a.size > b.size; });
    for (const Items &some : items)
        for (std::size_t n = 0; n < some.count; ++n) {
            std::size_t best = 0;
            for (std::size_t i = 1; i < rates.size(); ++i)
                if ((sizes[i] + some.size) / rates[i] < (sizes[best] + some.size) / rates[best])
                    best = i;
            sizes[best] += some.size;
        }
    double most = 0;
    for (std::size_t i = 0; i < rates.size(); ++i)
        most = std::max(most, sizes[i] / rates[i]);
    return most;
}

TEST(BestEvenSpread, IsNothingWithoutLinksOrItems) {
    EXPECT_EQ(best_even_spread({}, {{1, 5}}), 0);
    EXPECT_EQ(best_even_spread(std::vector<double>{100}, {}), 0);
    EXPECT_EQ(best_even_spread(std::vector<double>{100}, {{0, 5}}), 0);
}

TEST(BestEvenSpread, TakesItemsWhole) {
    const std::vector<double> eight(8, 200);
    EXPECT_DOUBLE_EQ(best_even_spread(eight, {{8, 12}}) * 200, 16) << "two of the 12 on the busiest, 8 each";
    EXPECT_DOUBLE_EQ(best_even_spread(eight, {{1, 8}}) * 200, 1);
    EXPECT_DOUBLE_EQ(best_even_spread(eight, {{1, 9}}) * 200, 2);
    EXPECT_DOUBLE_EQ(best_even_spread(eight, {{1, 1}}) * 200, 1);
}

TEST(BestEvenSpread, AFasterLinkTakesMore) {
    const std::vector<double> rates{200, 100};
    EXPECT_DOUBLE_EQ(best_even_spread(rates, {{1, 3}}), 0.01) << "two and one";
    EXPECT_DOUBLE_EQ(best_even_spread(rates, {{1, 4}}), 0.015) << "three and one";
}

TEST(BestEvenSpread, AgreesWithOneByOneForManyItemsOfOneSize) {
    std::mt19937 random(1);
    for (int round = 0; round < 500; ++round) {
        std::vector<double> rates(1 + random() % 20);
        for (double &rate : rates)
            rate = round % 2 == 0 ? 200 : 50.0 * double(1 + random() % 4);
        const std::vector<Items> items{{double(1 + random() % 9), random() % 2000}};
        EXPECT_NEAR(best_even_spread(rates, items), one_by_one(rates, items), 1e-9) << "round " << round;
    }
}

TEST(BestEvenSpread, IsNeverBelowTheMeanNorMuchAboveOneByOneForMixedSizes) {
    std::mt19937 random(2);
    for (int round = 0; round < 300; ++round) {
        const std::vector<double> rates(1 + random() % 12, 100);
        std::vector<Items> items;
        double sum = 0, largest = 0;
        for (unsigned n = 1 + unsigned(random() % 4); n > 0; --n) {
            items.push_back({double(1 + random() % 50), random() % 300});
            sum += items.back().size * double(items.back().count);
            largest = std::max(largest, items.back().count > 0 ? items.back().size : 0);
        }
        const double got = best_even_spread(rates, items), exact = one_by_one(rates, items);
        EXPECT_GE(got + 1e-9, sum / double(rates.size()) / 100);
        EXPECT_LE(got, exact + largest / 100 + 1e-9) << "round " << round;
        EXPECT_GE(got + largest / 100 + 1e-9, exact) << "round " << round;
    }
}

/// Two leaves under two spines, the second spine with a link of half the rate to the second leaf.
struct Square {
    Builder b;
    std::uint32_t leaf1, leaf2, spine1, spine2;
    Square() {
        leaf1 = b.add_switch("leaf1", 8, 101);
        leaf2 = b.add_switch("leaf2", 8, 102);
        spine1 = b.add_switch("spine1", 8, 103);
        spine2 = b.add_switch("spine2", 8, 104);
        b.link(leaf1, 5, spine1, 1);
        b.link(leaf1, 6, spine2, 1, testing::rate_of(4, "EDR", 100));
        b.link(leaf2, 5, spine1, 2);
        b.link(leaf2, 6, spine2, 2, testing::rate_of(4, "EDR", 100));
        b.map.index();
    }
};

/// The busiest link after 30 flows from a leaf to the second one, so many times.
double busiest_from(std::uint32_t Square::*leaf, int batches) {
    const Square square;
    const LftView lfts{Map(square.b.map)};
    const SwitchGraph graph(lfts);
    Reach reach(graph);
    EvenSpread even(graph);
    for (int batch = 0; batch < batches; ++batch) {
        reach.run(std::vector<SwitchGraph::Number>{graph.number(square.leaf2)});
        even.add(reach, std::vector<EvenSpread::Start>{{graph.number(square.*leaf), 0, 30}});
    }
    return even.busiest();
}

TEST(EvenSpread, DividesByRateAtEverySwitch) {
    EXPECT_DOUBLE_EQ(busiest_from(&Square::leaf1, 1), 0.1) << "20 over 200 Gb/s and 10 over 100 Gb/s";
}

TEST(EvenSpread, BatchesAddUp) { EXPECT_DOUBLE_EQ(busiest_from(&Square::leaf1, 3), 0.3); }

TEST(EvenSpread, WhatStartsAtItsTargetMovesNowhere) { EXPECT_EQ(busiest_from(&Square::leaf2, 1), 0); }

} // namespace
} // namespace fabric_check::fabric
