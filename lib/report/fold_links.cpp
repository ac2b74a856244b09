// SPDX-License-Identifier: GPL-2.0-or-later
#include "report/fold_links.hpp"

#include "base/hostlist.hpp"
#include "base/text.hpp"

#include <fmt/format.h>

#include <map>
#include <optional>
#include <set>

namespace fabric_check {

namespace {

struct Part {
    std::string before, after; ///< around what differs
    std::vector<std::string> links, hosts;
    std::set<std::uint64_t> ports;
};

struct End {
    std::string name;
    std::uint64_t port = 0;
};

std::optional<End> end_of(const std::string &text) {
    const auto colon = text.rfind(':');
    const auto port = colon == std::string::npos ? std::nullopt : parse_u64(std::string_view(text).substr(colon + 1));
    return port ? std::optional<End>({text.substr(0, colon), *port}) : std::nullopt;
}

std::string ranges(const std::set<std::uint64_t> &numbers) {
    std::string out;
    for (auto at = numbers.begin(); at != numbers.end();) {
        const std::uint64_t first = *at;
        std::uint64_t last = first;
        while (++at != numbers.end() && *at == last + 1) {
            ++last;
        }
        out += fmt::format("{}{}", out.empty() ? "" : ",", first);
        out += last > first ? fmt::format("-{}", last) : std::string();
    }
    return out;
}

std::string text_of(const Part &part) {
    if (part.links.size() == 1 || (part.hosts.empty() && part.ports.empty())) {
        return part.links.front();
    }
    return part.before + (part.hosts.empty() ? ranges(part.ports) : fold_hostlist(part.hosts)) + part.after;
}

} // namespace

std::string fold_links(const std::vector<std::string> &links, std::size_t shown) {
    std::vector<Part> parts;
    std::map<std::pair<std::string, std::string>, std::size_t> known;
    for (const std::string &link : links) {
        const auto arrow = link.find("<->");
        const auto near = arrow == std::string::npos ? std::nullopt : end_of(link.substr(0, arrow));
        const std::string away = arrow == std::string::npos ? std::string() : link.substr(arrow + 3);
        const auto slash = away.find('/');
        const auto far = slash == std::string::npos ? end_of(away) : std::nullopt;
        std::string before = link;
        std::string after;
        if (near && far) {
            before = near->name + ":";
            after = "<->" + far->name;
        } else if (near && slash != std::string::npos) {
            before = near->name + "<->";
            after = away.substr(slash);
        }
        const auto [at, fresh] = known.emplace(std::pair{before, after}, parts.size());
        if (fresh) {
            parts.push_back({before, after, {}, {}, {}});
        }
        Part &part = parts[at->second];
        part.links.push_back(link);
        if (near && far) {
            part.ports.insert(near->port);
        } else if (near && slash != std::string::npos) {
            part.hosts.push_back(away.substr(0, slash));
        }
    }
    std::string out;
    std::size_t left = links.size();
    for (std::size_t i = 0; i < parts.size() && i < shown; ++i) {
        out += (out.empty() ? "" : ", ") + text_of(parts[i]);
        left -= parts[i].links.size();
    }
    return parts.size() > shown ? out + fmt::format(" and {} more links", left) : out;
}

} // namespace fabric_check
