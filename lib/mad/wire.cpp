// SPDX-License-Identifier: GPL-2.0-or-later
#include "mad/wire.hpp"

#include "mad/attributes.hpp"

namespace fabric_check::mad::wire {

namespace {

// Offsets of IBA 1.4: 13.4.2 (header), 14.2.1 (SMP), 15.2.1 (SA), 16.1.3.5 (PortCounters).
constexpr std::size_t at_method = 3, at_status = 4, at_transaction = 8, at_attribute = 16, at_modifier = 20;
constexpr std::size_t at_m_key = 24, at_data = 64;
constexpr std::size_t at_component_mask = 48, at_sa_data = 56;
constexpr std::size_t path_record_size = 64;
constexpr std::uint8_t get = 0x01, set = 0x02, response_bit = 0x80;

template <class T> void put(Mad &mad, std::size_t at, T value) {
    for (std::size_t i = sizeof(T); i > 0; --i) {
        mad[at + i - 1] = static_cast<std::uint8_t>(value & 0xffU);
        value = static_cast<T>(std::uint64_t{value} >> 8U);
    }
}

template <class T> T take(const Mad &mad, std::size_t at) {
    std::uint64_t value = 0;
    for (std::size_t i = 0; i < sizeof(T); ++i)
        value = value << 8U | mad[at + i];
    return static_cast<T>(value);
}

Mad header(MadClass mad_class, std::uint8_t method, std::uint16_t attribute, std::uint32_t modifier, std::uint32_t id) {
    Mad mad{};
    mad[0] = 1;
    mad[1] = class_number(mad_class);
    mad[2] = mad_class == MadClass::sa ? 2 : 1;
    mad[at_method] = method;
    put<std::uint64_t>(mad, at_transaction, id);
    put(mad, at_attribute, attribute);
    put(mad, at_modifier, modifier);
    return mad;
}

} // namespace

std::uint8_t class_number(MadClass mad_class) noexcept {
    switch (mad_class) {
    case MadClass::gmp:
        return 0x04;
    case MadClass::sa:
        return 0x03;
    case MadClass::smp:
        break;
    }
    return 0x01;
}

std::size_t data_begin(MadClass mad_class) noexcept { return mad_class == MadClass::sa ? at_sa_data : at_data; }

std::size_t data_end(MadClass mad_class) noexcept {
    switch (mad_class) {
    case MadClass::smp:
        return at_data + 64;
    case MadClass::sa:
        return at_sa_data + path_record_size;
    case MadClass::gmp:
        break;
    }
    return mad_size;
}

Mad build(const Request &request, std::uint32_t id, std::uint64_t m_key) {
    Mad mad = header(request.mad_class, request.reset != 0 ? set : get, request.attribute, request.modifier, id);
    if (request.mad_class == MadClass::smp)
        put(mad, at_m_key, m_key);
    if (request.mad_class == MadClass::gmp)
        mad[at_data + 1] = request.port_select;
    if (request.reset != 0)
        put(mad, at_data + 2, request.reset); // CounterSelect
    return mad;
}

Mad build_path_query(std::uint16_t from_lid, std::uint16_t to_lid, std::uint32_t id) {
    constexpr std::uint64_t dlid = 1U << 4U, slid = 1U << 5U, paths = 1U << 12U;
    Mad mad = header(MadClass::sa, get, path_record, 0, id);
    put<std::uint64_t>(mad, at_component_mask, dlid | slid | paths);
    put(mad, at_sa_data + 40, to_lid);
    put(mad, at_sa_data + 42, from_lid);
    mad[at_sa_data + 49] = 1; // NumbPath
    return mad;
}

std::uint8_t path_sl(const std::uint8_t *data) noexcept { return data[53] & 0x0fU; }

std::uint32_t transaction_of(const Mad &mad) noexcept { return take<std::uint32_t>(mad, at_transaction + 4); }
std::uint16_t status_of(const Mad &mad) noexcept { return take<std::uint16_t>(mad, at_status); }

bool answers(const Mad &mad, const Request &request) noexcept {
    const auto attribute = take<std::uint16_t>(mad, at_attribute);
    return (mad[at_method] & response_bit) != 0 && mad[1] == class_number(request.mad_class) &&
           (attribute == request.attribute ||
            (attribute == attribute::class_port_info && (status_of(mad) & status_redirect) != 0));
}

std::optional<Redirection> redirection_of(const Mad &mad, std::size_t length) noexcept {
    if (length < at_data + 40)
        return std::nullopt;
    Redirection to;
    to.sl = mad[at_data + 25] >> 4U;
    to.lid = take<std::uint16_t>(mad, at_data + 28);
    to.pkey = take<std::uint16_t>(mad, at_data + 30);
    to.qp = take<std::uint32_t>(mad, at_data + 32) & 0xffffffU;
    to.qkey = take<std::uint32_t>(mad, at_data + 36);
    if (to.lid == 0 || to.lid >= 0xc000 || to.qp == 0)
        return std::nullopt;
    return to;
}

} // namespace fabric_check::mad::wire
