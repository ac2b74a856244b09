// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "snapshot/model.hpp"

#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace fabric_check::textfiles {

struct NamedReading {
    std::string_view name; ///< canonical
    Reading reading;
    bool disputed = false; ///< given with different values: no reading, whatever else is found
};

/// What becomes of a counter with two values.
enum class OnDispute : std::uint8_t { no_value, keep_first };

/// Readings of one port, sorted by name, each name once: a map that takes a third of the room, and hardly any time to
/// fill. Names are views: into the table of counters, or into what `keep` holds on to.
class CounterList {
public:
    CounterList() = default;
    /// Names may be aliases. `twice`: takes the counters that came under two names with different values.
    explicit CounterList(const Counters &counters, std::vector<std::string> *twice = nullptr);
    /// `sorted`, by name, and no name twice.
    CounterList(std::vector<NamedReading> sorted, std::shared_ptr<const void> names);

    std::vector<NamedReading>::const_iterator begin() const noexcept { return list_.begin(); }
    std::vector<NamedReading>::const_iterator end() const noexcept { return list_.end(); }
    std::size_t size() const noexcept { return list_.size(); }
    bool empty() const noexcept { return list_.empty(); }
    const Reading *find(std::string_view name) const noexcept; ///< nullptr: not there
    bool contains(std::string_view name) const noexcept { return find(name) != nullptr; }
    const Reading &at(std::string_view name) const; ///< throws std::out_of_range

    /// Adds what is not there yet; a 64-bit reading wins over a narrow one, any value over none. Returns the counters
    /// that were there already with another value of the same width: they are disputed, and have no value any more
    /// (unless the first one is to be kept).
    std::vector<std::string> merge(const CounterList &more, OnDispute dispute = OnDispute::no_value);
    /// Takes a counter's value away, for good.
    void dispute(std::string_view name) noexcept;
    /// See sysfs::mark_widths.
    void mark_widths();
    Counters map() const;

private:
    std::vector<NamedReading> list_;
    std::vector<std::shared_ptr<const void>> names_;
};

/// Makes one reading of two of one counter. True: they contradict each other, and now there is none.
bool combine(NamedReading &kept, const NamedReading &other, OnDispute dispute = OnDispute::no_value) noexcept;

} // namespace fabric_check::textfiles
