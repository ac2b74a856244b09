// SPDX-License-Identifier: GPL-2.0-or-later
#include "job/accounting.hpp"

#include <gtest/gtest.h>

namespace fabric_check {
namespace {

JobInstance instance(std::int64_t start, std::int64_t end, bool ended = true) {
    JobInstance result;
    result.job.id = 7;
    result.job.start = start;
    result.job.end = end;
    result.ended = ended;
    return result;
}

Ticket ticket_at(std::int64_t time) {
    Ticket ticket;
    ticket.job_id = 7;
    ticket.time_ns = time * 1'000'000'000;
    return ticket;
}

/// Start of what is chosen; -1: nothing.
std::int64_t chosen(const std::vector<JobInstance> &instances, const Ticket &ticket, bool patient = false) {
    const auto *instance = choose_instance(instances, ticket, patient);
    return instance == nullptr ? -1 : instance->job.start;
}

TEST(ChooseInstance, TakesTheOneThatJustEnded) {
    EXPECT_EQ(chosen({instance(100, 200)}, ticket_at(200)), 100);
}

TEST(ChooseInstance, OfARequeuedJobTakesTheTicketsOwn) {
    const std::vector<JobInstance> instances{instance(100, 200), instance(300, 400), instance(500, 600)};
    EXPECT_EQ(chosen(instances, ticket_at(201)), 100);
    EXPECT_EQ(chosen(instances, ticket_at(400)), 300);
    EXPECT_EQ(chosen(instances, ticket_at(600)), 500);
}

TEST(ChooseInstance, PassesOverTheRequeuedRecordThatHasNotStarted) {
    EXPECT_EQ(chosen({instance(100, 200), instance(0, 0, false)}, ticket_at(200)), 100);
}

TEST(ChooseInstance, WaitsForTheEndOfARunningRecord) {
    EXPECT_EQ(chosen({instance(100, 200), instance(300, 0, false)}, ticket_at(400)), -1);
}

TEST(ChooseInstance, WaitsForAStartThatComesAfterTheEndButNotForEver) {
    auto half = instance(100, 200);
    half.start_recorded = false;
    EXPECT_EQ(chosen({half}, ticket_at(200)), -1);
    EXPECT_EQ(chosen({half}, ticket_at(200), true), 100);
}

TEST(ChooseInstance, DoesNotTakeThePreviousWhileOursIsMissing) {
    EXPECT_EQ(chosen({instance(100, 200)}, ticket_at(260)), 100);
    EXPECT_EQ(chosen({instance(100, 200)}, ticket_at(261)), -1);
}

TEST(ChooseInstance, TakesAnEarlyEndAfterPatience) {
    EXPECT_EQ(chosen({instance(100, 200)}, ticket_at(5000), true), 100);
}

TEST(ChooseInstance, GoesByTheStartTimeWhereSlurmTellsIt) {
    auto ticket = ticket_at(5000);
    ticket.start = 100;
    EXPECT_EQ(chosen({instance(100, 200), instance(300, 400)}, ticket), 100);
    ticket.start = 101;
    EXPECT_EQ(chosen({instance(100, 200), instance(300, 400)}, ticket), -1);
}

TEST(ChooseInstance, AfterPatienceDoesWithoutTheExactStartTime) {
    auto ticket = ticket_at(400);
    ticket.start = 301;
    EXPECT_EQ(chosen({instance(100, 200), instance(300, 400)}, ticket), -1);
    EXPECT_EQ(chosen({instance(100, 200), instance(300, 400)}, ticket, true), 300);
}

TEST(ChooseInstance, OfNothingIsNothing) {
    EXPECT_EQ(chosen({}, ticket_at(200), true), -1);
}

TEST(CommentField, IsSystemCommentUnlessNamed) {
    EXPECT_EQ(comment_field("AdminComment"), CommentField::admin_comment);
    EXPECT_EQ(comment_field("Comment"), CommentField::comment);
    EXPECT_EQ(comment_field("SystemComment"), CommentField::system_comment);
}

} // namespace
} // namespace fabric_check
