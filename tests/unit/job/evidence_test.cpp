// SPDX-License-Identifier: GPL-2.0-or-later
#include "job/evidence.hpp"

#include "job/fakes.hpp"

#include <gmock/gmock.h>

namespace fabric_check {
namespace {

using testing::node_record;
using testing::scout_record;
using testing::second_ns;

RecordKind kind_of(const Record &record) {
    if (record.is_scout())
        return record.phase == Phase::start ? RecordKind::scout_start : RecordKind::scout_end;
    if (record.phase == Phase::mid)
        return RecordKind::mid;
    return record.phase == Phase::start ? RecordKind::start : RecordKind::end;
}

class Evidence : public ::testing::Test {
protected:
    void believed(const Record &record) {
        const RecordName name{record.job_id, record.node, record.time_ns, kind_of(record)};
        records[name.file_name()] = {name, record, {}, {}, {}};
    }
    void refused(const RecordName &name, const std::string &why) {
        records[name.file_name()] = {name, {}, why, {}, {}};
    }
    void note(const std::string &node, std::int64_t time_ns, const std::string &text) {
        const RecordName name{7, node, time_ns, RecordKind::failed};
        records[name.file_name()] = {name, {}, {}, text, {}};
    }
    JobEvidence build() {
        EvidenceSource source;
        source.job.id = 7;
        source.job.node_names = nodes;
        source.job.state = state;
        source.records = &records;
        source.window = window;
        source.waited_s = 20;
        source.spool_problem = spool_problem;
        return build_evidence(source, config);
    }

