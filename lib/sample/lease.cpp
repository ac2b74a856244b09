// SPDX-License-Identifier: GPL-2.0-or-later
#include "sample/lease.hpp"

#include "base/clock.hpp"
#include "base/file.hpp"
#include "base/text.hpp"

#include <fmt/format.h>

#include <array>
#include <thread>
#include <unistd.h>

namespace fabric_check::sample {

namespace {

constexpr std::int64_t second = 1'000'000'000;
constexpr std::chrono::milliseconds settle{200}; ///< of two that take over at once the last writer stays
constexpr std::size_t most_lease = 1024;

/// Field 22 of /proc/PID/stat; 0: no such process. The name in field 2 may hold anything, and ends with the last ')'.
std::uint64_t born(std::int64_t pid) {
    const auto stat = read_file(fmt::format("/proc/{}/stat", pid), 4096);
    if (!stat)
        return 0;
    const auto end = stat->rfind(')');
    if (end == std::string::npos)
        return 0;
    const auto fields = split(std::string_view(*stat).substr(end + 1), ' ');
    constexpr std::size_t start_time = 20; // the first part is empty, the second is field 3
    return fields.size() > start_time ? parse_u64(fields[start_time]).value_or(0) : 0;
}

} // namespace

std::string encode_lease(const Lease &lease) {
    return fmt::format("fabric-check/sampler/1 {} {} {} {:016x} {} {}\n", lease.host, lease.pid, lease.born, lease.id,
                       lease.since_ns, lease.until_ns);
}

std::optional<Lease> decode_lease(std::string_view text) {
    const auto parts = split(trim(text), ' ');
    if (parts.size() != 7 || parts[0] != "fabric-check/sampler/1" || parts[1].empty())
        return std::nullopt;
    std::array<std::uint64_t, 5> numbers{};
    for (std::size_t i = 0; i < numbers.size(); ++i) {
        const auto number = parse_u64(parts[i + 2], i == 2 ? 16 : 10);
        if (!number || (i != 2 && *number > INT64_MAX))
            return std::nullopt;
        numbers[i] = *number;
    }
    return Lease{printable(parts[1]),
                 static_cast<std::int64_t>(numbers[0]),
                 numbers[1],
                 numbers[2],
                 static_cast<std::int64_t>(numbers[3]),
                 static_cast<std::int64_t>(numbers[4])};
}

LeaseHolder::LeaseHolder(const SpoolLayout &spool, const Trust &trust, World world)
    : path_(samples_directory(spool) + "/" + std::string(lease_name)), trust_(trust), world_(std::move(world)) {
    own_.host = world_.host;
    own_.pid = ::getpid();
    own_.born = born(own_.pid);
    own_.id = random_id();
}

LeaseHolder::~LeaseHolder() {
    if (!held_)
        return;
    const auto now = current();
    if (now && now->id == own_.id)
        (void)::unlink(path_.c_str());
}

std::optional<Lease> LeaseHolder::current() const {
    const auto file = TrustedFile::open(path_, trust_);
    if (!file || file->size() > most_lease)
        return std::nullopt;
    const auto text = file->read(0, static_cast<std::size_t>(file->size()));
    return text ? decode_lease(*text) : std::nullopt;
}

Error LeaseHolder::held_by(const Lease &other) const {
    const std::int64_t now = world_.now_ns();
    return {Errc::unavailable,
            fmt::format("another sampler runs on {} (process {}) since {}; its lease ends in {} s", other.host, other.pid,
                        format_time(other.since_ns / second), (other.until_ns - now) / second)};
}

Status LeaseHolder::write(std::chrono::seconds length) {
    own_.until_ns = world_.now_ns() + length.count() * second;
    return write_unsynced(path_, encode_lease(own_));
}

Status LeaseHolder::take(std::chrono::seconds length) {
    const auto lives = [&](const Lease &lease) {
        const std::int64_t now = world_.now_ns();
        // An end in the far future is no sampler's: a clock was wrong, or somebody played.
        constexpr std::int64_t longest = 24 * 3600 * second;
        return lease.until_ns > now && lease.until_ns - now < longest && (lease.host != own_.host || world_.runs(lease));
    };
    if (const auto other = current(); other && other->id != own_.id && lives(*other))
        return held_by(*other);
    own_.since_ns = world_.now_ns();
    if (auto written = write(length); !written)
        return written;
    world_.sleep(settle);
    const auto now = current();
    if (!now)
        return Error{Errc::io, path_ + ": does not stay as it was written"};
    if (now->id != own_.id)
        return held_by(*now);
    held_ = true;
    return {};
}

Status LeaseHolder::renew(std::chrono::seconds length) {
    if (const auto now = current(); now && now->id != own_.id) {
        held_ = false;
        return held_by(*now);
    }
    return write(length);
}

LeaseHolder::World lease_world() {
    std::array<char, 256> host{};
    if (::gethostname(host.data(), host.size() - 1) != 0 || host[0] == '\0')
        host = {'?'};
    std::string name(host.data());
    for (char &c : name)
        c = c == ' ' ? '_' : c;
    return {std::move(name), wall_ns, [](std::chrono::milliseconds pause) { std::this_thread::sleep_for(pause); },
            [](const Lease &lease) { return born(lease.pid) == lease.born && lease.born != 0; }};
}

} // namespace fabric_check::sample
