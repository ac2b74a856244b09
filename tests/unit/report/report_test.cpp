// SPDX-License-Identifier: GPL-2.0-or-later
#include "report/report.hpp"

#include "base/file.hpp"
#include "report/line.hpp"
#include "verdict/job_fixture.hpp"

#include <cstdlib>
#include <gmock/gmock.h>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

namespace fabric_check {
namespace {

using nlohmann::ordered_json;
using testing::gib;
using testing::gigabyte;
using testing::SmallJob;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr std::uint32_t a = SmallJob::switch_a, b = SmallJob::switch_b;

ordered_json report_of(SmallJob &job) {
    const JobVerdict verdict = job.judge();
    return report_json(job.evidence, verdict);
}

std::set<std::string> keys(const ordered_json &object) {
    std::set<std::string> names;
    for (const auto &[key, value] : object.items()) {
        names.insert(key);
    }
    return names;
}

/// A bad optic, the retries after it, and a table that uses three of eight cables.
struct MainJob : SmallJob {
    MainJob() : SmallJob(true, true) {
        all_servers_to_all_nodes(static_cast<std::uint64_t>(0.96 * 22.6 * gib * seconds / 6));
        switch_port(a, 14, "SymbolErrorCounter", 90);
        host(7, "packet_seq_err", 12000);
    }
};

TEST(ReportJson, HasTheContractsKeys) {
    MainJob job;
    const ordered_json report = report_of(job);
    EXPECT_EQ(report.begin().key(), "schema");
    EXPECT_EQ(report["schema"], "fabric-check/report/1");
    for (const char *key : {"job", "verdict", "because", "live", "unread", "line", "cover", "bytes_moved", "shared_with",
                            "routes", "routes_changed", "fields", "hot", "steps", "nodes"}) {
        EXPECT_TRUE(report.contains(key)) << key;
    }
    for (const char *key : {"id", "array_job_id", "array_task_id", "het_job_offset", "restart", "cluster", "user",
                            "partition", "start", "end", "nodes", "node_count"}) {
        EXPECT_TRUE(report["job"].contains(key)) << key;
    }
    EXPECT_EQ(keys(report["cover"]), (std::set<std::string>{"nodes_seen", "nodes_expected", "ports_seen",
                                                            "ports_expected", "missing"}));
    for (const char *key : {"where", "counter", "delta", "layer"}) {
        EXPECT_TRUE(report["because"][0].contains(key)) << key;
        EXPECT_TRUE(report["live"][0].contains(key)) << key;
    }
    for (const char *key : {"where", "share", "interval"}) {
        EXPECT_TRUE(report["hot"][0].contains(key)) << key;
    }
    for (const char *key : {"device", "port", "lid", "guid", "width", "speed", "switch", "switch_port", "role", "deltas"}) {
        EXPECT_TRUE(report["nodes"][0]["ports"][0].contains(key)) << key;
    }
}

TEST(ReportJson, TellsTheMainCase) {
    MainJob job;
    const ordered_json report = report_of(job);
    EXPECT_EQ(report["verdict"], "physical");
    EXPECT_EQ(report["because"][0]["where"], "SwitchA:14<->SwitchB:26");
    EXPECT_EQ(report["because"][0]["delta"], 90);
    EXPECT_EQ(report["fields"]["route"], "imbalanced");
    EXPECT_EQ(report["hot"][0]["where"], "SwitchA:13<->SwitchB:25");
    EXPECT_EQ(report["nodes"][6]["ports"][0]["deltas"]["packet_seq_err"], 12000);
    EXPECT_EQ(report["nodes"][6]["ports"][0]["switch"], "SwitchA");
    EXPECT_EQ(report["nodes"][6]["ports"][0]["switch_port"], 7);
    const JobVerdict verdict = job.judge();
    EXPECT_EQ(report["line"], format_line(line_fields(job.evidence, verdict)));
}

TEST(ReportJson, GroupPortsCarryTheMeasuredDeltas) {
    MainJob job;
    const ordered_json report = report_of(job);
    for (const ordered_json &group : report["routes"]["groups"]) {
        for (const ordered_json &port : group["ports"]) {
            EXPECT_TRUE(port.contains("xmit_bytes") && port.contains("rcv_bytes") && port.contains("xmit_wait"));
        }
    }
}

TEST(ReportJson, AValueThatIsNotThereIsNullWithItsReason) {
    MainJob job;
    job.host_end(2).counters.erase("packet_seq_err");
    const ordered_json port = report_of(job)["nodes"][1]["ports"][0];
    EXPECT_TRUE(port["deltas"]["packet_seq_err"].is_null());
    EXPECT_EQ(port["no_delta"]["packet_seq_err"], "absent at end");
}

TEST(ReportJson, AnUnreadCounterHasPlaceAndReason) {
    MainJob job;
    job.host_end(2).counters.erase("packet_seq_err");
    EXPECT_EQ(report_of(job)["unread"][0], (ordered_json{{"where", "node02/mlx5_0:1"},
                                                         {"counter", "packet_seq_err"},
                                                         {"reason", "absent at end"},
                                                         {"hides", "transport-retry"},
                                                         {"missing", true}}));
}

TEST(ReportJson, WithoutAMapThereAreNoRoutes) {
    MainJob job;
    job.analyse();
    job.evidence.map = nullptr;
    const JobVerdict verdict = judge_job(job.evidence, job.config);
    EXPECT_TRUE(report_json(job.evidence, verdict)["routes"].is_null());
}

TEST(ReportJson, AChangeOfRoutesKeepsBothDistributions) {
    MainJob job;
    job.evidence.scout.start->lfts[1].ports[SmallJob::node_lid(7)] = 31;
    const ordered_json report = report_of(job);
    EXPECT_EQ(report["routes_changed"].size(), 1U);
    EXPECT_NE(report["routes"]["groups"], report["routes_start"]["groups"]);
}

TEST(ReportJson, AChangeSinceTheMapKeepsTheMapsDistribution) {
    MainJob job;
    job.map.nodes[1].lft[SmallJob::node_lid(7)] = 31;
    const ordered_json report = report_of(job);
    EXPECT_EQ(report["routes_changed"].size(), 1U);
    EXPECT_FALSE(report.contains("routes_start"));
    EXPECT_NE(report["routes"]["groups"], report["routes_map"]["groups"]);
}

TEST(ReportJson, TimesAndIdsAreNumbers) {
    MainJob job;
    job.evidence.job.array_job_id = 4700;
    job.evidence.job.array_task_id = 0;
    const ordered_json about = report_of(job)["job"];
    EXPECT_EQ(about["start"], 1700000000);
    EXPECT_EQ(about["array_task_id"], 0);
    EXPECT_TRUE(about["het_job_offset"].is_null());
}

void at_zone(const char *zone) {
    zone != nullptr ? ::setenv("TZ", zone, 1) : ::unsetenv("TZ"); // NOLINT(concurrency-mt-unsafe)
    ::tzset();
}

/// Text as it was when somebody last looked at it. FABRIC_CHECK_REGENERATE=1 writes the files anew.
class Golden : public ::testing::Test {
protected:
    static void compare(const std::string &name, const std::string &text) {
        const std::string path = std::string(FABRIC_CHECK_SOURCE_DIR) + "/tests/unit/report/golden/" + name + ".txt";
        const char *regenerate = std::getenv("FABRIC_CHECK_REGENERATE");
        if (regenerate != nullptr && *regenerate == '1') {
            ASSERT_TRUE(write_file_atomic(path, text));
        }
        const Result<std::string> golden = read_file(path, 1U << 20);
        ASSERT_TRUE(golden) << golden.error().message;
        EXPECT_EQ(text, *golden) << "FABRIC_CHECK_REGENERATE=1 writes it anew";
    }
    static void expect_narrow(const std::string &text) {
        std::istringstream lines(text);
        for (std::string line; std::getline(lines, line);) {
            EXPECT_LE(line.size(), usual_columns) << line;
        }
    }
    void SetUp() override { at_zone("UTC"); }
    void TearDown() override { at_zone(nullptr); }
};

TEST_F(Golden, TheMainCase) {
    MainJob job;
    const std::string text = report_text(report_of(job), false);
    expect_narrow(text);
    compare("main", text);
}

TEST_F(Golden, ACleanJob) {
    SmallJob job(false);
    job.ring(100 * gigabyte);
    const std::string text = report_text(report_of(job), false);
    expect_narrow(text);
    compare("clean", text);
}

TEST_F(Golden, AJobThatCannotBeJudged) {
    SmallJob job;
    job.all_servers_to_all_nodes(10 * gigabyte);
    job.set_both(job.switch_start(b, 3).counters, job.switch_end(b, 3).counters, "LinkDownedCounter", 255);
    job.node(9).end.reset();
    job.node(9).end_problem = "no END record within 20 s of the job's end";
    job.evidence.job.state = "NODE_FAIL";
    job.host(3, "rnr_nak_retry_err", 1);
    job.evidence.shared_with = {4699, 4703};
    job.evidence.problems.push_back({"spool", "", "node02: forged or copied record: signed by uid 1000"});
    const std::string text = report_text(report_of(job), false);
    expect_narrow(text);
    compare("incomplete", text);
}

/// Everything the servers send goes to few nodes; the tables spread LIDs evenly in both directions.
struct ReadingJob : SmallJob {
    ReadingJob() {
        for (unsigned s = 1; s <= servers; ++s) {
            traffic(server_lid(s), node_lid(1), 90 * gigabyte);
            traffic(server_lid(s), node_lid(2), 30 * gigabyte);
            traffic(node_lid(1), server_lid(s), 4000);
        }
        switch_port(b, 25, "PortXmitWait", 3000);
        switch_port(b, 26, "PortXmitWait", 1000);
    }
};

TEST_F(Golden, AJobThatReadsFromServices) {
    ReadingJob job;
    const std::string text = report_text(report_of(job), false);
    expect_narrow(text);
    compare("reading", text);
}

TEST(ReportJson, WorstAndCeilingAreOfTheGroupInTheLine) {
    ReadingJob job;
    const ordered_json report = report_of(job);
    EXPECT_EQ(report["fields"]["isl"], "SwitchB>SwitchA:8/8");
    EXPECT_EQ(report["routes"]["worst"]["name"], "SwitchB>SwitchA");
    EXPECT_EQ(report["routes"]["worst"]["direction"], "from");
    EXPECT_EQ(report["routes"]["ceiling"]["links"], 8);
}

TEST(ReportJson, CeilingsAreTheSites) {
    ReadingJob job;
    job.config.payload_ceilings["4X HDR"] = 10;
    EXPECT_EQ(report_of(job)["routes"]["ceiling"]["gib_s"], 80.0);
}

TEST(ReportJson, RoutesHaveTheThreeShapesAndTheMap) {
    MainJob job;
    const ordered_json report = report_of(job);
    for (const char *shape : {"one_to_many", "many_to_one", "many_to_many"}) {
        EXPECT_TRUE(report["routes"]["shapes"].contains(shape)) << shape;
    }
    EXPECT_TRUE(report["routes"]["map"].contains("source"));
}

TEST(ReportText, MeasuresEveryGroupThatCarriedAConsiderablePart) {
    ReadingJob job;
    const std::string text = report_text(report_of(job), false);
    EXPECT_THAT(text, HasSubstr("Measured over SwitchB>SwitchA: 960.0 GB, the busiest link 6.0 times the mean"));
    EXPECT_THAT(text, HasSubstr("75 % of wait"));
    EXPECT_THAT(text, Not(HasSubstr("Measured over SwitchA>SwitchB"))) << "32 kB are no considerable part";
    job.traffic(SmallJob::node_lid(1), SmallJob::server_lid(1), 100 * gigabyte);
    EXPECT_THAT(report_text(report_of(job), false), HasSubstr("Measured over SwitchA>SwitchB: 100.0 GB"));
}

/// Eight cables between the switches and some hosts' own are full.
struct FullJob : SmallJob {
    FullJob() {
        const auto filling = [](double share) { return static_cast<std::uint64_t>(share * 22.6 * gib * seconds); };
        for (unsigned i = 1; i <= links; ++i) {
            traffic(server_lid(i), node_lid(i), filling(0.79));
            traffic(server_lid(i % 8 + 1), node_lid(i + 8 > 12 ? i : i + 8), filling(0.16));
        }
    }
};

TEST_F(Golden, AJobThatFillsEveryCable) {
    FullJob job;
    const std::string text = report_text(report_of(job), false);
    expect_narrow(text);
    compare("congestion", text);
}

TEST(ReportText, CablesOfOneCauseAreOneEntryAndStandOnce) {
    FullJob job;
    const ordered_json report = report_of(job);
    EXPECT_GE(report["hot"].size(), 16U) << "JSON lists each";
    const std::string text = report_text(report, false);
    EXPECT_THAT(text, HasSubstr("SwitchA:13-20<->SwitchB"));
    EXPECT_THAT(text, Not(HasSubstr("\nFull cables")));
    EXPECT_LT(std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(text.find("What to do next")), '\n'), 24);
}

TEST(ReportText, AShareAboveTheCeilingSaysWhy) {
    MainJob job;
    ordered_json report = report_of(job);
    report["hot"][0]["share"] = 3.81;
    const std::string text = report_text(report, false, 300);
    EXPECT_THAT(text, HasSubstr("381 %"));
    EXPECT_THAT(text, HasSubstr("above the ceiling: the interval was too short to measure, or payload_ceilings is too low"));
}

TEST(ReportText, AReasonStandsInFullOnce) {
    SmallJob job;
    job.ring(10 * gigabyte);
    const std::string reason = "umad: no active InfiniBand port on this host (is a card there, its driver loaded?)";
    for (auto *scout : {&job.evidence.scout.start, &job.evidence.scout.end}) {
        ScoutSnapshot nothing;
        nothing.node = "node01";
        nothing.problems.push_back({"switches", "", reason});
        *scout = nothing;
    }
    const std::string text = report_text(report_of(job), false, 160);
    const auto first = text.find("node01: " + reason);
    ASSERT_NE(first, std::string::npos);
    EXPECT_EQ(text.find(reason, first + 10), std::string::npos) << text;
    EXPECT_THAT(text, Not(HasSubstr("rates are averages")));
}

TEST(ReportText, OtherJobsAreNamedOnce) {
    MainJob job;
    job.evidence.shared_with = {2};
    EXPECT_THAT(report_text(report_of(job), false), HasSubstr("Another job on its nodes meanwhile: job 2; counters"));
    job.evidence.shared_with = {2, 5};
    const std::string text = report_text(report_of(job), false);
    EXPECT_THAT(text, HasSubstr("Other jobs on its nodes meanwhile: jobs 2, 5; counters"));
    EXPECT_THAT(text, Not(HasSubstr("2 other jobs")));
}

TEST(ReportText, TimesAreLocalWithTheirOffset) {
    MainJob job;
    const ordered_json report = report_of(job);
    at_zone("CET-1");
    const std::string text = report_text(report, false);
    at_zone(nullptr);
    EXPECT_THAT(text, HasSubstr("2023-11-14T23:13:20+01:00 to 2023-11-14T23:15:00+01:00"));
}

TEST(ReportText, FitsANarrowTerminal) {
    FullJob job;
    const std::string text = report_text(report_of(job), false, 80);
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) {
        EXPECT_LE(line.size(), 80U) << line;
    }
}

