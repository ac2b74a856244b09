// SPDX-License-Identifier: GPL-2.0-or-later
#include "job/finisher.hpp"

#include "job/finisher_fixture.hpp"
#include "report/line.hpp"

#include <gmock/gmock.h>

#include <atomic>
#include <fcntl.h>
#include <sys/stat.h>

namespace fabric_check {
namespace {

using ::testing::AllOf;
using ::testing::Each;
using ::testing::HasSubstr;
using testing::node_record;
using testing::second_ns;
using ::testing::SizeIs;
using ::testing::StartsWith;

class FinisherBatchTest : public testing::FinisherWithWorld {
protected:
    /// Jobs `first` to `last` that ended together, with all their records.
    void burst(std::uint32_t first, std::uint32_t last) {
        for (auto id = first; id <= last; ++id) {
            accounting.records.push_back(instance(id, 100, 200));
            records_of(id, 100, 200);
            file(id, 200);
        }
        now = (base_s + 201) * second_ns;
    }
    std::size_t with_line() const {
        return static_cast<std::size_t>(std::count_if(
            accounting.records.begin(), accounting.records.end(),
            [](const JobInstance &record) { return record.system_comment.starts_with("fabric="); }));
    }
    std::vector<std::string> reports() const {
        std::vector<std::string> texts;
        for (const auto &name : testing::files_in(spool().reports()))
            texts.push_back(testing::read_text(spool().reports() + "/" + name));
        return texts;
    }
};

TEST_F(FinisherBatchTest, AsksAndWritesForManyJobsAtOnce) {
    burst(1, 120);
    EXPECT_EQ(pass(), 0U);
    EXPECT_EQ(with_line(), 120U);
    EXPECT_EQ(accounting.attached, 120U);
    EXPECT_THAT(accounting.asked_for, ::testing::ElementsAre(50U, 50U, 20U));
    EXPECT_THAT(accounting.attached_at_once, ::testing::ElementsAre(50U, 50U, 20U));
    EXPECT_THAT(accounting.neighbours_at_once, ::testing::ElementsAre(50U, 50U, 20U));
    EXPECT_EQ(tickets(), 0U);
    EXPECT_EQ(records(), 0U);
}

TEST_F(FinisherBatchTest, RecordsAreVerifiedInSlicesWithTheSameResult) {
    limits.slice = 10; // a job has eight
    restart();
    burst(1, 5);
    EXPECT_GT(pass(), 0U);
    EXPECT_EQ(with_line(), 1U)
        << "the first job's eight records are in the first slice, and those of the others are not";
    unsigned passes = 1;
    while (pass() > 0)
        ASSERT_LT(++passes, 10U);
    EXPECT_EQ(with_line(), 5U);
    EXPECT_EQ(signer.verified_count, 40U) << "none twice";
}

/// A job whose scouts left nothing, and the sampler's last pass, so long before its end.
class SamplerAwaitedTest : public FinisherBatchTest {
protected:
    void last_pass(std::int64_t before_s) {
        burst(1, 1);
        for (const auto &name : testing::files_in(spool().records()))
            if (name.find("scout-end") != std::string::npos)
                std::filesystem::remove(spool().records() + "/" + name);
        std::filesystem::create_directory(spool().root + "/samples");
        const auto path = spool().root + "/samples/newest.fcp";
        testing::write_text(path, "");
        const timespec at{base_s + 200 - before_s, 0};
        const timespec both[] = {at, at};
        ASSERT_EQ(::utimensat(AT_FDCWD, path.c_str(), both, 0), 0);
        now = (base_s + 200 + 25) * second_ns; // no END of a scout is waited for any more
    }
};

TEST_F(SamplerAwaitedTest, ThePassAfterTheJobsEndIsWaitedFor) {
    last_pass(10);
    EXPECT_EQ(pass(), 1U);
    now = (base_s + 200 + 36) * second_ns; // an interval of 30 s, and five
    EXPECT_EQ(pass(), 0U) << "and no longer";
}

TEST_F(SamplerAwaitedTest, APassThatCameSinceEndsTheWait) {
    last_pass(-5);
    EXPECT_EQ(pass(), 0U);
}

TEST_F(SamplerAwaitedTest, ASamplerThatDoesNotRunAnyMoreIsNotWaitedFor) {
    last_pass(100);
    EXPECT_EQ(pass(), 0U);
}

TEST_F(FinisherBatchTest, RecordsOfJobsThatWaitAreHeldUpToABound) {
    for (const std::size_t most : {std::size_t{1000}, std::size_t{1}}) {
        limits.most_held = most;
        restart();
        burst(1, 3);
        for (auto &record : accounting.records)
            record.ended = false; // as slurmdbd has it for a moment
        signer.verified_count = 0;
        EXPECT_EQ(pass(), 3U);
        EXPECT_EQ(signer.verified_count, 24U);
        for (auto &record : accounting.records)
            record.ended = true;
        now += 200 * second_ns;
        EXPECT_EQ(pass(), 0U);
        EXPECT_EQ(with_line(), 3U);
        EXPECT_EQ(signer.verified_count, most == 1 ? 48U : 24U) << "what was not held is read again";
        accounting.records.clear();
    }
}

TEST_F(FinisherBatchTest, OneWhoseEndIsNotRecordedYetHoldsUpNoOther) {
    burst(1, 60);
    accounting.records[30].ended = false;
    EXPECT_EQ(pass(), 1U);
    EXPECT_EQ(with_line(), 59U);
    accounting.records[30].ended = true;
    now += 2 * second_ns;
    EXPECT_EQ(pass(), 0U);
    EXPECT_EQ(with_line(), 60U);
    EXPECT_EQ(accounting.attached, 60U);
}

TEST_F(FinisherBatchTest, AsksLessAndLessOftenForThoseNotRecordedYet) {
    burst(1, 60);
    for (auto &record : accounting.records)
        record.ended = false;
    for (int tenths = 0; tenths < 600; ++tenths, now += second_ns / 10)
        EXPECT_EQ(pass(), 60U);
    EXPECT_LE(accounting.asked, 2U * 6U) << "after 0, 1, 3, 7, 15 and 31 s, in two questions each";
}

TEST_F(FinisherBatchTest, ALostDatabaseTakesAWholeBatchBackAndTheNextDoesItAgain) {
    burst(1, 60);
    accounting.lines_until_away = 25;
    EXPECT_EQ(pass(), 60U);
    EXPECT_EQ(with_line(), 0U);
    EXPECT_EQ(tickets(), 60U);
    const auto written = reports();
    accounting.away = false;
    accounting.lines_until_away.reset();
    restart();
    now += 20 * second_ns;
    EXPECT_EQ(pass(), 0U);
    EXPECT_EQ(with_line(), 60U);
    EXPECT_EQ(accounting.attached, 60U);
    EXPECT_EQ(records(), 0U);
    for (const auto &report : written)
        EXPECT_EQ(std::count(written.begin(), written.end(), report), 1);
}

TEST_F(FinisherBatchTest, ALostDatabaseInTheSecondBatchCostsNothingOfTheFirst) {
    burst(1, 100);
    accounting.lines_until_away = 70;
    EXPECT_EQ(pass(), 50U);
    EXPECT_EQ(with_line(), 50U);
    EXPECT_EQ(tickets(), 50U);
}

TEST_F(FinisherBatchTest, KilledBehindTheCommitChangesNoRecordTwice) {
    burst(1, 10);
    EXPECT_EQ(pass(), 0U);
    const auto lines = accounting.records;
    for (std::uint32_t id = 1; id <= 10; ++id) // as if it had been killed before its tickets went
        file(id, 200);
    restart();
    now += 60 * second_ns;
    EXPECT_EQ(pass(), 0U);
    EXPECT_EQ(accounting.attached, 10U);
    for (std::size_t i = 0; i < lines.size(); ++i)
        EXPECT_EQ(accounting.records[i].system_comment, lines[i].system_comment);
    EXPECT_EQ(tickets(), 0U);
}

TEST_F(FinisherBatchTest, ThreadsChangeNoReport) {
    config.finisher.workers = 1;
    restart();
    burst(1, 20);
    EXPECT_EQ(pass(), 0U);
    const auto alone = reports();
    ASSERT_THAT(alone, SizeIs(20));
    std::filesystem::remove_all(spool().reports());
    accounting.records.clear();
    config.finisher.workers = 8;
    restart();
    burst(1, 20);
    EXPECT_EQ(pass(), 0U);
    EXPECT_EQ(reports(), alone);
}

TEST_F(FinisherBatchTest, SmallJobsGoBeforeALargeOne) {
    auto large = instance(1, 100, 200);
    large.job.node_names.clear();
    for (int i = 0; i < 100; ++i)
        large.job.node_names.push_back("big" + std::to_string(i));
    large.job.nodes = "big[0-99]";
    accounting.records.push_back(large);
    Ticket ticket;
    ticket.job_id = 1;
    ticket.time_ns = (base_s + 100) * second_ns;
    ticket.nodes = large.job.nodes;
    accounting.records[0].job.end = base_s + 99;
    ASSERT_TRUE(file_ticket(state(), ticket));
    burst(2, 51);
    EXPECT_EQ(pass(), 0U);
    EXPECT_EQ(accounting.attached_at_once, (std::vector<std::size_t>{50, 1}));
}

TEST_F(FinisherBatchTest, AJobThatWaitsForItsNodesHasNoRecordsReadMeanwhile) {
    class Counting : public testing::FakeSigner {
    public:
        std::atomic<unsigned> verified{0};
        Result<Credential> verify(const std::string &text) override {
            ++verified;
            return FakeSigner::verify(text);
        }
    } counting;
    FinisherWorld world;
    world.signer = &counting;
    world.accounting = &accounting;
    world.log = &log;
    world.now_ns = [this] { return now; };
    Finisher one(config, std::move(world));
    accounting.records = {instance(7, 100, 200)};
    write(node_record(7, "node01", Phase::start, (base_s + 100) * second_ns));
    write(node_record(7, "node02", Phase::start, (base_s + 100) * second_ns));
    write(node_record(7, "node01", Phase::end, (base_s + 201) * second_ns));
    file(7, 200);
    now = (base_s + 202) * second_ns;
    EXPECT_EQ(one.pass()->left, 1U);
    EXPECT_EQ(counting.verified, 0U);
    write(node_record(7, "node02", Phase::end, (base_s + 203) * second_ns));
    now = (base_s + 210) * second_ns;
    EXPECT_EQ(one.pass()->left, 0U);
    EXPECT_EQ(counting.verified, 4U);
}

TEST_F(FinisherBatchTest, AFileInTheNameOfAnEndThatIsNoneEndsNoWait) {
    accounting.records = {instance(7, 100, 200)};
    write(node_record(7, "node01", Phase::end, (base_s + 201) * second_ns));
    testing::write_text(spool().records() + "/" +
                            RecordName{7, "node02", (base_s + 201) * second_ns, RecordKind::end}.file_name(),
                        "forged");
    file(7, 200);
    now = (base_s + 202) * second_ns;
    EXPECT_EQ(pass(), 1U);
    EXPECT_EQ(line(), "");
    now = (base_s + 222) * second_ns;
    EXPECT_EQ(pass(), 0U);
    EXPECT_THAT(line(), HasSubstr(" cover=0/2 "));
}

} // namespace
} // namespace fabric_check
