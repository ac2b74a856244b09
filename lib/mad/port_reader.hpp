// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "mad/attributes.hpp"
#include "mad/engine.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

namespace fabric_check::mad {

/// All that a switch tells of one of its ports.
struct PortReading {
    std::optional<PortInfo> info;
    Outcome info_outcome = Outcome::timed_out;
    bool extended_speeds = false; ///< port 0 says that LinkSpeedExtActive is valid
    std::int64_t time_ns = 0;     ///< since the epoch, when the last of its counters came; 0: none did
    Counters counters;            ///< never empty: what did not answer has its reason
};

struct PortReaderOptions {
    bool info = true; ///< ask for PortInfo: state and rate
    /// Ask for the optional attributes too (discard and receive-error details, forward error correction), of every port of
    /// a switch that answered them for its first.
    bool details = true;
};

/// Asks switches for PortInfo and PMA counters of their ports through an engine. What holds for the whole switch
/// (port 0's PortInfo, the PMA's ClassPortInfo) is asked once. Must live until the engine's run() has returned.
class PortReader {
public:
    using Ready = std::function<void(PortReading)>;
    explicit PortReader(Engine &engine, PortReaderOptions options = {}) : engine_(&engine), options_(options) {}
    /// Asks already for what holds for the whole switch, as soon as it is known that some port of it will be asked for.
    /// That way a switch that is dead costs one timeout, whenever its ports are asked for.
    void prepare(std::uint16_t switch_lid) { ask_switch(switch_lid, switches_[switch_lid]); }
    /// `ready` is called once, from inside the engine's run().
    void ask(std::uint16_t switch_lid, unsigned port, Ready ready);

private:
    struct Pending { ///< one port being read
        unsigned port = 0;
        unsigned open = 0; ///< questions not yet answered
        PortReading reading;
        Ready ready;
    };
    using PendingPtr = std::shared_ptr<Pending>;
    struct Waiting {
        PendingPtr pending;
        bool rs_fec = false;
    };
    /// One attribute that a switch may lack.
    struct Optional {
        enum class Known : std::uint8_t { no, asked, yes, absent };
        Known known = Known::no;
        std::vector<Waiting> wait;
    };
    struct Switch {
        bool asked = false;
        std::optional<PmaCapabilities> caps;
        std::optional<bool> extended_speeds;
        std::vector<PendingPtr> wait_caps, wait_speeds;
        std::array<Optional, 3> optional; ///< as in optional_attributes
    };

    void ask_switch(std::uint16_t lid, Switch &state);
    void ask_extended_speeds(std::uint16_t lid);
    void ask_capabilities(std::uint16_t lid);
    void ask_info(std::uint16_t lid, Switch &state, const PendingPtr &pending);
    void ask_details(std::uint16_t lid, const PmaCapabilities &caps, const PendingPtr &pending);
    void ask_optional(std::uint16_t lid, std::size_t which, bool rs_fec, const PendingPtr &pending);
    void ask_counters(std::uint16_t lid, const PmaCapabilities &caps, const PendingPtr &pending);
    static void answered(const PendingPtr &pending);

    Engine *engine_;
    PortReaderOptions options_;
    std::unordered_map<std::uint16_t, Switch> switches_;
};

} // namespace fabric_check::mad
