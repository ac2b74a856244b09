// SPDX-License-Identifier: GPL-2.0-or-later
#include "textfiles/json.hpp"

#include "base/text.hpp"
#include "record/codec.hpp"
#include "textfiles/json_keys.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cctype>
#include <optional>

namespace fabric_check::textfiles {

namespace {

/// Events of `rdma -j statistic`: [{"ifname": "mlx5_0", "port": 1, "rx_write_requests": 0, ...}, ...].
class RdmaReader final : public nlohmann::json_sax<nlohmann::json> {
public:
    RdmaReader(Collector &collector, std::size_t line, std::string_view text)
        : collector_(collector), line_(line), text_(text) {}

    bool null() override { return missing(); }
    bool boolean(bool /*value*/) override { return known() ? missing() : true; }
    bool number_integer(number_integer_t /*value*/) override { return missing(); }
    bool number_unsigned(number_unsigned_t value) override {
        if (key_ == "port") {
            port_ = value;
        } else if (key_ == "lqpn" || key_ == "cntn") {
            one_queue_ = true;
        } else if (!key_.empty() && key_ != "ifindex" && key_ != "pid") {
            keep(Reading::of(value));
        }
        return true;
    }
    bool number_float(number_float_t /*value*/, const string_t & /*text*/) override { return missing(); }
    bool string(string_t &value) override {
        if (key_ == "ifname" || key_ == "dev" || key_ == "device") {
            device_ = printable(std::string_view(value).substr(0, 64));
        } else if (key_ == "port") {
            port_ = parse_u64(value).value_or(port_);
        } else if (known() || parse_u64(value)) {
            return missing(); // a count in quotes is none
        }
        return true;
    }
    bool binary(binary_t & /*value*/) override { return true; }
    bool start_object(std::size_t /*size*/) override {
        if (depth_++ == 0) {
            device_.clear();
            port_ = 1;
            one_queue_ = false;
            held_.clear();
        }
        key_.clear();
        return true;
    }
    bool key(string_t &value) override {
        key_ = value;
        return true;
    }
    bool end_object() override {
        if (--depth_ == 0) {
            give();
        }
        key_.clear();
        return true;
    }
    bool start_array(std::size_t /*size*/) override { return true; }
    bool end_array() override { return true; }
    bool parse_error(std::size_t position, const std::string & /*token*/,
                     const nlohmann::detail::exception & /*error*/) override {
        const auto at = std::min(position, text_.size());
        const auto lines = std::count(text_.begin(), text_.begin() + static_cast<std::ptrdiff_t>(at), '\n');
        collector_.problem(line_ + static_cast<std::size_t>(lines),
                           at >= text_.size() ? "the JSON breaks off here" : "not valid JSON from here on");
        if (at >= text_.size() && !held_.empty() && !text_.empty() &&
            std::isdigit(static_cast<unsigned char>(text_.back())) != 0) {
            held_.back().second = Reading::missing(Absence::unparsable); // digits may be lost
        }
        give();
        gave_ = true; // that is the problem to tell
        return false;
    }
    bool gave() const noexcept { return gave_; }

private:
    void keep(Reading reading) {
        if (key_.size() <= 128 && printable(key_) == key_) {
            if (held_.size() < Collector::most_counters || known()) {
                held_.emplace_back(key_, reading);
            } else if (held_.size() == Collector::most_counters) {
                collector_.too_many(line_);
            }
        }
    }
    bool known() const { return !key_.empty() && find_counter(key_) != nullptr; }
    bool missing() {
        if (!key_.empty()) {
            keep(Reading::missing(Absence::unparsable));
        }
        return true;
    }
    void give() {
        if (one_queue_) {
            collector_.problem(line_, "counters of single queue pairs: not used, the port's are needed");
        } else if (!device_.empty() && !held_.empty()) {
            const Collector::Port port =
                collector_.port(KeyKind::device, fmt::format("{}:{}", device_, port_), Tool::tree);
            for (const auto &[name, reading] : held_) {
                if (!reading.value) {
                    collector_.problem(line_, fmt::format("{} of {}: not a count", name, device_));
                }
                const Names::Id id = collector_.name(port, name, line_);
                if (id != Names::none) {
                    collector_.add(port, id, reading, line_);
                }
            }
        } else if (!held_.empty()) {
            collector_.problem(line_, "JSON that names no device: not used");
        }
        gave_ = gave_ || one_queue_ || !held_.empty();
        held_.clear();
        device_.clear();
        one_queue_ = false;
    }

