// SPDX-License-Identifier: GPL-2.0-or-later
#include "job/report_file.hpp"

#include "base/file.hpp"
#include "job/fakes.hpp"

#include <acl/libacl.h>
#include <gmock/gmock.h>
#include <memory>
#include <sys/acl.h>
#include <sys/stat.h>

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

TEST_F(ReportFile, HasItsLinksBeforeItself) {
    job.array_job_id = 5;
    job.array_task_id = 1;
    // Nothing can be written in its place: as far as a finisher gets that is killed there.
    ASSERT_TRUE(make_directories(spool.reports() + "/7.0.json/in-its-place", 0755));
    EXPECT_FALSE(write_report(spool, job, "one"));
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

TEST_F(ReportFile, ForItsOwnerIsReadByNobodyElse) {
    job.uid = 4711;
    ASSERT_TRUE(write_report(spool, job, "one", ReportReaders::owner));
    const auto path = spool.reports() + "/" + report_name(job);
    EXPECT_EQ(testing::read_text(path), "one");
    const std::unique_ptr<std::remove_pointer_t<acl_t>, int (*)(void *)> acl(acl_get_file(path.c_str(), ACL_TYPE_ACCESS),
                                                                             acl_free);
    ASSERT_TRUE(acl);
    const std::unique_ptr<char, int (*)(void *)> text(acl_to_any_text(acl.get(), nullptr, ',', TEXT_NUMERIC_IDS), acl_free);
    EXPECT_STREQ(text.get(), "user::rw-,user:4711:r--,group::---,mask::r--,other::---");
    EXPECT_THAT(testing::files_in(spool.reports()), ::testing::ElementsAre("7.0.json"));

    ASSERT_TRUE(write_report(spool, job, "two"));
    struct stat status {};
    ASSERT_EQ(stat(path.c_str(), &status), 0);
    EXPECT_EQ(status.st_mode & 07777, 0644U);
}

TEST_F(ReportFile, CheckNamesWhatIsWrongWithTheSpool) {
    EXPECT_EQ(check_spool(spool), spool.records() + ": No such file or directory");
    ASSERT_TRUE(prepare_records(spool, 0));
    EXPECT_EQ(check_spool(spool), "");
}

} // namespace
} // namespace fabric_check
