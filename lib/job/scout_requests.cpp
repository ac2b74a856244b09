// SPDX-License-Identifier: GPL-2.0-or-later
#include "job/scout_requests.hpp"

#include "base/file.hpp"
#include "base/hostlist.hpp"
#include "base/text.hpp"
#include "job/programs.hpp"
#include "record/json_reader.hpp"
#include "record/record_name.hpp"

#include <algorithm>
#include <cerrno>
#include <limits>
#include <optional>
#include <sys/stat.h>
#include <unistd.h>

namespace fabric_check {
namespace {

constexpr std::size_t call_limit = 2UL * 1024 * 1024; ///< a credential with the node list of the largest jobs
constexpr std::size_t most_calls = 64, most_looked = 4096; ///< in one call
constexpr std::int64_t second = 1'000'000'000;
constexpr std::int64_t oldest_call = 60 * second;     ///< a later reading would be of another time

ScoutCall decode(const JsonReader &json) {
    ScoutCall call;
    call.job_id = static_cast<std::uint32_t>(json.number("job", std::numeric_limits<std::uint32_t>::max()));
    const auto phase = json.text("phase", 16);
    if (phase != to_string(Phase::start) && phase != to_string(Phase::end))
        refuse("phase", "neither start nor end");
    call.phase = phase == to_string(Phase::start) ? Phase::start : Phase::end;
    const auto host = [&](const char *key) {
        auto name = json.text(key, 256);
        if (!valid_node_name(name))
            refuse(key, "not a host name");
        return name;
    };
    call.node = host("node");
    call.host = host("host");
    call.time_ns = json.time("time_ns");
    call.nodes = json.text("nodes", call_limit);
    return call;
}

class Service {
public:
    Service(const Config &config, const std::string &host, ScoutWorld &world, const Deadline &deadline)
        : config_(config), host_(host), world_(world), deadline_(deadline), directory_(requests_directory(config)) {}

    Result<bool> run() {
        auto names = list_directory(directory_);
        if (!names && names.error().code != Errc::not_found)
            return names.error();
        if (!names)
            return false;
        std::vector<RecordName> calls;
        for (const auto &text : *names)
            if (auto name = parse_record_name(text);
                name && (name->kind == RecordKind::scout_start || name->kind == RecordKind::scout_end))
                calls.push_back(std::move(*name));
        if (calls.empty())
            return false;
        const auto signers = slurm_uid(config_);
        if (!signers)
            return signers.error();
        slurm_uid_ = *signers;
        std::stable_sort(calls.begin(), calls.end(),
                         [](const RecordName &a, const RecordName &b) { return a.time_ns < b.time_ns; });
        drop_strangers(calls);
        const bool more = calls.size() > most_calls;
        calls.resize(std::min(calls.size(), most_calls));
        while (!calls.empty() && !deadline_.passed()) {
            // What a node asks for, others of its job ask for too.
            const RecordName first = calls.front();
            const auto others = std::stable_partition(calls.begin(), calls.end(), [&](const RecordName &name) {
                return name.job_id == first.job_id && name.kind == first.kind;
            });
            const std::vector<RecordName> same(calls.begin(), others);
            calls.erase(calls.begin(), others);
            const auto served = serve(same);
            if (!served)
                return served.error();
            if (*served)
                return true;
        }
        return more || !calls.empty();
    }

private:
    /// What no node left, and what is too old; of a flood the first ones. Their files are taken away, where we may.
    void drop_strangers(std::vector<RecordName> &calls) {
        std::size_t looked = 0;
        std::erase_if(calls, [&](const RecordName &name) {
            const auto now = wall_ns();
            const bool untimely = name.time_ns < now - oldest_call || name.time_ns > now + oldest_call;
            if (++looked > most_looked)
                return untimely;
            struct stat status {};
            const auto file = name.file_name();
            if (lstat(path(file).c_str(), &status) != 0)
                return true;
            const bool stranger = !S_ISREG(status.st_mode) ||
                                  (status.st_uid != 0 && status.st_uid != slurm_uid_ && status.st_uid != squashed_root);
            if (!stranger && !untimely)
                return false;
            if (unlink(path(file).c_str()) == 0)
                world_.log->warning("scout: request " + file + " refused: " +
                                    (stranger ? "not a node's file" : "older than a minute, or of a time to come"));
            return true;
        });
    }

    std::string path(const std::string &file) const { return directory_ + "/" + file; }

    void refused(const std::string &file, const std::string &why) {
        world_.log->warning("scout: request " + file + " refused: " + printable(why).substr(0, 512));
        remove(file);
    }

