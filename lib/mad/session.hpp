// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "base/result.hpp"
#include "config/config.hpp"
#include "mad/engine.hpp"
#include "mad/transport.hpp"

#include <cstdint>
#include <memory>
#include <string>

namespace fabric_check::mad {

/// A port of this host, open, and an engine over it.
struct Session {
    std::unique_ptr<UmadTransport> transport;
    std::unique_ptr<Engine> engine;
};

/// The engine's options by the configuration, the port that is open, and the M_Key. A ceiling of MADs a second is
/// shared through the spool's samples/.
EngineOptions session_options(const Config &config, const UmadTransport &transport, std::uint64_t m_key);

/// Opens the configured port and makes the engine as configured: SL (asked for once GMPs are), M_Key, P_Key index,
/// windows. Errors as of UmadTransport::open and read_m_key.
Result<Session> open_session(const Config &config);

/// The M_Key in a file: one hexadecimal number of at most 64 bits, with or without 0x, white space around it; an empty
/// path: 0. Errc::denied: others than its owner may read the file, or we may not; Errc::usage: no such number in it. The
/// key itself is never in a message.
Result<std::uint64_t> read_m_key(const std::string &path);

} // namespace fabric_check::mad