std::size_t columns_by(const char *environment) {
    ::setenv("COLUMNS", environment, 1); // NOLINT(concurrency-mt-unsafe)
    const std::size_t columns = text_columns(-1);
    ::unsetenv("COLUMNS"); // NOLINT(concurrency-mt-unsafe)
    return columns;
}

TEST(ReportText, WithoutATerminalTheWidthIsTheUsual) {
    ::unsetenv("COLUMNS"); // NOLINT(concurrency-mt-unsafe)
    EXPECT_EQ(text_columns(-1), usual_columns);
}

TEST(ReportText, WithoutATerminalTheEnvironmentMaySayTheWidth) {
    EXPECT_EQ(columns_by("40"), 40U);
    EXPECT_EQ(columns_by("500"), 500U);
}

TEST(ReportText, AWidthInTheEnvironmentThatIsNotSensibleIsNone) {
    for (const char *odd : {"", "39", "501", "80x", "-80", "18446744073709551616"})
        EXPECT_EQ(columns_by(odd), usual_columns) << odd;
}

TEST(ReportText, IsColouredOnlyWhenAsked) {
    MainJob job;
    const ordered_json report = report_of(job);
    EXPECT_THAT(report_text(report, true), HasSubstr("\x1b[1;31mphysical\x1b[0m"));
    EXPECT_THAT(report_text(report, false), Not(HasSubstr("\x1b")));
}

