// SPDX-License-Identifier: GPL-2.0-or-later
#include "textfiles/names.hpp"

#include "sources/sysfs_text.hpp"

#include <algorithm>
#include <numeric>

namespace fabric_check::textfiles {

Names::Id Names::add(std::string_view written) {
    if (const Id known = find(written); known != none) {
        return known;
    }
    const Id id = static_cast<Id>(names_.size());
    const std::string_view text = texts_.emplace_back(written);
    Name name;
    const CounterInfo *row = find_counter(text);
    name.known = row != nullptr;
    name.canonical = row == nullptr || row->is_family() ? text : row->name;
    name.wide = name.known && text.ends_with("_64");
    if (row != nullptr && row->source == CounterSource::pma && row->width != 0) {
        name.cap = saturation_cap(row->width);
    }
    name.setting = sysfs::is_setting(text);
    name.same = canonical_.try_emplace(name.canonical, id).first->second;
    names_.push_back(name);
    ids_.emplace(text, id);
    return id;
}

Names::Order Names::order() const {
    Order order;
    order.by_rank.resize(names_.size());
    order.rank_of.resize(names_.size());
    std::iota(order.by_rank.begin(), order.by_rank.end(), Id{0});
    std::sort(order.by_rank.begin(), order.by_rank.end(),
              [this](Id a, Id b) { return names_[a].canonical < names_[b].canonical; });
    for (Id rank = 0; rank < order.by_rank.size(); ++rank) {
        order.rank_of[order.by_rank[rank]] = rank;
    }
    for (Id id = 0; id < names_.size(); ++id) {
        order.rank_of[id] = order.rank_of[names_[id].same];
    }
    return order;
}

} // namespace fabric_check::textfiles
