// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "base/clock.hpp"
#include "record/spool.hpp"

#include <cstdint>
#include <string>

namespace fabric_check {

/// What signing and writing a record needs of a budget on a slow spool.
inline constexpr std::chrono::milliseconds hand_in_reserve{250};

/// Signs a record that encode_record() has written as `text`, and puts it into the spool. While munged is away it is asked
/// again until the deadline is near; a record that could not be signed leaves an unsigned note. The error says what was
/// not done: "record not signed: ...", "record not written: ...", and whether the note failed as well.
Status hand_in(const SpoolLayout &spool, const Record &record, const std::string &text, Signer &signer,
               std::uint32_t reader_uid, const Deadline &deadline);

} // namespace fabric_check
