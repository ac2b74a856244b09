// SPDX-License-Identifier: GPL-2.0-or-later
//
// burst SLURM_CONF PLAIN_JOBS, and "JOB ARRAY TASK" a line on standard input (array 0: none): what the finisher asks and tells slurmdbd for these
// ended jobs, their field AdminComment rewritten: one by one over the connection as libslurm makes it, for the first
// PLAIN_JOBS of them; and for all of them as the finisher does it. Prints "plain RATE ours RATE", jobs a second.
#include "job/accounting.hpp"

#include <fmt/format.h>

#include <chrono>
#include <cstdlib>
#include <iostream>

namespace fabric_check {
namespace {

constexpr std::size_t batch = 50;

/// Jobs a second.
double rate(const std::string &slurm_conf, bool quick, const std::vector<Ticket> &tickets, std::size_t at_once,
            const std::string &text) {
    auto accounting = slurm_accounting(slurm_conf, quick);
    if (!accounting)
        throw std::runtime_error(accounting.error().message);
    auto &database = **accounting;
    (void)database.instances({&tickets.front()}).ok(); // connects
    const auto start = std::chrono::steady_clock::now();
    double asking = 0, neighbours = 0, writing = 0; // seconds
    const auto timed = [](double &sum, const auto &call) {
        const auto began = std::chrono::steady_clock::now();
        auto result = call();
        sum += std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
        return result;
    };
    for (std::size_t first = 0; first < tickets.size(); first += at_once) {
        std::vector<const Ticket *> asked;
        for (auto i = first; i < std::min(first + at_once, tickets.size()); ++i)
            asked.push_back(&tickets[i]);
        const auto found = timed(asking, [&] { return database.instances(asked); });
        if (!found)
            throw std::runtime_error(found.error().message);
        std::vector<const JobInstance *> instances;
        for (const auto &each : *found)
            for (const auto &instance : each)
                instances.push_back(&instance);
        if (instances.size() != asked.size())
            throw std::runtime_error("not one record a job");
        if (const auto shared = timed(neighbours, [&] { return database.sharing(instances); }); !shared)
            throw std::runtime_error(shared.error().message);
        std::vector<Attachment> lines;
        for (const auto *instance : instances)
            lines.push_back({instance, CommentField::admin_comment, text});
        (void)timed(writing, [&] {
            database.attach(lines);
            return 0;
        });
        for (const auto &line : lines)
            if (!line.done)
                throw std::runtime_error(line.done.error().message);
    }
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
    const auto each = 1000 / static_cast<double>(tickets.size());
    fmt::print(stderr, "{}: {} jobs, ms a job: records {:.2f}, neighbours {:.2f}, lines {:.2f}\n", quick ? "ours" : "plain",
               tickets.size(), asking * each, neighbours * each, writing * each);
    return static_cast<double>(tickets.size()) / took.count();
}

int run(const std::string &slurm_conf, std::size_t plain_jobs) {
    std::vector<Ticket> tickets;
    Ticket ticket;
    std::uint32_t task = 0;
    while (std::cin >> ticket.job_id >> ticket.array_job_id >> task) {
        ticket.array_task_id = ticket.array_job_id != 0 ? std::optional(task) : std::nullopt;
        tickets.push_back(ticket);
    }
    if (tickets.empty())
        throw std::runtime_error("no jobs given");
    const std::vector<Ticket> few(tickets.begin(), tickets.begin() + static_cast<std::ptrdiff_t>(
                                                                         std::min(plain_jobs, tickets.size())));
    const auto text = std::string(300, 'x') + std::to_string(std::chrono::steady_clock::now().time_since_epoch().count());
    const double plain = rate(slurm_conf, false, few, 1, text + "p");
    const double ours = rate(slurm_conf, true, tickets, batch, text + "o");
    fmt::print("plain {:.1f} ours {:.1f}\n", plain, ours);
    return 0;
}

} // namespace
} // namespace fabric_check

int main(int argc, char **argv) {
    try {
        return argc == 3 ? fabric_check::run(argv[1], std::strtoul(argv[2], nullptr, 10)) : 2;
    } catch (const std::exception &error) {
        fmt::print(stderr, "burst: {}\n", error.what());
        return 1;
    }
}
