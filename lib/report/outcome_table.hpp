// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <cstddef>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

namespace fabric_check {

/// Imbalances no further apart are the same.
inline constexpr double same_outcome = 0.005;

/// Dumps of several engines share their beginning and their last component often: the end tells them apart.
std::string end_of(const std::string &file, std::size_t room);

/// A table of outcomes: what, imbalance of all of it, and of one group: imbalance, links, LIDs on the busiest of them,
/// ceiling. That group is the one that is the worst now, in every row but those that name another.
class OutcomeTable {
public:
    /// `group`: of the outcome, the one that goes the way of the worst now, with its ceiling; null where none does. Another
    /// that is the worst of the outcome has a row below where it is worse than that. `unreachable`: LIDs.
    void row(const std::string &what, const nlohmann::ordered_json &outcome, const nlohmann::ordered_json &group,
             double unreachable);
    /// Of that group alone, spread evenly.
    void even_row(const std::string &what, const nlohmann::ordered_json &step);
    /// The group stands behind its row where all groups' names fit there, else on a line of its own below.
    std::string print(std::size_t columns) const;

private:
    std::vector<std::vector<std::string>> rows_;
};

} // namespace fabric_check
