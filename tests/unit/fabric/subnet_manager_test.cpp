// SPDX-License-Identifier: GPL-2.0-or-later
#include "fabric/discover.hpp"
#include "fabric/fabrics.hpp"
#include "mad/fake_switches.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace fabric_check::fabric {
namespace {

namespace ft = fabric_check::fabric::testing;
using mad::FakeSwitches;
using Events = std::vector<mad::FakeTransport::Event>;

struct Manager : ::testing::Test {
    MapDraft map = ft::two_switches(ft::even());
    FakeSwitches fabric{map};
    std::map<std::uint16_t, std::uint16_t> master_by_switch{{41, 21}, {42, 21}};
    bool answers = true;

    Manager() {
        fabric.transport.answer = [this](const mad::Sent &sent) -> Events {
            std::vector<std::uint8_t> data(64);
            if (sent.attribute == mad::attribute::port_info && master_by_switch.contains(sent.to.lid)) {
                mad_set_field(data.data(), 0, IB_PORT_SMLID_F, master_by_switch[sent.to.lid]);
                return {{fabric.delay, mad::reply_to(sent, data)}};
            }
            if (sent.attribute == mad::attribute::sm_info && sent.to.lid == 21 && answers) {
                mad_set_field64(data.data(), 0, IB_SMINFO_GUID_F, 0xabcULL);
                mad_set_field(data.data(), 0, IB_SMINFO_PRIO_F, 14);
                mad_set_field(data.data(), 0, IB_SMINFO_STATE_F, 3);
                return {{fabric.delay, mad::reply_to(sent, data)}};
            }
            return {{std::chrono::milliseconds(500), mad::timeout_of(sent)}};
        };
    }
    void ask() {
        mad::Engine engine(fabric.transport);
        ask_subnet_manager(engine, map);
        engine.run();
    }
};

TEST_F(Manager, TellsAboutItselfWhereASwitchSaysItIs) {
    ask();
    ASSERT_TRUE(map.subnet_manager);
    EXPECT_EQ(*map.subnet_manager, (SubnetManager{0xabc, 21, 14, 3}));
    EXPECT_TRUE(map.problems.empty());
}

TEST_F(Manager, TheNextSwitchIsAskedWhereOneIsSilentOrKnowsNone) {
    master_by_switch.erase(41);
    ask();
    EXPECT_TRUE(map.subnet_manager);
    map.subnet_manager.reset();
    master_by_switch[41] = 0;
    ask();
    EXPECT_TRUE(map.subnet_manager);
}

TEST_F(Manager, SilenceIsAProblemAndNobody) {
    answers = false;
    ask();
    EXPECT_FALSE(map.subnet_manager);
    ASSERT_EQ(map.problems.size(), 1U);
    EXPECT_EQ(map.problems[0].where, "subnet manager");
    EXPECT_EQ(map.problems[0].reason, "SMInfo of LID 21: no answer");
}

TEST_F(Manager, NoSwitchThatTellsIsAProblem) {
    master_by_switch.clear();
    ask();
    ASSERT_EQ(map.problems.size(), 1U);
    EXPECT_EQ(map.problems[0].reason, "no switch tells where it runs");
}

TEST_F(Manager, AMapWithoutSwitchesAsksNobody) {
    map = MapDraft();
    ask();
    EXPECT_TRUE(map.problems.empty());
    EXPECT_TRUE(fabric.transport.sent.empty());
}

TEST(SmState, HasTheSpecificationsNames) {
    EXPECT_STREQ(sm_state_name(0), "not active");
    EXPECT_STREQ(sm_state_name(3), "master");
    EXPECT_STREQ(sm_state_name(9), "unknown");
}

} // namespace
} // namespace fabric_check::fabric
