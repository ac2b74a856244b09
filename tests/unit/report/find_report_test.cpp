// SPDX-License-Identifier: GPL-2.0-or-later
#include "report/find_report.hpp"

#include "base/clock.hpp"
#include "base/file.hpp"
#include "record/record_name.hpp"

#include <filesystem>
#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

namespace fabric_check {
namespace {

using nlohmann::ordered_json;
using ::testing::HasSubstr;

TEST(JobRefOf, ReadsTheThreeForms) {
    EXPECT_EQ(parse_job_ref("123")->text(), "123");
    EXPECT_EQ(parse_job_ref("123_4")->task, 4U);
    EXPECT_EQ(parse_job_ref("123_0")->task, 0U);
    EXPECT_EQ(parse_job_ref("123+1")->het, 1U);
    EXPECT_EQ(parse_job_ref("4294967295")->id, 4294967295U);
}

TEST(JobRefOf, RefusesAnythingElseAndListsTheForms) {
    for (const char *wrong : {"", "0", "abc", "12a", "-1", "123_", "_4", "123+", "123_4+1", "123.0", "4294967296", "1 2",
                              "123_4_5", "123_[1-3]"}) {
        const Result<JobRef> job = parse_job_ref(wrong);
        ASSERT_FALSE(job) << wrong;
        EXPECT_EQ(job.error().code, Errc::usage);
        EXPECT_THAT(job.error().message, HasSubstr("valid: 123, 123_4 (array task), 123+1 (het component)")) << wrong;
    }
}

class FindReport : public ::testing::Test {
protected:
    void SetUp() override {
        const auto *test = ::testing::UnitTest::GetInstance()->current_test_info();
        config_.spool = (std::filesystem::temp_directory_path() / ("find-report-" + std::string(test->name()) + "-" +
                                                                   std::to_string(::getpid())))
                            .string();
        std::filesystem::create_directories(config_.spool + "/reports");
        std::filesystem::create_directories(config_.spool + "/records");
    }
    void TearDown() override { std::filesystem::remove_all(config_.spool); }

