// SPDX-License-Identifier: GPL-2.0-or-later
#include "record/pairing.hpp"

#include <algorithm>
#include <gtest/gtest.h>
#include <random>

namespace fabric_check {
namespace {

constexpr std::int64_t s = 1'000'000'000;
using Times = std::vector<std::int64_t>;

Pairing pair_at(const Times &starts, const Times &ends, std::int64_t ticket, std::int64_t not_before = 0) {
    return pair_records(starts, ends, {.ticket_ns = ticket, .not_before_ns = not_before});
}

TEST(Pairing, TakesTheOnlyTwo) {
    const auto pairing = pair_at({10 * s}, {20 * s}, 19 * s);
    EXPECT_EQ(pairing.start, 0U);
    EXPECT_EQ(pairing.end, 0U);
}

TEST(Pairing, OfARequeuedJobTakesTheTicketsOwnInstance) {
    const Times starts{10 * s, 40 * s, 70 * s}, ends{20 * s, 50 * s, 80 * s};
    for (std::size_t instance = 0; instance < 3; ++instance) {
        const auto pairing = pair_at(starts, ends, ends[instance] - s / 2);
        EXPECT_EQ(pairing.start, instance);
        EXPECT_EQ(pairing.end, instance);
    }
}

TEST(Pairing, DoesNotTakeTheNextInstancesEndForALostOne) {
    const auto pairing = pair_at({10 * s, 40 * s}, {50 * s}, 20 * s);
    EXPECT_EQ(pairing.start, 0U);
    EXPECT_FALSE(pairing.end);
}

TEST(Pairing, WithALostStartTakesTheEndOfTheTicket) {
    const auto pairing = pair_at({}, {20 * s, 50 * s}, 49 * s);
    EXPECT_FALSE(pairing.start);
    EXPECT_EQ(pairing.end, 1U);
}

TEST(Pairing, WithALostStartDoesNotTakeTheStartBeforeThePreviousEnd) {
    const auto pairing = pair_at({10 * s}, {20 * s, 50 * s}, 49 * s, 19 * s);
    EXPECT_FALSE(pairing.start);
    EXPECT_EQ(pairing.end, 1U);
}

TEST(Pairing, TakesTheNewestOfTwoStarts) {
    const auto pairing = pair_at({12 * s, 10 * s}, {20 * s}, 19 * s);
    EXPECT_EQ(pairing.start, 0U);
}

TEST(Pairing, TakesTheFirstOfTwoEnds) {
    const auto pairing = pair_at({10 * s}, {22 * s, 20 * s}, 19 * s);
    EXPECT_EQ(pairing.end, 1U);
}

TEST(Pairing, AllowsANodeClockAheadByTheSkewAndNoMore) {
    EXPECT_EQ(pair_at({21 * s}, {}, 19 * s).start, 0U);
    EXPECT_FALSE(pair_at({21 * s + 1}, {}, 19 * s).start);
}

TEST(Pairing, AllowsAnEndBeforeTheTicketWhenThereIsAStart) {
    // A node that left the job early, or whose clock is behind.
    EXPECT_EQ(pair_at({10 * s}, {11 * s}, 500 * s).end, 0U);
}

TEST(Pairing, AnEndAtTheStartsOwnTimeIsNotAfterIt) {
    EXPECT_FALSE(pair_at({10 * s}, {10 * s}, 19 * s).end);
}

TEST(Pairing, AnEndAtTheNextStartsOwnTimeIsNotBeforeIt) {
    EXPECT_FALSE(pair_at({10 * s, 40 * s}, {40 * s}, 20 * s).end);
}

TEST(Pairing, OfNothingIsNothing) {
    const auto pairing = pair_at({}, {}, 19 * s);
    EXPECT_FALSE(pairing.start);
    EXPECT_FALSE(pairing.end);
}

/// The definition, by sorting everything into one row.
Pairing by_brute_force(const Times &starts, const Times &ends, const PairingWindow &window) {
    struct Event {
        std::int64_t time;
        bool start;
        std::size_t index;
    };
    std::vector<Event> row;
    for (std::size_t i = 0; i < starts.size(); ++i)
        if (starts[i] >= window.not_before_ns)
            row.push_back({starts[i], true, i});
    for (std::size_t i = 0; i < ends.size(); ++i)
        if (ends[i] >= window.not_before_ns)
            row.push_back({ends[i], false, i});
    std::stable_sort(row.begin(), row.end(), [](const Event &a, const Event &b) {
        return a.time != b.time ? a.time < b.time : !a.start && b.start; // an END first: it is not after the START
    });
    Pairing pairing;
    std::size_t from = 0;
    for (std::size_t i = 0; i < row.size(); ++i)
        if (row[i].start && row[i].time <= window.ticket_ns + window.skew_ns) {
            pairing.start = row[i].index;
            from = i + 1;
        }
    for (std::size_t i = from; i < row.size(); ++i) {
        if (row[i].start && row[i].time > window.ticket_ns + window.skew_ns) {
            const bool tie = std::any_of(row.begin(), row.end(), [&](const Event &e) {
                return !e.start && pairing.end && ends[*pairing.end] == row[i].time;
            });
            if (tie)
                pairing.end.reset();
            break;
        }
        if (!row[i].start && !pairing.end && (pairing.start || row[i].time >= window.ticket_ns - window.skew_ns))
            pairing.end = row[i].index;
    }
    return pairing;
}

TEST(Pairing, AgreesWithTheDefinitionOnRandomHistories) {
    std::mt19937 random(7);
    for (int round = 0; round < 20000; ++round) {
        Times starts(random() % 5), ends(random() % 5);
        for (auto &time : starts)
            time = random() % 20;
        for (auto &time : ends)
            time = random() % 20;
        // Files of one node and kind have different times: they would be one file.
        std::sort(starts.begin(), starts.end());
        starts.erase(std::unique(starts.begin(), starts.end()), starts.end());
        std::sort(ends.begin(), ends.end());
        ends.erase(std::unique(ends.begin(), ends.end()), ends.end());
        std::shuffle(starts.begin(), starts.end(), random);
        std::shuffle(ends.begin(), ends.end(), random);
        const PairingWindow window{static_cast<std::int64_t>(random() % 20), static_cast<std::int64_t>(random() % 8),
                                   2};
        const auto pairing = pair_records(starts, ends, window), expected = by_brute_force(starts, ends, window);
        ASSERT_EQ(pairing.start, expected.start) << "round " << round;
        ASSERT_EQ(pairing.end, expected.end) << "round " << round;
    }
}

} // namespace
} // namespace fabric_check
