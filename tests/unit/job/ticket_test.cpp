// SPDX-License-Identifier: GPL-2.0-or-later
#include "job/ticket.hpp"

#include "job/fakes.hpp"

namespace fabric_check {
namespace {

using testing::write_text;

Ticket full_ticket() {
    Ticket ticket;
    ticket.job_id = 125;
    ticket.time_ns = 1700000000000000009;
    ticket.nodes = "node[01-03]";
    ticket.uid = 1000;
    ticket.user = "ada";
    ticket.partition = "p";
    ticket.name = "a \"job\"\n";
    ticket.cluster = "lab";
    ticket.restart_count = 2;
    ticket.array_job_id = 123;
    ticket.array_task_id = 0;
    ticket.het_job_id = 120;
    ticket.het_job_offset = 5;
    ticket.start = 1700000000;
    ticket.end = 1700000100;
    return ticket;
}

TEST(Ticket, ReadsBackAsItWasFiled) {
    const auto decoded = decode_ticket(encode_ticket(full_ticket()));
    ASSERT_TRUE(decoded) << decoded.error().message;
    EXPECT_EQ(*decoded, full_ticket());
}

TEST(Ticket, OfAJobThatIsNoArrayStaysSo) {
    auto ticket = full_ticket();
    ticket.array_task_id.reset();
    EXPECT_EQ(decode_ticket(encode_ticket(ticket))->array_task_id, std::nullopt);
}

TEST(Ticket, RefusesWrongContentNamingTheKey) {
    EXPECT_EQ(decode_ticket("{}").error().message, "ticket: schema: missing");
    EXPECT_EQ(decode_ticket(R"({"schema":"fabric-check/ticket/1","job_id":0})").error().message,
              "ticket: job_id: zero");
}

class Tickets : public ::testing::Test {
protected:
    std::vector<Ticket> list() {
        problems.clear();
        const auto tickets = list_tickets(state, &problems);
        EXPECT_TRUE(tickets);
        return *tickets;
    }
    testing::TempDir directory;
    StateLayout state{directory.path()};
    std::vector<std::string> problems;
};

TEST_F(Tickets, OfAStateDirectoryNotYetThereAreNone) {
    EXPECT_TRUE(list().empty());
}

TEST_F(Tickets, AreListedOldestFirstAndRemovedOnce) {
    auto young = full_ticket(), old = full_ticket();
    old.job_id = 999;
    old.time_ns -= 1;
    ASSERT_TRUE(file_ticket(state, young));
    ASSERT_TRUE(file_ticket(state, old));
    const auto tickets = list();
    ASSERT_EQ(tickets.size(), 2U);
    EXPECT_EQ(tickets[0], old);
    EXPECT_EQ(tickets[1], young);
    EXPECT_TRUE(remove_ticket(state, old));
    EXPECT_TRUE(remove_ticket(state, old));
    EXPECT_EQ(list().size(), 1U);
}

TEST_F(Tickets, FileThatDoesNotDecodeIsMovedAsideOnce) {
    ASSERT_TRUE(file_ticket(state, full_ticket()));
    write_text(state.tickets() + "/7.8.json", "{");
    EXPECT_EQ(list().size(), 1U);
    ASSERT_EQ(problems.size(), 1U);
    EXPECT_EQ(problems[0], state.tickets() + "/7.8.json: ticket: not JSON; moved aside as 7.8.json.bad");
    EXPECT_EQ(list().size(), 1U);
    EXPECT_TRUE(problems.empty());
}

TEST_F(Tickets, FileOfAnotherNameIsMovedAside) {
    ASSERT_TRUE(file_ticket(state, full_ticket()));
    std::filesystem::rename(state.tickets() + "/" + full_ticket().file_name(), state.tickets() + "/1.2.json");
    EXPECT_TRUE(list().empty());
    ASSERT_EQ(problems.size(), 1U);
}

} // namespace
} // namespace fabric_check
