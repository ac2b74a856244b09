// SPDX-License-Identifier: GPL-2.0-or-later
#include "config/config.hpp"

#include "base/file.hpp"
#include "config/keys.hpp"
#include "sources/sysfs.hpp"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <cstdlib>

namespace fabric_check {

namespace {

constexpr std::size_t longest_file = 1 << 20;
constexpr const char *default_path = "/etc/fabric-check/fabric-check.toml";
constexpr std::array speeds{"SDR", "DDR", "QDR", "FDR10", "FDR", "EDR", "HDR", "NDR", "XDR"};

/// GiB/s of payload per Gb/s of data rate: 22.6 GiB/s was measured on 4X HDR, 200 Gb/s.
constexpr double payload_share = 22.6 / 200;

} // namespace

std::string Config::expand(const std::string &path, const std::string &node) const {
    std::string out;
    for (std::size_t at = 0; at < path.size(); ++at) {
        if (path[at] == '%' && at + 1 < path.size() && (path[at + 1] == 'n' || path[at + 1] == '%')) {
            out += path[at + 1] == 'n' ? node : "%";
            ++at;
        } else {
            out += path[at];
        }
    }
    return out;
}

const std::map<std::string, double> &default_payload_ceilings() {
    static const std::map<std::string, double> all = [] {
        std::map<std::string, double> ceilings;
        for (const unsigned lanes : {1U, 2U, 4U, 8U, 12U}) {
            for (const char *speed : speeds) {
                const double exact = link_rate(lanes, speed).data_gbps * payload_share;
                ceilings[fmt::format("{}X {}", lanes, speed)] = std::round(exact * 1000) / 1000;
            }
        }
        return ceilings;
    }();
    return all;
}

std::string config_path() {
    const char *variable = std::getenv("FABRIC_CHECK_CONFIG"); // NOLINT(concurrency-mt-unsafe)
    return variable != nullptr && *variable != '\0' ? variable : default_path;
}

Result<Config> load_config(const std::string &path) {
    const auto text = read_file(path, longest_file);
    if (!text) {
        return Error{Errc::usage, "configuration " + text.error().message};
    }
    return parse_config(*text, path);
}

Result<Config> find_config(const std::string &option) {
    const std::string path = option.empty() ? config_path() : option;
    std::string content;
    if (path == default_path && read_file_errno(path, longest_file, false, content) == ENOENT) {
        return Config{};
    }
    return load_config(path);
}

Config config_or_defaults(const std::string &path, std::string *error) {
    std::string message;
    try {
        auto config = find_config(path);
        if (config) {
            return std::move(config).value();
        }
        message = config.error().message;
        // One wrong key must not move the spool, the state and munge's socket elsewhere.
        if (const auto text = read_file(path.empty() ? config_path() : path, longest_file)) {
            std::optional<Error> first;
            Config good = parse_good_keys(*text, path, first);
            if (error != nullptr) {
                *error = message;
            }
            return good;
        }
    } catch (const std::exception &thrown) {
        message = thrown.what();
    }
    if (error != nullptr) {
        *error = message;
    }
    return Config{};
}

std::vector<ConfigKey> config_keys() {
    std::vector<ConfigKey> rows;
    const Config defaults;
    for (const config::Key &key : config::keys()) {
        rows.push_back(
            {key.section, key.name, config::type_of(key), config::value_of(key, defaults), key.unit, key.meaning});
    }
    rows.push_back({"munge.addresses", "<node>", "strings", "", "", "Addresses this node may sign from."});
    for (const auto &[kind, ceiling] : default_payload_ceilings()) {
        if (kind.starts_with("4X")) {
            rows.push_back({"payload_ceilings", kind.c_str(), "number", fmt::format("{}", ceiling), "GiB/s",
                            "Payload that a link of this kind carries at best."});
        }
    }
    return rows;
}

} // namespace fabric_check
