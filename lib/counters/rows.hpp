// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "counters/table.hpp"

/// How the rows of the table are written: one line or two for each counter, by kind.
namespace fabric_check::rows {

/// A row that can still be told more: `pma(...).roles(...)`.
struct Row : CounterInfo {
    constexpr Row as(std::uint16_t more) const {
        Row row = *this;
        row.roles |= more;
        return row;
    }
    constexpr Row in(Unit other) const {
        Row row = *this;
        row.unit = other;
        return row;
    }
    constexpr Row set_against(Against direction) const {
        Row row = *this;
        row.against = direction;
        return row;
    }
    constexpr Row also(std::string_view names) const {
        Row row = *this;
        row.aliases = names;
        return row;
    }
};

constexpr Row make(CounterSource source, std::string_view name, std::uint8_t width, Layer layer, Driver drivers,
                   std::string_view meaning, std::string_view reference) {
    Row row;
    row.source = source;
    row.name = name;
    row.width = width;
    row.layer = layer;
    row.drivers = drivers;
    row.meaning = meaning;
    row.reference = reference;
    return row;
}

} // namespace fabric_check::rows
