// SPDX-License-Identifier: GPL-2.0-or-later
// How a MAD reaches its agent: service level, P_Key, M_Key, redirection.
#include "mad/engine.hpp"

#include "fake_transport.hpp"
#include "mad/attributes.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace fabric_check::mad {
namespace {

using namespace std::chrono_literals;
using Event = FakeTransport::Event;

struct EngineRouteTest : testing::Test {
    FakeTransport fabric;
    EngineOptions options;
    std::map<Outcome, unsigned> outcomes;
    unsigned sl = 5;
    std::chrono::milliseconds sa_delay{3};
    bool sa_silent = false;
    std::uint16_t sa_status = 0;

    EngineRouteTest() {
        options.timeout = 100ms;
        options.ask_sl = SlQuery{40, 9, 2};
        fabric.answer = [this](const Sent &sent) { return answer(sent); };
    }
    std::vector<Event> answer(const Sent &sent) {
        if (sent.to.mad_class != MadClass::sa)
            return {{1ms, reply_to(sent)}};
        if (sa_silent)
            return {{100ms, timeout_of(sent)}};
        Received reply = reply_to(sent, {}, sa_status);
        mad_set_field(reply.mad.data(), 56, IB_SA_PR_SL_F, sl);
        return {{sa_delay, reply}};
    }
    void ask(Engine &engine, MadClass mad_class, std::uint16_t lid) {
        engine.submit({.mad_class = mad_class, .lid = lid, .attribute = 0x12},
                      [this](const Reply &reply) { ++outcomes[reply.outcome]; });
    }
    std::vector<const Sent *> sent(MadClass mad_class) const {
        std::vector<const Sent *> found;
        for (const Sent &one : fabric.sent)
            if (one.to.mad_class == mad_class)
                found.push_back(&one);
        return found;
    }
};

TEST_F(EngineRouteTest, GmpsTravelOnTheServiceLevelThatSubnetAdministrationTells) {
    Engine engine(fabric, options);
    ask(engine, MadClass::gmp, 21);
    ask(engine, MadClass::gmp, 22);
    engine.run();
    const auto queries = sent(MadClass::sa);
    ASSERT_EQ(queries.size(), 1U);
    Mad query = queries[0]->mad;
    EXPECT_THAT(std::vector(query.begin(), query.begin() + 4), testing::ElementsAre(1, 0x03, 2, 0x01));
    EXPECT_EQ(queries[0]->attribute, IB_SA_ATTR_PATHRECORD);
    EXPECT_EQ(queries[0]->to.lid, 9);
    EXPECT_EQ(queries[0]->to.qp, 1U);
    EXPECT_EQ(queries[0]->to.sl, 2U);
    EXPECT_EQ(mad_get_field64(query.data(), 0, IB_SA_COMPMASK_F), 0x1030U) << "DLID, SLID, NumbPath";
    EXPECT_EQ(mad_get_field(query.data(), 56, IB_SA_PR_DLID_F), 21U);
    EXPECT_EQ(mad_get_field(query.data(), 56, IB_SA_PR_SLID_F), 40U);
    EXPECT_EQ(mad_get_field(query.data(), 56, IB_SA_PR_NPATH_F), 1U);
    for (const Sent *gmp : sent(MadClass::gmp))
        EXPECT_EQ(gmp->to.sl, 5U);
    EXPECT_FALSE(engine.sl_problem());
    EXPECT_EQ(outcomes[Outcome::ok], 2U) << "the query is not the caller's";
}

TEST_F(EngineRouteTest, SmpsFlowWhileTheServiceLevelIsAskedFor) {
    sa_delay = 50ms;
    Engine engine(fabric, options);
    ask(engine, MadClass::gmp, 21);
    for (std::uint16_t lid = 1; lid <= 10; ++lid)
        ask(engine, MadClass::smp, lid);
    engine.run();
    const auto start = fabric.sent.front().at;
    for (const Sent *smp : sent(MadClass::smp))
        EXPECT_LT(smp->at - start, 5ms);
    EXPECT_GE(sent(MadClass::gmp)[0]->at - start, 50ms);
}

TEST_F(EngineRouteTest, SmpsAloneNeedNoServiceLevel) {
    Engine engine(fabric, options);
    ask(engine, MadClass::smp, 1);
    engine.run();
    EXPECT_TRUE(sent(MadClass::sa).empty());
}

TEST_F(EngineRouteTest, ASecondRunDoesNotAskAgain) {
    Engine engine(fabric, options);
    ask(engine, MadClass::gmp, 21);
    engine.run();
    ask(engine, MadClass::gmp, 21);
    engine.run();
    EXPECT_EQ(sent(MadClass::sa).size(), 1U);
    EXPECT_EQ(sent(MadClass::gmp).back()->to.sl, 5U);
}

TEST_F(EngineRouteTest, SilentSubnetAdministrationCostsOneTimeoutAndIsAProblem) {
    sa_silent = true;
    Engine engine(fabric, options);
    ask(engine, MadClass::gmp, 21);
    engine.run();
    EXPECT_EQ(sent(MadClass::sa).size(), 1U);
    EXPECT_EQ(sent(MadClass::gmp)[0]->to.sl, 0U);
    EXPECT_LE(fabric.elapsed(), 105ms);
    EXPECT_EQ(engine.sl_problem(),
              "service level: subnet administration at LID 9: no answer; SL 0 was used (mad.sl sets one)");
    EXPECT_EQ(outcomes[Outcome::ok], 1U);
}

TEST_F(EngineRouteTest, WhatOnlyTheWatchAskedForIsNobodysProblem) {
    sa_silent = true;
    Engine engine(fabric, options);
    engine.watch({.mad_class = MadClass::gmp, .lid = 21, .attribute = IB_GSI_PORT_COUNTERS}, 50ms, nullptr);
    for (unsigned i = 0; i < 40; ++i)
        ask(engine, MadClass::smp, 1);
    engine.run();
    EXPECT_EQ(sent(MadClass::sa).size(), 1U) << "the watch has to get through";
    EXPECT_FALSE(engine.sl_problem());
    ask(engine, MadClass::gmp, 21);
    engine.run();
    EXPECT_THAT(engine.sl_problem().value_or(""), testing::HasSubstr("no answer"));
}

TEST_F(EngineRouteTest, RefusalOfSubnetAdministrationIsAProblem) {
    sa_status = 0x0300; // no records
    Engine engine(fabric, options);
    ask(engine, MadClass::gmp, 21);
    engine.run();
    EXPECT_THAT(engine.sl_problem().value_or(""), testing::HasSubstr("refused"));
    EXPECT_EQ(outcomes[Outcome::ok], 1U);
}

TEST_F(EngineRouteTest, APortThatKnowsNoSubnetManagerAsksNobody) {
    options.ask_sl = SlQuery{40, 0, 0};
    Engine engine(fabric, options);
    ask(engine, MadClass::gmp, 21);
    engine.run();
    EXPECT_TRUE(sent(MadClass::sa).empty());
    EXPECT_THAT(engine.sl_problem().value_or(""), testing::HasSubstr("knows no subnet manager"));
}

TEST_F(EngineRouteTest, ADeadlineDuringTheQueryAnswersTheGmpsThatWaitedForIt) {
    sa_silent = true;
    Engine engine(fabric, options);
    ask(engine, MadClass::gmp, 21);
    engine.run(Deadline::after(30ms));
    EXPECT_EQ(outcomes[Outcome::timed_out], 1U);
    ask(engine, MadClass::gmp, 21);
    engine.run();
    EXPECT_EQ(outcomes[Outcome::ok], 1U) << "and later ones do not wait";
}

TEST_F(EngineRouteTest, TheMKeyIsInSmpsOnly) {
    options.m_key = 0x0123456789abcdefULL;
    options.ask_sl.reset();
    Engine engine(fabric, options);
    ask(engine, MadClass::smp, 1);
    ask(engine, MadClass::gmp, 1);
    engine.run();
    Mad smp = sent(MadClass::smp)[0]->mad, gmp = sent(MadClass::gmp)[0]->mad;
    EXPECT_EQ(mad_get_field64(smp.data(), 0, IB_MAD_MKEY_F), 0x0123456789abcdefULL);
    EXPECT_EQ(mad_get_field64(gmp.data(), 0, IB_MAD_MKEY_F), 0U);
}

TEST_F(EngineRouteTest, AnMKeyThatIsNotOursSilencesSmpsAndLeavesGmps) {
    options.ask_sl.reset();
    fabric.answer = [](const Sent &sent) {
        return sent.to.mad_class == MadClass::smp ? std::vector<Event>{{100ms, timeout_of(sent)}}
                                                  : std::vector<Event>{{1ms, reply_to(sent)}};
    };
    Engine engine(fabric, options);
    for (std::uint16_t lid = 1; lid <= 50; ++lid) {
        ask(engine, MadClass::smp, lid);
        ask(engine, MadClass::gmp, lid);
    }
    engine.run();
    EXPECT_EQ(outcomes[Outcome::ok], 50U);
    EXPECT_EQ(outcomes[Outcome::timed_out], 50U);
    EXPECT_LE(fabric.elapsed(), 250ms);
}

/// A ClassPortInfo that sends the asker on; the attribute is the one asked for, or ClassPortInfo itself.
Received redirect_of(const Sent &sent, std::uint16_t lid, std::uint32_t qp, std::uint16_t pkey, bool own_attribute) {
    std::vector<std::uint8_t> data(192);
    data[25] = 6U << 4U; // RedirectSL
    data[28] = static_cast<std::uint8_t>(lid >> 8U);
    data[29] = static_cast<std::uint8_t>(lid);
    data[30] = static_cast<std::uint8_t>(pkey >> 8U);
    data[31] = static_cast<std::uint8_t>(pkey);
    data[34] = static_cast<std::uint8_t>(qp >> 8U);
    data[35] = static_cast<std::uint8_t>(qp);
    data[36] = 0x80;
    data[37] = 0x02;
    Received reply = reply_to(sent, data, 2);
    if (!own_attribute)
        mad_set_field(reply.mad.data(), 0, IB_MAD_ATTRID_F, 1);
    return reply;
}

struct RedirectTest : EngineRouteTest {
    RedirectTest() {
        options.ask_sl.reset();
        options.pkey_index = 3;
        fabric.pkeys = {{0x8001, 7}};
    }
};

TEST_F(RedirectTest, ARedirectedQuestionIsAskedAgainWhereItsAgentSaysAndSoIsAllThatFollows) {
    for (const bool own_attribute : {false, true}) {
        FakeTransport other;
        other.pkeys = fabric.pkeys;
        other.answer = [own_attribute](const Sent &sent) {
            return std::vector<Event>{{1ms, sent.to.lid == 21 ? redirect_of(sent, 30, 0x0102, 0x8001, own_attribute)
                                                              : reply_to(sent)}};
        };
        Engine engine(other, options);
        for (unsigned i = 0; i < 5; ++i)
            ask(engine, MadClass::gmp, 21);
        engine.run();
        ASSERT_EQ(other.sent.size(), 6U) << "remembered for the LID";
        const Address &to = other.sent[1].to;
        EXPECT_EQ(to.lid, 30);
        EXPECT_EQ(to.qp, 0x0102U);
        EXPECT_EQ(to.qkey, 0x80020000U);
        EXPECT_EQ(to.sl, 6U);
        EXPECT_EQ(to.pkey_index, 7U);
        EXPECT_EQ(engine.stats().redirected, 1U);
    }
    EXPECT_EQ(outcomes[Outcome::ok], 10U);
}

TEST_F(RedirectTest, APKeyThatIsNotInOurTableKeepsTheConfiguredIndex) {
    fabric.answer = [](const Sent &sent) {
        return std::vector<Event>{{1ms, sent.to.lid == 21 ? redirect_of(sent, 30, 1, 0x1234, false) : reply_to(sent)}};
    };
    Engine engine(fabric, options);
    ask(engine, MadClass::gmp, 21);
    engine.run();
    EXPECT_EQ(fabric.sent[1].to.pkey_index, 3U);
}

TEST_F(RedirectTest, TwoRedirectionsAreFollowedAndAThirdIsNot) {
    for (const unsigned hops : {2U, 3U}) {
        FakeTransport other;
        other.answer = [hops](const Sent &sent) {
            const bool on = sent.to.lid < 21 + hops;
            return std::vector<Event>{
                {1ms, on ? redirect_of(sent, static_cast<std::uint16_t>(sent.to.lid + 1), 1, 0xffff, false)
                         : reply_to(sent)}};
        };
        outcomes.clear();
        Engine engine(other, options);
        ask(engine, MadClass::gmp, 21);
        engine.run();
        EXPECT_EQ(other.sent.size(), 3U);
        EXPECT_EQ(outcomes[hops == 2 ? Outcome::ok : Outcome::misdirected], 1U) << hops;
    }
}

TEST_F(RedirectTest, ALoopEndsWithItsReason) {
    fabric.answer = [](const Sent &sent) {
        return std::vector<Event>{{1ms, redirect_of(sent, sent.to.lid == 21 ? 30 : 21, 1, 0xffff, false)}};
    };
    Engine engine(fabric, options);
    for (unsigned i = 0; i < 5; ++i)
        ask(engine, MadClass::gmp, 21);
    engine.run();
    EXPECT_EQ(outcomes[Outcome::misdirected], 5U);
    EXPECT_FALSE(engine.given_up(MadClass::gmp, 21)) << "it is alive";
    EXPECT_STREQ(words(Outcome::misdirected), "redirected to where it cannot be followed");
    EXPECT_EQ(absence_of(Outcome::misdirected), Absence::denied);
}

TEST_F(RedirectTest, ARedirectionWithoutALidIsNotFollowed) {
    fabric.answer = [](const Sent &sent) {
        return std::vector<Event>{{1ms, redirect_of(sent, 0, 1, 0xffff, false)}}; // by GID only
    };
    Engine engine(fabric, options);
    ask(engine, MadClass::gmp, 21);
    engine.run();
    EXPECT_EQ(fabric.sent.size(), 1U);
    EXPECT_EQ(outcomes[Outcome::misdirected], 1U);
}

TEST_F(RedirectTest, SilenceWhereARedirectionLedGivesTheLidUp) {
    fabric.answer = [](const Sent &sent) {
        return sent.to.lid == 21 ? std::vector<Event>{{1ms, redirect_of(sent, 30, 1, 0xffff, false)}}
                                 : std::vector<Event>{{100ms, timeout_of(sent)}};
    };
    Engine engine(fabric, options);
    for (unsigned i = 0; i < 5; ++i)
        ask(engine, MadClass::gmp, 21);
    engine.run();
    EXPECT_EQ(outcomes[Outcome::timed_out], 5U);
    EXPECT_TRUE(engine.given_up(MadClass::gmp, 21));
    EXPECT_LE(fabric.elapsed(), 250ms);
}

} // namespace
} // namespace fabric_check::mad
