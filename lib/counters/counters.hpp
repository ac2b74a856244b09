// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "counters/reading.hpp"

#include <algorithm>
#include <cstddef>
#include <initializer_list>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace fabric_check {

/// The name as the table of counters has it, which is there for good; nothing (data() is null): it has none of that
/// name.
std::string_view name_in_table(std::string_view name) noexcept;

/// What there is of each counter of one port, by canonical name, sorted, each name once. Used as a std::map is, at a
/// third of its room and hardly any of its time: records of ten thousand nodes hold millions of readings, and their
/// names are all the same.
///
/// Names are views: into the table of counters, or into a string of its own for one that the table does not have. They
/// live as long as the object or a copy of it, and must not be changed through an iterator. Unlike a map's, references
/// and iterators do not outlive the next insertion or erasure.
template <class Value> class ByCounter {
public:
    using value_type = std::pair<std::string_view, Value>;
    using iterator = typename std::vector<value_type>::iterator;
    using const_iterator = typename std::vector<value_type>::const_iterator;

    ByCounter() = default;
    ByCounter(std::initializer_list<value_type> values) {
        for (const auto &[name, value] : values)
            (*this)[name] = value;
    }

    iterator begin() noexcept { return list_.begin(); }
    iterator end() noexcept { return list_.end(); }
    const_iterator begin() const noexcept { return list_.begin(); }
    const_iterator end() const noexcept { return list_.end(); }
    std::size_t size() const noexcept { return list_.size(); }
    bool empty() const noexcept { return list_.empty(); }
    void clear() noexcept {
        list_.clear();
        own_.clear();
    }
    void reserve(std::size_t values) { list_.reserve(values); }

    iterator find(std::string_view name) noexcept { return found(place_of(list_, name), list_.end(), name); }
    const_iterator find(std::string_view name) const noexcept {
        return found(place_of(list_, name), list_.end(), name);
    }
    bool contains(std::string_view name) const noexcept { return find(name) != end(); }
    const Value *get(std::string_view name) const noexcept { ///< nullptr: not there
        const auto at = find(name);
        return at == end() ? nullptr : &at->second;
    }
    const Value &at(std::string_view name) const { ///< throws std::out_of_range
        const Value *there = get(name);
        if (there == nullptr)
            throw std::out_of_range("no counter " + std::string(name));
        return *there;
    }
    Value &at(std::string_view name) { return const_cast<Value &>(std::as_const(*this).at(name)); } ///< likewise
    Value &operator[](std::string_view name) { return try_emplace(name, {}).first->second; }
    /// The place of `name`, and whether it is new; one that was there keeps its value. O(1) where names come in order.
    std::pair<iterator, bool> try_emplace(std::string_view name, const Value &value) {
        auto at = list_.empty() || list_.back().first < name ? list_.end() : place_of(list_, name);
        if (at != list_.end() && at->first == name)
            return {at, false};
        at = list_.insert(at, {kept(name), value});
        return {at, true};
    }
    /// At the end, under a name that is one of `from`'s and comes after all that are here: it is shared, and not looked
    /// up.
    template <class Other> void append(const ByCounter<Other> &from, std::string_view name, const Value &value) {
        const auto own = std::find_if(from.own_.begin(), from.own_.end(),
                                      [&](const auto &one) { return one->data() == name.data(); });
        if (own != from.own_.end())
            own_.push_back(*own);
        list_.emplace_back(name, value);
    }
    std::size_t erase(std::string_view name) {
        const auto at = find(name);
        if (at == end())
            return 0;
        list_.erase(at);
        return 1;
    }
    template <class Unwanted> friend std::size_t erase_if(ByCounter &all, Unwanted unwanted) {
        return std::erase_if(all.list_, unwanted);
    }

    bool operator==(const ByCounter &other) const { return list_ == other.list_; }

private:
    template <class Other> friend class ByCounter;
    template <class List> static auto place_of(List &list, std::string_view name) noexcept {
        return std::lower_bound(list.begin(), list.end(), name,
                                [](const value_type &one, std::string_view wanted) { return one.first < wanted; });
    }
    template <class At> static At found(At at, At end, std::string_view name) noexcept {
        return at != end && at->first == name ? at : end;
    }
    std::string_view kept(std::string_view name) {
        if (const auto known = name_in_table(name); known.data() != nullptr)
            return known;
        own_.push_back(std::make_shared<const std::string>(name));
        return *own_.back();
    }

    std::vector<value_type> list_;
    std::vector<std::shared_ptr<const std::string>> own_; ///< names that the table does not have
};

/// Readings of one port.
using Counters = ByCounter<Reading>;

} // namespace fabric_check
