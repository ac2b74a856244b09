// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "sample/files.hpp"
#include "sample/layout.hpp"
#include "snapshot/model.hpp"

#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace fabric_check::sample {

/// Readings of switch ports, exact and each with its own time, that others may use: a scout's, or the sampler's last.
struct Pass {
    std::int64_t from_ns = 0, to_ns = 0; ///< when it began, and when its last port had answered
    std::uint64_t map_id = 0;
    std::vector<SwitchPort> ports;       ///< time_ns set in each
    std::string problem = {};            ///< why not all was read, beyond silence; not kept in files
};

/// One switch of a pass file.
struct PassSwitch {
    std::uint64_t guid = 0;
    std::string name;
    std::uint16_t lid = 0;
    std::uint64_t offset = 0; ///< of its ports, behind the head
    std::uint32_t size = 0;
    std::string sha256;
};
/// What a pass file begins with. Only this is signed; it has the digests of everything else, so that a scout reads and
/// verifies the switches it asks for, not the fabric.
struct PassHead {
    std::int64_t from_ns = 0, to_ns = 0;
    std::uint64_t map_id = 0;
    std::vector<std::string> words; ///< names of counters, states and speeds
    std::vector<PassSwitch> switches;
};

struct EncodedPass {
    std::string head, body;
};
EncodedPass encode_pass(const Pass &pass);
Result<PassHead> decode_pass_head(std::string_view bytes);
/// Appends the ports of one switch, from the bytes that its entry names.
Status decode_pass_ports(const PassHead &head, const PassSwitch &of, std::string_view bytes, std::vector<SwitchPort> &ports);

/// Signs a pass and writes it to a file of samples/.
Status write_pass(const std::string &path, const Pass &pass, Signer &signer);
/// Reads the ports of `switches` (all, where there is none), and nothing of a pass that ended before `not_before_ns`
/// (Errc::not_found). What is not believed is Errc::denied or Errc::malformed; Errc::unavailable: munge is away.
Result<Pass> read_pass(const std::string &path, const std::set<std::uint64_t> &switches, std::int64_t not_before_ns,
                       Signer &signer, const Trust &trust);

} // namespace fabric_check::sample
