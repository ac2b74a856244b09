// SPDX-License-Identifier: GPL-2.0-or-later
#include "verdict/steps.hpp"

#include "base/text.hpp"
#include "job_fixture.hpp"
#include "record/codec.hpp"
#include "report/report.hpp"
#include "report/steps_report.hpp"

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

namespace fabric_check {
namespace {

using testing::gigabyte;
using testing::SmallJob;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;

constexpr std::int64_t second = 1'000'000'000;
constexpr std::int64_t start = 1'700'000'000 * second; // 22:13:20 UTC
const std::string retries = "packet_seq_err", port = "mlx5_0:1";

/// The same binary twice on nodes 1 and 2, in one allocation.
struct TwiceJob : SmallJob {
    TwiceJob() {
        all_servers_to_all_nodes(100 * gigabyte);
        for (unsigned i = 1; i <= 2; ++i) {
            for (std::uint32_t id = 0; id < 2; ++id) {
                StepRecord record{id, "ib_write_bw", 2, start + (10 + 40 * id) * second, start + (40 + 40 * id) * second, {}};
                node(i).steps.steps.push_back(record);
                moved(i, id, "PortRcvData", 10 * gigabyte / 4);
            }
        }
    }
    StepRecord &step(unsigned i, std::size_t id) { return node(i).steps.steps[id]; }
    void moved(unsigned i, std::size_t id, const std::string &counter, std::uint64_t delta) {
        auto &moves = step(i, id).ports[port][counter];
        moves.delta = delta;
        moves.from_ns = step(i, id).start_ns;
        moves.to_ns = step(i, id).end_ns;
    }
};

TEST(Steps, AJobWithoutThemHasNone) {
    SmallJob job;
    EXPECT_THAT(job.judge().steps, IsEmpty());
}

TEST(Steps, TheSameBinaryTwiceIsToldApart) {
    TwiceJob job;
    job.host(1, retries, 90);
    job.moved(1, 1, retries, 90);
    const auto verdict = job.judge();
    EXPECT_EQ(verdict.verdict, "transport-retry");
    ASSERT_THAT(verdict.steps, SizeIs(2));
    EXPECT_EQ(verdict.steps[0].id, "4711.0");
    EXPECT_EQ(verdict.steps[0].name, "ib_write_bw");
    EXPECT_EQ(verdict.steps[0].verdict, "clean");
    EXPECT_EQ(verdict.steps[0].bytes_received, 20 * gigabyte);
    EXPECT_EQ(verdict.steps[0].start, 1'700'000'010);
    EXPECT_EQ(verdict.steps[0].end, 1'700'000'040);
    EXPECT_THAT(verdict.steps[0].nodes, ElementsAre("node01", "node02"));
    EXPECT_THAT(verdict.steps[0].unread, IsEmpty());
    EXPECT_EQ(verdict.steps[1].verdict, "transport-retry");
    ASSERT_THAT(verdict.steps[1].because, SizeIs(1));
    EXPECT_EQ(verdict.steps[1].because[0].where, "node01/mlx5_0:1");
    EXPECT_EQ(verdict.steps[1].because[0].delta, 90U);
}

TEST(Steps, OneWithoutTrafficIsNoTraffic) {
    TwiceJob job;
    for (unsigned i = 1; i <= 2; ++i)
        job.step(i, 0).ports.clear();
    EXPECT_EQ(job.judge().steps[0].verdict, "no-traffic");
}

TEST(Steps, ANodeWithoutItsEndMakesItIncomplete) {
    TwiceJob job;
    job.step(2, 1).end_ns = 0;
    const auto verdict = job.judge();
    EXPECT_EQ(verdict.steps[1].verdict, "incomplete");
    EXPECT_EQ(verdict.steps[1].rest, "clean");
    ASSERT_THAT(verdict.steps[1].unread, SizeIs(1));
    EXPECT_EQ(verdict.steps[1].unread[0].where, "node02");
    EXPECT_EQ(verdict.steps[1].unread[0].reason, "no reading at the step's end");
    EXPECT_EQ(verdict.verdict, "clean") << "the job itself was read";
}

TEST(Steps, ANodeThatLeftNothingIsMissed) {
    TwiceJob job;
    job.node(2).steps.steps.clear();
    const auto verdict = job.judge();
    EXPECT_EQ(verdict.steps[0].verdict, "incomplete");
    EXPECT_EQ(verdict.steps[0].node_count, 2U);
    EXPECT_EQ(verdict.steps[0].unread.at(0).reason, "1 of its 2 nodes left no record");
}

TEST(Steps, ALostCounterIsUnusable) {
    TwiceJob job;
    job.step(1, 0).ports[port]["SymbolErrorCounter"].lost = {
        {job.step(1, 0).start_ns, job.step(1, 0).end_ns, NoDelta::reset}};
    EXPECT_EQ(job.judge().steps[0].verdict, "unusable");
    EXPECT_EQ(job.judge().steps[1].verdict, "clean");
}

TEST(Steps, OnlyTheLastOneOfACancelledJobIsExcused) {
    TwiceJob job;
    job.evidence.job.state = "CANCELLED";
    job.host(1, retries, 100);
    job.moved(1, 0, retries, 10);
    job.moved(1, 1, retries, 90);
    const auto verdict = job.judge();
    EXPECT_EQ(verdict.steps[0].verdict, "transport-retry");
    EXPECT_EQ(verdict.steps[1].verdict, "clean");
    EXPECT_EQ(verdict.steps[1].live.at(0).note, "teardown?");
}

TEST(Steps, MoreThanAreRecordedIsNoted) {
    TwiceJob job;
    job.node(1).steps.more = true;
    EXPECT_THAT(job.judge().notes,
                Contains("node01 ran more steps than are recorded of a job (step_records = 100)"));
}

TEST(Steps, StandInTheReport) {
    TwiceJob job;
    job.host(1, retries, 90);
    job.moved(1, 1, retries, 90);
    const auto verdict = job.judge();
    const auto report = report_json(job.evidence, verdict);
    ASSERT_EQ(report["steps"].size(), 2U);
    const auto &step = report["steps"][1];
    EXPECT_EQ(step["id"], "4711.1");
    EXPECT_EQ(step["name"], "ib_write_bw");
    EXPECT_EQ(step["nodes"], "node[01-02]");
    EXPECT_EQ(step["verdict"], "transport-retry");
    EXPECT_EQ(step["because"][0]["counter"], retries);
    EXPECT_EQ(step["bytes_received"], 20 * gigabyte);
    const auto text = report_text(report, false);
    const auto clock = [](std::int64_t seconds) { return format_local_time(1'700'000'000 + seconds).substr(11, 8); };
    EXPECT_THAT(text, HasSubstr("\nSteps\n  4711.0       ib_write_bw              " + clock(10) + "-" + clock(40) +
                                "    2 nodes   20.0 GB  clean\n  4711.1       ib_write_bw              " + clock(50) + "-" +
                                clock(80) +
                                "    2 nodes   20.0 GB  transport-retry\n"
                                "      node01/mlx5_0:1 packet_seq_err +90\n"));
}

TEST(Steps, OddReportsAreNoHarm) {
    EXPECT_EQ(steps_text(nlohmann::ordered_json::parse("{}")), "");
    EXPECT_EQ(steps_text(nlohmann::ordered_json::parse(R"({"steps":7})")), "");
    const auto text = steps_text(nlohmann::ordered_json::parse(
        R"({"steps":[7,{"id":1,"start":-1e300,"end":1e300,"bytes_moved":-5,"because":[3],"name":"\u001b[0m"}]})"));
    EXPECT_EQ(text.find('\x1b'), std::string::npos);
}

TEST(StepCodec, ReadsWhatItWrote) {
    TwiceJob job;
    job.step(1, 0).ports[port]["SymbolErrorCounter"].lost = {{start, start + second, NoDelta::absent_before}};
    Record record{7, "node01", Phase::end, job.node(1).end->time_ns, *job.node(1).end};
    record.steps = {job.node(1).steps.steps, true};
    const auto read = decode_record(encode_record(record));
    ASSERT_TRUE(read) << read.error().message;
    EXPECT_EQ(read->steps, record.steps);
}

TEST(StepCodec, RefusesAnEndBeforeTheStart) {
    TwiceJob job;
    Record record{7, "node01", Phase::end, job.node(1).end->time_ns, *job.node(1).end};
    record.steps = {job.node(1).steps.steps, false};
    record.steps.steps[0].end_ns = record.steps.steps[0].start_ns - 1;
    record.steps.steps[0].ports.clear();
    const auto read = decode_record(encode_record(record));
    ASSERT_FALSE(read);
    EXPECT_THAT(read.error().message, HasSubstr("steps[0].end_ns: ends before it begins"));
}

TEST(StepCodec, NamesAreMadeHarmlessAgain) {
    EXPECT_EQ(step_name("/a/b/\x7f\xffq"), "??q");
    EXPECT_EQ(step_name(""), "");
    EXPECT_EQ(step_name("/"), "");
}

TEST(Steps, AKnownLinkDecidesNothingThereEither) {
    for (const char *place : {"SwitchA:1", "node01/mlx5_0:1"}) {
        TwiceJob job;
        job.host(1, "SymbolErrorCounter", 90);
        job.moved(1, 1, "SymbolErrorCounter", 90);
        auto verdict = job.judge();
        EXPECT_EQ(verdict.steps[1].verdict, "physical");
        EXPECT_EQ(verdict.steps[1].because.at(0).where, "SwitchA:1<->node01/mlx5_0:1");
        job.config.known[place] = {"HW-12", 1'800'000'000};
        verdict = job.judge();
        EXPECT_EQ(verdict.verdict, "clean") << place;
        EXPECT_EQ(verdict.steps[1].verdict, "clean") << place;
        EXPECT_EQ(verdict.steps[1].live.at(0).note, "known: HW-12");
    }
}

TEST(Steps, MoreBytesThanTheLinkCarriesAreNotBelieved) {
    TwiceJob job;
    job.moved(1, 0, "PortRcvData", 30 * 25 * gigabyte); // 30 s at four times 25 GB/s
    const auto verdict = job.judge();
    EXPECT_EQ(verdict.steps[0].bytes_received, 10 * gigabyte) << "node02's alone";
    EXPECT_EQ(verdict.steps[1].bytes_received, 20 * gigabyte);
}

} // namespace
} // namespace fabric_check
