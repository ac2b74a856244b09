// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "base/clock.hpp"
#include "config/config.hpp"
#include "sample/pass.hpp"

#include <chrono>
#include <functional>
#include <map>
#include <set>
#include <vector>

namespace fabric_check::sample {

struct BoardOptions {
    std::chrono::milliseconds share{2000};     ///< a reading older than this is nobody's any more; zero: nothing is shared
    std::chrono::milliseconds claim_wait{300}; ///< for what others are reading at this moment
    std::uint32_t owner_uid = 0;               ///< of samples/, where it has to be made
    Trust trust;
    std::function<std::int64_t()> now_ns;      ///< since the epoch
    std::function<void(std::chrono::milliseconds)> sleep;
};

/// As configured, with this machine's clock.
BoardOptions board_options(const Config &config, std::uint32_t slurm_uid);

/// Readings of switch ports that jobs share through the spool: the sampler's last pass, and those of other scouts. A scout
/// says what it is about to read (a claim), and others that want the same wait for it, a moment. A claim is a hint: a
/// forged or stale one costs that moment, and nothing is believed that is not signed. Every failure means that a scout
/// reads for itself.
class Board {
public:
    Board(const SpoolLayout &spool, Signer &signer, BoardOptions options);
    ~Board(); ///< takes its claims back

    using Ports = std::set<PortId>;
    /// Readings of these ports that were answered at or after `not_before_ns` and are younger than `share`, the
    /// youngest of each; what was found is taken out of `wanted`. Not those with an error counter at its cap: whoever
    /// resets it does so for the next job.
    std::vector<SwitchPort> take(Ports &wanted, std::int64_t not_before_ns);
    /// Claims those of the ports that nobody else is reading since `not_before_ns`, and takes them out of `wanted`: they are
    /// the caller's to read and publish. Of two that claim the same at once, the earlier claim holds.
    Ports claim(Ports &wanted, std::int64_t not_before_ns);
    /// Gives to others what was read, each port with its own time, and takes the claim back. Failures are nobody's business
    /// but those of who has to read again.
    Status publish(std::vector<SwitchPort> ports, std::uint64_t map_id);
    /// Waits, claim_wait at the longest and not beyond the deadline, for what others have claimed.
    std::vector<SwitchPort> await(Ports &wanted, std::int64_t not_before_ns, const Deadline &deadline);

    std::size_t taken() const noexcept { return taken_; } ///< readings of others that served

private:
    struct Claim {
        FileName name;
        Ports ports;
    };
    void read_file(const std::string &path, Ports &wanted, std::int64_t not_before_ns, std::vector<SwitchPort> &found);
    void clear_up(const std::vector<FileName> &files) const;
    std::vector<Claim> live_claims(const Ports &wanted, std::int64_t not_before_ns) const;
    std::string path(const FileName &name) const;
    std::int64_t oldest(std::int64_t not_before_ns) const;

    SpoolLayout spool_;
    Signer *signer_;
    BoardOptions options_;
    std::vector<FileName> own_; ///< claims
    std::vector<Claim> others_; ///< that hold before ours
    bool ready_ = false;
    std::size_t taken_ = 0;
};

std::string encode_claim(const Board::Ports &ports);
/// Hints of a stranger: what is damaged is an empty set.
Board::Ports decode_claim(std::string_view bytes);

} // namespace fabric_check::sample