    void remove(const std::string &file) {
        if (unlink(path(file).c_str()) != 0 && errno != ENOENT)
            world_.log->warning("scout: " + errno_error(path(file), errno).message);
    }

    /// The credential of a request, checked; the error is a refusal, or says that nothing is known now.
    Result<ScoutCall> open(const RecordName &name, const std::string &file) {
        const auto content = read_file(path(file), call_limit, true);
        if (!content)
            return content.error();
        if (content->find('\0') != std::string::npos)
            return Error{Errc::denied, "not a munge credential"};
        const auto credential = world_.signer->verify(*content);
        if (!credential)
            return credential.error();
        if (credential->uid != 0 && credential->uid != slurm_uid_)
            return Error{Errc::denied, "signed by uid " + std::to_string(credential->uid) + ", not by root or SlurmUser"};
        if (credential->expired)
            return Error{Errc::denied, "too old"};
        auto call = decode_scout_call(credential->payload);
        if (!call)
            return call;
        if (call->job_id != name.job_id || call->file_name() != file)
            return Error{Errc::denied, "it was signed under another name"};
        const auto known = config_.munge.addresses.find(call->node);
        if (config_.munge.address_policy == "enforce" && known != config_.munge.addresses.end() &&
            std::find(known->second.begin(), known->second.end(), credential->address) == known->second.end())
            return Error{Errc::denied, "signed at address " + credential->address + ", which is not one of " + call->node + "'s"};
        return call;
    }

    /// The call, if it is to be served now; nothing where it is not, or was refused.
    Result<std::optional<ScoutCall>> take(const RecordName &name, const std::string &file) {
        auto call = open(name, file);
        if (!call) {
            if (call.error().code == Errc::unavailable) // munged is away
                return call.error();
            if (call.error().code != Errc::not_found && call.error().code != Errc::io)
                refused(file, call.error().message);
            return std::optional<ScoutCall>();
        }
        if (call->host != host_) {
            refused(file, "it asks " + call->host + ", and this is " + host_);
            return std::optional<ScoutCall>();
        }
        return std::optional<ScoutCall>(std::move(*call));
    }

    /// Is the trouble the service's own, and may it pass?
    static bool may_pass(const Error &error) { return error.code == Errc::unavailable || error.code == Errc::io; }

    /// Requests of one job for one end of it: one pass. False: none of them was good. The error is about the service.
    Result<bool> serve(const std::vector<RecordName> &same) {
        std::optional<ScoutCall> call;
        std::vector<std::string> files;
        for (const auto &name : same) {
            const auto file = name.file_name();
            auto taken = take(name, file);
            if (!taken)
                return taken.error();
            if (!*taken)
                continue;
            files.push_back(file);
            if (!call)
                call = std::move(*taken);
        }
        if (!call)
            return false;
        const auto prefix = std::string(call->phase == Phase::start ? "prolog" : "epilog") + ": job " +
                            std::to_string(call->job_id) + " " + host_ + ": ";
        const auto nodes = expand_hostlist(call->nodes);
        Status done;
        if (nodes)
            done = run_scout_pass({call->job_id, call->phase, host_, *nodes, prefix}, config_, world_, deadline_);
        else
            world_.log->warning(prefix + nodes.error().message);
        if (!done && may_pass(done.error()))
            return done.error();
        for (const auto &file : files)
            remove(file);
        if (!done)
            return done.error();
        return true;
    }

    const Config &config_;
    const std::string &host_;
    ScoutWorld &world_;
    const Deadline &deadline_;
    std::string directory_;
    std::uint32_t slurm_uid_ = 0;
};

} // namespace

Result<ScoutCall> decode_scout_call(const std::string &text) {
    return decode_json<ScoutCall>(text, "scout request", "fabric-check/scout-request/1", decode);
}

Result<bool> serve_scout_request(const Config &config, const std::string &host, ScoutWorld &world,
                                 const Deadline &deadline) {
    if (config.scout != host)
        return false;
    try {
        const auto directory = config.expand(config.node_state, host);
        if (auto made = make_directories(directory, 0700); !made)
            return made.error();
        const auto lock = FileLock::try_lock(directory + "/scout.lock");
        if (!lock && lock.error().code != Errc::unavailable)
            return lock.error();
        if (!lock)
            return false;
        return Service(config, host, world, deadline).run();
    } catch (const std::exception &error) {
        return Error{Errc::io, error.what()};
    }
}

} // namespace fabric_check
