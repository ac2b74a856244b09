// SPDX-License-Identifier: GPL-2.0-or-later
#include "job/scout_requests.hpp"

#include "base/file.hpp"
#include "job/fakes.hpp"

#include <gmock/gmock.h>

#include <thread>
#include <unistd.h>

namespace fabric_check {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::files_in;

constexpr std::int64_t second = 1'000'000'000;

class ScoutRequestsTest : public ::testing::Test {
protected:
    ScoutRequestsTest() {
        config.spool = directory.path();
        config.node_state = directory.path("node-state");
        config.scout = "fabric1";
        log = Log({.ident = "t", .file = directory.path("log"), .syslog = false, .standard_error = false});
        world.signer = &signer;
        world.log = &log;
        world.scout = [](const fabric::Map &, const ScoutRequest &) -> Result<ScoutSnapshot> { return ScoutSnapshot{}; };
        world.start_map_build = [] { return Status(); };
    }
    ScoutCall call(std::uint32_t job = 7, const std::string &node = "node01") const {
        return {job, Phase::start, node, "fabric1", wall_ns(), "node[01-03]"};
    }
    void file(const ScoutCall &what) { ASSERT_TRUE(file_scout_call(config, what, signer)); }
    Result<bool> serve_one(const std::string &host = "fabric1",
                           std::chrono::milliseconds time = std::chrono::milliseconds(2000)) {
        return serve_scout_request(config, host, world, Deadline::after(time));
    }
    /// All that can be served.
    Result<bool> serve(const std::string &host = "fabric1") {
        auto more = serve_one(host);
        while (more && *more)
            more = serve_one(host);
        return more;
    }
    std::vector<std::string> requests() const { return files_in(directory.path("requests")); }
    std::vector<std::string> records() const {
        std::vector<std::string> result;
        if (std::filesystem::exists(directory.path("records")))
            for (const auto &name : files_in(directory.path("records")))
                if (const auto record = parse_record_name(name))
                    result.push_back(std::to_string(record->job_id) + " " + record->node + " " + to_string(record->kind));
        return result;
    }
    std::string logged() const { return testing::read_text(directory.path("log")); }

