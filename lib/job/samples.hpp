// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "config/config.hpp"
#include "record/credential.hpp"
#include "sample/series.hpp"
#include "verdict/job_verdict.hpp"

#include <cstdint>

namespace fabric_check {

/// Puts into the evidence what the sampler's ring has of the job's switch ports between its start and its end; nothing
/// where no sampler ran. Where no scout read the switches at one of the two, the sampler's readings nearest to it stand
/// in, if they are within one interval of it: errors exactly, bytes by their rates. Where none did at either, so they
/// do for the ports that the map and its tables name, as long as the sampler's last pass is not from before the job's
/// end, nor an hour after it. What of the ring is not believed is a problem of the evidence. Never throws.
void add_samples(JobEvidence &evidence, const Config &config, Signer &signer, std::uint32_t slurm_uid) noexcept;

/// The readings of the side that no scout read, from those of the other side and what happened between. Pure. False:
/// the series does not reach so far. `last`: the sampler's last readings of these ports, to walk back from; null:
/// END's, which has to lie within the series.
bool stand_in(JobEvidence &evidence, const sample::Series &series, std::int64_t interval_ns,
              const ScoutSnapshot *last = nullptr);

} // namespace fabric_check
