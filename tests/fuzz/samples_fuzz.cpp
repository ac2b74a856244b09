// SPDX-License-Identifier: GPL-2.0-or-later
// Everything in the spool's samples/: whatever it is, refused or the same after another round.
#include "sample/block_columns.hpp"
#include "sample/board.hpp"
#include "sample/lease.hpp"
#include "sample/pass.hpp"
#include "sample/ring.hpp"
#include "sample/series.hpp"

#include <cstdint>
#include <cstdlib>

namespace {

using namespace fabric_check;
using namespace fabric_check::sample;

void must(bool right) {
    if (!right)
        std::abort();
}

void ring(std::string_view bytes) {
    const auto file = parse_ring(bytes);
    if (!file)
        return;
    const auto layout = decode_layout(encode_layout(file->layout));
    must(layout && *layout == file->layout);
    std::set<PortId> ports;
    for (const LayoutPort &port : file->layout.ports)
        ports.insert(port.id);
    SeriesBuilder builder(ports, 0, INT64_MAX, 1000);
    for (const RingFrame &frame : file->frames)
        if (const auto block = decode_block(file->layout, frame.payload)) {
            const auto again = decode_block(file->layout, encode_block(file->layout, *block));
            must(again && *again == *block);
            builder.add(file->layout, *block);
        }
    std::vector<Problem> problems;
    (void)builder.finish(problems);
}

/// The columns of a block of three ports, two of them one link's.
void columns(std::string_view bytes) {
    Layout layout;
    layout.ports = {{{1, 1}, 200000, 2}, {{1, 2}, 200000, no_peer}, {{2, 1}, 200000, 0}};
    const auto block = decode_columns(layout, bytes);
    if (!block)
        return;
    const auto again = decode_columns(layout, encode_columns(layout, *block));
    must(again && *again == *block);
    SeriesBuilder builder({{1, 1}, {2, 1}, {3, 1}}, 0, INT64_MAX, 1000);
    builder.add(layout, *block);
    std::vector<Problem> problems;
    (void)builder.finish(problems);
}

/// A head, and ports under a head of ours.
void pass(std::string_view bytes) {
    (void)decode_pass_head(bytes).ok();
    PassHead words;
    words.to_ns = INT64_MAX;
    words.words = {"SymbolErrorCounter", "ACTIVE", "HDR"};
    std::vector<SwitchPort> ports;
    if (!decode_pass_ports(words, {}, bytes, ports))
        return;
    for (SwitchPort &port : ports)
        port.switch_guid = 1;
    const EncodedPass encoded = encode_pass({0, INT64_MAX, 0, ports});
    const auto again = decode_pass_head(encoded.head);
    std::vector<SwitchPort> same;
    must(again.ok());
    for (const PassSwitch &one : again->switches)
        must(decode_pass_ports(*again, one, std::string_view(encoded.body).substr(one.offset, one.size), same).ok());
    must(same.size() == ports.size());
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t *data, std::size_t size) {
    const std::string_view bytes(reinterpret_cast<const char *>(data), size);
    ring(bytes);
    columns(bytes);
    pass(bytes);
    const auto claim = decode_claim(bytes);
    must(decode_claim(encode_claim(claim)) == claim);
    if (const auto lease = decode_lease(bytes))
        must(decode_lease(encode_lease(*lease)).has_value());
    if (const auto name = parse_file_name(bytes))
        must(name->text() == bytes);
    return 0;
}
