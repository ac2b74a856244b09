// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

namespace fabric_check {

/// ANSI sequences of what `routes` prints, and most of what a report does; all empty without colour.
struct RoutesStyle {
    const char *strong = "", *bad = "", *dim = "", *off = "";
    explicit RoutesStyle(bool colour) {
        if (colour) {
            strong = "\x1b[1m";
            bad = "\x1b[31m";
            dim = "\x1b[2m";
            off = "\x1b[0m";
        }
    }
};

} // namespace fabric_check
