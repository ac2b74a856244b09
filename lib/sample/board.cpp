// SPDX-License-Identifier: GPL-2.0-or-later
#include "sample/board.hpp"

#include "mad/attributes.hpp"
#include "sample/bytes.hpp"

#include <algorithm>
#include <array>
#include <sys/stat.h>
#include <thread>
#include <unistd.h>

namespace fabric_check::sample {

namespace {

using std::chrono::milliseconds;

constexpr std::string_view claim_magic = "fcclaim1";
constexpr std::size_t most_claim = 1 << 20, most_claimed_switches = 1 << 14, claim_entry = 40;
constexpr std::size_t most_files = 32;              // passes and claims looked at; of a storm of jobs the newest
constexpr std::size_t most_removed = 64;            // in one visit
constexpr std::int64_t millisecond = 1'000'000, second = 1000 * millisecond;
constexpr std::int64_t claim_life = second;         // nobody reads for longer
constexpr std::int64_t kept = 30 * second;          // then whoever comes next removes it
constexpr milliseconds look_again{10};

std::int64_t ns(milliseconds time) { return time.count() * millisecond; }

bool exists(const std::string &path) {
    struct stat status {};
    return ::lstat(path.c_str(), &status) == 0;
}

} // namespace

std::string encode_claim(const Board::Ports &ports) {
    std::string out(claim_magic);
    ByteWriter writer(out);
    for (auto at = ports.begin(); at != ports.end();) {
        std::array<std::uint8_t, 32> bits{};
        const std::uint64_t guid = at->guid;
        for (; at != ports.end() && at->guid == guid; ++at)
            bits[at->port / 8U] = static_cast<std::uint8_t>(bits[at->port / 8U] | 1U << at->port % 8U);
        writer.u64(guid);
        for (const std::uint8_t byte : bits)
            writer.u8(byte);
    }
    return out;
}

Board::Ports decode_claim(std::string_view bytes) {
    Board::Ports ports;
    if (!bytes.starts_with(claim_magic) || bytes.size() > claim_magic.size() + most_claimed_switches * claim_entry)
        return ports;
    ByteReader reader(bytes.substr(claim_magic.size()));
    while (reader.left() >= claim_entry) {
        const std::uint64_t guid = reader.u64();
        for (unsigned byte = 0; byte < 32; ++byte) {
            const std::uint8_t bits = reader.u8();
            for (unsigned bit = 0; bit < 8; ++bit)
                if ((bits >> bit & 1U) != 0)
                    ports.insert(ports.end(), {guid, static_cast<std::uint8_t>(8 * byte + bit)});
        }
    }
    return ports;
}

BoardOptions board_options(const Config &config, std::uint32_t slurm_uid) {
    BoardOptions options;
    options.share = milliseconds(config.sample.share_ms);
    options.owner_uid = slurm_uid;
    if (slurm_uid != 0)
        options.trust.signers.push_back(slurm_uid);
    options.now_ns = wall_ns;
    options.sleep = [](milliseconds pause) { std::this_thread::sleep_for(pause); };
    return options;
}

Board::Board(const SpoolLayout &spool, Signer &signer, BoardOptions options)
    : spool_(spool), signer_(&signer), options_(std::move(options)),
      ready_(options_.share.count() > 0 && prepare_samples(spool_, options_.owner_uid).ok()) {}

Board::~Board() {
    for (const FileName &claim : own_)
        (void)::unlink(path(claim).c_str());
}

std::string Board::path(const FileName &name) const { return samples_directory(spool_) + "/" + name.text(); }

std::int64_t Board::oldest(std::int64_t not_before_ns) const {
    return std::max(not_before_ns, options_.now_ns() - ns(options_.share));
}

void Board::read_file(const std::string &path, Ports &wanted, std::int64_t not_before_ns, std::vector<SwitchPort> &found) {
    std::set<std::uint64_t> switches;
    for (const PortId &id : wanted)
        switches.insert(id.guid);
    if (switches.empty())
        return;
    auto pass = read_pass(path, switches, not_before_ns, *signer_, options_.trust);
    if (!pass)
        return;
    const std::int64_t now = options_.now_ns();
    for (SwitchPort &port : pass->ports) {
        const PortId id{port.switch_guid, static_cast<std::uint8_t>(port.port)};
        const bool full = std::any_of(port.counters.begin(), port.counters.end(), [](const auto &entry) {
            return mad::error_counter_at_cap(entry.first, entry.second);
        });
        // A port that was silent for somebody else may answer us, and a full counter may have been reset; a time to come is
        // a wrong clock's.
        if (!was_read(port) || full || port.time_ns < not_before_ns || port.time_ns > now + second ||
            !wanted.contains(id))
            continue;
        wanted.erase(id);
        found.push_back(std::move(port));
        ++taken_;
    }
}

void Board::clear_up(const std::vector<FileName> &files) const {
    const std::int64_t now = options_.now_ns();
    std::size_t removed = 0;
    for (const FileName &file : files)
        if (file.kind != FileKind::ring && (file.time_ns < now - kept || file.time_ns > now + kept) &&
            ++removed <= most_removed)
            (void)::unlink(path(file).c_str());
}

std::vector<SwitchPort> Board::take(Ports &wanted, std::int64_t not_before_ns) {
    std::vector<SwitchPort> found;
    if (!ready_ || wanted.empty())
        return found;
    const std::vector<FileName> files = list_samples(spool_, most_files + most_removed);
    clear_up(files);
    const std::int64_t limit = oldest(not_before_ns);
    std::size_t looked = 0;
    for (auto file = files.rbegin(); file != files.rend() && looked < most_files; ++file) // the youngest first
        // A pass is called by its claim, which comes before the last port by what a pass takes.
        if (file->kind == FileKind::pass && file->time_ns >= limit - claim_life) {
            ++looked;
            read_file(path(*file), wanted, limit, found);
        }
    read_file(newest_file(spool_), wanted, limit, found);
    return found;
}

std::vector<Board::Claim> Board::live_claims(const Ports &wanted, std::int64_t not_before_ns) const {
    std::vector<Claim> claims;
    const std::int64_t now = options_.now_ns();
    std::size_t looked = 0;
    const std::vector<FileName> files = list_samples(spool_, most_files);
    for (auto file = files.rbegin(); file != files.rend() && looked < most_files; ++file) {
        if (file->kind != FileKind::claim || file->time_ns < std::max(now - claim_life, not_before_ns) || file->time_ns > now + claim_life)
            continue;
        ++looked;
        const auto content = TrustedFile::open(path(*file), options_.trust);
        if (!content || content->size() > most_claim)
            continue;
        const auto bytes = content->read(0, static_cast<std::size_t>(content->size()));
        Claim claim{*file, bytes ? decode_claim(*bytes) : Ports()};
        std::erase_if(claim.ports, [&](const PortId &id) { return !wanted.contains(id); });
        if (!claim.ports.empty())
            claims.push_back(std::move(claim));
    }
    return claims;
}

Board::Ports Board::claim(Ports &wanted, std::int64_t not_before_ns) {
    if (!ready_ || wanted.empty())
        return std::exchange(wanted, {});
    Ports mine = wanted;
    const auto leave = [&](const std::vector<Claim> &claims, const FileName *own) {
        for (const Claim &claim : claims) {
            const bool ours = std::find(own_.begin(), own_.end(), claim.name) != own_.end();
            if (ours || (own != nullptr && *own < claim.name))
                continue;
            bool any = false;
            for (const PortId &id : claim.ports)
                any = mine.erase(id) != 0 || any;
            if (any)
                others_.push_back(claim);
        }
    };
    leave(live_claims(mine, not_before_ns), nullptr);
    if (!mine.empty()) {
        const FileName own{FileKind::claim, options_.now_ns(), random_id()};
        if (write_unsynced(path(own), encode_claim(mine))) {
            own_.push_back(own);
            leave(live_claims(mine, not_before_ns), &own); // made at the same moment, and before ours
        }
    }
    for (const PortId &id : mine)
        wanted.erase(id);
    return mine;
}

Status Board::publish(std::vector<SwitchPort> ports, std::uint64_t map_id) {
    Status status;
    if (ready_ && !ports.empty()) {
        const auto [first, last] = std::minmax_element(
            ports.begin(), ports.end(), [](const SwitchPort &a, const SwitchPort &b) { return a.time_ns < b.time_ns; });
        FileName name{FileKind::pass, options_.now_ns(), random_id()};
        if (!own_.empty())
            name = {FileKind::pass, own_.back().time_ns, own_.back().id};
        const std::int64_t from = first->time_ns, to = last->time_ns;
        status = write_pass(path(name), {from, to, map_id, std::move(ports)}, *signer_);
    }
    for (const FileName &claim : own_)
        (void)::unlink(path(claim).c_str());
    own_.clear();
    return status;
}

std::vector<SwitchPort> Board::await(Ports &wanted, std::int64_t not_before_ns, const Deadline &deadline) {
    std::vector<SwitchPort> found;
    const std::int64_t until = options_.now_ns() + ns(std::min(options_.claim_wait, deadline.left() / 3));
    std::vector<Claim> open = others_;
    while (!open.empty() && !wanted.empty()) {
        std::erase_if(open, [&](const Claim &claim) {
            const FileName pass{FileKind::pass, claim.name.time_ns, claim.name.id};
            const bool claimed = exists(path(claim.name)); // before the pass is looked for, which is written first
            if (exists(path(pass))) {
                read_file(path(pass), wanted, oldest(not_before_ns), found);
                return true;
            }
            return !claimed;
        });
        if (open.empty() || wanted.empty() || options_.now_ns() >= until)
            break;
        options_.sleep(look_again);
    }
    return found;
}

} // namespace fabric_check::sample