    Config config;
    JobRecords records;
    std::vector<std::string> nodes{"node01", "node02"};
    std::string state = "COMPLETED", spool_problem;
    PairingWindow window{.ticket_ns = 100 * second_ns};
};

TEST_F(Evidence, HoldsEachNodesPairInTheJobsOrder) {
    believed(node_record(7, "node02", Phase::end, 101 * second_ns, 5));
    believed(node_record(7, "node02", Phase::start, 10 * second_ns, 1));
    believed(node_record(7, "node01", Phase::start, 11 * second_ns, 2));
    const auto evidence = build();
    ASSERT_EQ(evidence.nodes.size(), 2U);
    EXPECT_EQ(evidence.nodes[0].node, "node01");
    ASSERT_TRUE(evidence.nodes[1].start && evidence.nodes[1].end);
    EXPECT_EQ(evidence.nodes[1].end->time_ns, 101 * second_ns);
    EXPECT_EQ(evidence.nodes[1].end_problem, "");
}

TEST_F(Evidence, NamesWhatIsMissing) {
    believed(node_record(7, "node01", Phase::start, 11 * second_ns));
    const auto evidence = build();
    EXPECT_EQ(evidence.nodes[0].end_problem, "no END record within 20 s of the job's end");
    EXPECT_EQ(evidence.nodes[1].start_problem, "no START record");
}

TEST_F(Evidence, SaysWhyARecordWasRefused) {
    refused({7, "node01", 11 * second_ns, RecordKind::start}, "forged: uid 1000");
    const auto evidence = build();
    EXPECT_FALSE(evidence.nodes[0].start);
    EXPECT_EQ(evidence.nodes[0].start_problem, "no START record to be believed; forged: uid 1000");
    EXPECT_THAT(evidence.problems, ::testing::Contains(Problem{"node01", "", "forged: uid 1000"}));
}

TEST_F(Evidence, AForgedRecordBesideAGoodOneIsReportedAndChangesNothing) {
    believed(node_record(7, "node01", Phase::start, 11 * second_ns));
    refused({7, "node01", 12 * second_ns, RecordKind::start}, "forged: uid 1000");
    const auto evidence = build();
    ASSERT_TRUE(evidence.nodes[0].start);
    EXPECT_EQ(evidence.nodes[0].start->time_ns, 11 * second_ns);
    EXPECT_EQ(evidence.nodes[0].start_problem, "");
    EXPECT_THAT(evidence.problems, ::testing::Contains(Problem{"node01", "", "forged: uid 1000"}));
}

TEST_F(Evidence, QuotesTheNodesUnsignedNoteAsSuch) {
    note("node01", 11 * second_ns, "start: munge away");
    note("node02", 101 * second_ns, "end: munge away");
    const auto evidence = build();
    EXPECT_EQ(evidence.nodes[0].start_problem, "no START record; the node says, unsigned: munge away");
    EXPECT_EQ(evidence.nodes[0].end_problem, "no END record within 20 s of the job's end");
    EXPECT_EQ(evidence.nodes[1].end_problem,
              "no END record within 20 s of the job's end; the node says, unsigned: munge away");
}

TEST_F(Evidence, ASpoolThatIsReadOnlyIsTheReason) {
    spool_problem = "/spool/reports: Read-only file system";
    const auto evidence = build();
    EXPECT_EQ(evidence.nodes[0].start_problem, "no START record; spool: /spool/reports: Read-only file system");
    EXPECT_THAT(evidence.problems, ::testing::Contains(Problem{"spool", "", spool_problem}));
}

TEST_F(Evidence, ANodeWithoutEndDiedWhateverStateTheJobEndedIn) {
    believed(node_record(7, "node01", Phase::start, 11 * second_ns));
    believed(node_record(7, "node01", Phase::end, 101 * second_ns));
    for (const char *ended : {"NODE_FAIL", "COMPLETED", "CANCELLED"}) {
        state = ended;
        const auto evidence = build();
        EXPECT_FALSE(evidence.nodes[0].slurmd_died) << ended;
        EXPECT_TRUE(evidence.nodes[1].slurmd_died) << ended;
    }
}

TEST_F(Evidence, WhatAnybodyCanLeaveInTheSpoolKeepsNoDeadNodeAlive) {
    note("node01", 101 * second_ns, "end: munge away");
    refused({7, "node02", 101 * second_ns, RecordKind::end}, "forged: uid 1000");
    const auto evidence = build();
    EXPECT_TRUE(evidence.nodes[0].slurmd_died) << "a note";
    EXPECT_TRUE(evidence.nodes[1].slurmd_died) << "a forged record";
}

TEST_F(Evidence, ASpoolThatCannotBeWrittenToSaysNothingOfTheNodes) {
    spool_problem = "/spool/reports: Read-only file system";
    EXPECT_FALSE(build().nodes[0].slurmd_died);
}

TEST_F(Evidence, WithoutAMapSaysSo) {
    EXPECT_THAT(build().problems, ::testing::Contains(Problem{"map", "", "no map yet: fabric-check map build"}));
}

TEST_F(Evidence, TakesTheScoutThatReadBothTimes) {
    believed(scout_record(7, "node01", Phase::start, 11 * second_ns, 9));
    believed(scout_record(7, "node02", Phase::start, 12 * second_ns, 3));
    believed(scout_record(7, "node02", Phase::end, 101 * second_ns, 3));
    const auto evidence = build();
    ASSERT_TRUE(evidence.scout.start && evidence.scout.end);
    EXPECT_EQ(evidence.scout.start->node, "node02");
    EXPECT_EQ(evidence.scout.end->node, "node02");
}

TEST_F(Evidence, TakesStartOfOneScoutAndEndOfAnotherWhenNoneReadBothTimes) {
    believed(scout_record(7, "node01", Phase::start, 11 * second_ns, 9));
    believed(scout_record(7, "node02", Phase::start, 12 * second_ns, 0));
    believed(scout_record(7, "node02", Phase::end, 101 * second_ns, 3));
    const auto evidence = build();
    ASSERT_TRUE(evidence.scout.start && evidence.scout.end);
    EXPECT_EQ(evidence.scout.start->node, "node01");
    EXPECT_EQ(evidence.scout.end->node, "node02");
}

/// A record of node01 whose intervals lead from `from` to its own time.
Record with_intervals(Phase phase, std::int64_t time_ns, std::int64_t from_ns) {
    auto record = node_record(7, "node01", phase, time_ns, 5);
    record.intervals = {{from_ns, time_ns, {}}};
    return record;
}

TEST_F(Evidence, TakesAHostOutsideTheJobWhereTheConfigurationNamesIt) {
    believed(scout_record(7, "fabric1", Phase::start, 10 * second_ns, {}));
    believed(scout_record(7, "fabric1", Phase::end, 101 * second_ns, {}));
    EXPECT_FALSE(build().scout.start) << "the job's own nodes are the scouts";
    config.scout = "fabric2";
    EXPECT_FALSE(build().scout.start) << "another host is";
    for (const char *scout : {"fabric1", "controller"}) {
        config.scout = scout;
        const auto evidence = build();
        ASSERT_TRUE(evidence.scout.start && evidence.scout.end) << scout;
        EXPECT_EQ(evidence.scout.start->node, "fabric1");
    }
}

TEST_F(Evidence, ARefusedRecordMakesNoHostAScout) {
    config.scout = "controller";
    refused({7, "fabric1", 10 * second_ns, RecordKind::scout_start}, "forged");
    EXPECT_TRUE(scout_hosts(nodes, records, config).empty());
}

TEST_F(Evidence, WaitsForTheScoutsThatTheConfigurationHas) {
    const auto there = [this] { return scouts_ended(pair_nodes(nodes, records, window), nodes, records, window, config); };
    believed(scout_record(7, "fabric1", Phase::end, 101 * second_ns, {}));
    EXPECT_FALSE(there()) << "on the head nodes";
    config.scout = "controller";
    EXPECT_TRUE(there());
    records.clear();
    EXPECT_FALSE(there()) << "not there yet";
    believed(scout_record(7, "node02", Phase::end, 101 * second_ns, {}));
    EXPECT_TRUE(there()) << "the controller may be a node of the job";
}

TEST_F(Evidence, TakesTheIntervalsOfEnd) {
    believed(node_record(7, "node01", Phase::start, 10 * second_ns));
    believed(with_intervals(Phase::mid, 50 * second_ns, 10 * second_ns));
    believed(with_intervals(Phase::end, 99 * second_ns, 10 * second_ns));
    const auto evidence = build();
    ASSERT_EQ(evidence.nodes[0].intervals.size(), 1U);
    EXPECT_EQ(evidence.nodes[0].intervals[0].to_ns, 99 * second_ns);
    EXPECT_FALSE(evidence.nodes[0].mid);
}

TEST_F(Evidence, TakesTheLastMidWhereThereIsNoEnd) {
    believed(node_record(7, "node01", Phase::start, 10 * second_ns));
    believed(with_intervals(Phase::mid, 50 * second_ns, 10 * second_ns));
    believed(with_intervals(Phase::mid, 60 * second_ns, 10 * second_ns));
    believed(with_intervals(Phase::mid, 160 * second_ns, 10 * second_ns)); // of another run, after the ticket
    const auto evidence = build();
    ASSERT_TRUE(evidence.nodes[0].mid);
    EXPECT_EQ(evidence.nodes[0].mid->time_ns, 60 * second_ns);
    EXPECT_EQ(evidence.nodes[0].intervals.size(), 1U);
    EXPECT_TRUE(evidence.nodes[0].slurmd_died);
    EXPECT_FALSE(evidence.nodes[0].end);
}

TEST_F(Evidence, IntervalsThatBeginElsewhereAreNotUsed) {
    believed(node_record(7, "node01", Phase::start, 10 * second_ns));
    believed(with_intervals(Phase::end, 99 * second_ns, 11 * second_ns));
    const auto evidence = build();
    EXPECT_TRUE(evidence.nodes[0].intervals.empty());
    EXPECT_THAT(evidence.problems, ::testing::Contains(Problem{
                                       "node01", "", "the records in mid-job do not begin at its START; not used"}));
}

TEST_F(Evidence, AMidWithoutStartTellsNothing) {
    believed(with_intervals(Phase::mid, 50 * second_ns, 10 * second_ns));
    EXPECT_FALSE(build().nodes[0].mid);
}

TEST_F(Evidence, WithoutScoutsSaysSo) {
    const auto evidence = build();
    EXPECT_EQ(evidence.scout.start_problem, "no START record of a scout");
    EXPECT_EQ(evidence.scout.end_problem, "no END record of a scout");
}

TEST_F(Evidence, DoesNotListRefusalsOfThePreviousInstance) {
    refused({7, "node01", 11 * second_ns, RecordKind::start}, "forged: uid 1000");
    window.not_before_ns = 50 * second_ns;
    EXPECT_THAT(build().problems, ::testing::Not(::testing::Contains(Problem{"node01", "", "forged: uid 1000"})));
}

TEST_F(Evidence, ConsumesItsInstanceAndLeavesTheOthers) {
    window.not_before_ns = 50 * second_ns;
    believed(node_record(7, "node01", Phase::start, 60 * second_ns));
    believed(node_record(7, "node01", Phase::end, 105 * second_ns)); // after the ticket
    std::vector<RecordName> all;
    for (const auto time : {40, 60, 61, 105, 110, 200}) // of the one before; pair and its forged double; late; next
        all.push_back(
            {7, "node01", time * second_ns, time == 105 || time == 110 ? RecordKind::end : RecordKind::start});
    std::vector<std::int64_t> times;
    for (const auto &name : consumed_by(pair_nodes(nodes, records, window), all, window))
        times.push_back(name.time_ns / second_ns);
    EXPECT_THAT(times, ::testing::ElementsAre(60, 61, 105));
}

} // namespace
} // namespace fabric_check