    testing::TempDir directory;
    Config config;
    testing::FakeSigner signer;
    Log log;
    ScoutWorld world;
};

TEST_F(ScoutRequestsTest, ARequestBecomesARecordOfThisHostAndGoes) {
    file(call());
    ASSERT_TRUE(serve());
    EXPECT_THAT(records(), ElementsAre("7 fabric1 scout-start"));
    EXPECT_THAT(requests(), IsEmpty());
}

TEST_F(ScoutRequestsTest, NodesOfAJobThatAskForTheSameAreServedByOnePass) {
    file(call(7, "node01"));
    file(call(7, "node02"));
    ASSERT_TRUE(serve());
    EXPECT_THAT(records(), ElementsAre("7 fabric1 scout-start"));
    EXPECT_THAT(requests(), IsEmpty());
}

TEST_F(ScoutRequestsTest, NothingIsAskedYetAndThatIsNoError) {
    EXPECT_TRUE(serve());
    EXPECT_THAT(logged(), IsEmpty());
}

TEST_F(ScoutRequestsTest, AHostThatIsNotTheScoutTouchesNothing) {
    file(call());
    ASSERT_TRUE(serve("fabric2"));
    EXPECT_EQ(requests().size(), 1U);
    EXPECT_THAT(records(), IsEmpty());
}

TEST_F(ScoutRequestsTest, OneProcessServesAtATime) {
    file(call());
    std::filesystem::create_directory(directory.path("node-state"));
    const auto lock = FileLock::try_lock(directory.path("node-state/scout.lock"));
    ASSERT_TRUE(lock);
    ASSERT_TRUE(serve());
    EXPECT_EQ(requests().size(), 1U);
}

TEST_F(ScoutRequestsTest, AUsersRequestIsRefusedAndRemoved) {
    signer.uid = 1000;
    file(call());
    ASSERT_TRUE(serve());
    EXPECT_THAT(records(), IsEmpty());
    EXPECT_THAT(requests(), IsEmpty());
    EXPECT_THAT(logged(), HasSubstr("refused: signed by uid 1000, not by root or SlurmUser"));
}

TEST_F(ScoutRequestsTest, WhatIsNoCredentialIsRefused) {
    std::filesystem::create_directory(directory.path("requests"));
    testing::write_text(directory.path("requests/" + call().file_name()), "MUNGE:garbage");
    ASSERT_TRUE(serve());
    EXPECT_THAT(requests(), IsEmpty());
    EXPECT_THAT(logged(), HasSubstr("refused: munge decode: Invalid credential"));
}

TEST_F(ScoutRequestsTest, ARequestUnderAnotherJobsNameIsRefused) {
    file(call(7));
    const auto theirs = call(8).file_name();
    std::filesystem::rename(directory.path("requests/" + requests().at(0)), directory.path("requests/" + theirs));
    ASSERT_TRUE(serve());
    EXPECT_THAT(records(), IsEmpty());
    EXPECT_THAT(logged(), HasSubstr("refused: it was signed under another name"));
}

TEST_F(ScoutRequestsTest, ARequestToAnotherHostIsRefused) {
    auto other = call();
    other.host = "fabric2";
    file(other);
    ASSERT_TRUE(serve());
    EXPECT_THAT(records(), IsEmpty());
    EXPECT_THAT(logged(), HasSubstr("refused: it asks fabric2, and this is fabric1"));
}

TEST_F(ScoutRequestsTest, AnOldRequestIsRefusedForItsReadingWouldBeOfAnotherTime) {
    auto old = call();
    old.time_ns -= 61 * second;
    file(old);
    ASSERT_TRUE(serve());
    EXPECT_THAT(records(), IsEmpty());
    EXPECT_THAT(logged(), HasSubstr("refused: older than a minute, or of a time to come"));
}

TEST_F(ScoutRequestsTest, TheAddressPolicyIsTheRecords) {
    config.munge.address_policy = "enforce";
    config.munge.addresses["node01"] = {"10.9.9.9"};
    file(call());
    ASSERT_TRUE(serve());
    EXPECT_THAT(records(), IsEmpty());
    EXPECT_THAT(logged(), HasSubstr("refused: signed at address 10.0.0.1, which is not one of node01's"));
}

TEST_F(ScoutRequestsTest, WithMungedAwayTheRequestStaysAndTheErrorSaysWhy) {
    file(call());
    signer.away = true;
    const auto served = serve();
    ASSERT_FALSE(served);
    EXPECT_EQ(served.error().code, Errc::unavailable);
    EXPECT_EQ(requests().size(), 1U);
}

TEST_F(ScoutRequestsTest, AForgedRequestDoesNotKeepTheRealOneOfItsJobAway) {
    file(call(7, "node02"));
    auto forged = call(7, "node01");
    forged.time_ns -= second;
    testing::write_text(directory.path("requests/" + forged.file_name()), "forged");
    ASSERT_TRUE(serve());
    EXPECT_THAT(records(), ElementsAre("7 fabric1 scout-start"));
}

/// Names of a user's, in a directory that everybody may write.
TEST_F(ScoutRequestsTest, WhatIsNoFileKeepsNoRequestFromBeingServed) {
    file(call(7));
    for (std::int64_t i = 0; i < 100; ++i) {
        auto forged = call(8);
        forged.time_ns += (i - 50) * second / 2;
        std::filesystem::create_directory(directory.path("requests/" + forged.file_name()));
    }
    ASSERT_TRUE(serve());
    EXPECT_THAT(records(), ElementsAre("7 fabric1 scout-start"));
}

TEST_F(ScoutRequestsTest, ACopyUnderAnotherNameDoesNotCostTheRequest) {
    file(call(7));
    auto other = call(7, "node09");
    other.time_ns -= second;
    std::filesystem::copy(directory.path("requests/" + requests().at(0)),
                          directory.path("requests/" + other.file_name()));
    signer.replayed = true; // as munged says of the second that is looked at
    ASSERT_TRUE(serve());
    EXPECT_THAT(records(), ElementsAre("7 fabric1 scout-start"));
}

TEST_F(ScoutRequestsTest, AStrangersRequestIsNotEvenVerified) {
    if (::geteuid() != 0)
        GTEST_SKIP() << "needs root, to give a file away";
    file(call(7));
    ASSERT_EQ(::chown(directory.path("requests/" + requests().at(0)).c_str(), 1000, 1000), 0);
    ASSERT_TRUE(serve());
    EXPECT_EQ(signer.verified_count, 0U);
    EXPECT_THAT(requests(), IsEmpty());
    EXPECT_THAT(logged(), HasSubstr("refused: not a node's file"));
}

TEST_F(ScoutRequestsTest, StrangersFilesAreLeftAlone) {
    std::filesystem::create_directory(directory.path("requests"));
    testing::write_text(directory.path("requests/README"), "x");
    testing::write_text(directory.path("requests/7.node01.5.start"), "x");
    ASSERT_TRUE(serve());
    EXPECT_EQ(requests().size(), 2U);
}

TEST_F(ScoutRequestsTest, WhenTimeIsUpTheRestStays) {
    file(call(7));
    ASSERT_TRUE(serve_one("fabric1", std::chrono::milliseconds(0)));
    EXPECT_EQ(requests().size(), 1U);
}

TEST_F(ScoutRequestsTest, APassThatTakesAllItsTimeLeavesTheNextJobItsOwn) {
    std::vector<std::chrono::milliseconds> had;
    world.scout = [&](const fabric::Map &, const ScoutRequest &request) -> Result<ScoutSnapshot> {
        had.push_back(request.deadline.left());
        std::this_thread::sleep_for(request.deadline.left());
        return ScoutSnapshot{};
    };
    std::filesystem::create_directory(directory.path("map"));
    fabric::MapDraft map;
    ASSERT_TRUE(fabric::save_map(map, SpoolLayout{directory.path()}.map_file()));
    auto first = call(7), second_call = call(8);
    first.time_ns -= second;
    file(first);
    file(second_call);
    const std::chrono::milliseconds time(600);
    const auto more = serve_one("fabric1", time);
    ASSERT_TRUE(more);
    EXPECT_EQ(requests().size(), 1U) << "job 8's stays for the next call";
    ASSERT_TRUE(serve_one("fabric1", time));
    EXPECT_THAT(requests(), IsEmpty());
    ASSERT_EQ(had.size(), 2U);
    EXPECT_GT(had[1].count(), 200);
}

TEST_F(ScoutRequestsTest, ARequestWhoseRecordCouldNotBeSignedIsTriedAgain) {
    file(call());
    world.scout = [](const fabric::Map &, const ScoutRequest &) -> Result<ScoutSnapshot> { return ScoutSnapshot{}; };
    signer.signs_until_back = 1000;
    const auto failed = serve_one("fabric1", std::chrono::milliseconds(300));
    ASSERT_FALSE(failed);
    EXPECT_EQ(failed.error().code, Errc::unavailable);
    EXPECT_EQ(requests().size(), 1U);
    signer.signs_until_back = 0;
    signer.replayed = true;
    ASSERT_TRUE(serve());
    EXPECT_THAT(records(), ElementsAre("7 fabric1 failed", "7 fabric1 scout-start"));
    EXPECT_THAT(requests(), IsEmpty());
}

TEST(ScoutCall, IsTheSameAfterARound) {
    const ScoutCall call{0xffffffff, Phase::end, "a.b", "c", INT64_MAX, "node[01-9999]"};
    const auto decoded = decode_scout_call(encode_scout_call(call));
    ASSERT_TRUE(decoded) << decoded.error().message;
    EXPECT_EQ(*decoded, call);
}

TEST(ScoutCall, OddContentIsRefusedByItsKey) {
    const ScoutCall good{7, Phase::end, "n", "h", 1, "n"};
    const auto with = [&](const std::string &from, const std::string &to) {
        auto text = encode_scout_call(good);
        const auto at = text.find(from);
        return decode_scout_call(text.replace(at, from.size(), to));
    };
    EXPECT_THAT(with("\"end\"", "\"mid\"").error().message, HasSubstr("phase: neither start nor end"));
    EXPECT_THAT(with("\"host\":\"h\"", "\"host\":\"../h\"").error().message, HasSubstr("host: not a host name"));
    EXPECT_THAT(with("\"job\":7", "\"job\":4294967296").error().message, HasSubstr("job"));
    EXPECT_THAT(with("scout-request/1", "scout-request/9").error().message, HasSubstr("schema"));
}

} // namespace
} // namespace fabric_check
