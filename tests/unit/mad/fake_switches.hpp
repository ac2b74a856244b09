// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "fabric/map.hpp"
#include "fake_transport.hpp"
#include "mad/attributes.hpp"

#include <map>
#include <set>
#include <string>
#include <tuple>

namespace fabric_check::mad {

/// Switches that answer for what a map says of them, unless told otherwise. Data counters are 64 bits wide.
struct FakeSwitches {
    FakeTransport transport;
    fabric::MapDraft map; ///< what the fabric really is: may differ from the map a test hands to the code
    std::set<std::pair<MadClass, std::uint16_t>> silent;
    std::uint16_t pma_mask = 1U << 9U | 1U << 12U;
    std::uint32_t pma_mask2 = 0;
    std::uint32_t port0_capmask = 0x4000;
    std::optional<std::uint16_t> adaptive_status = std::uint16_t{0x0c}; ///< nothing: silence; 0: answered
    bool adaptive_enabled = false;
    std::chrono::milliseconds delay{1};
    /// Counters of PortCounters by LID, port and name; a Set zeroes those it selects, unless `stubborn`.
    std::map<std::tuple<std::uint16_t, unsigned, std::string>, std::uint32_t> counters;
    bool stubborn = false;
    std::set<std::uint16_t> details; ///< optional attributes that are answered; of others the status is "unsupported"
    unsigned fec_mode = 2;

    explicit FakeSwitches(fabric::MapDraft truth) : map(std::move(truth)) {
        transport.answer = [this](const Sent &sent) { return answer(sent); };
    }

    /// The value every counter of this port has, so that tests can tell ports apart.
    static std::uint32_t mark(std::uint16_t lid, unsigned port) { return lid * 100U % 251U + port; }

    std::vector<FakeTransport::Event> answer(const Sent &sent) {
        if (silent.contains({sent.to.mad_class, sent.to.lid}))
            return {{std::chrono::milliseconds(500), timeout_of(sent)}};
        const auto [data, status] = data_for(sent);
        if (!status)
            return {{std::chrono::milliseconds(500), timeout_of(sent)}};
        return {{delay, reply_to(sent, data, *status)}};
    }

    void tell_counters(const Sent &sent, std::uint8_t *raw) {
        static const std::map<std::string, MAD_FIELDS> fields{{"SymbolErrorCounter", IB_PC_ERR_SYM_F},
                                                              {"LinkDownedCounter", IB_PC_LINK_DOWNED_F},
                                                              {"PortXmitDiscards", IB_PC_XMT_DISCARDS_F}};
        Mad request = sent.mad;
        const bool set = mad_get_field(request.data(), 0, IB_MAD_METHOD_F) == IB_MAD_METHOD_SET;
        const std::uint32_t selected = mad_get_field(request.data(), 64, IB_PC_COUNTER_SELECT_F);
        for (auto &[where, value] : counters) {
            const auto &[lid, port, name] = where;
            if (lid != sent.to.lid || port != sent.port_select)
                continue;
            if (set && !stubborn && (selected & counter_select(name)) != 0)
                value = 0;
            mad_set_field(raw, 0, fields.at(name), value);
        }
    }

    std::pair<std::vector<std::uint8_t>, std::optional<std::uint16_t>> data_for(const Sent &sent) {
        std::vector<std::uint8_t> data(sent.to.mad_class == MadClass::smp ? 64 : 192);
        const std::uint32_t index = map.by_lid(sent.to.lid);
        if (index == fabric::no_node)
            return {data, std::nullopt};
        const fabric::DraftNode &node = map.nodes[index];
        std::uint8_t *raw = data.data();
        if (sent.to.mad_class == MadClass::gmp) {
            data[1] = sent.port_select;
            const std::uint32_t value = mark(sent.to.lid, sent.port_select);
            if (sent.attribute == attribute::class_port_info) {
                mad_set_field(raw, 0, IB_CPI_CAPMASK_F, pma_mask);
                mad_set_field(raw, 0, IB_CPI_CAPMASK2_F, pma_mask2);
            } else if (sent.attribute == attribute::port_counters) {
                mad_set_field(raw, 0, IB_PC_ERR_SYM_F, value);
                mad_set_field(raw, 0, IB_PC_XMT_WAIT_F, value);
                tell_counters(sent, raw);
            } else if (sent.attribute == attribute::port_counters_extended) {
                mad_set_field64(raw, 0, IB_PC_EXT_XMT_BYTES_F, (1ULL << 40U) + value);
            } else if (details.contains(sent.attribute)) {
                if (sent.attribute == attribute::port_xmit_discard_details)
                    mad_set_field(raw, 0, IB_PC_XMT_SW_HOL_DISC_F, value);
                if (sent.attribute == attribute::port_extended_speeds_counters)
                    mad_set_field(raw, 0, IB_PESC_PORT_FEC_UNCORR_BLOCK_CTR_F, value);
            } else {
                return {data, std::uint16_t{0x0c}};
            }
            return {data, std::uint16_t{0}};
        }
        switch (sent.attribute) {
        case attribute::switch_info:
            mad_set_field(raw, 0, IB_SW_LINEAR_FDB_CAP_F, 49152);
            mad_set_field(raw, 0, IB_SW_LINEAR_FDB_TOP_F,
                          node.lft.empty() ? 0 : static_cast<std::uint32_t>(node.lft.size() - 1));
            return {data, std::uint16_t{0}};
        case attribute::port_info:
            mad_set_field(raw, 0, IB_PORT_CAPMASK_F, sent.modifier == 0 ? port0_capmask : 0);
            mad_set_field(raw, 0, IB_PORT_STATE_F, 4);
            mad_set_field(raw, 0, IB_PORT_PHYS_STATE_F, 5);
            mad_set_field(raw, 0, IB_PORT_LINK_WIDTH_ACTIVE_F, 2);
            mad_set_field(raw, 0, IB_PORT_LINK_SPEED_ACTIVE_F, 4);
            mad_set_field(raw, 0, IB_PORT_LINK_SPEED_EXT_ACTIVE_F, 4);
            return {data, std::uint16_t{0}};
        case attribute::port_info_extended:
            mad_set_field(raw, 0, IB_PORT_EXT_CAPMASK_F, 1);
            mad_set_field(raw, 0, IB_PORT_EXT_FEC_MODE_ACTIVE_F, fec_mode);
            return {data, details.contains(sent.attribute) ? std::uint16_t{0} : std::uint16_t{0x0c}};
        case attribute::linear_forwarding_table:
            for (std::size_t i = 0; i < 64; ++i) {
                const std::size_t lid = sent.modifier * 64 + i;
                data[i] = lid < node.lft.size() ? node.lft[lid] : fabric::no_route;
            }
            return {data, std::uint16_t{0}};
        case attribute::adaptive_routing_info:
            data[3] = adaptive_enabled ? 1 : 0;
            return {data, adaptive_status};
        default:
            return {data, std::uint16_t{0x0c}};
        }
    }
};

} // namespace fabric_check::mad
