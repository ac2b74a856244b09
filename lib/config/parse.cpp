// SPDX-License-Identifier: GPL-2.0-or-later
#include "base/hostlist.hpp"
#include "base/text.hpp"
#include "base/user.hpp"
#include "config/keys.hpp"
#include "counters/table.hpp"
#include "sources/sysfs.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <toml++/toml.h>

#include <algorithm>
#include <arpa/inet.h>
#include <chrono>
#include <cmath>

namespace fabric_check {

namespace {

using config::BooleanRule;
using config::IntegerRule;
using config::Key;
using config::NumberRule;
using config::Section;
using config::TextRule;
using config::TextsRule;

/// Why a value is refused; empty: taken.
using Complaint = std::string;

Complaint take(const TextRule &rule, const toml::node &node, Config &config) {
    const auto value = node.value_exact<std::string>();
    if (!value) {
        return "not a string";
    }
    if (value->empty() && !rule.may_be_empty) {
        return "empty";
    }
    if (std::any_of(value->begin(), value->end(), [](unsigned char c) { return c < 0x20 || c == 0x7f; })) {
        return "has a control character";
    }
    if (!rule.choices.empty() && std::find(rule.choices.begin(), rule.choices.end(), *value) == rule.choices.end()) {
        return fmt::format("\"{}\" is not one of them", printable(*value));
    }
    if (rule.path && !value->empty() && value->front() != '/') {
        return fmt::format("\"{}\" is relative", printable(*value));
    }
    if (rule.hostlist) {
        if (const auto names = expand_hostlist(*value); !names) {
            return names.error().message;
        }
    }
    if (rule.complaint != nullptr && !value->empty()) {
        if (Complaint complaint = rule.complaint(*value); !complaint.empty()) {
            return complaint;
        }
    }
    rule.field(config) = *value;
    if (rule.user && !value->empty()) {
        // Taken all the same: with the default in its place, hooks would seal records for root, whom nobody asked for.
        if (const auto uid = uid_of(*value); !uid && uid.error().code == Errc::not_found) {
            return uid.error().message;
        }
    }
    return {};
}

Complaint take(const TextsRule &rule, const toml::node &node, Config &config) {
    const toml::array *items = node.as_array();
    if (items == nullptr) {
        return "not a list";
    }
    std::vector<std::string> list;
    for (const toml::node &item : *items) {
        const auto value = item.value_exact<std::string>();
        if (!value || value->empty()) {
            return value ? "has an empty string" : "has something that is not a string";
        }
        if (std::any_of(value->begin(), value->end(), [](unsigned char c) { return c < 0x20 || c == 0x7f; })) {
            return "has a control character";
        }
        list.push_back(*value);
    }
    rule.field(config) = std::move(list);
    return {};
}

/// As Munge tells it: IPv4 or IPv6, no name and no prefix.
bool is_address(const std::string &text) {
    in6_addr buffer{};
    return text.find('\0') == std::string::npos && (inet_pton(AF_INET, text.c_str(), &buffer) == 1 ||
                                                    inet_pton(AF_INET6, text.c_str(), &buffer) == 1);
}

Complaint take(const IntegerRule &rule, const toml::node &node, Config &config) {
    const auto value = node.value_exact<std::int64_t>();
    if (!value) {
        return "not an integer";
    }
    if (*value < rule.least || *value > rule.most) {
        return fmt::format("{} is out of range", *value);
    }
    std::visit(
        [&](const auto &field) {
            auto &target = field(config);
            target = static_cast<std::remove_reference_t<decltype(target)>>(*value);
        },
        rule.field);
    return {};
}

Complaint take(const NumberRule &rule, const toml::node &node, Config &config) {
    const auto value = node.is_number() ? node.value<double>() : std::nullopt;
    if (!value) {
        return "not a number";
    }
    const bool enough = rule.above_least ? *value > rule.least : *value >= rule.least;
    if (!enough || !(*value <= rule.most)) { // also refuses nan
        return fmt::format("{} is out of range", *value);
    }
    rule.field(config) = *value;
    return {};
}

Complaint take(const BooleanRule &rule, const toml::node &node, Config &config) {
    const auto value = node.value_exact<bool>();
    if (!value) {
        return "not a boolean";
    }
    rule.field(config) = *value;
    return {};
}

std::string dotted(std::string_view section, std::string_view name) {
    return section.empty() ? std::string(name) : fmt::format("{}.{}", section, name);
}

class Parser {
public:
    explicit Parser(std::string name) : name_(std::move(name)) {}

