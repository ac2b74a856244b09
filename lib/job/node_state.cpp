// SPDX-License-Identifier: GPL-2.0-or-later
#include "job/node_state.hpp"

#include "base/text.hpp"
#include "record/codec.hpp"
#include "record/intervals_codec.hpp"
#include "record/record_name.hpp"

#include <algorithm>
#include <cerrno>
#include <limits>
#include <sys/stat.h>
#include <thread>
#include <unistd.h>

namespace fabric_check {
namespace {

using nlohmann::ordered_json;

constexpr std::size_t state_limit = 16UL * 1024 * 1024;
constexpr std::chrono::milliseconds lock_pause{2};
constexpr const char *start_file = "/start.json", *state_file = "/state.json";

NodeState decode(const JsonReader &reader) {
    NodeState state;
    state.job_id = static_cast<std::uint32_t>(reader.number("job", std::numeric_limits<std::uint32_t>::max()));
    state.node = reader.text("node", 256);
    if (!valid_node_name(state.node))
        refuse("node", "not a node name");
    state.boot_id = reader.text("boot_id", 256);
    state.start_ns = reader.time("start_ns");
    state.last_ns = reader.time("last_ns");
    state.mid_ns = reader.time("mid_ns");
    state.bases = decode_bases(reader, "bases");
    state.intervals = decode_intervals(reader, "intervals");
    const bool none = state.intervals.empty() && state.last_ns == state.start_ns;
    if (!none && !spans(state.intervals, state.start_ns, state.last_ns))
        refuse("intervals", "do not lead from start_ns to last_ns");
    return state;
}

/// What a job's START record says of it.
Result<NodeState> state_of_start(const std::string &text) {
    const auto record = decode_record(text);
    if (!record)
        return record.error();
    const auto *snapshot = std::get_if<NodeSnapshot>(&record->snapshot);
    if (snapshot == nullptr || record->phase != Phase::start)
        return Error{Errc::malformed, "not a node's START record"};
    NodeState state;
    state.job_id = record->job_id;
    state.node = record->node;
    state.boot_id = snapshot->boot_id;
    state.start_ns = state.last_ns = snapshot->time_ns;
    state.bases = bases_of(*snapshot);
    return state;
}

} // namespace

std::string encode_node_state(const NodeState &state) {
    ordered_json json;
    json["schema"] = "fabric-check/node-state/1";
    json["job"] = state.job_id;
    json["node"] = state.node;
    json["boot_id"] = state.boot_id;
    json["start_ns"] = state.start_ns;
    json["last_ns"] = state.last_ns;
    json["mid_ns"] = state.mid_ns;
    json["bases"] = bases_json(state.bases);
    json["intervals"] = intervals_json(state.intervals);
    return json.dump(-1, ' ', true, ordered_json::error_handler_t::replace);
}

Result<NodeState> decode_node_state(const std::string &text) {
    return decode_json<NodeState>(text, "node state", "fabric-check/node-state/1", decode);
}

std::string NodeJob::directory_name() const {
    // A record's name without its time and kind: "<job>.<node>".
    const auto name = RecordName{job_id, node, 0, RecordKind::mid}.file_name();
    return name.substr(0, name.size() - std::string_view(".0.mid").size());
}

Status NodeStateStore::prepare() const {
    if (auto made = make_directories(root_, 0700); !made)
        return made;
    struct stat status {};
    if (lstat(root_.c_str(), &status) != 0)
        return errno_error(root_, errno);
    if (!S_ISDIR(status.st_mode))
        return Error{Errc::denied, root_ + ": not a directory; node_state must name one"};
    if (status.st_uid != geteuid() || (status.st_mode & 022) != 0)
        return Error{Errc::denied, root_ + ": others may write it; node_state must be root's alone (chmod 0700)"};
    return {};
}

Result<FileLock> NodeStateStore::lock(const Deadline &deadline) const {
    while (true) {
        auto lock = FileLock::try_lock(root_ + "/lock");
        if (lock || lock.error().code != Errc::unavailable || deadline.passed())
            return lock;
        std::this_thread::sleep_for(lock_pause);
    }
}

Result<std::vector<NodeJob>> NodeStateStore::list() const {
    const auto names = list_directory(root_);
    std::vector<NodeJob> jobs;
    if (!names) {
        if (names.error().code == Errc::not_found)
            return jobs;
        return names.error();
    }
    for (const auto &text : *names)
        if (const auto name = parse_record_name(text + ".0.mid"))
            jobs.push_back({name->job_id, name->node});
    return jobs;
}

Status NodeStateStore::make_directory(const NodeJob &job) const {
    const auto path = directory(job);
    if (mkdir(path.c_str(), 0700) == 0)
        return {};
    if (errno != EEXIST)
        return errno_error(path, errno);
    if (auto removed = remove(job); !removed)
        return removed;
    return mkdir(path.c_str(), 0700) == 0 ? Status() : Status(errno_error(path, errno));
}

Status NodeStateStore::begin(const NodeJob &job, const std::string &start_record) const {
    if (auto made = make_directory(job); !made)
        return made;
    return write_file_atomic(directory(job) + start_file, start_record, 0600);
}

bool NodeStateStore::moved_on(const NodeJob &job) const { return access((directory(job) + state_file).c_str(), F_OK) == 0; }

Result<NodeState> NodeStateStore::load(const NodeJob &job) const {
    auto path = directory(job) + state_file;
    auto text = read_file(path, state_limit, true);
    const bool begun = !text && text.error().code == Errc::not_found;
    if (begun) {
        path = directory(job) + start_file;
        text = read_file(path, state_limit, true);
    }
    if (!text)
        return text.error();
    auto state = begun ? state_of_start(*text) : decode_node_state(*text);
    if (!state)
        return Error{Errc::malformed, path + ": " + state.error().message};
    if (state->job_id != job.job_id || state->node != job.node)
        return Error{Errc::malformed, path + ": it is of another job"};
    return state;
}

Status NodeStateStore::save(const NodeState &state, bool fresh) const {
    const NodeJob job{state.job_id, state.node};
    if (fresh)
        if (auto made = make_directory(job); !made)
            return made;
    return write_file_atomic(directory(job) + state_file, encode_node_state(state), 0600);
}

Status NodeStateStore::remove(const NodeJob &job) const {
    // Out of everybody's way first: who still writes into it then fails, and nothing is left behind.
    const auto path = root_ + "/." + job.directory_name() + ".gone";
    if (rename(directory(job).c_str(), path.c_str()) != 0 && errno != ENOENT && errno != ENOTEMPTY && errno != EEXIST)
        return errno_error(directory(job), errno);
    const auto names = list_directory(path);
    if (!names)
        return names.error().code == Errc::not_found ? Status() : Status(names.error());
    for (const auto &name : *names)
        if (unlink((path + "/" + name).c_str()) != 0 && errno != ENOENT)
            return errno_error(path + "/" + name, errno);
    if (rmdir(path.c_str()) != 0 && errno != ENOENT)
        return errno_error(path, errno);
    struct stat status {};
    if (lstat(directory(job).c_str(), &status) == 0) // an earlier removal had been interrupted
        return remove(job);
    return {};
}

} // namespace fabric_check
