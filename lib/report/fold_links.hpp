// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <string>
#include <vector>

namespace fabric_check {

/// Link names for people, parallel ones together: "SwitchA:13-15,17<->SwitchB" (the ports of the first end),
/// "SwitchA<->node[01-03]/mlx5_0:1". A link alone keeps its name. At most `shown` parts, then "and N more links".
std::string fold_links(const std::vector<std::string> &links, std::size_t shown = 12);

} // namespace fabric_check
