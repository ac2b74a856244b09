// SPDX-License-Identifier: GPL-2.0-or-later
#include "config/keys.hpp"

#include "base/text.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cstring>

namespace fabric_check::config {

namespace {

template <class... Fs> struct Overload : Fs... { using Fs::operator()...; };
template <class... Fs> Overload(Fs...) -> Overload<Fs...>;

/// Prose behind "# ", at most 110 columns.
std::string prose(std::string_view words) {
    std::string out, line = "#";
    for (const std::string_view word : split(words, ' ')) {
        if (line.size() + 1 + word.size() > 110) {
            out += line + "\n";
            line = "#";
        }
        line += " ";
        line += word;
    }
    return out + line + "\n";
}

std::string entry(const Key &key, const Config &defaults) {
    std::string head = key.meaning;
    if (*key.unit != '\0') {
        head += fmt::format(" Unit: {}.", key.unit);
    }
    const std::string valid = valid_values(key);
    if (!valid.empty()) {
        head += fmt::format(" Valid: {}.", valid);
    }
    return prose(head) + fmt::format("#{} = {}\n", key.name, value_of(key, defaults));
}

} // namespace

const char *type_of(const Key &key) noexcept {
    constexpr const char *names[] = {"string", "integer", "number", "boolean", "strings"};
    return names[key.rule.index()];
}

std::string value_of(const Key &key, Config config) {
    return std::visit(Overload{
                          [&](const TextRule &rule) { return "\"" + rule.field(config) + "\""; },
                          [&](const IntegerRule &rule) {
                              return std::visit([&](const auto &field) { return std::to_string(field(config)); },
                                                rule.field);
                          },
                          [&](const NumberRule &rule) { return fmt::format("{}", rule.field(config)); },
                          [&](const BooleanRule &rule) { return std::string(rule.field(config) ? "true" : "false"); },
                          [&](const TextsRule &rule) {
                              std::string list;
                              for (const std::string &text : rule.field(config)) {
                                  list += (list.empty() ? "\"" : ", \"") + text + "\"";
                              }
                              return "[" + list + "]";
                          },
                      },
                      key.rule);
}

std::string valid_values(const Key &key) {
    return std::visit(Overload{
                          [](const TextRule &rule) -> std::string {
                              if (!rule.choices.empty()) {
                                  const bool none = rule.choices.back().empty();
                                  const std::vector<std::string_view> named(rule.choices.begin(),
                                                                            rule.choices.end() - (none ? 1 : 0));
                                  return fmt::format("{}{}", fmt::join(named, ", "), none ? ", or empty" : "");
                              }
                              if (!rule.valid.empty()) {
                                  return std::string(rule.valid);
                              }
                              if (rule.path) {
                                  return rule.may_be_empty ? "an absolute path, or empty" : "an absolute path";
                              }
                              if (rule.user) {
                                  return "a user of this host, by name or number, or empty";
                              }
                              return rule.hostlist ? "a host list such as stor[01-08]" : "";
                          },
                          [](const IntegerRule &rule) { return fmt::format("{} to {}", rule.least, rule.most); },
                          [](const NumberRule &rule) {
                              return fmt::format("{}{} to {}", rule.above_least ? "above " : "", rule.least, rule.most);
                          },
                          [](const BooleanRule &) { return std::string("true, false"); },
                          [](const TextsRule &rule) { return std::string(rule.valid); },
                      },
                      key.rule);
}

std::string shipped_file() {
    const Config defaults;
    std::string out = "# SPDX-License-Identifier: GPL-2.0-or-later\n"
                      "# slurm-fabric-check: every key, commented out at its default.\n"
                      "# The same file on all nodes and the controller: /etc/fabric-check/fabric-check.toml\n";
    const auto add_keys = [&](const char *section) {
        for (const Key &key : keys()) {
            if (std::strcmp(key.section, section) == 0) {
                out += "\n" + entry(key, defaults);
            }
        }
    };
    add_keys("");
    for (const Section &section : sections()) {
        out += "\n" + prose(section.about) + fmt::format("[{}]\n", section.name);
        add_keys(section.name);
        if (std::strcmp(section.name, "payload_ceilings") == 0) {
            for (const auto &[kind, ceiling] : default_payload_ceilings()) {
                if (kind.starts_with("4X")) {
                    out += fmt::format("#\"{}\" = {}\n", kind, ceiling);
                }
            }
        }
    }
    return out;
}

} // namespace fabric_check::config
