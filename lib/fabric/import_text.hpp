// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "base/text.hpp"
#include "snapshot/model.hpp"

#include <algorithm>
#include <cstdint>
#include <fmt/format.h>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace fabric_check::fabric {

/// Walks over one line of text. Every take_* leaves the cursor where it was when it finds something else.
class Cursor {
public:
    explicit Cursor(std::string_view text) : rest_(text) {}
    std::string_view rest() const { return rest_; }
    bool done() const { return rest_.empty(); }
    void skip_blanks() { skip(" \t"); }
    void skip(std::string_view any_of) {
        rest_.remove_prefix(std::min(rest_.find_first_not_of(any_of), rest_.size()));
    }
    bool take(std::string_view literal) {
        if (!rest_.starts_with(literal))
            return false;
        rest_.remove_prefix(literal.size());
        return true;
    }
    /// Digits of this base, without sign; nothing on overflow.
    std::optional<std::uint64_t> take_number(int base = 10) {
        const std::string_view digits = base == 10 ? "0123456789" : "0123456789abcdefABCDEF";
        const std::size_t end = std::min(rest_.find_first_not_of(digits), rest_.size());
        const auto value = parse_u64(rest_.substr(0, end), base);
        if (value)
            rest_.remove_prefix(end);
        return value;
    }
    /// "[12]"
    std::optional<std::uint64_t> take_bracketed() {
        const std::string_view before = rest_;
        if (take("["))
            if (const auto value = take_number(); value && take("]"))
                return value;
        rest_ = before;
        return std::nullopt;
    }
    /// "(8f10001000559)"
    std::optional<std::uint64_t> take_guid_in_parentheses() {
        const std::string_view before = rest_;
        if (take("("))
            if (const auto value = take_number(16); value && take(")"))
                return value;
        rest_ = before;
        return std::nullopt;
    }

private:
    std::string_view rest_;
};

/// Collects what was wrong with one file, so many of them and the count of the rest.
class ProblemList {
public:
    ProblemList(std::string file, std::vector<Problem> &out) : file_(std::move(file)), out_(&out) {}
    void add(std::size_t line, const std::string &reason) {
        if (++count_ <= limit)
            out_->push_back({fmt::format("{}:{}", file_, line), "", reason});
    }
    void finish() {
        if (count_ > limit)
            out_->push_back({file_, "", fmt::format("{} more lines were not understood or contradict others", count_ - limit)});
        count_ = 0;
    }
    const std::string &file() const { return file_; }
    std::size_t count() const { return count_; }

private:
    static constexpr std::size_t limit = 50;
    std::string file_;
    std::vector<Problem> *out_;
    std::size_t count_ = 0;
};

/// Adds the first of many problems of one kind, and at its end how many more there were: "3 more links were left out".
class Few {
public:
    Few(std::vector<Problem> &out, std::string where, std::string_view what) : out_(out), where_(std::move(where)), what_(what) {}
    Few(const Few &) = delete;
    Few &operator=(const Few &) = delete;
    ~Few() {
        if (count_ > most)
            out_.push_back({where_, "", fmt::format("{} more {}", count_ - most, what_)});
    }
    template <class Make> void add(Make &&make) {
        if (++count_ <= most)
            out_.push_back(make());
    }

private:
    static constexpr std::size_t most = 50;
    std::vector<Problem> &out_;
    std::string where_;
    std::string_view what_;
    std::size_t count_ = 0;
};

/// A line as it may stand in a message.
inline std::string in_quotes(std::string_view line) {
    constexpr std::size_t most = 80;
    line = trim(line);
    return fmt::format("'{}{}'", printable(line.substr(0, most)), line.size() > most ? "..." : "");
}

/// Calls visit(line, number) for every line, without its end.
template <class Visit> void each_line(std::string_view text, Visit &&visit) {
    std::size_t number = 0;
    while (!text.empty()) {
        const std::size_t end = text.find('\n');
        std::string_view line = text.substr(0, end);
        text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
        if (line.ends_with('\r'))
            line.remove_suffix(1);
        visit(line, ++number);
    }
}

} // namespace fabric_check::fabric
