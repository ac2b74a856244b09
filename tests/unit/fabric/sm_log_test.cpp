// SPDX-License-Identifier: GPL-2.0-or-later
#include "fabric/fabrics.hpp"
#include "fabric/sm_log.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace fabric_check::fabric {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

/// Lines as opensm writes them, "0x01 -> text" after time and thread.
std::string log_of(const std::vector<std::string> &said) {
    std::string out;
    for (const std::string &text : said)
        out += "Jan 02 03:04:05 678901 [ABCDEF01] 0x02 -> " + text + "\n";
    return out;
}

const std::string fails = "ucast_mgr_route: ftree: cannot build lid matrices";
const std::string minhop = "osm_ucast_mgr_process: minhop tables configured on all switches";

TEST(SmLog, TheEngineWhoseTablesWereConfiguredIsUsed) {
    const auto log = parse_sm_log(log_of({"Entering MASTER state", minhop}), "log");
    ASSERT_TRUE(log) << log.error().message;
    EXPECT_EQ(log->used, "minhop");
    EXPECT_EQ(log->when, "Jan 02 03:04:05 678901");
    EXPECT_EQ(log->state, "MASTER");
    EXPECT_FALSE(log->fell_back());
}

TEST(SmLog, AnEngineThatGivesUpHasFallenBackWithItsReason) {
    const auto log =
        parse_sm_log(log_of({"construct_fabric: ERR AB2B: Found more than one root on fabric with maximum rank 0", fails, minhop}), "log");
    ASSERT_TRUE(log);
    ASSERT_EQ(log->failed.size(), 1U);
    EXPECT_EQ(log->failed[0].engine, "ftree");
    EXPECT_THAT(log->failed[0].reason, HasSubstr("more than one root"));
    EXPECT_EQ(log->used, "minhop");
}

TEST(SmLog, ALogThatEndsAfterTheFailureDoesNotSayWhatIsUsed) {
    const auto log = parse_sm_log(log_of({minhop, fails}), "log");
    ASSERT_TRUE(log);
    EXPECT_TRUE(log->fell_back());
    EXPECT_EQ(log->used, "") << "minhop was of the routing before";
}

TEST(SmLog, OnlyTheLastRoutingCounts) {
    const auto log = parse_sm_log(
        log_of({fails, minhop, "osm_ucast_mgr_process: ftree tables configured on all switches"}), "log");
    ASSERT_TRUE(log);
    EXPECT_EQ(log->used, "ftree");
    EXPECT_FALSE(log->fell_back()) << "the fabric was mended, and ftree took it";
    const auto anew = parse_sm_log(log_of({fails, minhop, "OpenSM 3.3.23", "x: ftree tables configured on all switches"}), "log");
    ASSERT_TRUE(anew);
    EXPECT_FALSE(anew->fell_back()) << "a new process";
}

TEST(SmLog, AnEngineThatCannotBeSetUpStaysFailedOverLaterRoutings) {
    const auto log = parse_sm_log(
        log_of({"setup_routing_engine: cannot find or setup routing engine 'torus-2QoS'", minhop, fails, minhop}), "log");
    ASSERT_TRUE(log);
    ASSERT_EQ(log->failed.size(), 2U);
    EXPECT_EQ(log->failed[0].engine, "torus-2QoS");
    EXPECT_EQ(log->failed[0].reason, "it could not be set up");
    EXPECT_EQ(log->failed[1].engine, "ftree");
}

TEST(SmLog, UpdnWithoutRootsIsFlagged) {
    const auto log = parse_sm_log(log_of({"updn_lid_matrices: disabling UPDN algorithm, no root nodes were found",
                                          "ucast_mgr_route: updn: cannot build lid matrices.", minhop}),
                                  "log");
    ASSERT_TRUE(log);
    EXPECT_TRUE(log->updn_without_roots);
    EXPECT_EQ(log->failed.at(0).engine, "updn");
}

