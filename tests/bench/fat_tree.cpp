// SPDX-License-Identifier: GPL-2.0-or-later
#include "fat_tree.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <random>

namespace fabric_check::fabric::bench {
namespace {

constexpr unsigned half = 18; ///< of a switch's ports
constexpr unsigned tops = half * half;

std::uint32_t hash(std::uint32_t a, std::uint32_t b) {
    std::uint64_t x = (std::uint64_t{a} << 32 | b) * 0x9e3779b97f4a7c15ULL;
    x ^= x >> 29;
    return static_cast<std::uint32_t>(x * 0xbf58476d1ce4e5b9ULL >> 33);
}

class Tree {
public:
    Tree(unsigned pods, unsigned hosts, bool scrambled) : pods_(pods), hosts_(hosts), lids_(nodes()) {
        std::iota(lids_.begin(), lids_.end(), std::uint16_t{1});
        std::mt19937 random(7);
        for (std::size_t i = lids_.size(); scrambled && i > 1; --i) {
            std::swap(lids_[i - 1], lids_[random() % i]);
        }
    }

    MapDraft make(Upwards upwards) const {
        MapDraft map;
        map.nodes.resize(nodes());
        map.source = "synthetic";
        map.built_ns = 1;
        map.adaptive_routing = AdaptiveRouting::off;
        for (unsigned h = 0; h < hosts_; ++h) {
            node(map, h, NodeKind::host, fmt::format("node{:05} mlx5_0", h + 1), 1);
            link(map, h, 1, leaf(h / half), h % half + 1);
        }
        for (unsigned pod = 0; pod < pods_; ++pod) {
            for (unsigned i = 0; i < half; ++i) {
                const unsigned l = pod * half + i;
                node(map, leaf(l), NodeKind::switch_node, fmt::format("leaf{:04}", l + 1), 2 * half);
                node(map, middle(l), NodeKind::switch_node, fmt::format("mid{:04}", l + 1), 2 * half);
            }
        }
        for (unsigned t = 0; t < tops; ++t) {
            node(map, top(t), NodeKind::switch_node, fmt::format("top{:03}", t + 1), 2 * half);
        }
        for (unsigned l = 0; l < pods_ * half; ++l) {
            for (unsigned m = 0; m < half; ++m) {
                link(map, leaf(l), half + 1 + m, middle(l / half * half + m), l % half + 1);
                link(map, middle(l), half + 1 + m, top(l % half * half + m), l / half + 1);
            }
        }
        for (unsigned n = hosts_; n < map.nodes.size(); ++n) {
            map.nodes[n].lft.assign(map.nodes.size() + 1, no_route);
            for (unsigned to = 0; to < map.nodes.size(); ++to) {
                map.nodes[n].lft[lids_[to]] = static_cast<std::uint8_t>(route(n, to, upwards));
            }
        }
        return map;
    }

private:
    unsigned leaf(unsigned i) const { return hosts_ + i; }
    unsigned middle(unsigned i) const { return leaf(pods_ * half) + i; }
    unsigned top(unsigned i) const { return middle(pods_ * half) + i; }
    unsigned nodes() const { return top(tops); }

    void node(MapDraft &map, unsigned n, NodeKind kind, std::string name, unsigned ports) const {
        DraftNode &out = map.nodes[n];
        out.guid = 0x0c42a10000000000ULL + n * 16ULL;
        out.description = std::move(name);
        out.kind = kind;
        out.ports.resize(ports + 1);
        (kind == NodeKind::host ? out.ports[1].lid : out.lid) = lids_[n];
        if (kind == NodeKind::host) {
            out.ports[1].guid = out.guid + 1;
        }
    }

    static void link(MapDraft &map, unsigned a, unsigned p, unsigned b, unsigned q) {
        const LinkRate hdr{4, "HDR", 200, 53.125};
        for (const auto &[n, port, m, away] : {std::tuple(a, p, b, q), std::tuple(b, q, a, p)}) {
            if (map.nodes[n].ports.size() <= port) {
                map.nodes[n].ports.resize(2 * half + 1);
            }
            map.nodes[n].ports[port].peer = m;
            map.nodes[n].ports[port].peer_port = static_cast<std::uint8_t>(away);
            map.nodes[n].ports[port].rate = hdr;
        }
    }

    /// The output port. Routes between switches of the upper levels only have to exist: nothing measures them.
    unsigned route(unsigned at, unsigned to, Upwards upwards) const {
        if (at == to) {
            return 0;
        }
        const unsigned choice = upwards == Upwards::scattered ? hash(at, to) : to;
        const bool to_leaf = to < middle(0);
        const unsigned to_place = to < hosts_ ? to / half : to < middle(0) ? to - leaf(0) : to < top(0) ? to - middle(0) : to - top(0);
        if (at < middle(0)) { // a leaf
            const unsigned l = at - leaf(0);
            if (to < hosts_ && to_place == l) {
                return to % half + 1;
            }
            const bool middle_of_pod = !to_leaf && to < top(0) && to_place / half == l / half;
            const unsigned m = middle_of_pod ? to_place % half : !to_leaf && to >= top(0) ? to_place / half : choice % half;
            return half + 1 + m;
        }
        if (at < top(0)) { // in the middle
            const unsigned m = at - middle(0), pod = m / half;
            if (to_leaf && to_place / half == pod) {
                return to_place % half + 1;
            }
            if (to >= top(0)) {
                return to_place / half == m % half ? half + 1 + to_place % half : choice % half + 1;
            }
            if (!to_leaf && to_place / half == pod) {
                return choice % half + 1;
            }
            return half + 1 + choice / half % half;
        }
        if (to >= top(0)) { // from top to top over any pod
            return choice % pods_ + 1;
        }
        return to_place / half + 1;
    }

    unsigned pods_, hosts_;
    std::vector<std::uint16_t> lids_;
};

} // namespace

MapDraft fat_tree(unsigned pods, unsigned hosts, Upwards upwards, bool scrambled) {
    return Tree(pods, hosts, scrambled).make(upwards);
}

} // namespace fabric_check::fabric::bench
