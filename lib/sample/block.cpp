// SPDX-License-Identifier: GPL-2.0-or-later
#include "sample/block.hpp"

#include "sample/block_columns.hpp"
#include "sample/bytes.hpp"

#include <algorithm>
#include <zlib.h>

namespace fabric_check::sample {

namespace {

constexpr std::size_t most_name = 128;
constexpr std::size_t event_room = 24; ///< bytes of an event at most: two numbers of ten, column, name, kind
constexpr int level = Z_DEFAULT_COMPRESSION;

std::string squeezed(const std::string &raw) {
    uLongf size = compressBound(raw.size());
    std::string out(size, '\0');
    if (compress2(reinterpret_cast<Bytef *>(out.data()), &size, reinterpret_cast<const Bytef *>(raw.data()), raw.size(),
                  level) != Z_OK)
        size = 0;
    out.resize(size);
    return out;
}

/// At most `limit` bytes; false for anything else than one whole stream.
bool unsqueeze(std::string_view bytes, std::size_t limit, std::string &raw) {
    z_stream stream{};
    if (bytes.size() > UINT32_MAX || inflateInit(&stream) != Z_OK)
        return false;
    stream.next_in = reinterpret_cast<Bytef *>(const_cast<char *>(bytes.data()));
    stream.avail_in = static_cast<uInt>(bytes.size());
    int result = Z_OK;
    char buffer[16384];
    while (result == Z_OK && raw.size() <= limit) {
        stream.next_out = reinterpret_cast<Bytef *>(buffer);
        stream.avail_out = sizeof buffer;
        result = inflate(&stream, Z_NO_FLUSH);
        raw.append(buffer, sizeof buffer - stream.avail_out);
    }
    inflateEnd(&stream);
    return result == Z_STREAM_END && raw.size() <= limit && stream.avail_in == 0;
}

std::string_view as_text(const std::vector<std::uint8_t> &codes) {
    return {reinterpret_cast<const char *>(codes.data()), codes.size()};
}

std::vector<std::uint8_t> as_codes(std::string_view text) { return {text.begin(), text.end()}; }

/// The other end's sending taken away from what was received, or added again.
void against_peers(const Layout &layout, const std::vector<std::uint8_t> &xmit, std::vector<std::uint8_t> &rcv, bool add) {
    for (std::size_t i = 0; i < rcv.size(); ++i) {
        const std::uint32_t peer = layout.ports[i].peer;
        if (peer != no_peer)
            rcv[i] = static_cast<std::uint8_t>(add ? rcv[i] + xmit[peer] : rcv[i] - xmit[peer]);
    }
}

void write_event(ByteWriter &writer, const Event &event, std::uint32_t &column) {
    writer.number(event.port - column);
    column = event.port;
    writer.u8(static_cast<std::uint8_t>(static_cast<unsigned>(event.kind) | static_cast<unsigned>(event.why) << 4U));
    if (event.kind == EventKind::silent)
        return;
    writer.number(event.name);
    writer.number(event.before);
    if (event.kind == EventKind::moved)
        writer.number(event.after - event.before);
    else if (event.kind != EventKind::unread)
        writer.number(event.after);
}

bool read_event(ByteReader &reader, std::size_t names, Event &event, std::uint64_t &column) {
    column += reader.number();
    const std::uint8_t kind = reader.u8();
    if (!reader.ok() || column >= most_ports || (kind & 0xfU) > static_cast<unsigned>(EventKind::silent) ||
        kind >> 4U > static_cast<unsigned>(Absence::timed_out))
        return false;
    event.port = static_cast<std::uint32_t>(column);
    event.kind = static_cast<EventKind>(kind & 0xfU);
    event.why = static_cast<Absence>(kind >> 4U);
    if (event.kind == EventKind::silent)
        return true;
    const std::uint64_t name = reader.number();
    event.before = reader.number();
    if (name >= names)
        return false;
    event.name = static_cast<std::uint32_t>(name);
    if (event.kind == EventKind::moved) {
        const std::uint64_t delta = reader.number();
        if (delta > UINT64_MAX - event.before)
            return false;
        event.after = event.before + delta;
    } else if (event.kind != EventKind::unread) {
        event.after = reader.number();
    }
    return reader.ok() && (event.kind != EventKind::reset || event.after < event.before);
}

} // namespace

std::string encode_columns(const Layout &layout, const Block &block) {
    std::string raw;
    const std::size_t events = std::min(block.events.size(), most_events);
    raw.reserve(3 * layout.ports.size() + event_room * events + 256);
    ByteWriter writer(raw);
    writer.i64(block.from_ns);
    writer.i64(block.to_ns);
    writer.number(layout.ports.size());
    std::vector<std::uint8_t> rcv = block.rcv;
    against_peers(layout, block.xmit, rcv, false);
    for (const auto *codes : {&block.xmit, &std::as_const(rcv), &block.wait})
        writer.bytes(as_text(*codes));
    writer.number(block.names.size());
    for (const std::string &name : block.names)
        writer.text(name);
    writer.number(events);
    std::uint32_t column = 0;
    for (std::size_t i = 0; i < events; ++i)
        write_event(writer, block.events[i], column);
    return raw;
}

Result<Block> decode_columns(const Layout &layout, std::string_view raw) {
    const Error bad{Errc::malformed, "not a block of samples"};
    const std::size_t ports = layout.ports.size();
    ByteReader reader(raw);
    Block block;
    block.from_ns = reader.i64();
    block.to_ns = reader.i64();
    if (reader.number() != ports || block.from_ns < 0 || block.to_ns <= block.from_ns)
        return bad;
    for (auto *codes : {&block.xmit, &block.rcv, &block.wait})
        *codes = as_codes(reader.bytes(ports));
    if (!reader.ok())
        return bad;
    against_peers(layout, block.xmit, block.rcv, true);
    block.names.resize(reader.count(1, most_names));
    for (std::string &name : block.names)
        name = reader.text(most_name);
    block.events.resize(reader.count(2, most_events));
    std::uint64_t column = 0;
    for (Event &event : block.events)
        if (!read_event(reader, block.names.size(), event, column) || event.port >= ports)
            return bad;
    if (!reader.ok() || !reader.at_end())
        return bad;
    return block;
}

std::string encode_block(const Layout &layout, const Block &block) { return squeezed(encode_columns(layout, block)); }

Result<Block> decode_block(const Layout &layout, std::string_view bytes) {
    std::string raw;
    const std::size_t most = 3 * layout.ports.size() + event_room * most_events + most_names * most_name + 256;
    if (!unsqueeze(bytes, most, raw))
        return Error{Errc::malformed, "not a block of samples"};
    return decode_columns(layout, raw);
}

} // namespace fabric_check::sample
