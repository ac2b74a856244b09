// SPDX-License-Identifier: GPL-2.0-or-later
#include "counters/counters.hpp"

#include "counters/table.hpp"

#include <algorithm>
#include <stdexcept>

namespace fabric_check {
namespace {

template <class List> auto place_of(List &list, std::string_view name) noexcept {
    return std::lower_bound(list.begin(), list.end(), name,
                            [](const Counters::value_type &one, std::string_view wanted) { return one.first < wanted; });
}

template <class List> auto find_in(List &list, std::string_view name) noexcept {
    const auto at = place_of(list, name);
    return at != list.end() && at->first == name ? at : list.end();
}

} // namespace

Counters::Counters(std::initializer_list<value_type> readings) {
    for (const auto &[name, reading] : readings)
        (*this)[name] = reading;
}

Counters::iterator Counters::find(std::string_view name) noexcept {
    return find_in(list_, name);
}

Counters::const_iterator Counters::find(std::string_view name) const noexcept {
    return find_in(list_, name);
}

const Reading *Counters::reading(std::string_view name) const noexcept {
    const auto found = find(name);
    return found == end() ? nullptr : &found->second;
}

const Reading &Counters::at(std::string_view name) const {
    const auto *found = reading(name);
    if (found == nullptr)
        throw std::out_of_range("no counter " + std::string(name));
    return *found;
}

Reading &Counters::at(std::string_view name) {
    return const_cast<Reading &>(std::as_const(*this).at(name));
}

std::pair<Counters::iterator, bool> Counters::try_emplace(std::string_view name, const Reading &reading) {
    auto at = list_.empty() || list_.back().first < name ? list_.end() : place_of(list_, name);
    if (at != list_.end() && at->first == name)
        return {at, false};
    at = list_.insert(at, {kept(name), reading});
    return {at, true};
}

std::size_t Counters::erase(std::string_view name) {
    const auto at = find(name);
    if (at == end())
        return 0;
    list_.erase(at);
    return 1;
}

std::string_view Counters::kept(std::string_view name) {
    if (const auto *row = find_counter_named(name))
        return row->name;
    own_.push_back(std::make_shared<const std::string>(name));
    return *own_.back();
}

} // namespace fabric_check
