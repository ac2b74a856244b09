// SPDX-License-Identifier: GPL-2.0-or-later
#include "textfiles/ibqueryerrors.hpp"

#include "base/text.hpp"
#include "textfiles/words.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace fabric_check::textfiles {

namespace {

constexpr auto npos = std::string_view::npos;

} // namespace

bool ErrorReader::line(std::string_view line, std::size_t number, bool &counted) {
    if (line.starts_with("Errors for ")) {
        node(strip(line.substr(11)));
        return true;
    }
    if (line.starts_with("GUID 0x")) {
        return port(line, number, counted);
    }
    return line.starts_with("Link info:") || fields(line, number, counted);
}

void ErrorReader::comment(std::string_view line) noexcept {
    summarized_ = summarized_ || (line.starts_with("## Summary:") && line.find("nodes checked") != npos);
}

TextProblem ErrorReader::no_errors(const std::string &file) {
    return {file, 0,
            "the output of ibqueryerrors, and it lists no errors: it shows only ports that have some, so it is no reading of "
            "the others; take perfquery or fabric-check snapshot"};
}

/// `0x200002 "SwitchA"`, `"node07 mlx5_0"`
void ErrorReader::node(std::string_view who) {
    const auto open = who.find('"'), close = who.rfind('"');
    node_ = printable(open != npos && close > open ? who.substr(open + 1, close - open - 1) : who);
    port_ = no_port;
    if (!seen_) {
        seen_ = true;
        collector_.problem(0, "ibqueryerrors shows only counters above its thresholds: what it does not show is taken for "
                              "absent, not for zero");
    }
}

/// "GUID 0x200002 port 33: [SymbolErrorCounter == 250] [PortXmitData == 500 (0.002KB)]"
bool ErrorReader::port(std::string_view line, std::size_t number, bool &counted) {
    port_ = no_port;
    const auto port_at = line.find(" port ");
    const auto colon = port_at == npos ? npos : line.find(':', port_at);
    if (colon == npos) {
        return false;
    }
    const std::string_view guid = line.substr(5, port_at - 5);
    const std::string_view port = strip(line.substr(port_at + 6, colon - port_at - 6));
    if (port == "ALL") {
        if (!sum_seen_) { // one a switch: said once
            sum_seen_ = true;
            collector_.problem(number, "port ALL is a sum over all ports: not used");
        }
        return true;
    }
    if (!decimal(port)) {
        return false;
    }
    std::string name = node_;
    if (name.empty()) {
        name = fmt::format("guid {}", printable(guid));
    } else if (guid_of_.try_emplace(name, guid).first->second != guid) {
        name += fmt::format(" {}", printable(guid)); // two nodes of one name
    }
    port_ = collector_.port(KeyKind::lid, fmt::format("{}:{}", name, port), Tool::perfquery);
    collector_.link_layer(port_, LinkLayer::infiniband);
    return fields(line.substr(colon + 1), number, counted);
}

bool ErrorReader::fields(std::string_view line, std::size_t number, bool &counted) {
    for (auto equals = line.find(" == "); equals != npos; equals = line.find(" == ")) {
        const auto blank = line.substr(0, equals).find_last_of("[( \t");
        const std::size_t start = blank == npos ? 0 : blank + 1;
        const std::string_view name = line.substr(start, equals - start);
        line.remove_prefix(equals + 4);
        const auto end = std::min(line.find_first_of("]) \t"), line.size());
        if (!is_word(name)) {
            return false;
        }
        if (end == line.size()) {
            collector_.problem(number, fmt::format("{}: the line breaks off", printable(name)));
            counted = false;
            if (port_ != no_port) {
                collector_.add(port_, name, Reading::missing(Absence::unparsable), number);
            }
        } else if (port_ != no_port) {
            counted = collector_.keep(port_, collector_.name(port_, name, number), name, line.substr(0, end), 0, number) ||
                      counted;
        }
        line.remove_prefix(end);
    }
    if (const auto open = line.rfind('['); open != npos && line.find(']', open) == npos) {
        collector_.problem(number, "the line breaks off");
    }
    return true;
}

} // namespace fabric_check::textfiles
