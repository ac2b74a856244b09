// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "report/routes_style.hpp"

#include <cstddef>
#include <nlohmann/json_fwd.hpp>
#include <string>

/// The lines of routes_text() that sum up, from routes/1. Never throw on odd JSON.
namespace fabric_check {

inline constexpr double as_even = 1.005; ///< up to here an imbalance is printed as 1.00

/// "1 LID", "12 LIDs"
std::string counted(double n, const char *what);
/// Flows and other figures: whole from 1000 on, four digits below.
std::string figure(double value);
/// ", rail mlx5_0" of a group, or of the worst one, where the fabric has several.
std::string rail_words(const nlohmann::ordered_json &routes, const nlohmann::ordered_json &group);
/// ", above the bar, 1.5"; empty where `routes` has no bar.
std::string bar_words(const nlohmann::ordered_json &routes, double imbalance);
/// `lines` with their beginning in a style, where they begin so.
std::string styled(const std::string &lines, const std::string &beginning, const char *style, const RoutesStyle &styles);

/// LIDs that are not reached from everywhere, of old JSON too, which has no count of them.
std::size_t unreachable_lids(const nlohmann::ordered_json &routes);

/// What is not reached, the imbalance with the link that sets it and the bar, the worst group, and idle links.
std::string routes_headline(const nlohmann::ordered_json &routes, const RoutesStyle &style, std::size_t columns, bool of_job);
/// The section of what is not reached, one line a LID; empty where everything is.
std::string unreachable_text(const nlohmann::ordered_json &routes, const RoutesStyle &style, std::size_t columns);

} // namespace fabric_check
