// SPDX-License-Identifier: GPL-2.0-or-later
#include "job/ticket.hpp"

#include "base/file.hpp"
#include "record/json_reader.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <limits>
#include <nlohmann/json.hpp>
#include <unistd.h>

namespace fabric_check {
namespace {

constexpr std::size_t ticket_limit = 4UL * 1024 * 1024; ///< the node list of the largest jobs included
constexpr std::uint64_t u32 = std::numeric_limits<std::uint32_t>::max();

Ticket decode(const JsonReader &json) {
    const auto number = [&](const char *key) { return static_cast<std::uint32_t>(json.number(key, u32)); };
    Ticket ticket;
    ticket.job_id = number("job_id");
    if (ticket.job_id == 0)
        refuse("job_id", "zero");
    ticket.time_ns = json.time("time_ns");
    ticket.nodes = json.text("nodes", ticket_limit);
    ticket.uid = number("uid");
    ticket.user = json.text("user");
    ticket.partition = json.text("partition");
    ticket.name = json.text("name");
    ticket.cluster = json.text("cluster");
    ticket.restart_count = number("restart_count");
    ticket.array_job_id = number("array_job_id");
    if (json.has("array_task_id"))
        ticket.array_task_id = number("array_task_id");
    ticket.het_job_id = number("het_job_id");
    ticket.het_job_offset = number("het_job_offset");
    ticket.start = json.time("start");
    ticket.end = json.time("end");
    return ticket;
}

} // namespace

std::string Ticket::file_name() const {
    return std::to_string(job_id) + "." + std::to_string(time_ns) + ".json";
}

std::string encode_ticket(const Ticket &ticket) {
    nlohmann::ordered_json json = {{"schema", "fabric-check/ticket/1"},
                                   {"job_id", ticket.job_id},
                                   {"time_ns", ticket.time_ns},
                                   {"nodes", ticket.nodes},
                                   {"uid", ticket.uid},
                                   {"user", ticket.user},
                                   {"partition", ticket.partition},
                                   {"name", ticket.name},
                                   {"cluster", ticket.cluster},
                                   {"restart_count", ticket.restart_count},
                                   {"array_job_id", ticket.array_job_id},
                                   {"het_job_id", ticket.het_job_id},
                                   {"het_job_offset", ticket.het_job_offset},
                                   {"start", ticket.start},
                                   {"end", ticket.end}};
    if (ticket.array_task_id)
        json["array_task_id"] = *ticket.array_task_id;
    return json.dump(-1, ' ', true, nlohmann::ordered_json::error_handler_t::replace) + "\n";
}

Result<Ticket> decode_ticket(const std::string &text) {
    return decode_json<Ticket>(text, "ticket", "fabric-check/ticket/1", decode);
}

Status file_ticket(const StateLayout &state, const Ticket &ticket) {
    if (auto made = make_directories(state.tickets(), 0700); !made)
        return made;
    return write_file_atomic(state.tickets() + "/" + ticket.file_name(), encode_ticket(ticket), 0600);
}

Result<std::vector<Ticket>> list_tickets(const StateLayout &state, std::vector<std::string> *problems) {
    std::vector<Ticket> tickets;
    const auto names = list_directory(state.tickets());
    if (!names) {
        if (names.error().code == Errc::not_found)
            return tickets;
        return names.error();
    }
    for (const auto &name : *names) {
        if (!name.ends_with(".json") || name.starts_with("."))
            continue;
        const auto path = state.tickets() + "/" + name;
        const auto text = read_file(path, ticket_limit, true);
        if (!text && text.error().code == Errc::not_found)
            continue;
        auto ticket = text ? decode_ticket(*text) : Result<Ticket>(text.error());
        if (ticket && ticket->file_name() != name)
            ticket = Error{Errc::malformed, "ticket: it is of another job or time than its name"};
        if (ticket) {
            tickets.push_back(std::move(*ticket));
            continue;
        }
        const auto aside = name + ".bad";
        problems->push_back(path + ": " + ticket.error().message + "; moved aside as " + aside);
        (void)!std::rename(path.c_str(), (state.tickets() + "/" + aside).c_str());
    }
    std::stable_sort(tickets.begin(), tickets.end(),
                     [](const Ticket &a, const Ticket &b) { return a.time_ns < b.time_ns; });
    return tickets;
}

Status remove_ticket(const StateLayout &state, const Ticket &ticket) {
    const auto path = state.tickets() + "/" + ticket.file_name();
    if (unlink(path.c_str()) != 0 && errno != ENOENT)
        return errno_error(path, errno);
    return {};
}

} // namespace fabric_check
