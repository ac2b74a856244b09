// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "fabric/map_draft.hpp"

namespace fabric_check::fabric {

/// What two nodes or ports may not share stands in the map's problems, naming both: LIDs of one subnet, of two nodes or of two
/// ports of one; LIDs in two ports' LMC ranges; node GUIDs; port GUIDs. Of each kind the first fifty, and how many more. The map is
/// indexed, and keeps what its index found first.
void check_identities(MapDraft &map);

} // namespace fabric_check::fabric
