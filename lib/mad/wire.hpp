// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "mad/engine.hpp"
#include "mad/transport.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>

/// What of a MAD the engine itself writes and reads; attributes are decoded in attributes.hpp.
namespace fabric_check::mad::wire {

inline constexpr std::size_t header_size = 24;
inline constexpr std::uint16_t status_busy = 1, status_redirect = 2;
inline constexpr std::uint16_t path_record = 0x35;

std::uint8_t class_number(MadClass mad_class) noexcept;
/// Where the attribute begins, and where what must have come of it ends.
std::size_t data_begin(MadClass mad_class) noexcept;
std::size_t data_end(MadClass mad_class) noexcept;

/// The datagram for a question. `id`: the low half of the transaction; the kernel owns the high one.
Mad build(const Request &request, std::uint32_t id, std::uint64_t m_key);
/// SubnAdmGet of one PathRecord (IBA 1.4, 15.2.5.16) between two LIDs.
Mad build_path_query(std::uint16_t from_lid, std::uint16_t to_lid, std::uint32_t id);
/// SL of an answered PathRecord; `data` begins with the record, at least 64 bytes.
std::uint8_t path_sl(const std::uint8_t *data) noexcept;

std::uint32_t transaction_of(const Mad &mad) noexcept;
std::uint16_t status_of(const Mad &mad) noexcept;
/// Does this answer such a question (response bit, class, attribute)? A redirection answers with ClassPortInfo.
bool answers(const Mad &mad, const Request &request) noexcept;

/// Where a ClassPortInfo sends its asker (IBA 1.4, 13.4.8.1).
struct Redirection {
    std::uint16_t lid = 0;
    std::uint16_t pkey = 0;
    std::uint32_t qp = 0, qkey = 0;
    std::uint8_t sl = 0;
};
/// Nothing: no LID or no QP in it (another subnet's), or too short.
std::optional<Redirection> redirection_of(const Mad &mad, std::size_t length) noexcept;

} // namespace fabric_check::mad::wire
