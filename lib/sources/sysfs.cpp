// SPDX-License-Identifier: GPL-2.0-or-later
#include "sources/sysfs.hpp"

#include "base/clock.hpp"
#include "base/file.hpp"
#include "base/text.hpp"
#include "sources/attributes.hpp"
#include "sources/netdev.hpp"
#include "sources/sysfs_text.hpp"

#include <fmt/format.h>

#include <cstring>

namespace fabric_check {

namespace {

constexpr std::size_t most_files = 1024; ///< counters of one port
constexpr std::size_t most_devices = 256;

using sysfs::AttributeDirectory;

/// Why a counter that is there could not be read: worth a line in the report.
std::string reason_of(int error, std::string_view content) {
    if (error == 0) {
        return trim(content).empty() ? "the file is empty" : "not a number: " + printable(trim(content).substr(0, 40));
    }
    char text[128];
    return strerror_r(error, text, sizeof text);
}

class NodeReader {
public:
    NodeReader(NodeSnapshot &snapshot, std::string root, NetdevStatistics keep)
        : snapshot_(snapshot), root_(std::move(root)), keep_(keep) {}

    void read() {
        const std::string classes = root_ + "/class/infiniband";
        auto devices = list_directory(classes);
        if (!devices || devices->empty()) {
            const bool none = devices.ok() || devices.error().code == Errc::not_found;
            problem(snapshot_.node, "",
                    none ? "no RDMA card in " + classes + ": is its driver loaded?" : devices.error().message);
            return;
        }
        if (devices->size() > most_devices) {
            problem(snapshot_.node, "",
                    fmt::format("only the first {} of {} RDMA cards were read", most_devices, devices->size()));
            devices->resize(most_devices);
        }
        for (const std::string &device : *devices) {
            try {
                read_device(fmt::format("{}/{}", classes, device), device);
            } catch (const std::exception &error) {
                problem(snapshot_.node + "/" + device, "", error.what());
            }
        }
    }

private:
    void problem(std::string where, std::string counter, std::string reason) {
        snapshot_.problems.push_back({std::move(where), std::move(counter), std::move(reason)});
    }

    void read_device(const std::string &path, const std::string &device) {
        const auto entries = list_directory(path + "/ports");
        if (!entries) {
            problem(snapshot_.node + "/" + device, "", "its ports cannot be listed: " + entries.error().message);
            return;
        }
        std::vector<unsigned> numbers;
        for (const std::string &entry : *entries) {
            if (const auto number = parse_u64(entry); number && *number >= 1 && *number <= 255) {
                numbers.push_back(static_cast<unsigned>(*number));
            }
        }
        if (numbers.empty()) {
            problem(snapshot_.node + "/" + device, "", "the card shows no ports");
        }
        HcaPort card;
        card.device = device;
        AttributeDirectory attributes(path);
        card.driver = attributes.link_name("device/driver");
        card.model = printable(attributes.text("hca_type"));
        card.pci = sysfs::pci_address(path);
        card.pcie = sysfs::pcie_link(path);
        for (const unsigned number : numbers) {
            HcaPort port = card;
            port.number = number;
            read_port(path, numbers.size() == 1, port);
            snapshot_.ports.push_back(std::move(port));
        }
    }

