// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "fabric/map_draft.hpp"

#include <array>
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

/// The stored map as it lies in memory and in its file: little endian, fixed records, each section at a multiple of 64
/// bytes with an XXH3 checksum of its own. A header with the sections' places leads. The sections' sums, but that of the
/// information, are the map's identity: the same fabric has the same whenever its map is made.
/// The forwarding tables have a checksum each, so that a reader pays for those it looks at.
namespace fabric_check::fabric::image {

static_assert(std::endian::native == std::endian::little, "the map's records are little endian");

inline constexpr std::array<char, 8> magic = {'F', 'C', 'M', 'A', 'P', '\r', '\n', '\0'};
inline constexpr std::uint32_t version = 2;
inline constexpr std::size_t alignment = 64;
inline constexpr std::uint32_t none = 0xffffffff;

enum Section : std::uint32_t {
    info,       ///< when, where from, problems, link rates: a byte stream
    nodes,      ///< NodeRecord, in the order of their numbers
    ports,      ///< PortRecord, node by node
    text,       ///< descriptions, end to end
    lids,       ///< LidRecord by LID
    guids,      ///< GuidRecord sorted by GUID: nodes
    port_guids, ///< GuidRecord sorted by GUID: hosts' ports
    hosts,      ///< HostRecord sorted by hash, node, port
    lft_index,  ///< LftRecord
    lfts,       ///< forwarding tables, each at a multiple of 64 bytes; no checksum of its own
    sections,
};

struct SectionRecord {
    std::uint64_t offset, size, sum;
};
struct Header {
    std::array<char, 8> magic;
    std::uint32_t version, count;
    std::uint64_t size; ///< of the whole file
    std::uint64_t sum;  ///< of the section records
    std::array<SectionRecord, sections> at;
};
struct NodeRecord {
    std::uint64_t guid;
    std::uint32_t text, first_port, lft; ///< lft: into lft_index, or none
    std::uint16_t text_size, ports, lid;
    std::uint8_t kind, shares_name; ///< shares_name: another switch is called the same
};
struct PortRecord {
    std::uint64_t guid;
    std::uint32_t peer;
    std::uint16_t lid, rate; ///< rate: into the link rates of info
    std::uint8_t peer_port, lmc;
    std::array<std::uint8_t, 6> zero;
};
struct LidRecord {
    std::uint32_t node;
    std::uint32_t port;
};
struct GuidRecord {
    std::uint64_t guid;
    std::uint32_t node, port;
};
struct HostRecord {
    std::uint64_t hash; ///< XXH3 of the host's name, or of its part before the domain
    std::uint32_t node, port;
};
struct LftRecord {
    std::uint64_t offset, sum; ///< offset within the section
    std::uint32_t size, node;
};
static_assert(sizeof(NodeRecord) == 32 && sizeof(PortRecord) == 24 && sizeof(LftRecord) == 24);

/// Where the bytes lie: a private mapping of the file, or memory.
class Bytes {
public:
    Bytes() = default;
    explicit Bytes(std::string owned) : owned_(std::move(owned)), view_(owned_) {}
    /// Takes a mapping of this many bytes over.
    Bytes(const void *mapped, std::size_t size) : mapped_(mapped), view_(static_cast<const char *>(mapped), size) {}
    ~Bytes();
    Bytes(const Bytes &) = delete;
    Bytes &operator=(const Bytes &) = delete;
    std::string_view view() const { return view_; }
    bool mapped() const { return mapped_ != nullptr; }

private:
    std::string owned_;
    const void *mapped_ = nullptr;
    std::string_view view_;
};

/// An opened map. Everything but the tables has been verified.
struct Image {
    std::unique_ptr<Bytes> bytes;
    std::span<const NodeRecord> nodes;
    std::span<const PortRecord> ports;
    std::string_view text;
    std::span<const LidRecord> lids;
    std::span<const GuidRecord> guids, port_guids;
    std::span<const HostRecord> hosts;
    std::span<const LftRecord> lft_index;
    std::span<const std::uint8_t> lfts;

    std::int64_t built_ns = 0;
    std::string source;
    std::vector<Problem> problems;
    std::vector<LinkRate> rates;
    AdaptiveRouting adaptive_routing = AdaptiveRouting::unknown;
    std::optional<SubnetManager> subnet_manager;
    std::uint64_t id = 0;

    /// By table: 0 not looked at yet, 1 good, 2 damaged. Tables of one map may be asked for by several threads.
    mutable std::unique_ptr<std::atomic<std::uint8_t>[]> tables_seen;

    /// The node's table, verified when first asked for; empty when it has none or it is damaged.
    std::span<const std::uint8_t> lft(const NodeRecord &node) const noexcept;
    bool damaged(const NodeRecord &node) const noexcept;
};

std::uint64_t checksum(const void *data, std::size_t size) noexcept;
std::uint64_t host_hash(std::string_view name) noexcept;

/// The draft in its stored form, or why it has none.
Result<std::string> encode(const MapDraft &draft, const std::string &name);
/// Verifies everything but the tables, and refers to the bytes without copying them. `name` is for messages.
Result<std::shared_ptr<const Image>> open(std::unique_ptr<Bytes> bytes, const std::string &name);

} // namespace fabric_check::fabric::image
