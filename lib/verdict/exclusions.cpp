// SPDX-License-Identifier: GPL-2.0-or-later
// Apart from port_use.cpp: the node hook needs this much, and nothing else of the verdicts.
#include "verdict/port_use.hpp"

#include <fnmatch.h>
#include <strings.h>

namespace fabric_check {

namespace {

bool matches(const std::string &pattern, const std::string &text) {
    return !text.empty() && ::fnmatch(pattern.c_str(), text.c_str(), 0) == 0;
}

} // namespace

const std::string *excluded_by(const HcaPort &port, const std::vector<std::string> &exclude) {
    for (const std::string &pattern : exclude) {
        const bool layer = ::strcasecmp(pattern.c_str(), to_string(port.link_layer)) == 0 &&
                           port.link_layer != LinkLayer::unknown;
        if (layer || matches(pattern, port.device) || matches(pattern, port.name()) || matches(pattern, port.netdev) ||
            matches(pattern, port.pci)) {
            return &pattern;
        }
    }
    return nullptr;
}

} // namespace fabric_check
