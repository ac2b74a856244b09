// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "textfiles/collector.hpp"

#include <cstddef>
#include <string>
#include <string_view>
#include <unordered_map>

namespace fabric_check::textfiles {

/// The lines of ibqueryerrors: "Errors for …", "GUID … port …: [NAME == VALUE] …", and what continues them.
class ErrorReader {
public:
    explicit ErrorReader(Collector &collector) noexcept : collector_(collector) {}

    /// Not understood: false. `counted` is set when the line gave a value.
    bool line(std::string_view line, std::size_t number, bool &counted);

    /// Its output ends with "## Summary: 16 nodes checked, 2 bad nodes found", errors or not.
    void comment(std::string_view line) noexcept;
    bool summarized() const noexcept { return summarized_; }
    /// What to say of a file that holds nothing else.
    static TextProblem no_errors(const std::string &file);

private:
    static constexpr Collector::Port no_port = ~Collector::Port{0};

    void node(std::string_view who);
    bool port(std::string_view line, std::size_t number, bool &counted);
    bool fields(std::string_view line, std::size_t number, bool &counted);

    Collector &collector_;
    Collector::Port port_ = no_port;
    std::string node_;
    std::unordered_map<std::string, std::string> guid_of_; ///< by node
    bool seen_ = false, summarized_ = false, sum_seen_ = false;
};

} // namespace fabric_check::textfiles
