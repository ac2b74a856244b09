// SPDX-License-Identifier: GPL-2.0-or-later
#include "textfiles/counter_list.hpp"

#include "textfiles/names.hpp"

#include <algorithm>
#include <stdexcept>

namespace fabric_check::textfiles {

namespace {

void make_disputed(NamedReading &counter) noexcept {
    counter.reading = Reading::missing(Absence::unparsable);
    counter.disputed = true;
}

} // namespace

bool combine(NamedReading &kept, const NamedReading &other, OnDispute dispute) noexcept {
    if (kept.disputed || other.disputed) {
        make_disputed(kept);
        return false; // that was told when it came up
    }
    if (kept.reading == other.reading || !other.reading.value) {
        return false;
    }
    if (!kept.reading.value || other.reading.width > kept.reading.width) {
        kept.reading = other.reading;
        return false;
    }
    if (other.reading.width < kept.reading.width || dispute == OnDispute::keep_first) {
        return false;
    }
    make_disputed(kept);
    return true;
}

CounterList::CounterList(const Counters &counters, std::vector<std::string> *twice) {
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
    std::size_t kept = 0;
    for (std::size_t at = 0; at < list_.size(); ++at) {
        if (kept == 0 || list_[kept - 1].name != list_[at].name) {
            list_[kept++] = list_[at];
        } else if (combine(list_[kept - 1], list_[at]) && twice != nullptr) {
            twice->emplace_back(list_[at].name);
        }
    }
    list_.resize(kept);
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

std::vector<std::string> CounterList::merge(const CounterList &more, OnDispute dispute) {
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
            merged.push_back(*a++);
            if (combine(merged.back(), *b++, dispute)) {
                contradicted.emplace_back(merged.back().name);
            }
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

void CounterList::dispute(std::string_view name) noexcept {
    const auto at = std::lower_bound(list_.begin(), list_.end(), name,
                                     [](const NamedReading &a, std::string_view wanted) { return a.name < wanted; });
    if (at != list_.end() && at->name == name) {
        make_disputed(*at);
    }
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
        counters.try_emplace(counter.name, counter.reading);
    }
    return counters;
}

} // namespace fabric_check::textfiles
