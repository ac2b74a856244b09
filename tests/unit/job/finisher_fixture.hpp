// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "base/file.hpp"
#include "job/fakes.hpp"
#include "job/finisher.hpp"

#include <functional>
#include <memory>
#include <nlohmann/json.hpp>

namespace fabric_check::testing {

/// A finisher with a spool, a state directory, a clock and a database of its own.
class FinisherWithWorld : public ::testing::Test {
protected:
    static constexpr std::int64_t base_s = 1'700'000'000; ///< seconds that all times are told from
    FinisherWithWorld() {
        config.spool = directory.path("spool");
        config.state = directory.path("state");
        config.syslog = false;
        config.log_file = directory.path("log");
        std::filesystem::create_directories(config.spool);
        EXPECT_TRUE(prepare_records(spool(), 0));
        EXPECT_TRUE(make_directories(state().tickets(), 0700));
        restart();
    }
    SpoolLayout spool() const { return {config.spool}; }
    StateLayout state() const { return {config.state}; }

    /// A finisher that knows nothing of the one before.
    void restart() {
        log = Log({.ident = "t", .file = config.log_file, .syslog = false, .standard_error = false});
        FinisherWorld world;
        world.signer = &signer;
        world.accounting = &accounting;
        world.log = &log;
        world.now_ns = [this] { return now; };
        world.sleep = [this](std::chrono::milliseconds pause) {
            now += pause.count() * 1'000'000;
            if (on_sleep)
                on_sleep();
        };
        world.superseded = [this] { return superseded; };
        world.limits = limits;
        finisher = std::make_unique<Finisher>(config, std::move(world));
    }

    /// A job that ran on two nodes from `start` to `end` (seconds after base), with its records and ticket.
    JobInstance instance(std::uint32_t id, std::int64_t start, std::int64_t end) {
        JobInstance result;
        result.job.id = id;
        result.job.cluster = "lab";
        result.job.user = "ada";
        result.job.state = "COMPLETED";
        result.job.nodes = "node[01-02]";
        result.job.node_names = {"node01", "node02"};
        result.job.start = base_s + start;
        result.job.end = base_s + end;
        result.submit = base_s + start - 1;
        result.ended = true;
        return result;
    }
    void write(const Record &record) { ASSERT_TRUE(write_record(spool(), record, signer, 0)); }
    void records_of(std::uint32_t id, std::int64_t start, std::int64_t end) {
        for (const auto *node : {"node01", "node02"}) {
            write(scout_record(id, node, Phase::start, (base_s + start) * second_ns + 9, 0));
            write(scout_record(id, node, Phase::end, (base_s + end) * second_ns + second_ns / 2 + 9, 0));
            write(node_record(id, node, Phase::start, (base_s + start) * second_ns + 7, 1000));
            write(node_record(id, node, Phase::end, (base_s + end) * second_ns + second_ns / 2, 100'000'000));
        }
    }
    Ticket file(std::uint32_t id, std::int64_t at) {
        Ticket ticket;
        ticket.job_id = id;
        ticket.time_ns = (base_s + at) * second_ns + 1;
        ticket.nodes = "node[01-02]";
        ticket.cluster = "lab";
        EXPECT_TRUE(file_ticket(state(), ticket));
        return ticket;
    }
    void usual_job() {
        accounting.records = {instance(7, 100, 200)};
        records_of(7, 100, 200);
        file(7, 200);
        now = (base_s + 201) * second_ns;
    }
    std::size_t tickets() const { return files_in(state().tickets()).size(); }
    std::size_t records() const { return files_in(spool().records()).size(); }
    std::string line(std::size_t record = 0) const { return accounting.records[record].system_comment; }
    std::size_t pass() {
        const auto done = finisher->pass();
        EXPECT_TRUE(done) << done.error().message;
        return done->left;
    }
    nlohmann::json report(const std::string &name) const {
        return nlohmann::json::parse(read_text(spool().reports() + "/" + name));
    }

    TempDir directory;
    Config config;
    FakeSigner signer;
    MemoryAccounting accounting;
    Log log;
    std::int64_t now = base_s * second_ns;
    std::function<void()> on_sleep;
    bool superseded = false; ///< its configuration
    FinisherLimits limits;
    std::unique_ptr<Finisher> finisher;
};

} // namespace fabric_check::testing
