// SPDX-License-Identifier: GPL-2.0-or-later
#include "sample/differ.hpp"

#include "sample/samples.hpp"

namespace fabric_check::sample {
namespace {

using namespace testing;
using ::testing::IsEmpty;
using ::testing::SizeIs;

struct SampleDiffer : ::testing::Test {
    Layout layout = layout_of(two_switches());
    Differ differ{layout};
    PortId id{switch_a, 13};
    std::uint32_t column = *layout.find(id);
    Pass next(unsigned n, std::uint64_t bytes = 0) { return pass_at(layout, epoch + 30 * second * n, bytes); }
    Block block(const Pass &pass) {
        const auto found = differ.block(pass);
        EXPECT_TRUE(found);
        differ.accept(pass);
        return *found;
    }
    static Reading &counter(Pass &pass, const PortId &of, const char *name) { return port_of(pass, of).counters[name]; }
    std::vector<Event> events_of(const Block &block) const {
        std::vector<Event> found;
        for (const Event &event : block.events)
            if (event.port == column)
                found.push_back(event);
        return found;
    }
};

TEST_F(SampleDiffer, TheFirstPassMakesNoInterval) { EXPECT_FALSE(differ.block(next(0))); }

TEST_F(SampleDiffer, RatesAreSharesOfTheLineRate) {
    differ.accept(next(0));
    const Block half = block(next(1, static_cast<std::uint64_t>(hdr_bytes_s * 15)));
    EXPECT_EQ(half.xmit[column], 100);
    EXPECT_EQ(half.rcv[column], 100);
    EXPECT_EQ(half.wait[column], 0);
    EXPECT_EQ(half.from_ns, epoch);
    EXPECT_EQ(half.to_ns, epoch + 30 * second);
    EXPECT_THAT(half.events, IsEmpty());
}

TEST_F(SampleDiffer, ErrorsAreKeptExactly) {
    differ.accept(next(0));
    Pass pass = next(1);
    counter(pass, id, "SymbolErrorCounter") = Reading::of(17, 16);
    const Block moved = block(pass);
    ASSERT_THAT(moved.events, SizeIs(1));
    EXPECT_EQ(moved.events[0], (Event{column, 0, EventKind::moved, Absence::absent, 0, 17}));
    EXPECT_EQ(moved.names[0], "SymbolErrorCounter");
}

TEST_F(SampleDiffer, AResetIsAnEventAndNoRate) {
    differ.accept(next(0, 4000));
    const Block reset = block(next(1, 400));
    EXPECT_EQ(reset.xmit[column], unknown_code);
    const auto events = events_of(reset);
    ASSERT_THAT(events, SizeIs(2));
    EXPECT_EQ(events[0].kind, EventKind::reset);
    EXPECT_EQ(events[0].before, 1000U);
    EXPECT_EQ(events[0].after, 100U);
}

TEST_F(SampleDiffer, A32BitCounterAtItsCapIsSaturatedNotZero) {
    Pass first = next(0);
    counter(first, id, "PortXmitData") = Reading::of(5, 32);
    differ.accept(first);
    Pass full = next(1);
    counter(full, id, "PortXmitData") = Reading::of(0xffffffff, 32);
    const Block block1 = block(full);
    EXPECT_EQ(block1.xmit[column], unknown_code);
    ASSERT_THAT(events_of(block1), SizeIs(1));
    EXPECT_EQ(events_of(block1)[0].kind, EventKind::saturated);
    Pass still = next(2);
    counter(still, id, "PortXmitData") = Reading::of(0xffffffff, 32);
    const Block block2 = block(still);
    EXPECT_EQ(block2.xmit[column], unknown_code);
    EXPECT_THAT(events_of(block2), IsEmpty()) << "it reaches its cap once";
}

TEST_F(SampleDiffer, ASilentPortIsAGapWithItsReason) {
    differ.accept(next(0));
    Pass silent = next(1);
    for (auto &[name, reading] : port_of(silent, id).counters)
        reading = Reading::missing(Absence::timed_out);
    const Block gap = block(silent);
    EXPECT_EQ(gap.xmit[column], unknown_code);
    ASSERT_THAT(events_of(gap), SizeIs(1));
    EXPECT_EQ(events_of(gap)[0].kind, EventKind::silent);
    EXPECT_EQ(events_of(gap)[0].why, Absence::timed_out);
    Pass back = next(2, 1000);
    counter(back, id, "SymbolErrorCounter") = Reading::of(3, 16);
    const Block after = block(back);
    EXPECT_EQ(after.xmit[column], unknown_code) << "its rate in this interval is nobody's knowledge";
    ASSERT_THAT(events_of(after), SizeIs(1)) << "its errors are";
    EXPECT_EQ(events_of(after)[0].after, 3U);
    EXPECT_EQ(block(next(3, 1000)).xmit[column], 0);
}

TEST_F(SampleDiffer, ACounterThatCannotBeReadAnyMoreIsToldOnce) {
    differ.accept(next(0));
    for (unsigned n = 1; n < 3; ++n) {
        Pass pass = next(n);
        counter(pass, id, "SymbolErrorCounter") = Reading::missing(Absence::denied);
        const auto events = events_of(block(pass));
        ASSERT_THAT(events, SizeIs(n == 1 ? 1 : 0));
        if (n == 1) {
            EXPECT_EQ(events[0].kind, EventKind::unread);
            EXPECT_EQ(events[0].why, Absence::denied);
        }
    }
}

TEST_F(SampleDiffer, AClockSetBackMakesNoInterval) {
    differ.accept(next(5));
    EXPECT_FALSE(differ.block(next(4)));
    EXPECT_FALSE(differ.block(next(5)));
    differ.accept(next(4));
    EXPECT_TRUE(differ.block(next(5)));
}

TEST_F(SampleDiffer, WhatGrowsOnASoundLinkIsNoEvent) {
    EXPECT_TRUE(keeps_movement("LinkDownedCounter"));
    EXPECT_TRUE(keeps_movement("VL15Dropped"));
    for (const char *name : {"PortXmitData", "PortXmitPkts", "PortXmitWait", "PortRcvSwitchRelayErrors",
                             "PortFECCorrectedSymbolCtr", "NobodyKnows"})
        EXPECT_FALSE(keeps_movement(name)) << name;
}

} // namespace
} // namespace fabric_check::sample
