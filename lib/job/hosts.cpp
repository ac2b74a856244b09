// SPDX-License-Identifier: GPL-2.0-or-later
#include "job/hosts.hpp"

#include "base/file.hpp"
#include "base/text.hpp"
#include "record/json_reader.hpp"
#include "record/record_name.hpp"

#include <nlohmann/json.hpp>

namespace fabric_check {
namespace {

constexpr std::size_t hosts_limit = 64UL * 1024 * 1024;
constexpr std::size_t ports_limit = 256;

KnownHosts decode(const JsonReader &json) {
    const auto path = json.path("nodes");
    (void)json.object("nodes"); // refuses what is none
    KnownHosts hosts;
    for (const auto value : json.at("nodes")) {
        const auto name = value.key();
        if (!valid_node_name(name))
            refuse("nodes", "\"" + name + "\" is not a node name");
        auto &guids = hosts[name];
        guids.clear(); // the last of one name
        const JsonPath place{&path, name};
        if (!value.is_array())
            refuse(place, "not an array");
        if (value.size() > ports_limit)
            refuse(place, "more than " + std::to_string(ports_limit) + " elements");
        JsonPath at{&place, {}, 0};
        for (const auto element : value) {
            const auto text = element.is_string() ? element.text() : std::string();
            const auto guid = text.size() == 18 && text.starts_with("0x") ? parse_u64(text, 16) : std::nullopt;
            if (!guid)
                refuse(at, "not a GUID like 0x0002c90000000001");
            guids.push_back(*guid);
            ++at.index;
        }
    }
    return hosts;
}

} // namespace

Result<KnownHosts> decode_hosts(const std::string &text) {
    return decode_json<KnownHosts>(text, "hosts.json", "fabric-check/hosts/1", decode);
}

Result<KnownHosts> load_hosts(const std::string &path) {
    const auto text = read_file(path, hosts_limit, true);
    if (text)
        return decode_hosts(*text);
    if (text.error().code == Errc::not_found)
        return KnownHosts{};
    return text.error();
}

std::string encode_hosts(const KnownHosts &hosts) {
    nlohmann::ordered_json json = {{"schema", "fabric-check/hosts/1"}, {"nodes", nlohmann::ordered_json::object()}};
    for (const auto &[name, guids] : hosts) {
        auto &list = json["nodes"][name] = nlohmann::ordered_json::array();
        for (const auto guid : guids)
            list.push_back(guid_text(guid));
    }
    return json.dump(1) + "\n";
}

bool learn_host(KnownHosts &hosts, const NodeSnapshot &snapshot) {
    std::vector<std::uint64_t> guids;
    for (const auto &port : snapshot.ports)
        if (port.guid != 0 && port.link_layer == LinkLayer::infiniband && guids.size() < ports_limit)
            guids.push_back(port.guid);
    if (guids.empty())
        return false;
    auto &known = hosts[snapshot.node];
    if (known == guids)
        return false;
    known = std::move(guids);
    return true;
}

} // namespace fabric_check