    /// What is right of it; a key in error keeps its default, and `first` becomes the first error.
    Config parse(const toml::table &root, std::optional<Error> &first) {
        table("", root);
        ordered(root, "end_wait_s", &Config::Finisher::end_wait_s, "end_wait_max_s", &Config::Finisher::end_wait_max_s);
        ordered(root, "retry_s", &Config::Finisher::retry_s, "retry_max_s", &Config::Finisher::retry_max_s);
        first = std::move(first_);
        return std::move(config_);
    }

private:
    void keep(const Status &status) {
        if (!status && !first_) {
            first_ = status.error();
        }
    }

    void ordered(const toml::table &root, const char *shorter, unsigned Config::Finisher::*least, const char *longer,
                 unsigned Config::Finisher::*most) {
        if (config_.finisher.*most < config_.finisher.*least) {
            keep(pair_error(root, longer, shorter));
            config_.finisher.*least = Config{}.finisher.*least;
            config_.finisher.*most = Config{}.finisher.*most;
        }
    }

    Error error(const toml::node &node, std::string_view key, std::string_view complaint,
                std::string_view valid) const {
        return {Errc::usage, fmt::format("{}:{}: key '{}': {}{}{}", name_, node.source().begin.line, printable(key),
                                         complaint, valid.empty() ? "" : "; valid: ", valid)};
    }

    Error pair_error(const toml::table &root, const char *longer, const char *shorter) const {
        const toml::node *where = root.get("finisher");
        if (const toml::table *finisher = where != nullptr ? where->as_table() : nullptr) {
            for (const char *key : {shorter, longer}) {
                where = finisher->contains(key) ? finisher->get(key) : where;
            }
        }
        return error(where != nullptr ? *where : root, dotted("finisher", longer), fmt::format("less than {}", shorter),
                     fmt::format("at least {}", shorter));
    }

    void table(const std::string &section, const toml::table &values) {
        for (const auto &[toml_key, node] : values) {
            keep(one(section, std::string(toml_key.str()), node));
        }
    }

    Status one(const std::string &section, const std::string &name, const toml::node &node) {
        for (const Key &key : config::keys()) {
            if (key.section == section && key.name == name) {
                const Complaint complaint =
                    std::visit([&](const auto &rule) { return take(rule, node, config_); }, key.rule);
                if (!complaint.empty()) {
                    return error(node, dotted(section, name), complaint, config::valid_values(key));
                }
                return {};
            }
        }
        if (const CounterInfo *counter = section == "thresholds" ? find_counter(name) : nullptr) {
            if (!counter->graded(Profile::ib) && !counter->graded(Profile::roce)) {
                return error(node, dotted(section, name), "a counter that is never judged: no bar has an effect",
                             "a counter that is judged, such as SymbolErrorCounter, PortXmitDiscards or packet_seq_err");
            }
            return bar(name, node);
        }
        const std::string path = dotted(section, name);
        for (const Section &known : config::sections()) {
            if (known.name == path) {
                const toml::table *inner = node.as_table();
                if (inner == nullptr) {
                    return error(node, path, "not a section", fmt::format("[{}]", path));
                }
                known.free_keys ? free_table(path, *inner) : table(path, *inner);
                return {};
            }
        }
        return error(node, path, "not known", names_in(section));
    }

    static std::string names_in(const std::string &section) {
        std::vector<std::string> names;
        for (const Key &key : config::keys()) {
            if (key.section == section) {
                names.emplace_back(key.name);
            }
        }
        for (const Section &known : config::sections()) {
            const std::string_view name = known.name;
            const bool nested = name.find('.') != std::string_view::npos;
            if (section.empty() ? !nested : name.starts_with(section + ".")) {
                names.push_back(fmt::format("[{}]", name));
            }
        }
        return fmt::format("{}{}", fmt::join(names, ", "),
                           section == "thresholds" ? ", or a counter as in packet_seq_err = { per_job = 10 }" : "");
    }

    void free_table(const std::string &section, const toml::table &values) {
        for (const auto &[toml_key, node] : values) {
            const std::string name(toml_key.str());
            keep(section == "payload_ceilings" ? ceiling(name, node)
                 : section == "known"          ? known(name, node)
                                               : addresses(name, node));
        }
    }

    Status ceiling(const std::string &kind, const toml::node &node) {
        if (default_payload_ceilings().count(kind) == 0) {
            return error(node, dotted("payload_ceilings", kind), "not a kind of link",
                         "1X, 2X, 4X, 8X, 12X with SDR, DDR, QDR, FDR10, FDR, EDR, HDR, NDR, XDR, as in \"4X HDR\"");
        }
        const auto value = node.is_number() ? node.value<double>() : std::nullopt;
        if (!value || !(*value > 0) || !(*value <= 10000)) {
            return error(node, dotted("payload_ceilings", kind), "not a payload rate", "above 0 to 10000 GiB/s");
        }
        config_.payload_ceilings[kind] = *value;
        return {};
    }

