// SPDX-License-Identifier: GPL-2.0-or-later
#include "base/clock.hpp"
#include "fabric/import.hpp"
#include "fabric/import_kind.hpp"
#include "fabric/import_source.hpp"
#include "fabric/import_tables.hpp"
#include "fabric/import_topology.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <sys/stat.h>

namespace fabric_check::fabric {
namespace {

constexpr std::string_view accepted =
    "accepted are ibnetdiscover output (also -f, -p), forwarding tables of opensm (opensm-lfts.dump, opensm.fdbs), "
    "dump_fts, ibroute and ibdiagnet (ibdiagnet2.fdbs), ibdiagnet2.far, and opensm's log; plain or gzip";

struct Input {
    std::string path;
    FileKind kind = FileKind::unknown;
    std::optional<TextSource> kept; ///< what can be read only once is kept open
};

bool regular(const std::string &path) {
    struct stat info {};
    return path != "-" && ::stat(path.c_str(), &info) == 0 && S_ISREG(info.st_mode);
}

std::string_view without_mark(std::string_view text) {
    return text.starts_with("\xef\xbb\xbf") ? text.substr(3) : text;
}

/// Recognises one file by its first block.
Result<Input> look_at(const std::string &path) {
    auto source = TextSource::open(path);
    if (!source)
        return source.error();
    const auto first = source->peek();
    if (!first)
        return first.error();
    Input input;
    input.path = path;
    input.kind = recognise(without_mark(*first));
    if (input.kind == FileKind::unknown)
        return Error{Errc::malformed, fmt::format("{}: not recognised: {}{}", source->name(), likeness(*first), accepted)};
    if (!regular(path))
        input.kept = std::move(*source);
    return input;
}

/// Feeds a file to a reader; `more` ends it early.
template <class Reader> Status feed(Input &input, Reader &reader, std::vector<Problem> &problems, const Status *stop = nullptr) {
    if (!input.kept) {
        auto source = TextSource::open(input.path);
        if (!source)
            return source.error();
        input.kept = std::move(*source);
    }
    for (bool first = true;; first = false) {
        const auto block = input.kept->next();
        if (!block)
            return block.error();
        if (block->empty())
            break;
        reader.block(first ? without_mark(*block) : *block);
        if (stop != nullptr && !*stop)
            return *stop;
    }
    reader.end();
    if (input.kept->cut_short())
        problems.push_back({input.kept->name(), "", "the gzip data end early; what came before is used"});
    input.kept.reset();
    return {};
}

std::string shown_name(const std::string &path) { return path == "-" ? "standard input" : path; }

struct Imported {
    MapDraft map;
    std::string tables, others; ///< files, as messages name them
    std::size_t entries = 0;
};

Result<Imported> read_all(const std::vector<std::string> &paths) {
    if (std::count(paths.begin(), paths.end(), "-") > 1)
        return Error{Errc::usage, "standard input (-) can be read only once"};
    std::vector<Input> inputs;
    std::string source;
    for (const std::string &path : paths) {
        auto input = look_at(path);
        if (!input)
            return input.error();
        source += (source.empty() ? "" : ", ") + shown_name(path);
        inputs.push_back(std::move(*input));
    }
    const auto of = [&inputs](FileKind kind) {
        std::vector<Input *> out;
        for (Input &input : inputs)
            if (input.kind == kind)
                out.push_back(&input);
        return out;
    };
    TopologyReader topology;
    std::vector<Problem> problems;
    for (const FileKind kind : {FileKind::topology, FileKind::ports_report})
        for (Input *input : of(kind)) {
            topology.begin(shown_name(input->path));
            if (const Status read = feed(*input, topology, problems, &topology.status()); !read)
                return read.error();
        }
    if (topology.empty())
        return Error{Errc::malformed, fmt::format("no topology in {}: add the output of ibnetdiscover (ibnetdiscover > FILE, "
                                                  "as root on a host with a card)",
                                                  source)};
    Imported out;
    out.map = topology.finish();
    TableReader tables(out.map);
    for (Input *input : of(FileKind::tables)) {
        tables.begin(shown_name(input->path));
        if (const Status read = feed(*input, tables, problems); !read)
            return read.error();
    }
    tables.finish();
    out.entries = tables.entries();
    for (const Input &input : inputs) {
        std::string &list = input.kind == FileKind::tables ? out.tables : out.others;
        list += (list.empty() ? "" : ", ") + shown_name(input.path);
    }
    AdaptiveEvidence evidence(problems);
    for (const FileKind kind : {FileKind::adaptive, FileKind::sm_log})
        for (Input *input : of(kind)) {
            evidence.begin(shown_name(input->path), kind);
            if (const Status read = feed(*input, evidence, problems); !read)
                return read.error();
        }
    if (evidence.shown())
        out.map.adaptive_routing = AdaptiveRouting::on;
    out.map.problems.insert(out.map.problems.end(), problems.begin(), problems.end());
    out.map.source = source;
    out.map.built_ns = wall_ns();
    return out;
}

} // namespace

Result<MapDraft> import_fabric(const std::vector<std::string> &files) {
    auto read = read_all(files);
    if (!read)
        return read.error();
    if (!read->tables.empty() && read->entries == 0)
        return Error{Errc::malformed, fmt::format("{}: not one forwarding table of the fabric in {}: these files do not belong "
                                                  "together{} (a map without routes: leave the tables out)",
                                                  read->tables, read->others,
                                                  read->map.problems.empty() ? "" : "; " + read->map.problems.back().reason)};
    if (read->entries == 0)
        read->map.problems.insert(read->map.problems.begin(),
                                  {"tables", "",
                                   "no forwarding tables were given: the map has links, but no routes; add opensm-lfts.dump "
                                   "or the output of dump_fts"});
    return std::move(read->map);
}

Result<MapDraft> import_files(const std::vector<std::string> &topology, const std::vector<std::string> &tables) {
    if (topology.empty())
        return Error{Errc::usage, "no topology file given"};
    std::vector<std::string> files = topology;
    files.insert(files.end(), tables.begin(), tables.end());
    auto read = read_all(files);
    if (!read)
        return read.error();
    if (!tables.empty() && read->entries == 0)
        return Error{Errc::malformed,
                     fmt::format("{}: no forwarding table of this fabric in it{}", shown_name(tables[0]),
                                 read->map.problems.empty() ? "" : "; " + read->map.problems.back().reason)};
    return std::move(read->map);
}

Result<MapDraft> import_topology(const std::vector<TextFile> &files) {
    if (files.empty())
        return Error{Errc::usage, "no topology file given"};
    TopologyReader reader;
    for (const bool report : {false, true})
        for (const TextFile &file : files) {
            if ((recognise(file.text) == FileKind::ports_report) != report)
                continue;
            reader.begin(file.name);
            reader.block(file.text);
            reader.end();
            if (!reader.status())
                return reader.status().error();
            if (reader.empty())
                return Error{Errc::malformed,
                             fmt::format("{}: no ibnetdiscover output in it{}", file.name,
                                         recognise(file.text) == FileKind::tables ? "; these are forwarding tables" : "")};
        }
    return reader.finish();
}

/// What a reader of tables found; an error when nothing.
static Status finished(TableReader &reader, const MapDraft &map, const std::string &name) {
    if (reader.entries() == 0)
        return Error{Errc::malformed,
                     map.problems.empty() || map.problems.back().reason.starts_with("no forwarding table")
                         ? name + ": no forwarding table of this fabric in it"
                         : fmt::format("{}: no forwarding table of this fabric in it; {}", name, map.problems.back().reason)};
    reader.finish();
    return {};
}

Status import_tables(MapDraft &map, const std::vector<TextFile> &files) {
    TableReader reader(map);
    for (const TextFile &file : files) {
        reader.begin(file.name);
        reader.block(file.text);
        reader.end();
    }
    return finished(reader, map, files.empty() ? "tables" : files[0].name);
}

Status import_table_files(MapDraft &map, const std::vector<std::string> &files) {
    TableReader reader(map);
    std::vector<Problem> problems;
    for (const std::string &path : files) {
        auto input = look_at(path);
        if (!input)
            return input.error();
        if (input->kind != FileKind::tables)
            return Error{Errc::malformed, shown_name(path) + ": no forwarding table of this fabric in it"};
        reader.begin(shown_name(path));
        if (const Status read = feed(*input, reader, problems); !read)
            return read;
    }
    map.problems.insert(map.problems.end(), problems.begin(), problems.end());
    return finished(reader, map, files.empty() ? "tables" : shown_name(files[0]));
}

} // namespace fabric_check::fabric
