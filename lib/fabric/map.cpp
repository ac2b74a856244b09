// SPDX-License-Identifier: GPL-2.0-or-later
#include "fabric/map.hpp"

#include "base/file.hpp"
#include "base/text.hpp"

#include <algorithm>
#include <array>
#include <fcntl.h>
#include <fmt/format.h>
#include <linux/magic.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

namespace fabric_check::fabric {
namespace {

constexpr std::size_t file_limit = std::size_t(1) << 30;
constexpr long xfs_magic = 0x58465342; // the kernel keeps XFS's to itself

/// File systems whose pages stay while the file is open, as long as nobody shortens the file: maps are replaced, never
/// rewritten. Another's map is read: a page of a remote file that was replaced meanwhile, or whose server is gone, ends the
/// program that touches it (SIGBUS).
bool stays_readable(int fd) {
    struct statfs about {};
    if (::fstatfs(fd, &about) != 0)
        return false;
    constexpr std::array<long, 6> local = {EXT4_SUPER_MAGIC,   xfs_magic,       BTRFS_SUPER_MAGIC,
                                           TMPFS_MAGIC, OVERLAYFS_SUPER_MAGIC, RAMFS_MAGIC};
    return std::find(local.begin(), local.end(), long(about.f_type)) != local.end();
}

/// A mapping of the file, or null where it is to be read.
std::unique_ptr<image::Bytes> mapped(const std::string &path) {
    const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0)
        return nullptr;
    struct stat about {};
    std::unique_ptr<image::Bytes> out;
    if (::fstat(fd, &about) == 0 && S_ISREG(about.st_mode) && about.st_size > 0 && std::size_t(about.st_size) <= file_limit &&
        stays_readable(fd)) {
        void *at = ::mmap(nullptr, std::size_t(about.st_size), PROT_READ, MAP_PRIVATE, fd, 0);
        if (at != MAP_FAILED)
            out = std::make_unique<image::Bytes>(at, std::size_t(about.st_size));
    }
    ::close(fd);
    return out;
}

template <class Record> auto equal_range(std::span<const Record> sorted, std::uint64_t Record::*key, std::uint64_t wanted) {
    const auto begin = std::lower_bound(sorted.begin(), sorted.end(), wanted,
                                        [key](const Record &a, std::uint64_t b) { return a.*key < b; });
    auto end = begin;
    while (end != sorted.end() && (*end).*key == wanted)
        ++end;
    return std::span<const Record>(begin, end);
}

} // namespace

Map::Map() : Map(MapDraft()) {}

Map::Map(const MapDraft &draft) {
    auto made = open_draft(draft, "map");
    if (!made)
        made = open_draft(MapDraft(), "map");
    *this = std::move(*made);
}

bool Map::is_switch(std::uint32_t node) const noexcept {
    return node < image_->nodes.size() && image_->nodes[node].kind == std::uint8_t(NodeKind::switch_node);
}

std::uint32_t Map::by_lid(std::uint16_t lid) const noexcept {
    return lid < image_->lids.size() ? image_->lids[lid].node : no_node;
}

std::uint8_t Map::port_of_lid(std::uint16_t lid) const noexcept {
    return by_lid(lid) == no_node ? std::uint8_t(0) : std::uint8_t(image_->lids[lid].port);
}

std::uint32_t Map::by_guid(std::uint64_t node_guid) const noexcept {
    const auto found = equal_range(image_->guids, &image::GuidRecord::guid, node_guid);
    return found.empty() ? no_node : found[0].node;
}

std::uint32_t Map::by_port_guid(std::uint64_t port_guid, std::uint8_t *port) const noexcept {
    const auto found = equal_range(image_->port_guids, &image::GuidRecord::guid, port_guid);
    if (found.empty())
        return no_node;
    if (port)
        *port = std::uint8_t(found[0].port);
    return found[0].node;
}

std::vector<std::pair<std::uint32_t, std::uint8_t>> Map::by_name(std::string_view host) const {
    std::vector<std::pair<std::uint32_t, std::uint8_t>> out;
    for (const image::HostRecord &record : equal_range(image_->hosts, &image::HostRecord::hash, image::host_hash(host))) {
        const std::string_view name = nodes()[record.node].host_name();
        if (name == host || name.substr(0, name.find('.')) == host)
            out.emplace_back(record.node, std::uint8_t(record.port));
    }
    return out;
}

std::string Map::display_name(std::uint32_t n) const {
    if (n >= image_->nodes.size())
        return "nothing";
    const MapNode node = nodes()[n];
    if (node.kind != NodeKind::switch_node) {
        const std::string_view name = node.kind == NodeKind::host ? node.host_name() : std::string_view();
        return name.empty() ? guid_text(node.guid) : printable(name);
    }
    std::string name = switch_name_of(node.description, node.guid);
    if (image_->nodes[n].shares_name != 0)
        name += fmt::format("[{}]", guid_text(node.guid));
    return name;
}

std::vector<std::string> Map::damaged_tables() const {
    std::vector<std::string> out;
    for (std::uint32_t n = 0; n < image_->nodes.size(); ++n)
        if (image_->damaged(image_->nodes[n]))
            out.push_back(display_name(n));
    return out;
}

Result<Map> open_bytes(std::unique_ptr<image::Bytes> bytes, const std::string &name) {
    auto image = image::open(std::move(bytes), name);
    if (!image)
        return image.error();
    return Map(std::move(*image));
}

Result<Map> open_draft(const MapDraft &draft, const std::string &name) {
    auto encoded = image::encode(draft, name);
    if (!encoded)
        return encoded.error();
    return open_bytes(std::make_unique<image::Bytes>(std::move(*encoded)), name);
}

MapDraft draft_of(const Map &map) {
    MapDraft out;
    out.source = map.source();
    out.nodes.reserve(map.nodes().size());
    for (const MapNode node : map.nodes()) {
        DraftNode &made = out.nodes.emplace_back();
        made.guid = node.guid;
        made.description = node.description;
        made.kind = node.kind;
        made.lid = node.lid;
        for (const MapPort port : node.ports)
            made.ports.push_back({port.peer, port.peer_port, port.rate, port.guid, port.lid, port.lmc});
    }
    out.index();
    return out;
}

Status save_map(const Map &map, const std::string &path) {
    return write_file_atomic(path, map.image().bytes->view());
}

Result<Map> parse_map(std::span<const std::uint8_t> bytes, const std::string &name) {
    return open_bytes(
        std::make_unique<image::Bytes>(std::string(reinterpret_cast<const char *>(bytes.data()), bytes.size())), name);
}

Result<Map> load_map(const std::string &path) {
    if (auto bytes = mapped(path))
        return open_bytes(std::move(bytes), path);
    auto content = read_file(path, file_limit);
    if (!content)
        return content.error();
    return open_bytes(std::make_unique<image::Bytes>(std::move(*content)), path);
}

} // namespace fabric_check::fabric
