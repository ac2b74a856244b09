// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "textfiles/names.hpp"
#include "textfiles/text.hpp"

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace fabric_check::textfiles {

/// Gathers what the lines of one file say, by port, with as little work a line as can be.
class Collector {
public:
    using Port = std::uint32_t;

    explicit Collector(std::string file) : file_(std::move(file)), names_(std::make_shared<Names>()) {}

    Names &names() noexcept { return *names_; }
    const std::string &file() const noexcept { return file_; }
    Port port(KeyKind kind, std::string_view name, Tool tool);
    void is_card(Port port) { ports_[port].card = true; }
    void link_layer(Port port, LinkLayer layer) { ports_[port].link_layer = layer; }

    void add(Port port, Names::Id name, Reading reading, std::size_t line) {
        if (names_->operator[](name).setting) {
            return;
        }
        if (names_->operator[](name).wide && reading.value) {
            reading.width = 64;
        }
        ports_[port].raw.push_back({names_->operator[](name).same, static_cast<std::uint32_t>(line), reading});
        last_ = port;
    }
    /// What is added from here on is what the last line gives.
    void last_line() noexcept { last_ = ~Port{0}; }
    /// The last reading of the last line is known to be cut off: it has no value.
    void spoil_last() {
        if (last_ < ports_.size() && !ports_[last_].raw.empty()) {
            ports_[last_].raw.back().reading = Reading::missing(Absence::unparsable);
        }
    }
    void add(Port port, std::string_view written, Reading reading, std::size_t line) {
        if (const Names::Id id = name(port, written, line); id != Names::none) {
            add(port, id, reading, line);
        }
    }
    /// What a file writes behind a counter's name; a problem where it is no count. Was it one?
    /// names().none is passed over.
    bool keep(Port port, Names::Id id, std::string_view name, std::string_view value, unsigned width,
              std::size_t line);
    /// A port that is complete already, out of a snapshot.
    void whole(PortCounters port) { whole_.push_back(std::move(port)); }
    void problem(std::size_t line, std::string what);

    /// No port has so many; beyond, only counters that the table knows are taken.
    static constexpr std::size_t most_counters = 20000;
    /// The name of one of a port's counters; none: there are too many already, which is told.
    Names::Id name(Port port, std::string_view written, std::size_t line);
    void too_many(std::size_t line);

    Parsed finish();

private:
    struct Raw {
        Names::Id name;
        std::uint32_t line;
        Reading reading;
    };
    struct Gathered {
        KeyKind kind;
        std::string name;
        LinkLayer link_layer = LinkLayer::unknown;
        std::vector<Raw> raw;
        unsigned tools = 0; ///< a bit each
        bool card = false;
        std::size_t unknown = 0; ///< readings of counters that the table does not know
    };
    CounterList sorted(std::vector<Raw> raw, const Names::Order &order);

    std::string file_;
    std::shared_ptr<Names> names_;
    std::vector<Gathered> ports_;
    std::unordered_map<std::string, Port> by_name_;
    std::vector<PortCounters> whole_;
    Port last_ = ~Port{0};
    bool too_many_ = false;
    std::vector<TextProblem> problems_;
    std::size_t problem_count_ = 0;
};

} // namespace fabric_check::textfiles
