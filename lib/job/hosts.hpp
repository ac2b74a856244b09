// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "base/result.hpp"
#include "snapshot/model.hpp"

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace fabric_check {

/// Port GUIDs by node name, learnt from verified records (the spool's map/hosts.json).
using KnownHosts = std::map<std::string, std::vector<std::uint64_t>>;

/// A file that is not there is an empty result.
Result<KnownHosts> load_hosts(const std::string &path);
std::string encode_hosts(const KnownHosts &hosts);
Result<KnownHosts> decode_hosts(const std::string &text);
/// Takes a node's InfiniBand ports over what was known of it. True when something changed.
bool learn_host(KnownHosts &hosts, const NodeSnapshot &snapshot);

} // namespace fabric_check