    void put(const std::string &name, const ordered_json &job) {
        const ordered_json report{{"schema", "fabric-check/report/1"}, {"job", job}, {"verdict", "clean"}};
        ASSERT_TRUE(write_file_atomic(config_.spool + "/reports/" + name, report.dump()));
    }
    void record(std::uint32_t job, const char *node, RecordKind kind, std::int64_t seconds_ago) {
        const RecordName name{job, node, wall_ns() - seconds_ago * 1000000000, kind};
        ASSERT_TRUE(write_file_atomic(config_.spool + "/records/" + name.file_name(), "x"));
    }
    Result<ordered_json> find(const char *job, std::optional<unsigned> restart = std::nullopt) {
        return find_report(config_, *parse_job_ref(job), restart);
    }
    std::string why_not(const char *job, std::optional<unsigned> restart = std::nullopt) {
        const Result<ordered_json> report = find(job, restart);
        if (report) {
            return "there is one";
        }
        EXPECT_EQ(report.error().code, Errc::no_answer);
        return report.error().message;
    }
    Config config_;
};

TEST_F(FindReport, TakesTheLatestRun) {
    put("7.0.json", {{"id", 7}, {"restart", 0}});
    put("7.2.json", {{"id", 7}, {"restart", 2}});
    put("7.10.json", {{"id", 7}, {"restart", 10}});
    put("77.11.json", {{"id", 77}, {"restart", 11}});
    EXPECT_EQ(find("7")->at("job").at("restart"), 10);
}

TEST_F(FindReport, TakesTheRunThatWasAskedFor) {
    put("7.0.json", {{"id", 7}, {"restart", 0}});
    put("7.1.json", {{"id", 7}, {"restart", 1}});
    EXPECT_EQ(find("7", 0)->at("job").at("restart"), 0);
    EXPECT_EQ(why_not("7", 5), "job 7 has no report of restart 5; there are: 0, 1");
}

TEST_F(FindReport, FollowsTheLinksOfArrayTasksAndComponents) {
    put("20.0.json", {{"id", 20}});
    std::filesystem::create_symlink("20.0.json", config_.spool + "/reports/12_3.0.json");
    std::filesystem::create_symlink("20.0.json", config_.spool + "/reports/12+1.0.json");
    EXPECT_EQ(find("12_3")->at("job").at("id"), 20);
    EXPECT_EQ(find("12+1")->at("job").at("id"), 20);
}

TEST_F(FindReport, WithoutLinksReadsTheFiles) {
    put("20.0.json", {{"id", 20}, {"array_job_id", 12}, {"array_task_id", 3}, {"restart", 0}});
    put("21.0.json", {{"id", 21}, {"het_job_id", 12}, {"het_job_offset", 1}, {"restart", 0}});
    ASSERT_TRUE(write_file_atomic(config_.spool + "/reports/22.0.json", "no json"));
    EXPECT_EQ(find("12_3")->at("job").at("id"), 20);
    EXPECT_EQ(find("12+1")->at("job").at("id"), 21);
}

TEST_F(FindReport, ABrokenFileIsAFaultOfTheEnvironment) {
    ASSERT_TRUE(write_file_atomic(config_.spool + "/reports/7.0.json", "{"));
    EXPECT_EQ(find("7").error().code, Errc::io);
    EXPECT_THAT(find("7").error().message, HasSubstr("reports/7.0.json"));
}

TEST_F(FindReport, WithoutASpoolTheEnvironmentFailed) {
    std::filesystem::remove_all(config_.spool);
    EXPECT_EQ(find("7").error().code, Errc::unavailable);
}

TEST_F(FindReport, RecordsThatCannotBeListedAreAFaultOfTheEnvironment) {
    std::filesystem::remove_all(config_.spool + "/records");
    ASSERT_TRUE(write_file_atomic(config_.spool + "/records", "not a directory"));
    EXPECT_EQ(find("7").error().code, Errc::unavailable);
    EXPECT_THAT(find("7").error().message, HasSubstr("the records cannot be listed"));
}

TEST_F(FindReport, BeforeAnyReportThereIsNone) {
    std::filesystem::remove_all(config_.spool + "/reports");
    EXPECT_THAT(why_not("7"), HasSubstr("no report and no records of job 7"));
}

TEST_F(FindReport, SaysThatTheJobHasNotEnded) {
    record(7, "node01", RecordKind::start, 5);
    record(7, "node02", RecordKind::start, 5);
    EXPECT_EQ(why_not("7"), "job 7 has not ended: there are START records of 2 nodes and no END");
}

TEST_F(FindReport, SaysThatItIsBeingMade) {
    record(7, "node01", RecordKind::start, 50);
    record(7, "node01", RecordKind::end, 5);
    EXPECT_THAT(why_not("7"), HasSubstr("its report is being made; that takes at most 120 s"));
}

TEST_F(FindReport, SaysThatNobodyMadeIt) {
    record(7, "node01", RecordKind::start, 5000);
    record(7, "node01", RecordKind::end, 4000);
    EXPECT_THAT(why_not("7"), HasSubstr("does the finisher run on the controller"));
}

TEST_F(FindReport, SaysWhatElseItMayBe) { EXPECT_THAT(why_not("7"), HasSubstr("--fabric-check=off")); }

TEST(ExitOfReport, GoesByTheVerdict) {
    EXPECT_EQ(exit_of_report({{"verdict", "clean"}}), 0);
    for (const char *finding : {"physical", "pause-storm", "lossless-broken", "transport-retry", "routing-imbalance",
                                "congestion"}) {
        EXPECT_EQ(exit_of_report({{"verdict", finding}}), 1) << finding;
    }
    for (const char *open : {"unusable", "incomplete", "no-traffic"}) {
        EXPECT_EQ(exit_of_report({{"verdict", open}}), 3) << open;
    }
    EXPECT_EQ(exit_of_report(ordered_json::object()), 3);
}

} // namespace
} // namespace fabric_check