    Status bar(const std::string &counter, const toml::node &node) {
        constexpr std::string_view valid = "{ per_job = N, per_gb = N, per_hour = N }, one of them at least, each 0 or more";
        const toml::table *values = node.as_table();
        if (values == nullptr || values->empty()) {
            return error(node, dotted("thresholds", counter), "not a bar", valid);
        }
        Bar bar;
        for (const auto &[key, value] : *values) {
            const auto number = value.is_number() ? value.value<double>() : std::nullopt;
            auto *target = key.str() == "per_job" ? &bar.per_job : key.str() == "per_gb" ? &bar.per_gb : &bar.per_hour;
            if ((target == &bar.per_hour && key.str() != "per_hour") || !number || !(*number >= 0) ||
                !std::isfinite(*number)) {
                return error(value, fmt::format("thresholds.{}.{}", counter, key.str()), "not a bar", valid);
            }
            *target = number;
        }
        const std::string name = canonical_name(counter);
        if (!config_.thresholds.counters.emplace(name, bar).second) {
            return error(node, dotted("thresholds", counter), fmt::format("{} has a bar already", name), "one of them");
        }
        return {};
    }

    /// One end of a link, "NAME:PORT", or both.
    static bool is_place(std::string_view place) {
        constexpr std::string_view between = "<->";
        const auto mark = place.find(between);
        if (mark != std::string_view::npos) {
            return is_end(place.substr(0, mark)) && is_end(place.substr(mark + between.size()));
        }
        return is_end(place);
    }
    static bool is_end(std::string_view end) {
        const auto colon = end.rfind(':');
        return colon != std::string_view::npos && colon > 0 && parse_u64(end.substr(colon + 1)).has_value() &&
               end.find("<->") == std::string_view::npos;
    }

    Status known(const std::string &link, const toml::node &node) {
        constexpr std::string_view valid = "{ ticket = \"...\", until = 2030-12-31 }, both of them";
        const toml::table *values = node.as_table();
        const auto ticket = values != nullptr ? (*values)["ticket"].value_exact<std::string>() : std::nullopt;
        const auto until = values != nullptr ? (*values)["until"].value_exact<toml::date>() : std::nullopt;
        if (!is_place(link)) {
            return error(node, dotted("known", link), "not a link",
                         "a port as the reports name it, \"SwitchA:13\" or \"node07/mlx5_0:1\", or both ends with <-> between");
        }
        if (!ticket || ticket->empty() || !until || values->size() != 2) {
            return error(node, dotted("known", link), "not a known link", valid);
        }
        // Known to the end of that day, UTC.
        const std::chrono::sys_days day = std::chrono::year_month_day(
            std::chrono::year(until->year), std::chrono::month(until->month), std::chrono::day(until->day));
        const auto end = day + std::chrono::days(1);
        config_.known[link] = {printable(*ticket), std::chrono::sys_seconds(end).time_since_epoch().count()};
        return {};
    }

    Status addresses(const std::string &host, const toml::node &node) {
        constexpr std::string_view valid = "an IP address, or a list of them, as in [\"10.0.0.1\"]";
        std::vector<std::string> list;
        std::string complaint = "not addresses";
        const auto add = [&](const toml::node &item) {
            const auto address = item.value_exact<std::string>();
            if (address && is_address(*address)) {
                list.push_back(*address);
                return true;
            }
            if (address) {
                complaint = fmt::format("\"{}\" is no IP address", printable(*address));
            }
            return false;
        };
        bool good = true;
        if (const toml::array *items = node.as_array()) {
            good = std::all_of(items->begin(), items->end(), add);
        } else {
            good = add(node);
        }
        if (!good) {
            return error(node, dotted("munge.addresses", host), complaint, valid);
        }
        config_.munge.addresses[host] = std::move(list);
        return {};
    }

    std::string name_;
    Config config_;
    std::optional<Error> first_;
};

} // namespace

Config parse_good_keys(const std::string &text, const std::string &name, std::optional<Error> &first) {
    try {
        return Parser(name).parse(toml::parse(text), first);
    } catch (const toml::parse_error &error) {
        first = Error{Errc::usage, fmt::format("{}:{}: {}", name, error.source().begin.line, error.description())};
        return {};
    }
}

Result<Config> parse_config(const std::string &text, const std::string &name) {
    std::optional<Error> first;
    Config config = parse_good_keys(text, name, first);
    if (first) {
        return *first;
    }
    return config;
}

} // namespace fabric_check
