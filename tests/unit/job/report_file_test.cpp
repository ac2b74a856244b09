// SPDX-License-Identifier: GPL-2.0-or-later
#include "job/report_file.hpp"

#include "job/fakes.hpp"

#include <gmock/gmock.h>

namespace fabric_check {
namespace {

class ReportFile : public ::testing::Test {
protected:
    ReportFile() {
        job.id = 7;
        job.start = 100;
        job.end = 200;
    }
    testing::TempDir directory;
    SpoolLayout spool{directory.path()};
    JobInfo job;
};

TEST_F(ReportFile, IsNamedByJobAndRestart) {
    job.restart = 3;
    EXPECT_EQ(report_name(job), "7.3.json");
    EXPECT_TRUE(report_aliases(job).empty());
}

TEST_F(ReportFile, HasTheNameThatArraysAndHeterogeneousJobsHave) {
    job.array_job_id = 5;
    job.array_task_id = 0;
    EXPECT_THAT(report_aliases(job), ::testing::ElementsAre("5_0.0.json"));
    job.array_job_id = 0;
    job.het_job_id = 6;
    EXPECT_THAT(report_aliases(job), ::testing::ElementsAre("6+0.0.json"));
}

TEST_F(ReportFile, IsReplacedWithItsLinks) {
    job.array_job_id = 5;
    job.array_task_id = 1;
    ASSERT_TRUE(write_report(spool, job, "one"));
    ASSERT_TRUE(write_report(spool, job, "two"));
    EXPECT_EQ(testing::read_text(spool.reports() + "/5_1.0.json"), "two");
    EXPECT_THAT(testing::files_in(spool.reports()), ::testing::ElementsAre("5_1.0.json", "7.0.json"));
}

TEST_F(ReportFile, GivesItsLineForExactlyItsInstance) {
    ASSERT_TRUE(write_report(spool, job, R"({"job":{"id":7,"start":100,"end":200},"line":"fabric=clean"})"));
    EXPECT_EQ(line_of_report(spool, job), "fabric=clean");
    for (auto *time : {&job.start, &job.end}) {
        ++*time;
        EXPECT_FALSE(line_of_report(spool, job));
        --*time;
    }
}

TEST_F(ReportFile, ThatIsDamagedOrNotThereGivesNoLine) {
    EXPECT_FALSE(line_of_report(spool, job));
    ASSERT_TRUE(write_report(spool, job, "{\"job\":"));
    EXPECT_FALSE(line_of_report(spool, job));
    ASSERT_TRUE(write_report(spool, job, "[]"));
    EXPECT_FALSE(line_of_report(spool, job));
}

TEST_F(ReportFile, CheckNamesWhatIsWrongWithTheSpool) {
    EXPECT_EQ(check_spool(spool), spool.records() + ": No such file or directory");
    ASSERT_TRUE(prepare_records(spool, 0));
    EXPECT_EQ(check_spool(spool), "");
}

} // namespace
} // namespace fabric_check
