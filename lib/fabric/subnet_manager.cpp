// SPDX-License-Identifier: GPL-2.0-or-later
#include "fabric/discover.hpp"
#include "mad/attributes.hpp"
#include "mad/engine.hpp"

#include <fmt/format.h>

#include <memory>
#include <vector>

namespace fabric_check::fabric {

namespace {

/// Switches are asked for the manager's LID one after the other until one tells, but no more than these.
constexpr std::size_t switches_asked = 3;

/// One search; the engine's handlers keep it alive.
struct Search : std::enable_shared_from_this<Search> {
    Search(mad::Engine &to_ask, MapDraft &to_fill) : engine(to_ask), map(to_fill) {
        for (std::size_t n = 0; n < map.nodes.size() && asked.size() < switches_asked; ++n)
            if (map.nodes[n].kind == NodeKind::switch_node && map.nodes[n].lid != 0)
                asked.push_back(map.nodes[n].lid);
    }

    void next_switch() {
        if (at == asked.size()) {
            if (!asked.empty())
                problem("no switch tells where it runs");
            return;
        }
        engine.submit({.lid = asked[at++], .attribute = mad::attribute::port_info, .probe = true},
                      [self = shared_from_this()](const mad::Reply &reply) {
                          const auto info = reply.outcome == mad::Outcome::ok ? mad::decode_port_info(reply.data) : std::nullopt;
                          if (info && info->master_sm_lid != 0)
                              self->manager(info->master_sm_lid);
                          else
                              self->next_switch();
                      });
    }

    void manager(std::uint16_t lid) {
        engine.submit({.lid = lid, .attribute = mad::attribute::sm_info, .probe = true},
                      [self = shared_from_this(), lid](const mad::Reply &reply) {
                          const auto info = reply.outcome == mad::Outcome::ok ? mad::decode_sm_info(reply.data) : std::nullopt;
                          if (info)
                              self->map.subnet_manager = SubnetManager{info->guid, lid, info->priority, info->state};
                          else
                              self->problem(fmt::format("SMInfo of LID {}: {}", lid,
                                                        reply.outcome == mad::Outcome::ok ? "too short"
                                                                                          : mad::words(reply.outcome)));
                      });
    }

    void problem(const std::string &reason) { map.problems.push_back({"subnet manager", "", reason}); }

    mad::Engine &engine;
    MapDraft &map;
    std::vector<std::uint16_t> asked;
    std::size_t at = 0;
};

} // namespace

void ask_subnet_manager(mad::Engine &engine, MapDraft &map) {
    map.subnet_manager.reset();
    std::make_shared<Search>(engine, map)->next_switch();
}

const char *sm_state_name(std::uint8_t state) noexcept {
    static constexpr const char *names[] = {"not active", "discovering", "standby", "master"};
    return state < std::size(names) ? names[state] : "unknown";
}

} // namespace fabric_check::fabric
