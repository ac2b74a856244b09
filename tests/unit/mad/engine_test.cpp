// SPDX-License-Identifier: GPL-2.0-or-later
#include "mad/engine.hpp"

#include "fake_transport.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>
#include <set>

namespace fabric_check::mad {
namespace {

using namespace std::chrono_literals;
using Event = FakeTransport::Event;

std::vector<std::uint8_t> stamp(const Sent &sent) {
    return {static_cast<std::uint8_t>(sent.to.lid), static_cast<std::uint8_t>(sent.modifier)};
}
Received stamped_reply(const Sent &sent) {
    return sent.to.mad_class == MadClass::smp ? reply_to(sent, stamp(sent)) : reply_to(sent);
}

struct EngineTest : testing::Test {
    FakeTransport fabric;
    EngineOptions options;
    std::vector<Reply> replies; // data is not kept

    EngineTest() {
        options.timeout = 100ms;
        options.retries = 2;
        fabric.answer = [](const Sent &sent) { return std::vector<Event>{{1ms, stamped_reply(sent)}}; };
    }
    Handler keep() {
        return [this](const Reply &reply) {
            replies.push_back(reply);
            replies.back().data = {};
        };
    }
    unsigned count(Outcome outcome) const {
        return static_cast<unsigned>(
            std::count_if(replies.begin(), replies.end(), [&](const Reply &r) { return r.outcome == outcome; }));
    }
};

TEST_F(EngineTest, RunWithNothingSubmittedReturnsAtOnce) {
    Engine engine(fabric, options);
    engine.run();
    EXPECT_EQ(fabric.receives, 0U);
}

TEST_F(EngineTest, GetIsBuiltAsTheSpecificationSaysForEachClass) {
    Engine engine(fabric, [&] {
        auto o = options;
        o.sl = 3;
        o.pkey_index = 7;
        return o;
    }());
    engine.submit({.lid = 5, .attribute = 0x19, .modifier = 2}, {});
    engine.submit({.mad_class = MadClass::gmp, .lid = 6, .attribute = 0x12, .port_select = 25}, {});
    engine.run();
    ASSERT_EQ(fabric.sent.size(), 2U);
    const Mad &smp = fabric.sent[0].mad;
    EXPECT_THAT(std::vector(smp.begin(), smp.begin() + 4), testing::ElementsAre(1, 0x01, 1, 0x01));
    EXPECT_EQ(fabric.sent[0].attribute, 0x19);
    EXPECT_EQ(fabric.sent[0].modifier, 2U);
    EXPECT_EQ(fabric.sent[0].to.qp, 0U);
    EXPECT_EQ(fabric.sent[0].to.sl, 0U) << "SMPs travel on VL15";
    const Mad &gmp = fabric.sent[1].mad;
    EXPECT_THAT(std::vector(gmp.begin(), gmp.begin() + 4), testing::ElementsAre(1, 0x04, 1, 0x01));
    EXPECT_EQ(fabric.sent[1].port_select, 25);
    EXPECT_EQ(fabric.sent[1].to.qp, 1U);
    EXPECT_EQ(fabric.sent[1].to.qkey, 0x80010000U);
    EXPECT_EQ(fabric.sent[1].to.sl, 3U);
    EXPECT_EQ(fabric.sent[1].to.pkey_index, 7U);
}

TEST_F(EngineTest, RepliesOutOfOrderReachTheirOwnHandlers) {
    fabric.answer = [](const Sent &sent) {
        return std::vector<Event>{{std::chrono::milliseconds(50 - sent.to.lid), stamped_reply(sent)}};
    };
    Engine engine(fabric, options);
    std::vector<int> order;
    for (std::uint16_t lid = 1; lid <= 40; ++lid)
        engine.submit({.lid = lid, .attribute = 0x15, .modifier = lid + 1U}, [&, lid](const Reply &reply) {
            ASSERT_EQ(reply.outcome, Outcome::ok);
            EXPECT_EQ(reply.data.size(), 64U);
            EXPECT_EQ(reply.data[0], lid);
            EXPECT_EQ(reply.data[1], lid + 1);
            order.push_back(lid);
        });
    engine.run();
    ASSERT_EQ(order.size(), 40U);
    EXPECT_EQ(order.front(), 40);
    EXPECT_EQ(order.back(), 1);
}

TEST_F(EngineTest, GmpRepliesCarry192Bytes) {
    Engine engine(fabric, options);
    std::size_t size = 0;
    engine.submit({.mad_class = MadClass::gmp, .lid = 1, .attribute = 0x1d},
                  [&](const Reply &reply) { size = reply.data.size(); });
    engine.run();
    EXPECT_EQ(size, 192U);
}

TEST_F(EngineTest, LostReplyIsAskedAgainUnderAnotherTransaction) {
    fabric.answer = [this](const Sent &sent) {
        return fabric.sent.size() == 1 ? std::vector<Event>{{100ms, timeout_of(sent)}}
                                       : std::vector<Event>{{1ms, reply_to(sent)}};
    };
    Engine engine(fabric, options);
    engine.submit({.lid = 1, .attribute = 0x15}, keep());
    engine.run();
    EXPECT_EQ(count(Outcome::ok), 1U);
    ASSERT_EQ(fabric.sent.size(), 2U);
    EXPECT_NE(fabric.sent[0].id, fabric.sent[1].id);
    EXPECT_EQ(engine.stats().timed_out, 1U);
}

TEST_F(EngineTest, SilenceWithoutATimeoutFromBelowIsNoticedByTheEngine) {
    fabric.answer = nullptr;
    Engine engine(fabric, options);
    engine.submit({.lid = 1, .attribute = 0x15}, keep());
    engine.run();
    EXPECT_EQ(count(Outcome::timed_out), 1U);
    EXPECT_EQ(fabric.sent.size(), 3U);
    EXPECT_LE(fabric.elapsed(), 700ms);
}

TEST_F(EngineTest, DuplicateReplyIsIgnored) {
    fabric.answer = [](const Sent &sent) {
        return std::vector<Event>{{1ms, reply_to(sent)}, {1ms, reply_to(sent)}, {2ms, reply_to(sent)}};
    };
    Engine engine(fabric, options);
    for (unsigned i = 0; i < 8; ++i)
        engine.submit({.lid = 1, .attribute = 0x15, .modifier = i}, keep());
    engine.run();
    EXPECT_EQ(replies.size(), 8U);
    EXPECT_EQ(count(Outcome::ok), 8U);
    EXPECT_GT(engine.stats().ignored, 0U);
}

TEST_F(EngineTest, ReplyToATryAlreadyGivenUpIsIgnored) {
    fabric.answer = [this](const Sent &sent) {
        return fabric.sent.size() == 1
                   ? std::vector<Event>{{100ms, timeout_of(sent)}, {105ms, reply_to(sent, {99})}}
                   : std::vector<Event>{{10ms, reply_to(sent, {1})}};
    };
    Engine engine(fabric, options);
    int value = 0;
    engine.submit({.lid = 1, .attribute = 0x15}, [&](const Reply &reply) { value = reply.data[0]; });
    engine.run();
    EXPECT_EQ(value, 1);
    EXPECT_EQ(engine.stats().ignored, 1U);
}

TEST_F(EngineTest, ForeignClassAttributeOrRequestUnderOurNumberIsNoReply) {
    for (const int which : {0, 1, 2}) {
        FakeTransport other;
        other.answer = [which](const Sent &sent) {
            Received wrong = reply_to(sent);
            if (which == 0)
                mad_set_field(wrong.mad.data(), 0, IB_MAD_MGMTCLASS_F, 4);
            else if (which == 1)
                mad_set_field(wrong.mad.data(), 0, IB_MAD_ATTRID_F, 0x11);
            else
                mad_set_field(wrong.mad.data(), 0, IB_MAD_RESPONSE_F, 0);
            return std::vector<Event>{{1ms, wrong}, {2ms, reply_to(sent)}};
        };
        Engine engine(other, options);
        engine.submit({.lid = 1, .attribute = 0x15}, keep());
        engine.run();
        EXPECT_EQ(engine.stats().ignored, 1U) << which;
        EXPECT_EQ(engine.stats().answered, 1U) << which;
    }
    EXPECT_EQ(count(Outcome::ok), 3U);
}

TEST_F(EngineTest, ShortReplyIsMalformedAndAHeaderlessOneIsIgnored) {
    fabric.answer = [](const Sent &sent) {
        Received headerless = reply_to(sent);
        headerless.length = 23;
        Received shorter = reply_to(sent);
        shorter.length = 127; // an SMP's data ends at 128
        return std::vector<Event>{{1ms, headerless}, {2ms, shorter}};
    };
    Engine engine(fabric, options);
    engine.submit({.lid = 1, .attribute = 0x15}, keep());
    engine.run();
    EXPECT_EQ(count(Outcome::malformed), 1U);
    EXPECT_EQ(engine.stats().ignored, 1U);
}

TEST_F(EngineTest, StatusOtherThanSuccessIsUnsupportedAndKeepsTheLid) {
    fabric.answer = [](const Sent &sent) {
        return std::vector<Event>{{1ms, reply_to(sent, {}, sent.modifier == 0 ? 0x000c : 0)}};
    };
    Engine engine(fabric, options);
    engine.submit({.lid = 1, .attribute = 0x15, .modifier = 0}, keep());
    engine.submit({.lid = 1, .attribute = 0x15, .modifier = 1}, keep());
    engine.run();
    ASSERT_EQ(replies.size(), 2U);
    EXPECT_EQ(replies[0].outcome, Outcome::unsupported);
    EXPECT_EQ(replies[0].status, 0x000c);
    EXPECT_EQ(replies[1].outcome, Outcome::ok);
    EXPECT_FALSE(engine.given_up(MadClass::smp, 1));
}

TEST_F(EngineTest, BusyIsAskedAgainAndThenTimedOutWithoutGivingUpTheLid) {
    fabric.answer = [](const Sent &sent) { return std::vector<Event>{{1ms, reply_to(sent, {}, 1)}}; };
    Engine engine(fabric, options);
    engine.submit({.lid = 1, .attribute = 0x15}, keep());
    engine.run();
    EXPECT_EQ(fabric.sent.size(), 3U);
    EXPECT_EQ(count(Outcome::timed_out), 1U);
    EXPECT_FALSE(engine.given_up(MadClass::smp, 1));
}

TEST_F(EngineTest, AProbeThatIsAnsweredWithBusyTellsNothingOfTheAttribute) {
    fabric.answer = [](const Sent &sent) { return std::vector<Event>{{1ms, reply_to(sent, {}, 1)}}; };
    Engine engine(fabric, options);
    engine.submit({.lid = 1, .attribute = 0xff20, .probe = true}, keep());
    engine.run();
    EXPECT_EQ(fabric.sent.size(), 1U);
    EXPECT_EQ(count(Outcome::timed_out), 1U) << "not refused";
}

TEST_F(EngineTest, DeadLidCostsOneTimeoutHoweverManyQuestionsItHas) {
    fabric.answer = [](const Sent &sent) {
        return sent.to.lid == 9 ? std::vector<Event>{{100ms, timeout_of(sent)}}
                                : std::vector<Event>{{1ms, reply_to(sent)}};
    };
    Engine engine(fabric, options);
    for (unsigned i = 0; i < 50; ++i) {
        engine.submit({.lid = 9, .attribute = 0x15, .modifier = i}, keep());
        engine.submit({.lid = 1, .attribute = 0x15, .modifier = i}, keep());
    }
    engine.run();
    EXPECT_EQ(count(Outcome::timed_out), 50U);
    EXPECT_EQ(count(Outcome::ok), 50U);
    EXPECT_LE(fabric.elapsed(), 310ms); // first try and two retries
    EXPECT_LE(fabric.sent.size(), 50U + 6U);
    EXPECT_TRUE(engine.given_up(MadClass::smp, 9));

    engine.submit({.lid = 9, .attribute = 0x15}, keep());
    const auto before = fabric.sent.size();
    engine.run();
    EXPECT_EQ(count(Outcome::timed_out), 51U) << "asked again, a dead LID is refused at once";
    EXPECT_EQ(fabric.sent.size(), before);
}

TEST_F(EngineTest, SilentSmaDoesNotCostThePma) {
    fabric.answer = [](const Sent &sent) {
        return sent.to.mad_class == MadClass::smp ? std::vector<Event>{}
                                                  : std::vector<Event>{{1ms, reply_to(sent)}};
    };
    Engine engine(fabric, options);
    engine.submit({.lid = 9, .attribute = 0x15}, keep());
    engine.run();
    engine.submit({.mad_class = MadClass::gmp, .lid = 9, .attribute = 0x12}, keep());
    engine.run();
    EXPECT_EQ(count(Outcome::timed_out), 1U);
    EXPECT_EQ(count(Outcome::ok), 1U);
}

TEST_F(EngineTest, SilenceToAProbeIsOneTryAndGivesNothingUp) {
    fabric.answer = [](const Sent &sent) {
        return sent.attribute == 0xff20 ? std::vector<Event>{{100ms, timeout_of(sent)}}
                                        : std::vector<Event>{{1ms, reply_to(sent)}};
    };
    Engine engine(fabric, options);
    engine.submit({.lid = 1, .attribute = 0xff20, .probe = true}, keep());
    engine.run();
    EXPECT_EQ(fabric.sent.size(), 1U);
    EXPECT_EQ(count(Outcome::timed_out), 1U);
    EXPECT_FALSE(engine.given_up(MadClass::smp, 1));
}

TEST_F(EngineTest, WindowsAreNeverExceededAndAreUsedFully) {
    std::mt19937 random(7);
    fabric.answer = [&](const Sent &sent) {
        return std::vector<Event>{{std::chrono::milliseconds(10 + random() % 20), stamped_reply(sent)}};
    };
    options.window = 10;
    Engine engine(fabric, options);
    for (unsigned i = 0; i < 400; ++i) {
        const auto lid = static_cast<std::uint16_t>(1 + random() % 7);
        const auto mad_class = i % 2 ? MadClass::smp : MadClass::gmp;
        engine.submit({.mad_class = mad_class, .lid = lid, .attribute = 0x12, .modifier = i}, keep());
    }
    engine.run();
    EXPECT_EQ(replies.size(), 400U);
    EXPECT_EQ(fabric.most_outstanding, 10U);
    EXPECT_EQ(engine.stats().most_outstanding, 10U);
    for (const auto &[where, most] : fabric.most_by_lid)
        EXPECT_LE(most, where.first == MadClass::smp ? 2U : 4U) << "lid " << where.second;
}

TEST_F(EngineTest, OneLidAloneIsAskedWithItsOwnWindow) {
    Engine engine(fabric, options);
    for (unsigned i = 0; i < 20; ++i) {
        engine.submit({.lid = 3, .attribute = 0x15, .modifier = i}, keep());
        engine.submit({.mad_class = MadClass::gmp, .lid = 3, .attribute = 0x12}, keep());
    }
    engine.run();
    EXPECT_EQ((fabric.most_by_lid[{MadClass::smp, 3}]), 2U);
    EXPECT_EQ((fabric.most_by_lid[{MadClass::gmp, 3}]), 4U);
    EXPECT_EQ(count(Outcome::ok), 40U);
}

TEST_F(EngineTest, WindowIsCappedWhateverIsConfigured) {
    options.window = 100000;
    for (const unsigned cap : {Transport::most_outstanding, 128U}) {
        FakeTransport narrow;
        narrow.answer = fabric.answer;
        narrow.cap = cap;
        Engine engine(narrow, options);
        for (std::uint16_t lid = 1; lid <= 1000; ++lid)
            engine.submit({.lid = lid, .attribute = 0x15}, keep());
        engine.run();
        EXPECT_EQ(narrow.most_outstanding, std::min(cap, max_window));
    }
    EXPECT_EQ(count(Outcome::ok), 2000U);
}

TEST_F(EngineTest, ZeroWindowsStillMakeProgress) {
    options.window = options.smp_per_lid = options.gmp_per_lid = 0;
    options.timeout = 0ms;
    Engine engine(fabric, options);
    engine.submit({.lid = 1, .attribute = 0x15}, keep());
    engine.submit({.lid = 2, .attribute = 0x15}, keep());
    engine.run();
    EXPECT_EQ(count(Outcome::ok), 2U);
    EXPECT_EQ(fabric.most_outstanding, 1U);
}

TEST_F(EngineTest, DeadlineEndsThePassWithWhatCameInTime) {
    fabric.answer = [](const Sent &sent) {
        return sent.to.lid < 4 ? std::vector<Event>{{5ms, reply_to(sent)}} : std::vector<Event>{};
    };
    options.timeout = 500ms;
    Engine engine(fabric, options);
    for (std::uint16_t lid = 1; lid <= 8; ++lid)
        for (unsigned i = 0; i < 5; ++i)
            engine.submit({.lid = lid, .attribute = 0x15, .modifier = i}, keep());
    engine.run(Deadline::after(200ms));
    EXPECT_EQ(count(Outcome::ok), 15U);
    EXPECT_EQ(count(Outcome::timed_out), 25U);
    EXPECT_LE(fabric.elapsed(), 205ms);
}

TEST_F(EngineTest, PassedDeadlineSendsNothingAndAnswersAll) {
    Engine engine(fabric, options);
    for (unsigned i = 0; i < 5; ++i)
        engine.submit({.lid = 1, .attribute = 0x15, .modifier = i}, keep());
    engine.run(Deadline::after(0ms));
    EXPECT_EQ(count(Outcome::timed_out), 5U);
    EXPECT_TRUE(fabric.sent.empty());
}

TEST_F(EngineTest, ReplyAfterTheDeadlineIsIgnoredByTheNextRun) {
    fabric.answer = [](const Sent &sent) {
        return std::vector<Event>{{sent.modifier == 0 ? 60ms : 1ms, stamped_reply(sent)}};
    };
    Engine engine(fabric, options);
    engine.submit({.lid = 1, .attribute = 0x15, .modifier = 0}, keep());
    engine.run(Deadline::after(50ms));
    for (unsigned i = 1; i <= 30; ++i)
        engine.submit({.lid = 1, .attribute = 0x15, .modifier = i}, keep());
    engine.run();
    EXPECT_EQ(count(Outcome::timed_out), 1U);
    EXPECT_EQ(count(Outcome::ok), 30U);
    EXPECT_EQ(engine.stats().ignored, 1U);
}

TEST_F(EngineTest, HandlersMaySubmitMoreWhichTheSameRunAnswers) {
    Engine engine(fabric, options);
    unsigned depth = 0;
    std::function<void(const Reply &)> deeper = [&](const Reply &) {
        if (++depth < 10)
            engine.submit({.lid = static_cast<std::uint16_t>(depth), .attribute = 0x15}, deeper);
    };
    engine.submit({.lid = 1, .attribute = 0x15}, deeper);
    engine.run();
    EXPECT_EQ(depth, 10U);
}

TEST_F(EngineTest, HandlersThatSubmitToADeadLidAreAnsweredToo) {
    fabric.answer = nullptr;
    Engine engine(fabric, options);
    unsigned answered = 0;
    std::function<void(const Reply &)> again = [&](const Reply &reply) {
        EXPECT_EQ(reply.outcome, Outcome::timed_out);
        if (++answered < 5)
            engine.submit({.lid = 1, .attribute = 0x15}, again);
    };
    engine.submit({.lid = 1, .attribute = 0x15}, again);
    engine.run();
    EXPECT_EQ(answered, 5U);
    EXPECT_EQ(fabric.sent.size(), 3U);
}

TEST_F(EngineTest, FullTransportIsTriedAgainAfterAReply) {
    fabric.room = 3;
    Engine engine(fabric, options);
    for (std::uint16_t lid = 1; lid <= 50; ++lid)
        engine.submit({.lid = lid, .attribute = 0x15}, keep());
    engine.run();
    EXPECT_EQ(count(Outcome::ok), 50U);
    EXPECT_EQ(engine.stats().timed_out, 0U);
}

TEST_F(EngineTest, TransportThatTakesNothingEndsAsTimedOut) {
    fabric.room = 0;
    Engine engine(fabric, options);
    engine.submit({.lid = 1, .attribute = 0x15}, keep());
    engine.run();
    EXPECT_EQ(count(Outcome::timed_out), 1U);
}

TEST_F(EngineTest, BrokenTransportAnswersEverythingAndKeepsTheReason) {
    fabric.broken = Error{Errc::unavailable, "umad: cannot receive: No such device"};
    Engine engine(fabric, options);
    for (unsigned i = 0; i < 5; ++i)
        engine.submit({.lid = 1, .attribute = 0x15, .modifier = i}, keep());
    engine.run();
    EXPECT_EQ(count(Outcome::timed_out), 5U);
    ASSERT_TRUE(engine.failure());
    EXPECT_EQ(engine.failure()->message, "umad: cannot receive: No such device");
}

// Against a brute-force twin: with random loss, duplication and delay every question gets exactly one reply, and only
// LIDs that never answer are given up.
TEST_F(EngineTest, EveryQuestionGetsExactlyOneReplyUnderRandomTrouble) {
    for (unsigned seed = 0; seed < 30; ++seed) {
        std::mt19937 random(seed);
        FakeTransport trouble;
        const std::set<std::uint16_t> dead = {2, 5};
        trouble.answer = [&](const Sent &sent) {
            std::vector<Event> events;
            if (dead.contains(sent.to.lid) || random() % 50 == 0)
                return random() % 2 ? std::vector<Event>{{100ms, timeout_of(sent)}} : events;
            for (unsigned copies = 1 + random() % 3; copies > 0; --copies)
                events.push_back({std::chrono::milliseconds(random() % 90), stamped_reply(sent)});
            return events;
        };
        options.retries = 6; // seven losses in a row do not happen at 2 %
        Engine engine(trouble, options);
        std::map<std::pair<unsigned, unsigned>, unsigned> got;
        for (unsigned i = 0; i < 200; ++i) {
            const auto lid = static_cast<std::uint16_t>(1 + random() % 8);
            engine.submit({.lid = lid, .attribute = 0x15, .modifier = i}, [&, lid, i](const Reply &reply) {
                ++got[{lid, i}];
                EXPECT_EQ(reply.outcome, dead.contains(lid) ? Outcome::timed_out : Outcome::ok);
                if (reply.outcome == Outcome::ok) {
                    EXPECT_EQ(reply.data[1], static_cast<std::uint8_t>(i));
                }
            });
        }
        engine.run();
        EXPECT_EQ(got.size(), 200U);
        EXPECT_TRUE(std::all_of(got.begin(), got.end(), [](const auto &one) { return one.second == 1; }));
    }
}

TEST(AbsenceOfOutcome, EachFailureHasItsOwnReason) {
    EXPECT_EQ(absence_of(Outcome::unsupported), Absence::unsupported);
    EXPECT_EQ(absence_of(Outcome::timed_out), Absence::timed_out);
    EXPECT_EQ(absence_of(Outcome::malformed), Absence::unparsable);
}

} // namespace
} // namespace fabric_check::mad
