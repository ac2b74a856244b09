// SPDX-License-Identifier: GPL-2.0-or-later
#include "sample/pass.hpp"

#include "record/digest.hpp"
#include "sample/bytes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

namespace fabric_check::sample {

namespace {

constexpr std::string_view magic = "fcpass1\n";
constexpr std::size_t most_word = 256, most_words = 4096, most_counters = 1024;
constexpr std::size_t most_credential = 1 << 20, most_head = 16 << 20, most_switch = 1 << 20;
constexpr std::size_t fixed_size = 16;
constexpr std::uint8_t widths[] = {0, 4, 8, 16, 32, 64};
constexpr unsigned value_tag = 16; ///< below: an absence; from here: the width's place

class Encoder {
public:
    EncodedPass run(const Pass &pass) {
        std::map<std::uint64_t, std::vector<const SwitchPort *>> switches;
        for (const SwitchPort &port : pass.ports)
            if (port.port <= UINT8_MAX)
                switches[port.switch_guid].push_back(&port);
        std::string list;
        ByteWriter entries(list);
        for (const auto &[guid, ports] : switches) {
            const std::size_t begin = out_.body.size();
            for (const SwitchPort *port : ports)
                write(*port);
            const std::string_view bytes = std::string_view(out_.body).substr(begin);
            entries.u64(guid);
            entries.text(std::string_view(ports.front()->switch_name).substr(0, most_word));
            entries.u32(ports.front()->switch_lid);
            entries.u32(static_cast<std::uint32_t>(bytes.size()));
            entries.bytes(sha256_hex(bytes));
        }
        ByteWriter head(out_.head);
        head.i64(pass.from_ns);
        head.i64(pass.to_ns);
        head.u64(pass.map_id);
        head.number(words_.size());
        for (const std::string &word : words_)
            head.text(word);
        head.number(switches.size());
        head.bytes(list);
        return std::move(out_);
    }

private:
    std::uint64_t word(std::string_view text) {
        const auto [at, added] = numbers_.emplace(text.substr(0, most_word), words_.size());
        if (added)
            words_.push_back(at->first);
        return at->second;
    }

    void write(const SwitchPort &port) {
        ByteWriter writer(out_.body);
        writer.u8(static_cast<std::uint8_t>(port.port));
        writer.i64(port.time_ns);
        writer.number(word(port.state));
        writer.number(port.rate.lanes);
        writer.number(word(port.rate.speed));
        writer.real(port.rate.data_gbps);
        writer.real(port.rate.signalling_gbps);
        writer.number(port.counters.size());
        for (const auto &[name, reading] : port.counters) {
            writer.number(word(name));
            if (!reading.value) {
                writer.u8(static_cast<std::uint8_t>(reading.absence));
                continue;
            }
            const auto *width = std::find(std::begin(widths), std::end(widths), reading.width);
            writer.u8(static_cast<std::uint8_t>(value_tag + (width == std::end(widths) ? 0 : width - widths)));
            writer.number(*reading.value);
        }
    }

