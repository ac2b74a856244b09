// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "base/text.hpp"
#include "job/accounting.hpp"
#include "record/credential.hpp"
#include "record/spool.hpp"

#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <iterator>
#include <optional>
#include <string>
#include <vector>

namespace fabric_check::testing {

/// A directory of its own, removed at the end.
class TempDir {
public:
    TempDir() {
        char name[] = "/tmp/fabric-check-test.XXXXXX";
        path_ = mkdtemp(name);
    }
    TempDir(const TempDir &) = delete;
    TempDir &operator=(const TempDir &) = delete;
    ~TempDir() {
        std::error_code ignored;
        std::filesystem::remove_all(path_, ignored);
    }
    const std::string &path() const { return path_; }
    std::string path(const std::string &below) const { return path_ + "/" + below; }

private:
    std::string path_;
};

inline void write_text(const std::string &path, const std::string &text) {
    std::ofstream(path, std::ios::binary) << text;
}
inline std::string read_text(const std::string &path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
}
inline std::vector<std::string> files_in(const std::string &directory) {
    std::vector<std::string> names;
    for (const auto &entry : std::filesystem::directory_iterator(directory))
        names.push_back(entry.path().filename());
    std::sort(names.begin(), names.end());
    return names;
}

/// Signs as "fake|uid|address|reader|payload"; verifies what looks like that.
class FakeSigner : public Signer {
public:
    std::uint32_t uid = 0;
    std::string address = "10.0.0.1";
    bool away = false;
    bool replayed = false;    ///< as munged says of a credential that it has decoded before
    int signs_until_back = 0; ///< that many failures first
    unsigned signed_count = 0;
    std::atomic<unsigned> verified_count{0};

    Result<std::string> sign(const std::string &payload, std::uint32_t reader) override {
        if (away || signs_until_back-- > 0)
            return Error{Errc::unavailable, "munge encode: Failed to connect; is munged running?"};
        ++signed_count;
        return "fake|" + std::to_string(uid) + "|" + address + "|" + std::to_string(reader) + "|" + payload;
    }
    Result<Credential> verify(const std::string &text) override {
        ++verified_count;
        if (away)
            return Error{Errc::unavailable, "munge decode: Failed to connect; is munged running?"};
        const auto parts = split(text, '|');
        if (parts.size() < 5 || parts[0] != "fake")
            return Error{Errc::denied, "munge decode: Invalid credential"};
        Credential credential;
        credential.uid = static_cast<std::uint32_t>(parse_u64(parts[1]).value_or(99));
        credential.address = parts[2];
        credential.replayed = replayed;
        const auto header = parts[0].size() + parts[1].size() + parts[2].size() + parts[3].size() + 4;
        credential.payload = text.substr(header);
        return credential;
    }
};

/// An accounting database in memory. Each attach() is one transaction.
class MemoryAccounting : public Accounting {
public:
    std::vector<JobInstance> records;
    bool away = false;
    bool attach_fails = false;
    /// As slurmdbd dying in mid-transaction: that many lines may be tried before it is away and takes all of them back.
    std::optional<unsigned> lines_until_away;
    Result<bool> hides_jobs = false;
    unsigned asked = 0, attached = 0;
    std::vector<std::size_t> asked_for, attached_at_once, neighbours_at_once; ///< jobs of each call

    Result<std::vector<std::vector<JobInstance>>> instances(const std::vector<const Ticket *> &tickets) override {
        ++asked;
        asked_for.push_back(tickets.size());
        if (away)
            return gone();
        std::vector<std::vector<JobInstance>> answers;
        for (const auto *ticket : tickets) {
            auto &found = answers.emplace_back();
            for (const auto &record : records)
                if (record.job.id == ticket->job_id) {
                    found.push_back(record);
                    found.back().job.restart = static_cast<unsigned>(found.size() - 1);
                }
        }
        return answers;
    }
    void attach(std::vector<Attachment> &lines) override {
        attached_at_once.push_back(lines.size());
        const auto before = records;
        unsigned changed = 0;
        for (auto &line : lines) {
            if (lines_until_away && (*lines_until_away)-- == 0)
                away = true;
            if (away || attach_fails) {
                records = before;
                for (auto &each : lines)
                    each.done = gone();
                return;
            }
            line.done = Error{Errc::not_found, "slurmdbd: no ended record yet"};
            for (auto &record : records)
                if (record.job.id == line.instance->job.id && record.job.end == line.instance->job.end &&
                    record.ended) {
                    ++changed;
                    (line.field == CommentField::admin_comment ? record.admin_comment
                     : line.field == CommentField::comment     ? record.comment
                                                               : record.system_comment) = line.text;
                    line.done = {};
                    break;
                }
        }
        attached += changed;
    }
    Result<std::vector<std::vector<std::uint32_t>>>
    sharing(const std::vector<const JobInstance *> &instances) override {
        neighbours_at_once.push_back(instances.size());
        if (away)
            return gone();
        return std::vector<std::vector<std::uint32_t>>(instances.size());
    }
    Result<bool> jobs_are_private() override { return hides_jobs; }

private:
    static Error gone() { return {Errc::unavailable, "slurmdbd: no connection; is it running?"}; }
};

inline constexpr std::int64_t second_ns = 1'000'000'000;

inline NodeSnapshot node_snapshot(const std::string &node, std::int64_t time_ns, std::uint64_t octets_div_4 = 0) {
    NodeSnapshot snapshot;
    snapshot.node = node;
    snapshot.boot_id = "boot";
    snapshot.time_ns = time_ns;
    HcaPort port;
    port.device = "mlx5_0";
    port.driver = "mlx5_core";
    port.guid = 0x0002c90000000000 + static_cast<unsigned char>(node.back());
    port.lid = 7;
    port.link_layer = LinkLayer::infiniband;
    port.state = "ACTIVE";
    port.rate = {4, "HDR", 200, 53.125};
    port.counters["PortXmitData"] = Reading::of(octets_div_4);
    snapshot.ports.push_back(port);
    return snapshot;
}

inline Record node_record(std::uint32_t job, const std::string &node, Phase phase, std::int64_t time_ns,
                          std::uint64_t octets_div_4 = 0) {
    return {job, node, phase, time_ns, node_snapshot(node, time_ns, octets_div_4)};
}

inline Record scout_record(std::uint32_t job, const std::string &node, Phase phase, std::int64_t time_ns,
                           unsigned ports) {
    ScoutSnapshot snapshot;
    snapshot.node = node;
    snapshot.time_ns = time_ns;
    for (unsigned port = 1; port <= ports; ++port) {
        SwitchPort reading;
        reading.switch_guid = 0xabc;
        reading.switch_name = "SwitchA";
        reading.port = port % 255;
        snapshot.ports.push_back(reading);
    }
    return {job, node, phase, time_ns, std::move(snapshot)};
}

} // namespace fabric_check::testing
