// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "fabric/map_draft.hpp"

namespace fabric_check::fabric {

/// A cable has one rate, though either end may tell its own: where both are known and differ the slower is taken for both,
/// with a problem that names the link (of many the first fifty, and how many more); where one is known, that one. An end
/// that says QDR beside FDR10 could not be asked for FDR10, which is a vendor's own speed: FDR10 it is.
void agree_on_rates(MapDraft &map);

} // namespace fabric_check::fabric