    Collector &collector_;
    std::size_t line_;
    std::string_view text_;
    std::string key_, device_;
    std::uint64_t port_ = 1;
    unsigned depth_ = 0;
    bool one_queue_ = false, gave_ = false;
    std::vector<std::pair<std::string, Reading>> held_;
};

/// All of the port but its counters, which are many.
std::shared_ptr<const HcaPort> card_of(const HcaPort &port) {
    auto card = std::make_shared<HcaPort>();
    card->device = port.device;
    card->driver = port.driver;
    card->number = port.number;
    card->guid = port.guid;
    card->lid = port.lid;
    card->lmc = port.lmc;
    card->link_layer = port.link_layer;
    card->state = port.state;
    card->phys_state = port.phys_state;
    card->rate = port.rate;
    card->netdev = port.netdev;
    card->pci = port.pci;
    card->model = port.model;
    card->pcie = port.pcie;
    return card;
}

/// "ports[0].counters.PortRcvErrors": the port's place; nullopt: not a counter.
std::optional<std::size_t> port_of(const RepeatedKey &key) {
    const bool counter = key.path.size() == 4 && key.path[0] == "ports" && key.path[2] == "counters";
    return counter ? parse_u64(key.path[1]) : std::nullopt;
}

void snapshot(const std::string &text, std::size_t line, Collector &collector) {
    const auto decoded = decode_snapshot(text);
    if (!decoded) {
        collector.problem(line, decoded.error().message);
        return;
    }
    const std::vector<RepeatedKey> repeated = repeated_keys(text);
    for (const RepeatedKey &key : repeated) {
        if (!port_of(key)) {
            collector.problem(line, given_twice(key.text()) + ": the snapshot is not used");
            return;
        }
    }
    for (std::size_t at = 0; at < decoded->ports.size(); ++at) {
        const HcaPort &port = decoded->ports[at];
        PortCounters found;
        found.kind = KeyKind::device;
        found.port = decoded->node.empty() ? port.name() : decoded->node + "/" + port.name();
        found.driver = port.driver;
        found.boot_id = decoded->boot_id;
        found.time_ns = decoded->time_ns;
        found.link_layer = port.link_layer;
        found.node = decoded->node;
        found.hca = card_of(port);
        std::vector<std::string> aliases;
        found.counters = CounterList(port.counters, &aliases);
        for (const std::string &name : aliases) {
            collector.problem(line, given_twice(fmt::format("{} of {}", name, found.port), "one of its other names"));
        }
        for (const RepeatedKey &key : repeated) {
            if (port_of(key) == at) {
                collector.problem(line, given_twice(fmt::format("{} of {}", printable(key.path.back()), found.port)));
                found.counters.dispute(canonical_name(key.path.back()));
            }
        }
        collector.whole(std::move(found));
    }
    if (decoded->ports.empty()) {
        collector.problem(line, "a snapshot without ports");
    }
}

} // namespace

std::size_t json_extent(std::string_view text) noexcept {
    std::size_t depth = 0;
    bool quoted = false;
    for (std::size_t at = 0; at < text.size(); ++at) {
        const char c = text[at];
        if (quoted) {
            if (c == '\\') {
                ++at;
            } else if (c == '"') {
                quoted = false;
            }
        } else if (c == '"') {
            quoted = true;
        } else if (c == '{' || c == '[') {
            ++depth;
        } else if ((c == '}' || c == ']') && --depth == 0) {
            return at + 1;
        }
    }
    return text.size();
}

void parse_json(std::string_view text, std::size_t line, Collector &collector) {
    // A key that both have would be a device's counter: ours are told by their schema.
    if (text.starts_with('{') && text.substr(0, 256).find("\"schema\"") != std::string_view::npos) {
        snapshot(std::string(text), line, collector);
        return;
    }
    RdmaReader reader(collector, line, text);
    nlohmann::json::sax_parse(text.begin(), text.end(), &reader);
    if (!reader.gave()) {
        collector.problem(line, "JSON without counters: neither a snapshot nor the output of rdma -j statistic");
    }
}

} // namespace fabric_check::textfiles