    void read_port(const std::string &device, bool only_port, HcaPort &port) {
        const std::string path = fmt::format("{}/ports/{}", device, port.number);
        {
            AttributeDirectory attributes(path);
            port.link_layer = sysfs::link_layer_from(attributes.text("link_layer"));
            port.state = sysfs::state_from(attributes.text("state"));
            port.phys_state = sysfs::state_from(attributes.text("phys_state"));
            port.rate = parse_rate(attributes.text("rate"));
            if (port.link_layer != LinkLayer::ethernet) { // RoCE has no LID, and its GIDs come from addresses
                port.lid = sysfs::lid_from(attributes.text("lid"));
                const auto lmc = parse_u64(attributes.text("lid_mask_count"));
                port.lmc = lmc && *lmc <= 7 ? static_cast<std::uint8_t>(*lmc) : std::uint8_t{0};
                port.guid = sysfs::guid_from(attributes.text("gids/0"));
            }
        }
        const std::string where = snapshot_.node + "/" + port.name();
        const bool pma = read_counters(path + "/counters", where, port.counters);
        if (!pma && port.link_layer == LinkLayer::infiniband) {
            problem(where, "",
                    fmt::format("driver {} shows no counters/", port.driver.empty() ? "(unknown)" : port.driver));
        }
        read_counters(path + "/counters_ext", where, port.counters); // kernels before 4.5
        if (!read_counters(path + "/hw_counters", where, port.counters)) {
            read_device_counters(device, only_port, where, port);
        }
        sysfs::mark_widths(port.counters);
        port.netdev = sysfs::find_netdev(device, port.number);
        if (port.link_layer == LinkLayer::ethernet) {
            read_netdev(device, where, port);
        }
    }

    /// Pauses, discards and priorities stand in the statistics of the port's network device alone.
    void read_netdev(const std::string &device, const std::string &where, HcaPort &port) {
        if (port.netdev.empty()) {
            problem(where, "", "its network device was not found: no statistics of pauses and discards");
            return;
        }
        const auto statistics = sysfs::netdev_statistics(root_, device, port.netdev);
        if (!statistics) {
            problem(where, "", "ethtool statistics: " + statistics.error().message);
            return;
        }
        for (const auto &[name, value] : *statistics) {
            const CounterInfo *info = find_counter(name);
            if (keep_ == NetdevStatistics::all || (info != nullptr && info->source == CounterSource::ethtool)) {
                port.counters.try_emplace(canonical_name(name), Reading::of(value));
            }
        }
    }

    /// Some drivers count per card. With one port that is the port's; with more it cannot be told whose.
    void read_device_counters(const std::string &device, bool only_port, const std::string &where, HcaPort &port) {
        if (only_port) {
            read_counters(device + "/hw_counters", where, port.counters);
        } else if (list_directory(device + "/hw_counters")) {
            problem(where, "", "hw_counters/ of this card counts all its ports together: not used");
        }
    }

    bool read_counters(const std::string &path, const std::string &where, Counters &counters) {
        AttributeDirectory directory(path);
        auto files = directory.names();
        if (!files) {
            if (files.error().code != Errc::not_found) {
                problem(where, "", files.error().message);
            }
            return false;
        }
        if (files->size() > most_files) {
            problem(where, "", fmt::format("only the first {} files of {} were read", most_files, path));
            files->resize(most_files);
        }
        for (const std::string &file : *files) {
            std::string_view content;
            if (!sysfs::is_setting(file)) {
                const int error = directory.read(file.c_str(), content);
                const Reading reading = sysfs::counter_from(error, content);
                sysfs::add_counter(counters, file, reading);
                if (!reading.value && reading.absence != Absence::unsupported) {
                    problem(where, canonical_name(file), reason_of(error, content));
                }
            }
        }
        return true;
    }

    NodeSnapshot &snapshot_;
    std::string root_;
    NetdevStatistics keep_;
};

} // namespace

NodeSnapshot read_node(const std::string &node, const std::string &sysfs_root, const std::string &proc_root,
                       NetdevStatistics keep) {
    NodeSnapshot snapshot;
    snapshot.node = node;
    snapshot.time_ns = wall_ns();
    const auto began = Deadline::Clock::now();
    snapshot.boot_id = AttributeDirectory(proc_root + "/sys/kernel/random").text("boot_id");
    NodeReader(snapshot, sysfs_root, keep).read();
    snapshot.took_ns = std::chrono::duration_cast<std::chrono::nanoseconds>(Deadline::Clock::now() - began).count();
    return snapshot;
}

} // namespace fabric_check
