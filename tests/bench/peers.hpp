// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

/// Prints how long other programs take over the same files in the same run, and the ratio.
void compare_with_peers();
/// The same for the analysis of forwarding tables, against passes over their bytes.
void compare_routes();