TEST(ReportText, HostileBytesDoNotReachTheTerminal) {
    MainJob job;
    job.evidence.job.user = "\x1b]0;owned\x07";
    job.evidence.job.name = "two\nlines";
    job.evidence.problems.push_back({"spool", "", "\x1b[2J"});
    const std::string text = report_text(report_of(job), false);
    EXPECT_THAT(text, Not(HasSubstr("\x1b")));
    EXPECT_THAT(text, HasSubstr("two\\x0alines"));
}

TEST(ReportText, SaysWhatIsNoReport) {
    EXPECT_EQ(report_text(ordered_json::array(), false), "This is no report: it has no verdict.\n");
    EXPECT_EQ(report_text(ordered_json{{"verdict", 7}}, false), "This is no report: it has no verdict.\n");
}

/// Every value of a report replaced, one at a time, by values of every other type.
void replace_each(const ordered_json &whole, const ordered_json::json_pointer &at, std::size_t &tried) {
    const ordered_json here = whole.at(at);
    const std::vector<ordered_json> odd{nullptr, -1, 1e300, "text", ordered_json::array({1, nullptr, "x"}),
                                        ordered_json::object({{"where", 3}}), true};
    for (const ordered_json &value : odd) {
        ordered_json changed = whole;
        changed[at] = value;
        EXPECT_FALSE(report_text(changed, false).empty());
        ++tried;
    }
    if (here.is_object()) {
        for (const auto &[key, value] : here.items()) {
            replace_each(whole, at / key, tried);
        }
    } else if (here.is_array() && !here.empty()) {
        replace_each(whole, at / 0, tried);
    }
}

