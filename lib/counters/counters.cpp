// SPDX-License-Identifier: GPL-2.0-or-later
#include "counters/counters.hpp"

#include "counters/table.hpp"

namespace fabric_check {

std::string_view name_in_table(std::string_view name) noexcept {
    const auto *row = find_counter_named(name);
    return row != nullptr ? row->name : std::string_view();
}

} // namespace fabric_check
