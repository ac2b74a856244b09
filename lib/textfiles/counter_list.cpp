// SPDX-License-Identifier: GPL-2.0-or-later
#include "textfiles/counter_list.hpp"

#include "textfiles/names.hpp"

#include <algorithm>
#include <stdexcept>

namespace fabric_check::textfiles {

bool is_better(const Reading &kept, const Reading &other, bool &twice) noexcept {
    twice = false;
    if (kept == other || !other.value) {
        return false;
    }
    if (!kept.value || other.width > kept.width) {
        return true;
    }
    twice = other.width == kept.width;
    return false;
}

CounterList::CounterList(const Counters &counters) {
    const auto names = std::make_shared<Names>();
    list_.reserve(counters.size());
    for (const auto &[name, reading] : counters) {
        const Names::Id id = names->add(name);
        // Snapshots of other releases may call a counter by what is an alias today.
        list_.push_back({(*names)[id].canonical, reading});
    }
    const auto less = [](const NamedReading &a, const NamedReading &b) { return a.name < b.name; };
    if (!std::is_sorted(list_.begin(), list_.end(), less)) {
        std::stable_sort(list_.begin(), list_.end(), less);
    }
    list_.erase(std::unique(list_.begin(), list_.end(),
                            [](const NamedReading &a, const NamedReading &b) { return a.name == b.name; }),
                list_.end());
    names_.push_back(names);
}

CounterList::CounterList(std::vector<NamedReading> sorted, std::shared_ptr<const void> names)
    : list_(std::move(sorted)) {
    names_.push_back(std::move(names));
}

const Reading *CounterList::find(std::string_view name) const noexcept {
    const auto at = std::lower_bound(list_.begin(), list_.end(), name,
                                     [](const NamedReading &a, std::string_view wanted) { return a.name < wanted; });
    return at != list_.end() && at->name == name ? &at->reading : nullptr;
}

const Reading &CounterList::at(std::string_view name) const {
    const Reading *reading = find(name);
    if (reading == nullptr) {
        throw std::out_of_range("no counter " + std::string(name));
    }
    return *reading;
}

std::vector<std::string> CounterList::merge(const CounterList &more) {
    std::vector<std::string> contradicted;
    std::vector<NamedReading> merged;
    merged.reserve(list_.size() + more.list_.size());
    auto a = list_.begin();
    auto b = more.list_.begin();
    while (a != list_.end() || b != more.list_.end()) {
        if (b == more.list_.end() || (a != list_.end() && a->name < b->name)) {
            merged.push_back(*a++);
        } else if (a == list_.end() || b->name < a->name) {
            merged.push_back(*b++);
        } else {
            bool twice = false;
            merged.push_back(is_better(a->reading, b->reading, twice) ? *b : *a);
            if (twice) {
                contradicted.emplace_back(a->name);
            }
            ++a;
            ++b;
        }
    }
    list_ = std::move(merged);
    for (const auto &names : more.names_) {
        if (std::find(names_.begin(), names_.end(), names) == names_.end()) {
            names_.push_back(names);
        }
    }
    return contradicted;
}

void CounterList::mark_widths() {
    if (!contains("PortUnicastRcvPkts")) {
        return;
    }
    for (NamedReading &counter : list_) {
        if (counter.reading.value && (counter.name == "PortXmitData" || counter.name == "PortRcvData" ||
                                      counter.name == "PortXmitPkts" || counter.name == "PortRcvPkts")) {
            counter.reading.width = 64;
        }
    }
}

Counters CounterList::map() const {
    Counters counters;
    for (const NamedReading &counter : list_) {
        counters.emplace_hint(counters.end(), counter.name, counter.reading);
    }
    return counters;
}

} // namespace fabric_check::textfiles
