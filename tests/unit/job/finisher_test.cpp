// SPDX-License-Identifier: GPL-2.0-or-later
#include "job/finisher.hpp"

#include "job/finisher_fixture.hpp"
#include "report/line.hpp"

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>
#include <sys/stat.h>

namespace fabric_check {
namespace {

using testing::files_in;
using ::testing::HasSubstr;
using testing::node_record;
using ::testing::Not;
using testing::read_text;
using testing::second_ns;
using ::testing::StartsWith;

constexpr std::int64_t base = 1'700'000'000;

class FinisherTest : public testing::FinisherWithWorld {};

TEST_F(FinisherTest, GivesAJobItsLineAndReportAndLeavesNothingBehind) {
    usual_job();
    EXPECT_EQ(pass(), 0U);
    EXPECT_THAT(line(), StartsWith("fabric="));
    EXPECT_THAT(line(), HasSubstr(" cover=2/2 "));
    EXPECT_EQ(report("7.0.json").at("line"), line());
    EXPECT_EQ(tickets(), 0U);
    EXPECT_EQ(records(), 0U);
    struct stat status {};
    ASSERT_EQ(stat((spool().reports() + "/7.0.json").c_str(), &status), 0);
    EXPECT_EQ(status.st_mode & 0777, 0644U);
}

TEST_F(FinisherTest, WaitsForEndRecordsWithoutBlocking) {
    accounting.records = {instance(7, 100, 200)};
    write(node_record(7, "node01", Phase::start, (base + 100) * second_ns));
    write(node_record(7, "node02", Phase::start, (base + 100) * second_ns));
    file(7, 200);
    now = (base + 201) * second_ns;
    EXPECT_EQ(pass(), 1U);
    EXPECT_EQ(accounting.asked, 0U);
    write(node_record(7, "node01", Phase::end, (base + 202) * second_ns, 5));
    write(node_record(7, "node02", Phase::end, (base + 203) * second_ns, 5));
    now = (base + 206) * second_ns;
    EXPECT_EQ(pass(), 0U);
    EXPECT_THAT(line(), HasSubstr(" cover=2/2 "));
}

TEST_F(FinisherTest, WaitsForTheScoutsRecordAsLongAsItsHookMayRun) {
    usual_job();
    for (const auto &file : files_in(spool().records()))
        if (file.ends_with(".scout-end"))
            std::filesystem::remove(spool().records() + "/" + file);
    EXPECT_EQ(pass(), 1U);
    now = (base + 203) * second_ns + second_ns / 4;
    EXPECT_EQ(pass(), 1U);
    now = (base + 203) * second_ns + second_ns / 2;
    EXPECT_EQ(pass(), 0U);
}

TEST_F(FinisherTest, StopsWaitingAWhileAfterTheLastEnd) {
    accounting.records = {instance(7, 100, 200)};
    write(node_record(7, "node01", Phase::start, (base + 100) * second_ns));
    write(node_record(7, "node02", Phase::start, (base + 100) * second_ns));
    write(node_record(7, "node01", Phase::end, (base + 210) * second_ns, 5));
    file(7, 200);
    now = (base + 229) * second_ns;
    EXPECT_EQ(pass(), 1U);
    now = (base + 230) * second_ns + second_ns / 2;
    EXPECT_EQ(pass(), 0U);
    EXPECT_THAT(line(), HasSubstr(" cover=1/2 "));
    EXPECT_THAT(line(), StartsWith("fabric=incomplete "));
}

TEST_F(FinisherTest, NeverWaitsLongerThanTheMaximum) {
    config.finisher.end_wait_max_s = 25;
    accounting.records = {instance(7, 100, 200)};
    write(node_record(7, "node01", Phase::start, (base + 100) * second_ns));
    write(node_record(7, "node01", Phase::end, (base + 224) * second_ns, 5));
    file(7, 200);
    now = (base + 224) * second_ns;
    EXPECT_EQ(pass(), 1U);
    now = (base + 226) * second_ns;
    EXPECT_EQ(pass(), 0U);
}

TEST_F(FinisherTest, AJobThatWaitsHoldsUpNoOther) {
    usual_job();
    accounting.records.push_back(instance(6, 100, 199));
    write(node_record(6, "node01", Phase::start, (base + 100) * second_ns));
    file(6, 199);
    EXPECT_EQ(pass(), 1U);
    EXPECT_THAT(line(0), StartsWith("fabric="));
    EXPECT_EQ(line(1), "");
}

TEST_F(FinisherTest, KeepsWhatElseStandsInTheField) {
    usual_job();
    accounting.records[0].system_comment = "burst buffer: failed";
    EXPECT_EQ(pass(), 0U);
    EXPECT_THAT(line(), StartsWith("burst buffer: failed ; fabric="));
}

TEST_F(FinisherTest, WritesTheFieldOfTheConfiguration) {
    config.finisher.field = "AdminComment";
    usual_job();
    accounting.records[0].admin_comment = "JS1:abc";
    EXPECT_EQ(pass(), 0U);
    EXPECT_EQ(line(), "");
    EXPECT_THAT(accounting.records[0].admin_comment, StartsWith("JS1:abc ; fabric="));
}

TEST_F(FinisherTest, KeepsTheTicketWhileSlurmdbdIsAway) {
    usual_job();
    accounting.away = true;
    EXPECT_EQ(pass(), 1U);
    EXPECT_EQ(tickets(), 1U);
    EXPECT_THAT(read_text(config.log_file),
                HasSubstr("job 7: slurmdbd: no connection; is it running?; the ticket stays"));
    accounting.away = false;
    now += 10 * second_ns;
    EXPECT_EQ(pass(), 0U);
    EXPECT_THAT(line(), StartsWith("fabric="));
}

TEST_F(FinisherTest, AsksAnAbsentSlurmdbdOnceForAllTicketsAndAgainWithinTenSeconds) {
    for (std::uint32_t id = 7; id < 27; ++id) {
        records_of(id, 100, 200);
        file(id, 200);
    }
    now = (base + 201) * second_ns;
    accounting.away = true;
    for (int tenths = 0; tenths < 600; ++tenths, now += second_ns / 10)
        EXPECT_EQ(pass(), 20U);
    EXPECT_GE(accounting.asked, 6U);
    EXPECT_LE(accounting.asked, 8U);
}

TEST_F(FinisherTest, WaitsUntilTheEndIsRecorded) {
    usual_job();
    accounting.records[0].ended = false;
    accounting.records[0].job.end = 0;
    EXPECT_EQ(pass(), 1U);
    accounting.records = {instance(7, 100, 200)};
    now += 2 * second_ns;
    EXPECT_EQ(pass(), 0U);
    EXPECT_THAT(line(), StartsWith("fabric="));
}

TEST_F(FinisherTest, KilledBetweenReportAndLineAttachesTheSameLine) {
    usual_job();
    accounting.attach_fails = true;
    EXPECT_EQ(pass(), 1U);
    const auto written = report("7.0.json").at("line").get<std::string>();
    accounting.attach_fails = false;
    for (const auto &name : files_in(spool().records())) // what it would judge from is gone
        std::filesystem::remove(spool().records() + "/" + name);
    restart();
    now += 60 * second_ns;
    EXPECT_EQ(pass(), 0U);
    EXPECT_EQ(line(), written);
    EXPECT_THAT(line(), HasSubstr(" cover=2/2 "));
}

TEST_F(FinisherTest, ASecondTicketOfTheSameInstanceChangesNothing) {
    usual_job();
    EXPECT_EQ(pass(), 0U);
    const auto first = line();
    const auto attached = accounting.attached;
    file(7, 203);
    restart();
    now = (base + 300) * second_ns;
    EXPECT_EQ(pass(), 0U);
    EXPECT_EQ(line(), first);
    EXPECT_EQ(accounting.attached, attached);
    EXPECT_EQ(tickets(), 0U);
}

TEST_F(FinisherTest, ATicketFiledAnewAfterHoursIsTakenForItsInstanceInTheEnd) {
    usual_job();
    EXPECT_EQ(pass(), 0U);
    const auto first = line();
    file(7, 9000);
    now = (base + 9030) * second_ns;
    EXPECT_EQ(pass(), 1U);
    now += 700 * second_ns;
    EXPECT_EQ(pass(), 0U);
    EXPECT_EQ(line(), first);
}

TEST_F(FinisherTest, EachInstanceOfARequeuedJobGetsItsOwnLine) {
    accounting.records = {instance(7, 100, 200), instance(7, 300, 400)};
    records_of(7, 100, 200);
    records_of(7, 300, 400);
    std::filesystem::remove(
        spool().records() + "/" +
        RecordName{7, "node02", (base + 400) * second_ns + second_ns / 2, RecordKind::end}.file_name());
    file(7, 200);
    file(7, 400);
    now = (base + 500) * second_ns;
    EXPECT_EQ(pass(), 0U);
    EXPECT_THAT(line(0), HasSubstr(" cover=2/2 "));
    EXPECT_THAT(line(1), HasSubstr(" cover=1/2 "));
    EXPECT_THAT(line(1), HasSubstr(" restart=1 "));
    EXPECT_TRUE(std::filesystem::exists(spool().reports() + "/7.1.json"));
    EXPECT_EQ(records(), 0U);
}

TEST_F(FinisherTest, TheFirstInstancesTicketLeavesTheSecondsRecords) {
    accounting.records = {instance(7, 100, 200), instance(7, 300, 0)};
    accounting.records[1].ended = false;
    records_of(7, 100, 200);
    write(node_record(7, "node01", Phase::start, (base + 300) * second_ns));
    file(7, 200);
    now = (base + 310) * second_ns;
    EXPECT_EQ(pass(), 0U);
    EXPECT_EQ(records(), 1U);
}

TEST_F(FinisherTest, LinksTheNamesOfArraysAndHeterogeneousJobs) {
    usual_job();
    auto &job = accounting.records[0].job;
    job.array_job_id = 5;
    job.array_task_id = 0;
    job.het_job_id = 6;
    job.het_job_offset = 1;
    EXPECT_EQ(pass(), 0U);
    EXPECT_EQ(std::filesystem::read_symlink(spool().reports() + "/5_0.0.json"), "7.0.json");
    EXPECT_EQ(std::filesystem::read_symlink(spool().reports() + "/6+1.0.json"), "7.0.json");
}

TEST_F(FinisherTest, RetriesWhileMungedIsAway) {
    usual_job();
    signer.away = true;
    EXPECT_EQ(pass(), 1U);
    now += 60 * second_ns;
    EXPECT_EQ(pass(), 1U);
    EXPECT_EQ(line(), "");
    signer.away = false;
    now += 10 * second_ns;
    EXPECT_EQ(pass(), 0U);
    EXPECT_THAT(line(), HasSubstr(" cover=2/2 "));
}

TEST_F(FinisherTest, RefusesAForgedRecordAndReportsIt) {
    usual_job();
    signer.uid = 1000;
    write(node_record(7, "node01", Phase::start, (base + 150) * second_ns, 50'000'000));
    signer.uid = 0;
    EXPECT_EQ(pass(), 0U);
    EXPECT_THAT(line(), HasSubstr(" cover=2/2 "));
    EXPECT_THAT(report("7.0.json").dump(), HasSubstr("signed by uid 1000, not by root or SlurmUser"));
    EXPECT_THAT(read_text(config.log_file), HasSubstr("forged or copied record 7.node01."));
    EXPECT_EQ(records(), 0U);
}

TEST_F(FinisherTest, SurvivesADirectoryInPlaceOfARecord) {
    usual_job();
    std::filesystem::create_directory(spool().records() + "/7.node01.5.start");
    EXPECT_EQ(pass(), 0U);
    EXPECT_THAT(line(), HasSubstr(" cover=2/2 "));
}

TEST_F(FinisherTest, WhereJobsArePrivateSoAreTheirReports) {
    const auto mode_of_report = [&](const char *setting, Result<bool> hidden) {
        config.finisher.private_reports = setting;
        accounting.hides_jobs = std::move(hidden);
        restart();
        usual_job();
        EXPECT_EQ(pass(), 0U);
        struct stat status {};
        EXPECT_EQ(stat((spool().reports() + "/7.0.json").c_str(), &status), 0);
        std::filesystem::remove(spool().reports() + "/7.0.json");
        return status.st_mode & 0777;
    };
    constexpr unsigned everybody = 0644, owner = 0640; // the group's bits are the ACL's mask
    EXPECT_EQ(mode_of_report("auto", false), everybody);
    EXPECT_EQ(mode_of_report("auto", true), owner);
    EXPECT_EQ(mode_of_report("auto", Error{Errc::unavailable, "slurmctld: no"}), owner) << "not known";
    EXPECT_EQ(mode_of_report("off", true), everybody);
    EXPECT_EQ(mode_of_report("on", false), owner);
}

TEST_F(FinisherTest, WithoutASpoolStillAttachesALineWithTheReason) {
    usual_job();
    std::filesystem::remove_all(config.spool);
    now = (base + 300) * second_ns;
    EXPECT_EQ(pass(), 0U);
    EXPECT_THAT(line(), StartsWith("fabric=incomplete "));
    EXPECT_THAT(line(), HasSubstr(" cover=0/2 "));
    EXPECT_THAT(line(), Not(HasSubstr(" rest=")));
    EXPECT_THAT(read_text(config.log_file), HasSubstr("report: "));
    EXPECT_EQ(tickets(), 0U);
}

TEST_F(FinisherTest, TakesTheNodesFromSlurmctldsWordSinceTheDatabaseMayLagBehind) {
    usual_job();
    accounting.records[0].job.nodes = "node01";
    accounting.records[0].job.node_names = {"node01"};
    EXPECT_EQ(pass(), 0U);
    EXPECT_THAT(line(), HasSubstr(" cover=2/2 "));
    EXPECT_THAT(line(), HasSubstr(" nodes=node[01-02]"));
}

TEST_F(FinisherTest, AnInstanceWhosePrologsNeverRanGetsNoLine) {
    for (const auto *state : {"REQUEUED", "CANCELLED"}) {
        accounting.records = {instance(7, 100, 200)};
        accounting.records[0].job.state = state;
        file(7, 200);
        now = (base + 400) * second_ns;
        EXPECT_EQ(pass(), 0U);
        EXPECT_EQ(line(), "") << state;
    }
    EXPECT_THAT(read_text(config.log_file), HasSubstr("its prologs never ran; no line"));
}

TEST_F(FinisherTest, AJobThatRanWhileTheSpoolWasAwayGetsALineThatSaysSo) {
    accounting.records = {instance(7, 100, 200)};
    file(7, 200);
    now = (base + 400) * second_ns;
    EXPECT_EQ(pass(), 0U);
    EXPECT_THAT(line(), StartsWith("fabric=incomplete "));
    EXPECT_THAT(line(), HasSubstr(" cover=0/2 "));
    EXPECT_THAT(report("7.0.json").at("unread").dump(), HasSubstr("no node wrote to it during the job"));
}

TEST_F(FinisherTest, TwoRunsInOnePassTakeEachTheirOwnRecords) {
    accounting.records = {instance(7, 100, 200), instance(7, 300, 400)};
    records_of(7, 100, 200);
    records_of(7, 300, 400);
    file(7, 200);
    file(7, 400);
    now = (base + 430) * second_ns;
    EXPECT_EQ(pass(), 0U);
    for (const auto *name : {"7.0.json", "7.1.json"})
        EXPECT_THAT(report(name).dump(), Not(HasSubstr("forged"))) << name;
    EXPECT_THAT(line(1), HasSubstr(" cover=2/2 "));
    EXPECT_EQ(records(), 0U);
}

TEST_F(FinisherTest, ANoteThatAnybodyCanWriteEndsNoWait) {
    accounting.records = {instance(7, 100, 200)};
    for (const auto *node : {"node01", "node02"}) {
        write(node_record(7, node, Phase::start, (base + 100) * second_ns + 7));
        ASSERT_TRUE(write_failed_note(spool(), 7, node, Phase::end, (base + 200) * second_ns + 5, "x"));
    }
    file(7, 200);
    now = (base + 201) * second_ns;
    EXPECT_EQ(pass(), 1U);
    EXPECT_EQ(line(), "");
    now = (base + 221) * second_ns;
    EXPECT_EQ(pass(), 0U);
    EXPECT_THAT(line(), StartsWith("fabric=incomplete "));
}

TEST_F(FinisherTest, AFieldFullOfOthersTextKeepsItAndTheTicketGoes) {
    usual_job();
    accounting.records[0].system_comment = std::string(65'500, 'x');
    EXPECT_EQ(pass(), 0U);
    EXPECT_EQ(line(), std::string(65'500, 'x'));
    EXPECT_THAT(read_text(config.log_file), HasSubstr("the line is in the report only"));
}

TEST_F(FinisherTest, DropsATicketThatIsNoTicket) {
    testing::write_text(state().tickets() + "/1.2.json", "{}");
    EXPECT_EQ(pass(), 0U);
    EXPECT_TRUE(std::filesystem::exists(state().tickets() + "/1.2.json.bad"));
}

TEST_F(FinisherTest, GivesUpAJobThatNeverAppears) {
    file(7, 200);
    now = (base + 200 + 168 * 3600) * second_ns;
    EXPECT_EQ(pass(), 1U);
    now += 2 * second_ns;
    EXPECT_EQ(pass(), 0U);
    EXPECT_THAT(read_text(config.log_file),
                HasSubstr("job 7: given up after 168 h: its end is not in the accounting database yet"));
}

TEST_F(FinisherTest, LearnsTheNodesPortGuids) {
    usual_job();
    EXPECT_EQ(pass(), 0U);
    EXPECT_THAT(read_text(spool().hosts_file()), HasSubstr("\"node02\""));
}

TEST_F(FinisherTest, RunsUntilTheQueueIsEmpty) {
    usual_job();
    accounting.away = true;
    on_sleep = [this] { accounting.away = now < (base + 240) * second_ns; };
    EXPECT_TRUE(finisher->run());
    EXPECT_THAT(line(), StartsWith("fabric="));
    EXPECT_LT(now, (base + 260) * second_ns);
}

TEST_F(FinisherTest, TakesATicketThatCameWhileItWorked) {
    usual_job();
    accounting.records.push_back(instance(8, 210, 220));
    accounting.away = true;
    on_sleep = [this] {
        if (!accounting.away)
            return;
        accounting.away = false;
        records_of(8, 210, 220);
        file(8, 220);
    };
    EXPECT_TRUE(finisher->run());
    EXPECT_THAT(line(1), StartsWith("fabric="));
}

TEST_F(FinisherTest, LeavesTheQueueToANewConfiguration) {
    usual_job();
    accounting.away = true;
    unsigned sleeps = 0;
    on_sleep = [&] {
        superseded = ++sleeps == 3;
        accounting.away = sleeps < 10; // one that goes on comes to an end
    };
    EXPECT_TRUE(finisher->run());
    EXPECT_EQ(sleeps, 3U);
    EXPECT_EQ(tickets(), 1U);
    EXPECT_TRUE(FileLock::try_lock(state().finisher_lock())) << "the next one's";
}

TEST_F(FinisherTest, LeavesTheQueueToTheOneThatRuns) {
    usual_job();
    const auto lock = FileLock::try_lock(state().finisher_lock());
    ASSERT_TRUE(lock);
    EXPECT_TRUE(finisher->run());
    EXPECT_EQ(line(), "");
    EXPECT_EQ(tickets(), 1U);
}

TEST_F(FinisherTest, RecordsOfAJobThatStillRunsOutliveTheDaysThatAreKept) {
    accounting.records = {instance(7, 100, 0)};
    accounting.records[0].ended = false;
    write(node_record(7, "node01", Phase::start, (base + 100) * second_ns));
    write(node_record(8, "node01", Phase::start, (base + 100) * second_ns)); // Slurm knows no such job any more
    now = (time(nullptr) + 31 * 86400) * second_ns;
    accounting.away = true;
    EXPECT_TRUE(finisher->run());
    EXPECT_EQ(records(), 2U) << "while nobody can tell";
    accounting.away = false;
    restart();
    EXPECT_TRUE(finisher->run());
    EXPECT_THAT(files_in(spool().records()), ::testing::ElementsAre(StartsWith("7.node01.")));
}

} // namespace
} // namespace fabric_check
