// SPDX-License-Identifier: GPL-2.0-or-later
#include "mad/port_reader.hpp"

#include "fabric/fabrics.hpp"
#include "fake_switches.hpp"

#include <gtest/gtest.h>

namespace fabric_check::mad {
namespace {

namespace ft = fabric::testing;

struct PortReaderTest : testing::Test {
    FakeSwitches fabric{ft::two_switches(ft::even())};
    Engine engine{fabric.transport};
    PortReader reader{engine};
    std::map<unsigned, PortReading> got;

    void ask(std::uint16_t lid, unsigned port) {
        reader.ask(lid, port, [this, port](PortReading reading) {
            EXPECT_FALSE(got.contains(port)) << "told twice";
            got[port] = std::move(reading);
        });
    }
    unsigned sent(MadClass mad_class, std::uint16_t attribute, std::optional<std::uint32_t> modifier = {}) const {
        return static_cast<unsigned>(
            std::count_if(fabric.transport.sent.begin(), fabric.transport.sent.end(), [&](const Sent &one) {
                return one.to.mad_class == mad_class && one.attribute == attribute &&
                       (!modifier || one.modifier == *modifier);
            }));
    }
};

TEST_F(PortReaderTest, PortGivesStateRateAndBothKindsOfCounters) {
    ask(41, 5);
    engine.run();
    ASSERT_TRUE(got.contains(5) && got[5].info);
    EXPECT_EQ(got[5].info->state_name(), "ACTIVE");
    EXPECT_TRUE(got[5].extended_speeds);
    EXPECT_EQ(got[5].info->rate(got[5].extended_speeds).speed, "HDR");
    const auto mark = FakeSwitches::mark(41, 5);
    EXPECT_EQ(got[5].counters["SymbolErrorCounter"], Reading::of(mark, 16));
    EXPECT_EQ(got[5].counters["PortXmitData"], Reading::of((1ULL << 40U) + mark, 64));
}

TEST_F(PortReaderTest, WhatHoldsForTheSwitchIsAskedOnce) {
    for (unsigned port = 1; port <= 20; ++port)
        ask(41, port);
    engine.run();
    ask(41, 21);
    engine.run();
    EXPECT_EQ(got.size(), 21U);
    EXPECT_EQ(sent(MadClass::gmp, attribute::class_port_info), 1U);
    EXPECT_EQ(sent(MadClass::smp, attribute::port_info, 0), 1U);
    EXPECT_EQ(fabric.transport.sent.size(), 2U + 3U * 21U + 3U) << "and once for each optional attribute";
    for (auto &[port, reading] : got)
        EXPECT_EQ(reading.counters["SymbolErrorCounter"].value, FakeSwitches::mark(41, port)) << port;
}

TEST_F(PortReaderTest, WithWideErrorsTheClassicAttributeIsNotAsked) {
    fabric.pma_mask2 = 2;
    ask(41, 1);
    engine.run();
    EXPECT_EQ(sent(MadClass::gmp, attribute::port_counters), 0U);
    EXPECT_EQ(got[1].counters["SymbolErrorCounter"].width, 64);
}

TEST_F(PortReaderTest, WithoutTheExtendedAttributeDataComesFromTheClassicOne) {
    fabric.pma_mask = 0;
    ask(41, 1);
    engine.run();
    EXPECT_EQ(sent(MadClass::gmp, attribute::port_counters_extended), 0U);
    EXPECT_EQ(got[1].counters["PortXmitData"].width, 32);
}

TEST_F(PortReaderTest, SilentPmaLeavesEveryCounterTimedOutAndPortInfoIntact) {
    fabric.silent = {{MadClass::gmp, 41}};
    ask(41, 1);
    ask(41, 2);
    engine.run();
    ASSERT_EQ(got.size(), 2U);
    EXPECT_TRUE(got[2].info);
    EXPECT_EQ(got[2].counters["SymbolErrorCounter"], Reading::missing(Absence::timed_out));
    EXPECT_EQ(got[2].counters["PortXmitData"], Reading::missing(Absence::timed_out));
    EXPECT_EQ(got[2].counters["PortXmitWait"], Reading::missing(Absence::timed_out))
        << "nobody said that it is unsupported";
}

TEST_F(PortReaderTest, SilentSmaLeavesTheCountersIntact) {
    fabric.silent = {{MadClass::smp, 41}};
    ask(41, 1);
    engine.run();
    EXPECT_FALSE(got[1].info);
    EXPECT_EQ(got[1].info_outcome, Outcome::timed_out);
    EXPECT_EQ(got[1].counters["SymbolErrorCounter"].value, FakeSwitches::mark(41, 1));
}

TEST_F(PortReaderTest, WithoutPortZerosCapabilityTheExtendedSpeedIsNotBelieved) {
    fabric.port0_capmask = 0;
    ask(41, 1);
    engine.run();
    EXPECT_FALSE(got[1].extended_speeds);
    EXPECT_EQ(got[1].info->rate(got[1].extended_speeds).speed, "QDR");
}

TEST_F(PortReaderTest, OptionalAttributesAreAskedOfEveryPortOnceTheFirstHasAnswered) {
    fabric.details = {attribute::port_xmit_discard_details};
    for (unsigned port = 1; port <= 5; ++port)
        ask(41, port);
    engine.run();
    EXPECT_EQ(sent(MadClass::gmp, attribute::port_xmit_discard_details), 5U);
    EXPECT_EQ(sent(MadClass::gmp, attribute::port_rcv_error_details), 1U) << "refused for the first port";
    EXPECT_EQ(sent(MadClass::gmp, attribute::port_extended_speeds_counters), 1U);
    for (unsigned port = 1; port <= 5; ++port) {
        EXPECT_EQ(got[port].counters["PortSwHOQLifetimeLimitDiscards"], Reading::of(FakeSwitches::mark(41, port), 16));
        EXPECT_FALSE(got[port].counters.contains("PortLocalPhysicalErrors")) << "not missing: the switch has none";
    }
}

TEST_F(PortReaderTest, AnOptionalAttributeThatIsNeverAnsweredCostsNothingElse) {
    fabric.pma_mask |= 1U << 14U; // FEC, and PortInfoExtended then
    fabric.transport.answer = [this](const Sent &sent) {
        const bool optional = sent.attribute == attribute::port_info_extended ||
                              (sent.to.mad_class == MadClass::gmp &&
                               (sent.attribute == attribute::port_rcv_error_details ||
                                sent.attribute == attribute::port_xmit_discard_details));
        return optional ? std::vector<FakeTransport::Event>{{std::chrono::milliseconds(500), timeout_of(sent)}}
                        : fabric.answer(sent);
    };
    for (unsigned port = 1; port <= 5; ++port)
        ask(41, port);
    engine.run();
    EXPECT_EQ(sent(MadClass::gmp, attribute::port_xmit_discard_details), 1U) << "one try, for the first port";
    ASSERT_EQ(got.size(), 5U);
    EXPECT_EQ(got[5].counters["SymbolErrorCounter"].value, FakeSwitches::mark(41, 5));
    EXPECT_FALSE(engine.given_up(MadClass::gmp, 41));
    EXPECT_FALSE(engine.given_up(MadClass::smp, 41));
}

TEST_F(PortReaderTest, TheLayoutOfForwardErrorCorrectionIsAskedForWhereThereAreTwo) {
    fabric.pma_mask |= 1U << 14U;
    fabric.details = {attribute::port_extended_speeds_counters, attribute::port_info_extended};
    ask(41, 1);
    engine.run();
    EXPECT_EQ(got[1].counters["PortFECUncorrectableBlockCtr"], Reading::of(FakeSwitches::mark(41, 1), 32));
    got.clear();
    fabric.fec_mode = 1;
    ask(41, 2);
    engine.run();
    EXPECT_FALSE(got[2].counters.contains("PortFECUncorrectableBlockCtr"));
    EXPECT_TRUE(got[2].counters.contains("FECUncorrectableBlockCtrLane0"));
    got.clear();
    fabric.details.erase(attribute::port_info_extended);
    ask(41, 3);
    engine.run();
    EXPECT_FALSE(got[3].counters.contains("SyncHeaderErrorCounter")) << "a layout that is not known is not read";
}

TEST_F(PortReaderTest, WithoutDetailsNoOptionalAttributeIsAsked) {
    fabric.details = {attribute::port_xmit_discard_details};
    PortReader plain(engine, {.info = true, .details = false});
    bool told = false;
    plain.ask(41, 1, [&](const PortReading &reading) {
        told = true;
        EXPECT_FALSE(reading.counters.contains("PortInactiveDiscards"));
    });
    engine.run();
    EXPECT_TRUE(told);
    EXPECT_EQ(fabric.transport.sent.size(), 2U + 3U);
}

TEST_F(PortReaderTest, WithoutInfoNoSubnetManagementPacketIsSent) {
    PortReader plain(engine, {.info = false, .details = false});
    Counters counters;
    plain.ask(41, 5, [&](PortReading reading) { counters = std::move(reading.counters); });
    engine.run();
    EXPECT_EQ(counters["SymbolErrorCounter"], Reading::of(FakeSwitches::mark(41, 5), 16));
    EXPECT_EQ(fabric.transport.sent.size(), 3U) << "ClassPortInfo, and the two attributes of counters";
}

TEST_F(PortReaderTest, WhatWasPreparedIsNotAskedAgain) {
    reader.prepare(41);
    engine.run();
    EXPECT_EQ(fabric.transport.sent.size(), 2U) << "port 0's PortInfo and ClassPortInfo";
    ask(41, 5);
    engine.run();
    EXPECT_EQ(sent(MadClass::gmp, attribute::class_port_info), 1U);
    EXPECT_TRUE(got[5].extended_speeds);
}

} // namespace
} // namespace fabric_check::mad
