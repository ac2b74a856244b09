// SPDX-License-Identifier: GPL-2.0-or-later
#include "fabric/loads.hpp"
#include "fabric/routes.hpp"
#include "fabric/tree.hpp"

#include <unordered_set>

namespace fabric_check::fabric {
namespace {

struct Member {
    const Endpoint *endpoint;
    Attachment at;
};

ShapeLoad shape_of(const Loads &loads) {
    const Loads::Busiest busiest = loads.busiest(), ideal = loads.ideal();
    ShapeLoad out;
    out.max_link_flows = busiest.flows;
    out.ideal = ideal.flows;
    out.factor = ideal.weighted > 0 ? busiest.weighted / ideal.weighted : 1;
    out.node = busiest.node;
    out.port = busiest.port;
    return out;
}

} // namespace

Shapes shape_loads(const LftView &lfts, const Query &query) {
    const Map &map = lfts.map();
    Hops hops(lfts);
    RouteTree tree(lfts);
    std::vector<Member> members;
    std::vector<std::uint32_t> switches;
    std::unordered_map<std::uint32_t, double> sources; ///< endpoints by switch
    std::unordered_set<std::uint16_t> lids;
    for (const Endpoint &endpoint : query.job) {
        const Attachment at = attachment(map, endpoint);
        if (at.node == no_node || !lids.insert(endpoint.lid).second)
            continue;
        members.push_back({&endpoint, at});
        if (++sources[at.node] == 1)
            switches.push_back(at.node);
    }

    Shapes shapes;
    Loads everybody(hops), to_one(hops);
    double worst = 0;
    // Every endpoint of a switch sends the same ways: one sender per switch stands for all of them.
    std::unordered_map<std::uint32_t, Loads> from_one;
    for (const std::uint32_t node : switches)
        from_one.try_emplace(node, hops);
    std::vector<double> flows(map.nodes.size(), 0);
    for (const Member &to : members) {
        tree.walk(*to.endpoint, switches);
        to_one.clear();
        for (const std::uint32_t node : switches)
            if (tree.arrives(node))
                flows[node] = sources[node] - (node == to.at.node ? 1 : 0);
        const auto &order = tree.order();
        for (auto it = order.rbegin(); it != order.rend(); ++it) {
            const std::uint32_t next = tree.next(*it);
            if (next != no_node && flows[*it] > 0) {
                const std::uint32_t set = hops.minimal_set(*it, to.at.node);
                everybody.add(*it, tree.port(*it), set, flows[*it]);
                to_one.add(*it, tree.port(*it), set, flows[*it]);
                flows[next] += flows[*it];
            }
            flows[*it] = 0;
        }
        if (const double load = to_one.busiest().weighted; load > worst) {
            worst = load;
            shapes.many_to_one = shape_of(to_one);
        }
        for (const std::uint32_t node : switches)
            if (tree.arrives(node))
                for (std::uint32_t n = node; tree.next(n) != no_node; n = tree.next(n))
                    from_one.at(node).add(n, tree.port(n), hops.minimal_set(n, to.at.node), 1);
    }
    shapes.many_to_many = shape_of(everybody);
    worst = 0;
    for (const std::uint32_t node : switches)
        if (const double load = from_one.at(node).busiest().weighted; load > worst) {
            worst = load;
            shapes.one_to_many = shape_of(from_one.at(node));
        }
    return shapes;
}

} // namespace fabric_check::fabric
