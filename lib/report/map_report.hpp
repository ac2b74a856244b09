// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "fabric/map.hpp"
#include "report/report.hpp"
#include "snapshot/model.hpp"

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

namespace fabric_check {

/// map/1: what a map holds. `file` is where it lies, `now_ns` the wall clock, `problems` what is wrong with it.
nlohmann::ordered_json map_json(const fabric::Map &map, const std::string &file, std::int64_t now_ns,
                                const std::vector<Problem> &problems);
/// Its "host_ports": every port of a host, by the hosts' names and then the ports': name, card, port, GUID, LID, LMC, the
/// switch and its port at the other end, width, speed and Gb/s; null where the map does not know.
nlohmann::ordered_json host_ports_json(const fabric::Map &map);

/// map/1 for people. Never throws on odd JSON.
std::string map_text(const nlohmann::ordered_json &map, std::size_t columns = usual_columns);
/// One line a port, its host's name first, from host_ports_json(). Never throws on odd JSON.
std::string host_ports_text(const nlohmann::ordered_json &ports);

} // namespace fabric_check
