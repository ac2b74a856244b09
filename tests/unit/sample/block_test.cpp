// SPDX-License-Identifier: GPL-2.0-or-later
#include "sample/samples.hpp"

#include <random>

namespace fabric_check::sample {
namespace {

using namespace testing;

TEST(SampleLayout, HasEveryPortWithACableAndKnowsTheOtherEnd) {
    const Layout layout = layout_of(two_switches());
    EXPECT_EQ(layout.ports.size(), 20U + 16U);
    const auto isl = layout.find({switch_a, 13}), end = layout.find({switch_b, 25}), host = layout.find({switch_a, 1});
    ASSERT_TRUE(isl && end && host);
    EXPECT_EQ(layout.ports[*isl].peer, *end);
    EXPECT_EQ(layout.ports[*end].peer, *isl);
    EXPECT_EQ(layout.ports[*host].peer, no_peer);
    EXPECT_EQ(layout.ports[*host].line_bytes_s(), hdr_bytes_s);
    EXPECT_FALSE(layout.find({switch_a, 30})) << "nothing is plugged in there";
}

TEST(SampleLayout, SwitchWithoutALidIsLeftOut) {
    auto draft = fabric::testing::two_switches(fabric::testing::even());
    draft.nodes[1].lid = 0;
    const Layout layout = layout_of(fabric::Map(draft));
    EXPECT_EQ(layout.ports.size(), 20U);
    EXPECT_EQ(layout.ports[12].peer, no_peer);
}

TEST(SampleLayout, ComesBackAsItWas) {
    const Layout layout = layout_of(two_switches());
    const auto again = decode_layout(encode_layout(layout));
    ASSERT_TRUE(again);
    EXPECT_EQ(*again, layout);
}

TEST(SampleLayout, PeersThatAreNotEachOthersAreRefused) {
    Layout layout = layout_of(two_switches());
    layout.ports[0].peer = 1;
    EXPECT_FALSE(decode_layout(encode_layout(layout)));
}

TEST(SampleLayout, PortsOutOfOrderAreRefused) {
    Layout layout;
    layout.ports = {{{2, 1}, 0, no_peer}, {{1, 1}, 0, no_peer}};
    EXPECT_FALSE(decode_layout(encode_layout(layout)));
}

Block random_block(const Layout &layout, std::mt19937 &random) {
    Block block = quiet(layout, epoch, epoch + 30 * second);
    for (auto *codes : {&block.xmit, &block.rcv, &block.wait})
        for (std::uint8_t &code : *codes)
            code = static_cast<std::uint8_t>(random());
    block.names = {"LinkDownedCounter", "SymbolErrorCounter"};
    for (std::uint32_t port = 0; port < layout.ports.size(); ++port)
        for (unsigned n = random() % 3; n > 0; --n) {
            Event event{port, static_cast<std::uint32_t>(random() % 2), static_cast<EventKind>(random() % 5), Absence::absent, 0, 0};
            const std::uint64_t one = random(), other = std::uint64_t{random()} << 32U | random();
            event.before = event.kind == EventKind::silent ? 0 : one;
            event.after = other;
            if (event.kind == EventKind::moved)
                event.after = std::max(one, other);
            if (event.kind == EventKind::reset) {
                event.before = std::max(one, other) | 1U;
                event.after = event.before / 2;
            }
            if (event.kind == EventKind::unread || event.kind == EventKind::silent) {
                event.why = Absence::timed_out;
                event.after = 0;
            }
            if (event.kind == EventKind::silent)
                event.name = 0;
            block.events.push_back(event);
        }
    return block;
}

TEST(SampleBlock, ComesBackAsItWas) {
    const Layout layout = layout_of(two_switches());
    std::mt19937 random(1);
    for (int round = 0; round < 200; ++round) {
        const Block block = random_block(layout, random);
        const auto again = decode_block(layout, encode_block(layout, block));
        ASSERT_TRUE(again) << again.error().message;
        ASSERT_EQ(*again, block);
    }
}

TEST(SampleBlock, OfAnotherLayoutIsRefused) {
    const Layout layout = layout_of(two_switches());
    const std::string bytes = encode_block(layout, quiet(layout, 1, 2));
    Layout other = layout;
    other.ports.pop_back();
    other.ports[other.ports.size() - 1].peer = no_peer;
    EXPECT_FALSE(decode_block(other, bytes));
}

TEST(SampleBlock, EveryCutIsRefused) {
    const Layout layout = layout_of(two_switches());
    std::mt19937 random(2);
    const std::string bytes = encode_block(layout, random_block(layout, random));
    for (std::size_t size = 0; size < bytes.size(); ++size)
        EXPECT_FALSE(decode_block(layout, std::string_view(bytes).substr(0, size))) << size;
}

TEST(SampleBlock, IntervalThatEndsBeforeItBeginsIsRefused) {
    const Layout layout = layout_of(two_switches());
    EXPECT_FALSE(decode_block(layout, encode_block(layout, quiet(layout, 5, 5))));
}

TEST(SampleBlock, EventOfAPortThatIsNotThereIsRefused) {
    const Layout layout = layout_of(two_switches());
    Block block = quiet(layout, 1, 2);
    block.events.push_back({static_cast<std::uint32_t>(layout.ports.size()), 0, EventKind::silent, Absence::denied, 0, 0});
    EXPECT_FALSE(decode_block(layout, encode_block(layout, block)));
}

} // namespace
} // namespace fabric_check::sample