TEST(SmLog, WhereUpdnGotItsRootsIsToldAsFarAsTheLogTells) {
    const std::string updn = "ucast_mgr_route: updn tables configured on all switches";
    const std::string file = "updn_lid_matrices: UPDN - Fetching root nodes from file '/etc/opensm/root_guid.conf'";
    const std::string guess = "updn_find_root_nodes_by_min_hop: Passing through all switches to collect Min Hop info";
    const auto of = [](const std::vector<std::string> &said) {
        const auto log = *parse_sm_log(log_of(said), "log");
        return std::pair(log.updn_roots_given, log.updn_roots_guessed);
    };
    EXPECT_EQ(of({updn}), std::pair(false, false));
    EXPECT_EQ(of({file, updn}), std::pair(true, false));
    EXPECT_EQ(of({guess, updn}), std::pair(false, true));
    EXPECT_EQ(of({file, "updn_lid_matrices: ERR AA02: cannot parse root guids file 'x'", guess, updn}), std::pair(false, true));
    EXPECT_EQ(of({guess, updn, minhop}), std::pair(false, false)) << "of the last routing";
}

TEST(SmLog, FtreeAgainstLmcIsFlagged) {
    const auto log = parse_sm_log(log_of({"construct_fabric: LMC > 0 is not supported by fat-tree routing."}) +
                                      "Falling back to default routing\n" + log_of({fails}),
                                  "log");
    ASSERT_TRUE(log);
    EXPECT_TRUE(log->ftree_with_lmc);
    EXPECT_THAT(log->failed.at(0).reason, HasSubstr("LMC > 0"));
}

TEST(SmLog, NoEngineAtAllIsSaid) {
    const auto log = parse_sm_log(
        log_of({fails, "osm_ucast_mgr_process: No routing engine able to successfully configure  switch tables on current fabric"}), "log");
    ASSERT_TRUE(log);
    EXPECT_TRUE(log->no_engine);
    EXPECT_EQ(log->used, "");
}

TEST(SmLog, AnErrorOfAnotherPartIsNoReason) {
    const auto log = parse_sm_log(log_of({"sa_mad_ctrl: ERR 1A05: MAD with a bad class", fails}), "log");
    ASSERT_TRUE(log);
    EXPECT_EQ(log->failed.at(0).reason, "");
}

TEST(SmLog, OtherTextIsNoLog) {
    for (const char *text : {"", "\n\n", "node01 is up\n[12] 0x3 no arrow\n", "a -> b\n"}) {
        const auto log = parse_sm_log(text, "some.txt");
        ASSERT_FALSE(log) << text;
        EXPECT_EQ(log.error().code, Errc::malformed);
        EXPECT_EQ(log.error().message, "some.txt: no line of a subnet manager's log in it");
    }
}

TEST(SmLog, CarriageReturnsAndControlBytesAreHarmless) {
    const auto log = parse_sm_log("Jan 1 [1] 0x01 -> ucast_mgr_route: f\x1b[31m: cannot build fwd tables\r\n", "log");
    ASSERT_TRUE(log);
    EXPECT_EQ(log->failed.at(0).engine, "f\\x1b[31m");
}

TEST(SmLog, TheManagersPortTellsWhetherTheLogIsOfThisFabric) {
    const Map map(testing::two_switches(testing::even()));
    const auto of = [](const std::string &guid) {
        return *parse_sm_log(log_of({"osm_vendor_bind: Mgmt class 0x81 binding to port GUID " + guid, minhop}), "log");
    };
    const std::uint64_t known = map.image().port_guids[0].guid;
    EXPECT_EQ(of(guid_text(known)).port_guid, known);
    EXPECT_FALSE(is_of_another_fabric(of(guid_text(known)), map));
    EXPECT_FALSE(is_of_another_fabric(of(guid_text(map.nodes()[0].guid)), map)) << "a manager on a switch";
    EXPECT_TRUE(is_of_another_fabric(of("0x5ca1ab1e"), map));
    EXPECT_FALSE(is_of_another_fabric(of("0xzz"), map)) << "nothing is known of it";
    EXPECT_FALSE(is_of_another_fabric(*parse_sm_log(log_of({minhop}), "log"), map));
}

TEST(SmLog, ALogOfAnotherStateThanMasterIsKnownByIt) {
    const auto log = parse_sm_log(log_of({"Entering MASTER state", minhop, "Entering STANDBY state"}), "log");
    ASSERT_TRUE(log);
    EXPECT_EQ(log->state, "STANDBY");
}

} // namespace
} // namespace fabric_check::fabric
