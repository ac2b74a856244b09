// SPDX-License-Identifier: GPL-2.0-or-later
#include "fabric/lid_list.hpp"

#include "base/file.hpp"
#include "base/text.hpp"
#include "fabric/tree.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <unistd.h>

namespace fabric_check::fabric {

namespace {

constexpr std::size_t file_limit = 1 << 20;

} // namespace

Result<std::vector<std::uint16_t>> parse_lid_list(const std::string &text, const std::string &name) {
    std::vector<bool> seen(first_multicast_lid, false);
    std::vector<std::uint16_t> out;
    std::size_t number = 0;
    for (const std::string_view line : split(text, '\n')) {
        ++number;
        std::string plain(line.substr(0, line.find('#')));
        std::replace_if(
            plain.begin(), plain.end(), [](char c) { return c == ',' || c == '\t' || c == '\r'; }, ' ');
        for (const std::string_view word : split(plain, ' ')) {
            if (word.empty())
                continue;
            const auto lid = [](std::string_view digits) { return parse_u64(digits, digits.starts_with("0x") ? 16 : 10); };
            const std::size_t dash = word.find('-');
            const auto first = lid(word.substr(0, dash));
            const auto last = dash == std::string_view::npos ? first : lid(word.substr(dash + 1));
            if (!first || !last || *first == 0 || *last >= first_multicast_lid || *first > *last)
                return Error{Errc::usage, fmt::format("{}:{}: '{}' is no LID; valid are 1 to 49151, ranges as 5-9", name, number,
                                                      printable(word))};
            for (std::uint64_t each = *first; each <= *last; ++each) {
                if (!seen[each])
                    out.push_back(static_cast<std::uint16_t>(each));
                seen[each] = true; // a file of ranges upon ranges stays small
            }
        }
    }
    if (out.empty())
        return Error{Errc::usage, name + ": no LID in it"};
    return out;
}

Result<std::vector<std::uint16_t>> read_lid_list(const std::string &argument) {
    if (argument.find_first_not_of("0123456789abcdefxABCDEFX,- ") == std::string::npos && ::access(argument.c_str(), F_OK) != 0)
        return parse_lid_list(argument, "--lids");
    const auto text = read_file(argument, file_limit);
    if (!text)
        return Error{Errc::usage, text.error().message};
    return parse_lid_list(*text, argument);
}

std::vector<std::string> in_no_table(const Map &map, const std::vector<Endpoint> &endpoints) {
    const auto knows = [&map](std::uint32_t node, std::uint16_t lid) {
        const auto table = node < map.nodes().size() ? map.nodes()[node].lft() : std::span<const std::uint8_t>();
        return lid < table.size() && table[lid] != no_route;
    };
    std::vector<bool> known; // by any table; made when first needed
    std::vector<std::string> out;
    for (const Endpoint &endpoint : endpoints) {
        // The switch that it is attached to, as a rule; the others where that one is silent.
        if (knows(attachment(map, endpoint).node, endpoint.lid))
            continue;
        if (known.empty()) {
            known.resize(0x10000, false);
            for (const MapNode node : map.nodes()) {
                const auto table = node.lft();
                for (std::size_t lid = 0; lid < table.size(); ++lid)
                    if (table[lid] != no_route)
                        known[lid] = true;
            }
        }
        if (!known[endpoint.lid])
            out.push_back(fmt::format("LID {} ({})", endpoint.lid, endpoint.name));
    }
    return out;
}

} // namespace fabric_check::fabric
