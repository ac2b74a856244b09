// SPDX-License-Identifier: GPL-2.0-or-later
#include "base/clock.hpp"
#include "base/file.hpp"
#include "fabric/import.hpp"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <zlib.h>

namespace fabric_check::fabric {
namespace {

/// Ends the inflater on every way out.
struct Inflater {
    z_stream stream{};
    bool ready = false;
    Inflater() { ready = inflateInit2(&stream, 15 + 16) == Z_OK; }
    Inflater(const Inflater &) = delete;
    Inflater &operator=(const Inflater &) = delete;
    ~Inflater() {
        if (ready)
            inflateEnd(&stream);
    }
};

/// All members of a gzip file, one after the other.
Result<std::string> gunzip(const std::string &packed, const std::string &name, std::size_t limit) {
    Inflater inflater;
    if (!inflater.ready)
        return Error{Errc::io, name + ": cannot start to unpack"};
    z_stream &z = inflater.stream;
    std::string out;
    std::array<char, 1 << 16> chunk{};
    std::size_t at = 0;
    for (;;) {
        if (z.avail_in == 0 && at < packed.size()) {
            const std::size_t part = std::min<std::size_t>(packed.size() - at, 1U << 30);
            // zlib does not write through next_in.
            z.next_in = reinterpret_cast<Bytef *>(const_cast<char *>(packed.data() + at));
            z.avail_in = uInt(part);
            at += part;
        }
        z.next_out = reinterpret_cast<Bytef *>(chunk.data());
        z.avail_out = uInt(chunk.size());
        const int state = inflate(&z, Z_NO_FLUSH);
        out.append(chunk.data(), chunk.size() - z.avail_out);
        if (out.size() > limit)
            return Error{Errc::malformed, fmt::format("{}: unpacks to more than {} bytes", name, limit)};
        const bool all_in = z.avail_in == 0 && at == packed.size();
        if (state == Z_STREAM_END) {
            if (all_in)
                return out;
            if (inflateReset(&z) != Z_OK)
                return Error{Errc::io, name + ": cannot go on unpacking"};
        } else if (state != Z_OK || (all_in && z.avail_out != 0)) {
            return Error{Errc::malformed, fmt::format("{}: gzip data {}", name, all_in ? "end early" : "are damaged")};
        }
    }
}

} // namespace

Result<std::string> read_text(const std::string &path, std::size_t limit) {
    auto content = read_file(path, limit);
    if (!content || !content->starts_with("\x1f\x8b"))
        return content;
    return gunzip(*content, path, limit);
}

Result<MapDraft> import_files(const std::vector<std::string> &topology, const std::vector<std::string> &tables) {
    std::vector<TextFile> topology_files, table_files;
    std::string source;
    for (const auto &[paths, files] : {std::pair(&topology, &topology_files), std::pair(&tables, &table_files)})
        for (const std::string &path : *paths) {
            auto text = read_text(path);
            if (!text)
                return text.error();
            files->push_back({path, std::move(text).value()});
            source += (source.empty() ? "" : ", ") + path;
        }
    auto map = import_topology(topology_files);
    if (!map)
        return map;
    if (!table_files.empty())
        if (const Status status = import_tables(*map, table_files); !status)
            return status.error();
    map->source = source;
    map->built_ns = wall_ns();
    return map;
}

} // namespace fabric_check::fabric
