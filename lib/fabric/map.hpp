// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "base/result.hpp"
#include "fabric/map_draft.hpp"
#include "fabric/map_image.hpp"

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace fabric_check::fabric {

/// A port, as the map has it. Refers to the map's link rates: not to outlive it.
struct MapPort {
    std::uint32_t peer; ///< a node's number; no_node: nothing there, or half known
    std::uint8_t peer_port;
    const LinkRate &rate;
    std::uint64_t guid; ///< port GUID; hosts only
    std::uint16_t lid;  ///< hosts only; 0 none
    std::uint8_t lmc;   ///< of the LID above; a switch's own stands at its port 0
};

namespace detail {

/// Iterates over anything with operator[] that returns by value.
template <class Range> class ByIndex {
public:
    using value_type = decltype(std::declval<const Range &>()[std::size_t(0)]);
    using difference_type = std::ptrdiff_t;
    using reference = value_type;
    using pointer = void;
    using iterator_category = std::input_iterator_tag;
    ByIndex(const Range &range, std::size_t at) : range_(range), at_(at) {}
    value_type operator*() const { return range_[at_]; }
    ByIndex &operator++() {
        ++at_;
        return *this;
    }
    bool operator==(const ByIndex &other) const { return at_ == other.at_; }

private:
    Range range_;
    std::size_t at_;
};

} // namespace detail

/// A node's ports by number.
class MapPorts {
public:
    MapPorts(const image::Image &image, std::span<const image::PortRecord> records) : image_(&image), records_(records) {}
    std::size_t size() const { return records_.size(); }
    bool empty() const { return records_.empty(); }
    MapPort operator[](std::size_t port) const {
        const image::PortRecord &record = records_[port];
        return {record.peer, record.peer_port, image_->rates[record.rate], record.guid, record.lid, record.lmc};
    }
    auto begin() const { return detail::ByIndex(*this, 0); }
    auto end() const { return detail::ByIndex(*this, size()); }
    std::span<const image::PortRecord> records() const { return records_; }

private:
    const image::Image *image_;
    std::span<const image::PortRecord> records_;
};

/// A node, as the map has it: a view, not to outlive the map.
class MapNode {
public:
    MapNode(const image::Image &image, const image::NodeRecord &record)
        : guid(record.guid), description(image.text.substr(record.text, record.text_size)), kind(NodeKind(record.kind)),
          ports(image, image.ports.subspan(record.first_port, record.ports)), lid(record.lid), image_(&image),
          record_(&record) {}

    std::uint64_t guid;           ///< node GUID
    std::string_view description; ///< NodeDescription as it is
    NodeKind kind;
    MapPorts ports;    ///< by port number; [0] is the switch's management port, unused on hosts
    std::uint16_t lid; ///< switches: LID of port 0

    /// Switches: output port by LID; a LID beyond its end has no route. Empty: none, or damaged in the file.
    std::span<const std::uint8_t> lft() const noexcept { return image_->lft(*record_); }
    bool lft_damaged() const noexcept { return image_->damaged(*record_); }
    std::string_view host_name() const noexcept { return host_name_of(description); }
    std::string_view card_name() const noexcept { return card_name_of(description); }

private:
    const image::Image *image_;
    const image::NodeRecord *record_;
};

/// The map's nodes by number.
class MapNodes {
public:
    explicit MapNodes(const image::Image &image) : image_(&image) {}
    std::size_t size() const { return image_->nodes.size(); }
    bool empty() const { return image_->nodes.empty(); }
    MapNode operator[](std::size_t node) const { return {*image_, image_->nodes[node]}; }
    auto begin() const { return detail::ByIndex(*this, 0); }
    auto end() const { return detail::ByIndex(*this, size()); }

private:
    const image::Image *image_;
};

/// The fabric: topology and tables, as one moment's discovery or as files told it. Never changes; copies share the same
/// bytes, which are the file's where it could be memory-mapped. Reading is thread-safe.
class Map {
public:
    Map();
    /// The draft's stored form, in memory. A draft that InfiniBand has no room for (open_draft() says why) makes an empty map.
    Map(const MapDraft &draft); // NOLINT(google-explicit-constructor): a draft is a map as soon as it is read

    MapNodes nodes() const { return MapNodes(*image_); }
    std::int64_t built_ns() const { return image_->built_ns; } ///< wall clock; 0 not known
    const std::string &source() const { return image_->source; }
    const std::vector<Problem> &problems() const { return image_->problems; }
    AdaptiveRouting adaptive_routing() const { return adaptive_routing_; } ///< as found, unless somebody knew better
    void assume_adaptive_routing(AdaptiveRouting known) { adaptive_routing_ = known; }
    const std::optional<SubnetManager> &subnet_manager() const { return image_->subnet_manager; }
    std::uint64_t id() const { return image_->id; } ///< of topology and tables together

    bool is_switch(std::uint32_t node) const noexcept; ///< false for numbers that no node has
    std::uint32_t by_lid(std::uint16_t lid) const noexcept;     ///< node holding this LID (LMC ranges included), or no_node
    std::uint8_t port_of_lid(std::uint16_t lid) const noexcept; ///< that node's port (0 for switches)
    std::uint32_t by_guid(std::uint64_t node_guid) const noexcept; ///< or no_node
    std::uint32_t by_port_guid(std::uint64_t port_guid, std::uint8_t *port) const noexcept;
    /// Hosts with this host_name(), every rail: (node index, port), sorted. A name without a domain also finds hosts that
    /// call themselves by their full name.
    std::vector<std::pair<std::uint32_t, std::uint8_t>> by_name(std::string_view host) const;
    /// How to call a node towards people: "SwitchA"; "leaf03" of "MF0;leaf03:MQM9700/U1"; a host's name; the GUID where
    /// the description says nothing. Two switches of one name carry their GUID in brackets.
    std::string display_name(std::uint32_t node) const;

    /// Reads every table; the names of switches whose table does not match its checksum.
    std::vector<std::string> damaged_tables() const;
    const image::Image &image() const { return *image_; }

    friend Result<Map> open_draft(const MapDraft &draft, const std::string &name);
    friend Result<Map> open_bytes(std::unique_ptr<image::Bytes> bytes, const std::string &name);

private:
    explicit Map(std::shared_ptr<const image::Image> image)
        : image_(std::move(image)), adaptive_routing_(image_->adaptive_routing) {}
    std::shared_ptr<const image::Image> image_;
    AdaptiveRouting adaptive_routing_ = AdaptiveRouting::unknown;
};

/// The map of a draft; an error names what InfiniBand has no room for.
Result<Map> open_draft(const MapDraft &draft, const std::string &name);

/// The map's nodes and links, to be changed, without forwarding tables, problems and what else its making told.
MapDraft draft_of(const Map &map);

/// Writes the map under a temporary name and renames it.
Status save_map(const Map &map, const std::string &path);
/// Opens and verifies a map: memory-mapped where the file lies on this machine, else read, as a page of a remote file that
/// has gone ends the program that touches it. Refuses a wrong magic, version, checksum or inconsistent reference, naming
/// the file; never trusts a length in it. The forwarding tables are verified when they are first looked at. Fuzzed
/// through parse_map.
Result<Map> load_map(const std::string &path);
Result<Map> parse_map(std::span<const std::uint8_t> bytes, const std::string &name);

} // namespace fabric_check::fabric