TEST(ReportJson, OfVeryManySwitchPortsTheQuietOnesAreCounted) {
    MainJob job;
    JobVerdict verdict = job.judge();
    const ordered_json before = report_json(job.evidence, verdict);
    EXPECT_EQ(before["switch_ports_left_out"], 0);
    const auto quiet = std::find_if(verdict.ports.begin(), verdict.ports.end(), [](const PortResult &result) {
        return result.node.empty() && result.verdict.outcome == Outcome::clean;
    });
    ASSERT_NE(quiet, verdict.ports.end());
    const PortResult one = *quiet;
    verdict.ports.insert(verdict.ports.end(), 4097, one);
    const ordered_json report = report_json(job.evidence, verdict);
    EXPECT_GE(report["switch_ports_left_out"], 4098);
    EXPECT_EQ(report["switch_ports"].size() + report["switch_ports_left_out"].get<std::size_t>(),
              before["switch_ports"].size() + 4097);
    for (const ordered_json &port : report["switch_ports"]) {
        EXPECT_NE(port["verdict"], "clean");
    }
    EXPECT_FALSE(report["switch_ports"].empty()) << "those with a finding stay";
}

TEST(ReportText, NeverThrowsOnOddJson) {
    MainJob job;
    job.host_end(2).counters.erase("packet_seq_err");
    ordered_json report = report_of(job);
    report.erase("switch_ports"); // not shown, and slow to copy
    std::size_t tried = 0;
    ASSERT_NO_THROW(replace_each(report, ordered_json::json_pointer(), tried));
    EXPECT_GT(tried, 500U);
}

TEST(ReportText, ManyFindingsAreCountedNotListed) {
    SmallJob job(false);
    job.ring(10 * gigabyte);
    ordered_json report = report_of(job);
    for (int i = 0; i < 50; ++i) {
        report["because"].push_back({{"where", "x" + std::to_string(i)}, {"counter", "SymbolErrorCounter"}, {"delta", 1}});
    }
    EXPECT_THAT(report_text(report, false), HasSubstr("and 30 more; --json lists them all"));
}

} // namespace
} // namespace fabric_check
