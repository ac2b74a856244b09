// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

/// Prints how long other programs take over the same files in the same run, and the ratio.
void compare_with_peers();

/// Prints how long the import of a large fabric's forwarding tables takes, and `wc -l` of the same file, and the ratio.
void compare_import_with_wc();
/// Prints what the analysis of a large fabric's tables costs, in passes over their bytes, and how long one job's takes.
void compare_routes();
