// SPDX-License-Identifier: GPL-2.0-or-later
#include "job/hand_in.hpp"

#include <thread>

namespace fabric_check {
namespace {

constexpr std::chrono::milliseconds sign_pause{100};

} // namespace

Status hand_in(const SpoolLayout &spool, const Record &record, const std::string &text, Signer &signer,
               std::uint32_t reader_uid, const Deadline &deadline) {
    std::string payload;
    auto credential = sign_encoded(text, signer, reader_uid, &payload);
    while (!credential && credential.error().code == Errc::unavailable &&
           deadline.left() > hand_in_reserve + sign_pause) {
        std::this_thread::sleep_for(sign_pause);
        credential = sign_encoded(text, signer, reader_uid, &payload);
    }
    if (!credential) {
        Error error{credential.error().code, "record not signed: " + credential.error().message};
        if (const auto noted = write_failed_note(spool, record.job_id, record.node, record.phase, record.time_ns,
                                                 credential.error().message);
            !noted)
            error.message += "; nor is there a note of it in the spool: " + noted.error().message;
        return error;
    }
    if (const auto stored = store_record(spool, record, *credential, payload); !stored)
        return Error{stored.error().code, "record not written: " + stored.error().message};
    return {};
}

} // namespace fabric_check
