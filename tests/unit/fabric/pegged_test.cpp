// SPDX-License-Identifier: GPL-2.0-or-later
#include "fabric/pegged.hpp"

#include "fabric/fabrics.hpp"
#include "mad/fake_switches.hpp"

#include <gmock/gmock.h>

namespace fabric_check::fabric {
namespace {

using mad::FakeSwitches;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

/// SwitchA has LID 41, SwitchB LID 42.
class PeggedCounters : public ::testing::Test {
protected:
    PeggedCounters() : map(testing::two_switches(testing::collapsed())), fabric(map), engine(fabric.transport) {}

    Pegged find() { return find_pegged(engine, map, Deadline::never()); }
    std::uint32_t value(std::uint16_t lid, unsigned port, const char *name) { return fabric.counters.at({lid, port, name}); }

    MapDraft map;
    FakeSwitches fabric;
    mad::Engine engine;
};

TEST_F(PeggedCounters, AreErrorCountersAtTheirCap) {
    fabric.counters = {{{41, 13, "LinkDownedCounter"}, 255},
                       {{41, 14, "LinkDownedCounter"}, 254},
                       {{42, 25, "SymbolErrorCounter"}, 65535},
                       {{42, 25, "PortXmitDiscards"}, 255}};
    const Pegged pegged = find();
    std::vector<std::string> found;
    for (const PeggedCounter &counter : pegged.counters)
        found.push_back(fmt::format("{}:{} {} {}", counter.node, counter.port, counter.counter, counter.value));
    EXPECT_THAT(found, ElementsAre("0:13 LinkDownedCounter 255", "1:25 SymbolErrorCounter 65535"));
    EXPECT_THAT(pegged.problems, IsEmpty());
}

TEST_F(PeggedCounters, AreResetAndNothingElseIs) {
    fabric.counters = {{{41, 13, "LinkDownedCounter"}, 255},
                       {{41, 13, "SymbolErrorCounter"}, 7},
                       {{41, 13, "PortXmitDiscards"}, 9},
                       {{41, 14, "LinkDownedCounter"}, 3}};
    Pegged pegged = find();
    reset_pegged(engine, map, pegged.counters, Deadline::never());
    ASSERT_EQ(pegged.counters.size(), 1U);
    EXPECT_TRUE(pegged.counters[0].reset);
    EXPECT_EQ(pegged.counters[0].problem, "");
    EXPECT_EQ(pegged.counters[0].value, 255U) << "the old value, for the log";
    EXPECT_EQ(value(41, 13, "LinkDownedCounter"), 0U);
    EXPECT_EQ(value(41, 13, "SymbolErrorCounter"), 7U);
    EXPECT_EQ(value(41, 13, "PortXmitDiscards"), 9U);
    EXPECT_EQ(value(41, 14, "LinkDownedCounter"), 3U);
}

TEST_F(PeggedCounters, OfOnePortAreResetByTheirOwnBitsEach) {
    fabric.counters = {{{41, 13, "LinkDownedCounter"}, 255}, {{41, 13, "SymbolErrorCounter"}, 65535}};
    Pegged pegged = find();
    reset_pegged(engine, map, pegged.counters, Deadline::never());
    std::vector<std::uint32_t> selected;
    for (const mad::Sent &sent : fabric.transport.sent) {
        mad::Mad mad = sent.mad;
        if (mad_get_field(mad.data(), 0, IB_MAD_METHOD_F) == IB_MAD_METHOD_SET)
            selected.push_back(mad_get_field(mad.data(), 64, IB_PC_COUNTER_SELECT_F));
    }
    EXPECT_THAT(selected, ElementsAre(1U << 2U, 1U << 0U));
}

TEST_F(PeggedCounters, ThatStayAreSaidTo) {
    fabric.counters = {{{41, 13, "LinkDownedCounter"}, 255}};
    Pegged pegged = find();
    fabric.stubborn = true;
    reset_pegged(engine, map, pegged.counters, Deadline::never());
    EXPECT_FALSE(pegged.counters.at(0).reset);
    EXPECT_EQ(pegged.counters.at(0).problem, "the switch took the request and left the counter");
    fabric.silent.insert({mad::MadClass::gmp, 41});
    reset_pegged(engine, map, pegged.counters, Deadline::never());
    EXPECT_EQ(pegged.counters.at(0).problem, "no answer");
}

TEST_F(PeggedCounters, OfASilentSwitchAreNotKnown) {
    fabric.silent.insert({mad::MadClass::gmp, 42});
    const Pegged pegged = find();
    ASSERT_EQ(pegged.problems.size(), 1U);
    EXPECT_EQ(pegged.problems[0].where, "SwitchB");
    EXPECT_THAT(pegged.problems[0].reason, HasSubstr("counters of 16 ports not read: timed out"));
}

} // namespace
} // namespace fabric_check::fabric
