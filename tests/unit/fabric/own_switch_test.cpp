// SPDX-License-Identifier: GPL-2.0-or-later
#include "fabric/own_switch.hpp"

#include "fabric/fabrics.hpp"
#include "mad/fake_switches.hpp"

#include <gtest/gtest.h>

#include <set>

namespace fabric_check::fabric {
namespace {

namespace ft = testing;
using mad::FakeSwitches;
using mad::MadClass;

struct OwnSwitchTest : ::testing::Test {
    MapDraft map = ft::two_switches(ft::even());
    std::set<std::pair<std::uint16_t, unsigned>> asked; ///< LID and port

    /// Asks SMPs alone, slowly, so that all GMPs are the watch's.
    void long_pass(std::uint64_t own_guid) {
        FakeSwitches fabric(map);
        mad::EngineOptions options;
        options.own_guid = own_guid;
        options.max_per_second = 100;
        mad::Engine engine(fabric.transport, options);
        watch_own_switch(engine, map);
        for (unsigned i = 0; i < 100; ++i)
            engine.submit({.lid = map.nodes[0].lid, .attribute = mad::attribute::port_info}, {});
        engine.run();
        for (const mad::Sent &sent : fabric.transport.sent)
            if (sent.to.mad_class == MadClass::gmp)
                asked.emplace(sent.to.lid, sent.port_select);
    }
};

TEST_F(OwnSwitchTest, ThePortThatFacesOurOwnIsWatched) {
    const std::uint32_t own = map.by_lid(3); // node03, on SwitchA's port 3
    const DraftPort &port = map.nodes[own].ports[1];
    long_pass(port.guid);
    EXPECT_EQ(asked, (std::set<std::pair<std::uint16_t, unsigned>>{{map.nodes[port.peer].lid, port.peer_port}}));
}

TEST_F(OwnSwitchTest, APortThatTheMapDoesNotKnowWatchesNothing) {
    long_pass(0x1234);
    EXPECT_TRUE(asked.empty());
}

TEST_F(OwnSwitchTest, WithoutAPortOfOurOwnNothingIsWatched) {
    long_pass(0);
    EXPECT_TRUE(asked.empty());
}

} // namespace
} // namespace fabric_check::fabric
