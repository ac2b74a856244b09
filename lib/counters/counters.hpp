// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "counters/reading.hpp"

#include <cstddef>
#include <initializer_list>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace fabric_check {

/// Readings of one port by canonical name, sorted, each name once. Used as a std::map is, at a third of its room and hardly
/// any of its time: records of ten thousand nodes hold millions of readings, and their names are all the same.
///
/// Names are views: into the table of counters, or into a string of its own for one that the table does not have. They
/// live as long as the object or a copy of it, and must not be changed through an iterator. Unlike a map's, references
/// and iterators do not outlive the next insertion or erasure.
class Counters {
public:
    using value_type = std::pair<std::string_view, Reading>;
    using iterator = std::vector<value_type>::iterator;
    using const_iterator = std::vector<value_type>::const_iterator;

    Counters() = default;
    Counters(std::initializer_list<value_type> readings);

    iterator begin() noexcept { return list_.begin(); }
    iterator end() noexcept { return list_.end(); }
    const_iterator begin() const noexcept { return list_.begin(); }
    const_iterator end() const noexcept { return list_.end(); }
    std::size_t size() const noexcept { return list_.size(); }
    bool empty() const noexcept { return list_.empty(); }
    void clear() noexcept { list_.clear(); }
    void reserve(std::size_t readings) { list_.reserve(readings); }

    iterator find(std::string_view name) noexcept;
    const_iterator find(std::string_view name) const noexcept;
    bool contains(std::string_view name) const noexcept { return find(name) != end(); }
    const Reading *reading(std::string_view name) const noexcept; ///< nullptr: not there
    const Reading &at(std::string_view name) const;               ///< throws std::out_of_range
    Reading &at(std::string_view name);                           ///< likewise
    Reading &operator[](std::string_view name) { return try_emplace(name, {}).first->second; }
    /// The place of `name`, and whether it is new; one that was there keeps its reading. O(1) where names come in order.
    std::pair<iterator, bool> try_emplace(std::string_view name, const Reading &reading);
    std::size_t erase(std::string_view name);
    template <class Unwanted> friend std::size_t erase_if(Counters &counters, Unwanted unwanted) {
        return std::erase_if(counters.list_, unwanted);
    }

    bool operator==(const Counters &other) const { return list_ == other.list_; }

private:
    std::string_view kept(std::string_view name);

    std::vector<value_type> list_;
    std::vector<std::shared_ptr<const std::string>> own_; ///< names that the table does not have
};

} // namespace fabric_check
