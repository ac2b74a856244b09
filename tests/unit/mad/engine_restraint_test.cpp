// SPDX-License-Identifier: GPL-2.0-or-later
#include "mad/vl15_watch.hpp"

#include "fake_transport.hpp"
#include "mad/attributes.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <random>
#include <set>

namespace fabric_check::mad {
namespace {

using namespace std::chrono_literals;
using Event = FakeTransport::Event;

struct RestraintTest : testing::Test {
    FakeTransport fabric;
    EngineOptions options;
    std::map<Outcome, unsigned> outcomes;

    RestraintTest() {
        options.timeout = 500ms;
        fabric.answer = [](const Sent &sent) { return std::vector<Event>{{2ms, reply_to(sent)}}; };
    }
    Handler count() {
        return [this](const Reply &reply) { ++outcomes[reply.outcome]; };
    }
    void ask(Engine &engine, std::uint16_t lid, unsigned times, MadClass mad_class = MadClass::smp) {
        for (unsigned i = 0; i < times; ++i)
            engine.submit({.mad_class = mad_class, .lid = lid, .attribute = 0x15, .modifier = i}, count());
    }
    unsigned sent_before(std::chrono::milliseconds when) const {
        const auto start = fabric.sent.front().at;
        return static_cast<unsigned>(std::count_if(fabric.sent.begin(), fabric.sent.end(),
                                                   [&](const Sent &one) { return one.at - start < when; }));
    }
};

TEST_F(RestraintTest, ALidIsAskedOneQuestionUntilItHasAnswered) {
    Engine engine(fabric, options);
    ask(engine, 3, 10, MadClass::gmp);
    engine.run();
    EXPECT_EQ(sent_before(1ms), 1U);
    EXPECT_EQ(sent_before(3ms), 5U) << "and then with its whole window";
}

TEST_F(RestraintTest, EachLidsFirstQuestionGoesOutBeforeAnyonesSecond) {
    options.window = 4;
    Engine engine(fabric, options);
    ask(engine, 1, 20);
    for (std::uint16_t lid = 2; lid <= 12; ++lid)
        ask(engine, lid, 2);
    engine.run();
    std::set<std::uint16_t> first;
    for (std::size_t i = 0; i < 12; ++i)
        first.insert(fabric.sent[i].to.lid);
    EXPECT_EQ(first.size(), 12U);
}

TEST_F(RestraintTest, TheBusiestLidNeverWaitsForTheOthers) {
    options.window = 2; // one agent after the other would leave LID 1's queue to the end
    options.smp_per_lid = 1;
    Engine engine(fabric, options);
    for (std::uint16_t lid = 2; lid <= 11; ++lid)
        ask(engine, lid, 3);
    ask(engine, 1, 25);
    engine.run();
    EXPECT_LE(fabric.elapsed(), 60ms) << "55 questions of 2 ms, two at a time";
}

TEST_F(RestraintTest, TheDeadDoNotOccupyTheWindow) {
    fabric.answer = [](const Sent &sent) {
        return sent.to.lid <= 20 ? std::vector<Event>{} : std::vector<Event>{{2ms, reply_to(sent)}};
    };
    options.window = 8;
    Engine engine(fabric, options);
    for (std::uint16_t lid = 1; lid <= 200; ++lid)
        ask(engine, lid, 2);
    engine.run();
    EXPECT_EQ(outcomes[Outcome::ok], 360U);
    EXPECT_EQ(outcomes[Outcome::timed_out], 40U);
    // Twenty silent ones, the first eight of which fill the window: two tries of 600 ms, as the layer below is silent too.
    EXPECT_LE(fabric.elapsed(), 1500ms);
    EXPECT_GE(sent_before(400ms), 380U) << "all that live have been asked long before the dead are given up";
}

TEST_F(RestraintTest, WhatNoLongerHoldsTheWindowStaysWithinTheTransportsBound) {
    fabric.answer = [](const Sent &sent) {
        return sent.to.lid <= 200 ? std::vector<Event>{{500ms, timeout_of(sent)}}
                                  : std::vector<Event>{{2ms, reply_to(sent)}};
    };
    fabric.cap = 48;
    options.window = 16;
    Engine engine(fabric, options);
    for (std::uint16_t lid = 1; lid <= 300; ++lid)
        ask(engine, lid, 1);
    engine.run();
    EXPECT_EQ(fabric.most_outstanding, 48U);
    EXPECT_EQ(outcomes[Outcome::ok], 100U);
    EXPECT_EQ(outcomes[Outcome::timed_out], 200U);
}

TEST_F(RestraintTest, FivePercentDeadCostOneTimeoutOfTwoTries) {
    fabric.answer = [](const Sent &sent) {
        return sent.to.lid % 20 == 0 ? std::vector<Event>{{500ms, timeout_of(sent)}}
                                     : std::vector<Event>{{1ms, reply_to(sent)}};
    };
    Engine engine(fabric, options);
    for (std::uint16_t lid = 1; lid <= 2000; ++lid)
        ask(engine, lid, 3, MadClass::gmp);
    engine.run();
    EXPECT_EQ(outcomes[Outcome::ok], 5700U);
    EXPECT_EQ(outcomes[Outcome::timed_out], 300U);
    EXPECT_LE(fabric.elapsed(), 1200ms);
}

TEST_F(RestraintTest, SilenceOfALidThatHadAnsweredHalvesTheWindowOnceAndRepliesWinItBack) {
    bool fail = false;
    fabric.answer = [&](const Sent &sent) {
        return fail && sent.to.lid == 1 ? std::vector<Event>{{500ms, timeout_of(sent)}}
                                        : std::vector<Event>{{2ms, reply_to(sent)}};
    };
    options.window = 32;
    Engine engine(fabric, options);
    ask(engine, 1, 1);
    engine.run();
    fail = true;
    ask(engine, 1, 2); // both on their way together
    engine.run();
    EXPECT_EQ(engine.stats().slowed, 2U) << "one of each try";
    EXPECT_EQ(engine.window(), 8U);
    for (std::uint16_t lid = 10; lid < 20; ++lid)
        ask(engine, lid, 100);
    engine.run();
    EXPECT_EQ(engine.window(), 32U);
}

TEST_F(RestraintTest, ABusyAgentIsLetAloneForAWhileAndSlowsThePace) {
    unsigned busy = 2;
    fabric.answer = [&](const Sent &sent) {
        const bool refuse = sent.to.lid == 1 && sent.modifier == 0 && busy > 0;
        busy -= refuse ? 1 : 0;
        return std::vector<Event>{{2ms, reply_to(sent, {}, refuse ? 1 : 0)}};
    };
    options.retries = 2;
    Engine engine(fabric, options);
    ask(engine, 1, 3);
    ask(engine, 2, 3);
    engine.run();
    EXPECT_EQ(outcomes[Outcome::ok], 6U);
    EXPECT_EQ(engine.stats().slowed, 1U) << "the second time it was let alone already";
    std::vector<std::chrono::nanoseconds> at;
    for (const Sent &one : fabric.sent)
        if (one.to.lid == 1)
            at.push_back(one.at - fabric.sent.front().at);
    ASSERT_EQ(at.size(), 5U);
    EXPECT_GE(at[1] - at[0], 62ms) << "an eighth of the timeout";
    EXPECT_GE(at[2] - at[1], 125ms) << "and twice that the second time";
    EXPECT_LE(at[4], 220ms);
    for (const Sent &one : fabric.sent)
        if (one.to.lid == 2)
            EXPECT_LE(one.at - fabric.sent.front().at, 10ms) << "others do not wait for it";
}

TEST_F(RestraintTest, SilenceOfALidThatNeverAnsweredIsNoSignOfOverload) {
    fabric.answer = nullptr;
    Engine engine(fabric, options);
    ask(engine, 1, 3);
    engine.run();
    EXPECT_EQ(engine.stats().slowed, 0U);
    EXPECT_EQ(engine.window(), 64U);
}

TEST_F(RestraintTest, TheWindowIsNeverHalvedBelowFour) {
    Engine engine(fabric, options);
    for (unsigned i = 0; i < 10; ++i) {
        engine.slow_down();
        (void)fabric.receive(5ms);
    }
    EXPECT_EQ(engine.window(), 4U);
    ask(engine, 1, 1);
    for (std::uint16_t lid = 1; lid <= 4; ++lid)
        ask(engine, lid, 1);
    engine.run();
    EXPECT_LE(fabric.most_outstanding, 4U);
}

TEST_F(RestraintTest, NoSecondHasMoreMadsThanTheCeiling) {
    options.max_per_second = 250;
    Engine engine(fabric, options);
    for (std::uint16_t lid = 1; lid <= 100; ++lid)
        ask(engine, lid, 10);
    engine.run();
    EXPECT_EQ(outcomes[Outcome::ok], 1000U);
    std::size_t first = 0;
    for (std::size_t last = 0; last < fabric.sent.size(); ++last) {
        while (fabric.sent[last].at - fabric.sent[first].at >= 1s)
            ++first;
        ASSERT_LE(last - first + 1, 250U);
    }
    EXPECT_LE(fabric.elapsed(), 4200ms) << "and the ceiling is used";
}

TEST_F(RestraintTest, TheCeilingHoldsForRetriesAndAloneWithoutAnythingOutstanding) {
    fabric.answer = nullptr;
    options.max_per_second = 2;
    options.timeout = 100ms;
    Engine engine(fabric, options);
    ask(engine, 1, 1);
    ask(engine, 2, 1);
    engine.run();
    ASSERT_EQ(fabric.sent.size(), 4U);
    for (std::size_t i = 2; i < 4; ++i)
        EXPECT_GE(fabric.sent[i].at - fabric.sent[i - 2].at, 1s);
}

/// Gives each reservation the next turn of a clock of its own.
struct FakeCeiling : SharedCeiling {
    FakeTransport *fabric = nullptr;
    unsigned rate = 1000, others = 0; ///< `others`: MADs that somebody else takes between two of ours
    Transport::Clock::time_point next;
    unsigned reserved = 0;
    std::optional<std::chrono::nanoseconds> reserve(unsigned mads, std::chrono::nanoseconds most) noexcept override {
        const auto now = fabric->now();
        const auto at = std::max(now, next);
        if (at - now > most)
            return std::nullopt;
        next = at + std::chrono::nanoseconds(1s) * (mads + others) / rate;
        reserved += mads;
        return at - now;
    }
};

TEST_F(RestraintTest, UnderASharedCeilingAPassTakesWhatTheOthersLeave) {
    const auto ceiling = std::make_shared<FakeCeiling>();
    ceiling->fabric = &fabric;
    ceiling->others = 60; // of each 80
    options.max_per_second = 1000;
    options.ceiling = ceiling;
    Engine engine(fabric, options);
    for (std::uint16_t lid = 1; lid <= 10; ++lid)
        ask(engine, lid, 20);
    engine.run();
    EXPECT_EQ(outcomes[Outcome::ok], 200U);
    EXPECT_GE(fabric.elapsed(), 720ms) << "nine times 80 MADs before the last 20";
    EXPECT_LE(fabric.elapsed(), 760ms);
    EXPECT_EQ(ceiling->reserved, 200U) << "nothing is taken that is not used";
}

TEST_F(RestraintTest, ATurnAfterTheDeadlineIsNotTakenAndNotWaitedFor) {
    const auto ceiling = std::make_shared<FakeCeiling>();
    ceiling->fabric = &fabric;
    options.max_per_second = 1000;
    options.ceiling = ceiling;
    Engine engine(fabric, options);
    for (std::uint16_t lid = 1; lid <= 10; ++lid)
        ask(engine, lid, 20);
    engine.run(Deadline::after(71ms));
    EXPECT_TRUE(engine.ceiling_problem());
    EXPECT_LE(fabric.elapsed(), 66ms);
    EXPECT_EQ(outcomes[Outcome::ok], 80U) << "turns at 0, 20, 40 and 60 ms";
    EXPECT_EQ(outcomes[Outcome::timed_out], 120U);
    EXPECT_EQ(ceiling->reserved, 80U);
    ask(engine, 1, 20);
    engine.run();
    EXPECT_EQ(outcomes[Outcome::ok], 100U) << "another run, another deadline";
}

TEST_F(RestraintTest, AnAgentThatIsAlwaysBusyCostsAPassLittle) {
    fabric.answer = [](const Sent &sent) {
        return std::vector<Event>{{2ms, reply_to(sent, {}, sent.to.lid == 7 ? 1 : 0)}};
    };
    Engine engine(fabric, options);
    for (std::uint16_t lid = 1; lid <= 10; ++lid)
        ask(engine, lid, 120);
    engine.run();
    EXPECT_EQ(outcomes[Outcome::ok], 9U * 120);
    EXPECT_EQ(outcomes[Outcome::timed_out], 120U);
    EXPECT_TRUE(engine.given_up(MadClass::smp, 7));
    EXPECT_LE(fabric.elapsed(), 1000ms);
    EXPECT_EQ(engine.stats().slowed, 1U);
}

struct WatchTest : RestraintTest {
    std::uint16_t dropped = 3;
    unsigned asked = 0;
    bool growing = false;
    WatchTest() {
        options.max_per_second = 200; // makes the pass long
        fabric.answer = [this](const Sent &sent) {
            std::vector<std::uint8_t> data(192);
            if (sent.to.mad_class == MadClass::gmp) {
                ++asked;
                data[1] = sent.port_select;
                data[34] = static_cast<std::uint8_t>(dropped >> 8U);
                data[35] = static_cast<std::uint8_t>(dropped);
                mad_set_field(data.data(), 0, IB_PC_VL15_DROPPED_F, dropped);
                dropped = static_cast<std::uint16_t>(dropped + (growing ? 1 : 0));
            }
            return std::vector<Event>{{2ms, sent.to.mad_class == MadClass::gmp ? reply_to(sent, data) : reply_to(sent)}};
        };
    }
    void long_pass(Engine &engine) {
        watch_vl15(engine, 77, 5);
        for (std::uint16_t lid = 1; lid <= 20; ++lid)
            ask(engine, lid, 20);
        engine.run();
        EXPECT_EQ(outcomes[Outcome::ok], 400U);
    }
};

TEST_F(WatchTest, GrowthOfVL15DroppedSlowsALongPassDown) {
    growing = true;
    Engine engine(fabric, options);
    long_pass(engine);
    EXPECT_GE(asked, 5U);
    EXPECT_EQ(engine.stats().slowed, asked - 1);
}

TEST_F(WatchTest, VL15DroppedThatStandsStillSlowsNothing) {
    Engine engine(fabric, options);
    long_pass(engine);
    EXPECT_GE(asked, 5U);
    EXPECT_EQ(engine.stats().slowed, 0U);
}

TEST_F(WatchTest, TheWatchLeavesALowCeilingToThePass) {
    options.max_per_second = 20;
    Engine engine(fabric, options);
    watch_vl15(engine, 77, 5);
    for (std::uint16_t lid = 1; lid <= 10; ++lid)
        ask(engine, lid, 4);
    engine.run();
    EXPECT_EQ(outcomes[Outcome::ok], 40U);
    EXPECT_LE(asked, 4U);
    EXPECT_LE(fabric.elapsed(), 2300ms);
}

TEST_F(WatchTest, AShortPassIsWatchedFromItsBeginning) {
    options.max_per_second = 0;
    Engine engine(fabric, options);
    long_pass(engine);
    EXPECT_GE(asked, 1U);
    EXPECT_EQ(fabric.sent.front().to.lid, 77) << "what it was before we asked anything";
    EXPECT_EQ(fabric.outstanding(), 0U) << "its answer is waited for";
}

TEST_F(WatchTest, GrowthBetweenTwoPassesSlowsTheSecondDown) {
    options.max_per_second = 0;
    const auto memory = std::make_shared<Vl15Memory::element_type>();
    for (const unsigned slowed : {0U, 1U}) {
        Engine engine(fabric, options);
        watch_vl15(engine, 77, 5, memory);
        ask(engine, 1, 1);
        engine.run();
        EXPECT_EQ(engine.stats().slowed, slowed);
        ++dropped;
    }
}

TEST_F(WatchTest, AWatchedPortThatIsSilentCostsThePassNothing) {
    const auto answers = fabric.answer;
    fabric.answer = [answers](const Sent &sent) {
        return sent.to.lid == 77 ? std::vector<Event>{} : answers(sent);
    };
    Engine engine(fabric, options);
    long_pass(engine);
    EXPECT_LE(fabric.elapsed(), 2100ms);
    EXPECT_FALSE(engine.given_up(MadClass::gmp, 77));
}

// Random trouble of every kind, against what must hold at each send whatever happens.
TEST_F(RestraintTest, UnderRandomTroubleEachQuestionHasOneReplyAndNoBoundIsBroken) {
    for (unsigned seed = 0; seed < 40; ++seed) {
        std::mt19937 random(seed);
        FakeTransport trouble;
        trouble.cap = 16 + random() % 32;
        options = {};
        options.window = 1 + random() % 40;
        options.smp_per_lid = 1 + random() % 3;
        options.gmp_per_lid = 1 + random() % 5;
        options.timeout = 60ms;
        options.retries = random() % 3;
        options.max_per_second = random() % 2 ? 0 : 2000;
        const std::set<std::uint16_t> dead = {2, 5, 11};
        std::set<std::pair<MadClass, std::uint16_t>> replied;
        std::map<std::pair<MadClass, std::uint16_t>, unsigned> unproven;
        trouble.answer = [&](const Sent &sent) {
            std::vector<Event> events;
            const unsigned dice = random() % 100;
            if (dead.contains(sent.to.lid) || dice < 4) {
                if (random() % 2)
                    events.push_back({60ms, timeout_of(sent)});
                if (random() % 4 == 0 && !dead.contains(sent.to.lid))
                    events.push_back({std::chrono::milliseconds(61 + random() % 200), reply_to(sent)}); // too late
                return events;
            }
            const std::uint16_t status = dice < 8 ? 0x0c : dice < 10 ? 1 : 0;
            for (unsigned copies = 1 + random() % 2; copies > 0; --copies)
                events.push_back({std::chrono::milliseconds(random() % 25), reply_to(sent, {}, status)});
            if (dice > 97) {
                Received foreign = reply_to(sent);
                foreign.mad[1] = 0x0a;
                events.push_back({0ms, foreign});
            }
            return events;
        };
        Engine engine(trouble, options);
        std::vector<unsigned> replies(300);
        for (unsigned i = 0; i < replies.size(); ++i)
            engine.submit({.mad_class = random() % 2 ? MadClass::smp : MadClass::gmp,
                           .lid = static_cast<std::uint16_t>(1 + random() % 16),
                           .attribute = 0x12,
                           .modifier = i,
                           .probe = random() % 10 == 0},
                          [&replies, i](const Reply &) { ++replies[i]; });
        engine.run(random() % 4 ? Deadline::never() : Deadline::after(150ms));
        EXPECT_TRUE(std::all_of(replies.begin(), replies.end(), [](unsigned n) { return n == 1; })) << seed;
        EXPECT_LE(engine.stats().most_outstanding, trouble.cap) << seed;
        EXPECT_GE(engine.window(), std::min(4U, std::min(options.window, trouble.cap))) << seed;
    }
}

} // namespace
} // namespace fabric_check::mad
