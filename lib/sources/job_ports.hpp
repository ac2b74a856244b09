// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "fabric/map.hpp"
#include "fabric/routes.hpp"
#include "snapshot/model.hpp"

#include <cstdint>
#include <set>
#include <utility>
#include <vector>

namespace fabric_check {

using SwitchPortKey = std::pair<std::uint32_t, unsigned>; ///< index into Map::nodes, port

/// The switch end of a host's link, or no_node.
SwitchPortKey facing(const fabric::Map &map, const fabric::Endpoint &host);

/// Of the job's hosts and the services'; a host whose switch the map does not know is a problem.
std::set<SwitchPortKey> facing_ports(const fabric::Map &map, const fabric::Query &query,
                                     std::vector<Problem> &problems);

/// Output ports on the routes, the far ends of their inter-switch links (errors count where they arrive), and all
/// members of the groups on the way (an idle member is what makes a spread uneven).
std::set<SwitchPortKey> ports_on_routes(const fabric::Map &map, const fabric::Routes &routes);

} // namespace fabric_check
