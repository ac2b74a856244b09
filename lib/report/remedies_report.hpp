// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "fabric/remedies.hpp"
#include "fabric/sm_log.hpp"
#include "fabric/uplinks.hpp"
#include "report/report.hpp"

#include <cstddef>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

namespace fabric_check {

/// "remedies" of routes/1: what each known remedy would do, what the distribution may come from, and who runs the fabric.
nlohmann::ordered_json remedies_json(const fabric::Map &map, const fabric::Remedies &remedies,
                                     const std::vector<fabric::Tier> &tiers, const std::optional<fabric::SmLog> &log);

/// Another engine's tables for the same question.
struct Versus {
    std::string file;
    fabric::Figures figures;
    fabric::Figures group;     ///< of the group that is the worst of the tables at hand; without one where there is none
    std::size_t differing = 0; ///< entries for the LIDs of the question that are not as in the tables at hand
    std::vector<Problem> problems;
};
/// "versus" of routes/1.
nlohmann::ordered_json versus_json(const fabric::Map &map, const std::vector<Versus> &others);

/// The sections of these two in the text, from routes/1; empty where it has none. Never throws on odd JSON.
std::string remedies_text(const nlohmann::ordered_json &routes, bool colour, std::size_t columns = usual_columns);
std::string versus_text(const nlohmann::ordered_json &routes, bool colour, std::size_t columns = usual_columns);

/// Who runs the fabric: GUID, LID, priority and state, and which host or switch that is; null where the map does not know.
nlohmann::ordered_json subnet_manager_json(const fabric::Map &map);
/// "node01 (host), GUID 0x..., LID 2, priority 14, master", or "unknown".
std::string subnet_manager_words(const nlohmann::ordered_json &subnet_manager);

} // namespace fabric_check
