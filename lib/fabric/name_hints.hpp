// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "fabric/map.hpp"

#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

namespace fabric_check::fabric {

/// Tells people who name a host that the map does not have which one they may mean. Made once for a map, in one pass over
/// its nodes; each question then costs a look into an index and, for few names only, a bounded comparison with the hosts.
class NameHints {
public:
    explicit NameHints(const Map &map);
    /// "not in the map", "not in the map (nearest: node001, node002)", "is a switch, not a host", "is a router, gateway or aggregation node, not a host", "is a card whose host's
    /// name the map does not know: give its LIDs with --lids (17)"; for a name that Map::by_name() does not find.
    std::string why_absent(std::string_view name);

private:
    std::vector<std::string_view> near(std::string_view name);

    Map map_; ///< its text is referred to
    std::vector<std::string_view> hosts_; ///< sorted, each once
    std::unordered_map<std::string, std::vector<std::string_view>> same_; ///< by plain_form()
    std::unordered_set<std::string> switches_, others_; ///< names they go by
    std::size_t comparisons_left_;
};

} // namespace fabric_check::fabric
