// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "base/result.hpp"

#include <cstdint>
#include <memory>
#include <string>

namespace fabric_check {

/// A decoded credential.
struct Credential {
    std::string payload;
    std::uint32_t uid = 0;
    std::int64_t encoded_at = 0;            ///< seconds since the epoch, signer's clock
    std::string address;                    ///< encode address, dotted
    bool expired = false, replayed = false; ///< both still verify: records outlive Munge's time-to-live
};

/// Signs and verifies, on several threads at a time. The one real implementation is Munge, with a context of its own for
/// each call; tests inject their own.
class Signer {
public:
    virtual ~Signer() = default;
    /// Readable by `reader_uid` only.
    virtual Result<std::string> sign(const std::string &payload, std::uint32_t reader_uid) = 0;
    virtual Result<Credential> verify(const std::string &credential) = 0;
};

std::unique_ptr<Signer> munge_signer(const std::string &socket);

} // namespace fabric_check