    EncodedPass out_;
    std::map<std::string, std::uint64_t> numbers_;
    std::vector<std::string> words_;
};

bool read_word(ByteReader &reader, const PassHead &head, std::string &word) {
    const std::uint64_t number = reader.number();
    if (number >= head.words.size())
        return false;
    word = head.words[static_cast<std::size_t>(number)];
    return true;
}

bool read_port(ByteReader &reader, const PassHead &head, SwitchPort &port) {
    port.port = reader.u8();
    port.time_ns = reader.i64();
    if (!read_word(reader, head, port.state))
        return false;
    const std::uint64_t lanes = reader.number();
    if (lanes > 64 || !read_word(reader, head, port.rate.speed))
        return false;
    port.rate.lanes = static_cast<unsigned>(lanes);
    port.rate.data_gbps = reader.real();
    port.rate.signalling_gbps = reader.real();
    for (const double gbps : {port.rate.data_gbps, port.rate.signalling_gbps})
        if (!(gbps >= 0 && gbps <= 1e6))
            return false;
    if (port.time_ns < head.from_ns || port.time_ns > head.to_ns)
        return false;
    for (std::size_t left = reader.count(2, most_counters); left > 0; --left) {
        std::string name;
        if (!read_word(reader, head, name))
            return false;
        const std::uint8_t tag = reader.u8();
        if (tag <= static_cast<std::uint8_t>(Absence::timed_out)) {
            port.counters[name] = Reading::missing(static_cast<Absence>(tag));
            continue;
        }
        if (tag < value_tag || tag >= value_tag + std::size(widths))
            return false;
        port.counters[name] = Reading::of(reader.number(), widths[tag - value_tag]);
    }
    return reader.ok();
}

} // namespace

EncodedPass encode_pass(const Pass &pass) { return Encoder().run(pass); }

Result<PassHead> decode_pass_head(std::string_view bytes) {
    const Error bad{Errc::malformed, "not a pass over switches"};
    ByteReader reader(bytes);
    PassHead head;
    head.from_ns = reader.i64();
    head.to_ns = reader.i64();
    head.map_id = reader.u64();
    if (head.from_ns < 0 || head.to_ns < head.from_ns)
        return bad;
    head.words.resize(reader.count(1, most_words));
    for (std::string &word : head.words)
        word = reader.text(most_word);
    head.switches.resize(reader.count(81, most_ports));
    std::uint64_t offset = 0;
    for (PassSwitch &one : head.switches) {
        one.guid = reader.u64();
        one.name = reader.text(most_word);
        const std::uint32_t lid = reader.u32();
        one.offset = offset;
        one.size = reader.u32();
        one.sha256 = reader.bytes(64);
        offset += one.size;
        if (lid > UINT16_MAX || one.size > most_switch)
            return bad;
        one.lid = static_cast<std::uint16_t>(lid);
    }
    if (!reader.ok() || !reader.at_end())
        return bad;
    return head;
}

Status decode_pass_ports(const PassHead &head, const PassSwitch &of, std::string_view bytes,
                         std::vector<SwitchPort> &ports) {
    ByteReader reader(bytes);
    while (!reader.at_end()) {
        SwitchPort port;
        port.switch_guid = of.guid;
        port.switch_name = of.name;
        port.switch_lid = of.lid;
        if (!read_port(reader, head, port))
            return Error{Errc::malformed, "not a pass over switches"};
        ports.push_back(std::move(port));
    }
    return {};
}

Status write_pass(const std::string &path, const Pass &pass, Signer &signer) {
    const EncodedPass encoded = encode_pass(pass);
    const auto credential = sign_for_all(signer, "fabric-check/pass/1 " + sha256_hex(encoded.head));
    if (!credential)
        return credential.error();
    std::string content(magic);
    ByteWriter writer(content);
    writer.u32(static_cast<std::uint32_t>(credential->size()));
    writer.u32(static_cast<std::uint32_t>(encoded.head.size()));
    writer.bytes(*credential);
    writer.bytes(encoded.head);
    writer.bytes(encoded.body);
    return write_unsynced(path, content);
}

Result<Pass> read_pass(const std::string &path, const std::set<std::uint64_t> &switches, std::int64_t not_before_ns,
                       Signer &signer, const Trust &trust) {
    const auto file = TrustedFile::open(path, trust);
    if (!file)
        return file.error();
    const auto start = file->read(0, fixed_size);
    if (!start)
        return start.error();
    ByteReader reader(*start);
    const bool right = reader.bytes(magic.size()) == magic;
    const std::uint32_t credential_size = reader.u32(), head_size = reader.u32();
    if (!right || credential_size > most_credential || head_size > most_head)
        return Error{Errc::malformed, "not a pass over switches"};
    const auto bytes = file->read(fixed_size, std::size_t{credential_size} + head_size);
    if (!bytes)
        return bytes.error();
    const std::string_view head_bytes = std::string_view(*bytes).substr(credential_size);
    const auto head = decode_pass_head(head_bytes);
    if (!head)
        return head.error();
    if (head->to_ns < not_before_ns) // an old one is not worth a question to munge
        return Error{Errc::not_found, "too old"};
    if (auto verified = verify_signed(signer, trust, bytes->substr(0, credential_size),
                                      "fabric-check/pass/1 " + sha256_hex(head_bytes));
        !verified)
        return verified.error();
    Pass pass{head->from_ns, head->to_ns, head->map_id, {}};
    for (const PassSwitch &one : head->switches) {
        if (!switches.empty() && !switches.contains(one.guid))
            continue;
        const auto ports = file->read(fixed_size + bytes->size() + one.offset, one.size);
        if (!ports)
            return ports.error();
        if (sha256_hex(*ports) != one.sha256)
            return Error{Errc::denied, "not what was signed"};
        if (auto decoded = decode_pass_ports(*head, one, *ports, pass.ports); !decoded)
            return decoded.error();
    }
    return pass;
}

} // namespace fabric_check::sample
