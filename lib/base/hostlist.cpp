// SPDX-License-Identifier: GPL-2.0-or-later
#include "base/hostlist.hpp"

#include "base/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <map>
#include <set>
#include <tuple>

namespace fabric_check {

namespace {

constexpr std::string_view separators = ", \t\r\n";
constexpr std::size_t longest_name = 255; // HOST_NAME_MAX and more than any scheduler takes
constexpr std::size_t most_digits = 18;   // fits 64 bits with room for a range's end
constexpr std::size_t most_brackets = 8;

Error bad(std::string_view item, std::string_view why) {
    return {Errc::malformed, fmt::format("hostlist \"{}\": {}", printable(item.substr(0, 80)), why)};
}

struct Range {
    std::uint64_t first = 0, last = 0;
    std::size_t width = 0; ///< digits as written: the least number printed
};

std::optional<std::uint64_t> number(std::string_view text) {
    if (text.empty() || text.size() > most_digits) {
        return std::nullopt;
    }
    return parse_u64(text);
}

std::optional<Range> parse_range(std::string_view text) {
    const auto dash = text.find('-');
    const auto first_text = text.substr(0, dash);
    const auto first = number(first_text);
    const auto last = dash == std::string_view::npos ? first : number(text.substr(dash + 1));
    if (!first || !last || *last < *first) {
        return std::nullopt;
    }
    return Range{*first, *last, first_text.size()};
}

/// Appends every number of "01-03,7" to every stem.
Status multiply(std::vector<std::string> &stems, std::string_view list, std::size_t limit, std::string_view item) {
    std::vector<std::string> out;
    for (const std::string &stem : stems) {
        for (const std::string_view part : split(list, ',')) {
            const auto range = parse_range(part);
            if (!range) {
                return bad(item, "brackets hold numbers and ranges like [01-03,7]");
            }
            if (range->last - range->first >= limit || out.size() + (range->last - range->first) >= limit) {
                return bad(item, fmt::format("more than {} names", limit));
            }
            for (std::uint64_t n = range->first; n <= range->last; ++n) {
                out.push_back(fmt::format("{}{:0{}}", stem, n, range->width));
            }
        }
    }
    stems = std::move(out);
    return {};
}

Status expand_item(std::string_view item, std::size_t limit, std::vector<std::string> &names) {
    std::vector<std::string> stems{""};
    std::string_view rest = item;
    std::size_t brackets = 0;
    while (!rest.empty()) {
        const auto open = rest.find('[');
        const std::string_view literal = rest.substr(0, open);
        if (literal.find(']') != std::string_view::npos) {
            return bad(item, "a bracket closes that was not opened");
        }
        for (std::string &stem : stems) {
            stem += literal;
        }
        if (open == std::string_view::npos) {
            break;
        }
        rest.remove_prefix(open + 1);
        const auto close = rest.find(']');
        if (close == std::string_view::npos) {
            return bad(item, "a bracket does not close");
        }
        if (++brackets > most_brackets) {
            return bad(item, "too many brackets");
        }
        if (Status status = multiply(stems, rest.substr(0, close), limit, item); !status) {
            return status;
        }
        rest.remove_prefix(close + 1);
    }
    for (std::string &stem : stems) {
        if (stem.size() > longest_name) {
            return bad(item, "a name is too long");
        }
        if (names.size() >= limit) {
            return bad(item, fmt::format("more than {} names", limit));
        }
        names.push_back(std::move(stem));
    }
    return {};
}

/// Digits at the end that can be counted with; the rest is the prefix.
std::string_view numeric_tail(std::string_view name) {
    std::size_t digits = 0;
    while (digits < name.size() && name[name.size() - 1 - digits] >= '0' && name[name.size() - 1 - digits] <= '9') {
        ++digits;
    }
    return digits > most_digits ? std::string_view() : name.substr(name.size() - digits);
}

bool padded(std::string_view tail) {
    return tail.size() > 1 && tail.front() == '0';
}

std::string ranges_text(const std::set<std::uint64_t> &numbers, std::size_t width) {
    std::string out;
    for (auto at = numbers.begin(); at != numbers.end();) {
        const std::uint64_t first = *at;
        std::uint64_t last = first;
        for (++at; at != numbers.end() && *at == last + 1; ++at) {
            last = *at;
        }
        out += out.empty() ? "" : ",";
        out += fmt::format("{:0{}}", first, width);
        if (last != first) {
            out += fmt::format("-{:0{}}", last, width);
        }
    }
    return out;
}

} // namespace

Result<std::vector<std::string>> expand_hostlist(std::string_view text, std::size_t limit) {
    std::vector<std::string> names;
    std::size_t begin = 0;
    int depth = 0;
    for (std::size_t at = 0; at <= text.size(); ++at) {
        const bool end = at == text.size();
        if (!end && text[at] == '[') {
            ++depth;
        } else if (!end && text[at] == ']') {
            --depth;
        }
        if (end || (depth <= 0 && separators.find(text[at]) != std::string_view::npos)) {
            if (const auto item = text.substr(begin, at - begin); !item.empty()) {
                if (Status status = expand_item(item, limit, names); !status) {
                    return status.error();
                }
            }
            begin = at + 1;
        }
    }
    return names;
}

std::string fold_hostlist(const std::vector<std::string> &names) {
    std::set<std::pair<std::string_view, std::size_t>> padded_widths; ///< prefix, width
    for (const std::string &name : names) {
        const auto tail = numeric_tail(name);
        if (padded(tail)) {
            padded_widths.emplace(std::string_view(name).substr(0, name.size() - tail.size()), tail.size());
        }
    }
    // Prefix, has a number, width (0: not padded) -> numbers.
    std::map<std::tuple<std::string_view, bool, std::size_t>, std::set<std::uint64_t>> groups;
    for (const std::string &name : names) {
        const auto tail = numeric_tail(name);
        const auto prefix = std::string_view(name).substr(0, name.size() - tail.size());
        if (tail.empty()) {
            groups[{prefix, false, 0}];
            continue;
        }
        const bool fixed = padded_widths.count({prefix, tail.size()}) != 0;
        groups[{prefix, true, fixed ? tail.size() : 0}].insert(*parse_u64(tail));
    }
    std::string out;
    for (const auto &[key, numbers] : groups) {
        const auto &[prefix, numbered, width] = key;
        out += out.empty() ? "" : ",";
        out += prefix;
        if (numbered) {
            const std::string ranges = ranges_text(numbers, width);
            out += numbers.size() > 1 ? "[" + ranges + "]" : ranges;
        }
    }
    return out;
}

} // namespace fabric_check
