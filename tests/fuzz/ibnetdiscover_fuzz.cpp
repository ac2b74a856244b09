// SPDX-License-Identifier: GPL-2.0-or-later
//
// Topologies, listings and ports reports, whole and line by line; and what files are told by.
#include "fabric/import.hpp"
#include "fabric/import_kind.hpp"
#include "fabric/import_topology.hpp"

#include <cstdlib>

namespace {

using namespace fabric_check;
using namespace fabric_check::fabric;

void check(const MapDraft &map) {
    for (const DraftNode &node : map.nodes)
        for (const DraftPort &port : node.ports)
            if (port.peer != no_node &&
                (port.peer >= map.nodes.size() || port.peer_port >= map.nodes[port.peer].ports.size()))
                std::abort();
}

/// `text` in blocks of one line.
template <class Reader> void feed_lines(Reader &reader, std::string_view text) {
    while (!text.empty()) {
        const std::size_t end = text.find('\n');
        const std::size_t size = end == std::string_view::npos ? text.size() : end + 1;
        reader.block(text.substr(0, size));
        text.remove_prefix(size);
    }
    reader.end();
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t *data, std::size_t size) {
    const std::string text(reinterpret_cast<const char *>(data), size);
    const auto map = import_topology({{"fuzz", text}});
    TopologyReader lines;
    lines.begin("fuzz");
    feed_lines(lines, text);
    if (map.ok() == lines.empty())
        std::abort();
    if (map) {
        check(*map);
        const MapDraft again = lines.finish();
        if (again.nodes.size() != map->nodes.size() || again.problems != map->problems)
            std::abort();
    }
    (void)recognise(text);
    (void)likeness(text);
    std::vector<Problem> problems;
    AdaptiveEvidence evidence(problems);
    for (const FileKind kind : {FileKind::adaptive, FileKind::sm_log}) {
        evidence.begin("fuzz", kind);
        feed_lines(evidence, text);
    }
    return 0;
}
