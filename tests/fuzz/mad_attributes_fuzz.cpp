// SPDX-License-Identifier: GPL-2.0-or-later
// Answers off the wire: first through the engine, as datagrams of any length and header, then straight into every
// decoder.
#include "mad/attributes.hpp"
#include "mad/engine.hpp"
#include "mad/port_reader.hpp"

#include <algorithm>
#include <cstdlib>
#include <cstring>

namespace {

using namespace fabric_check;
using namespace fabric_check::mad;

/// Answers each request with the next piece of the input laid over an otherwise right reply.
class Hostile : public Transport {
public:
    explicit Hostile(Data input) : input_(input) {}
    Status send(const Address &, const Mad &mad, std::chrono::milliseconds) override {
        last_ = mad;
        pending_ = true;
        return {};
    }
    Result<Received> receive(std::chrono::milliseconds wait) override {
        Received received;
        if (!pending_ || input_.empty()) {
            now_ += wait;
            return received;
        }
        pending_ = false;
        received.kind = (input_[0] & 1U) != 0 ? Received::Kind::timed_out : Received::Kind::reply;
        received.length = std::min<std::size_t>(input_[0] * 2U, mad_size);
        received.mad = last_;
        received.mad[3] = 0x81;
        const std::size_t take = std::min<std::size_t>(input_.size() - 1, 96);
        const std::size_t offset = (input_[0] & 2U) != 0 ? 0 : 64;
        std::copy_n(input_.begin() + 1, take, received.mad.begin() + static_cast<std::ptrdiff_t>(offset));
        input_ = input_.subspan(1 + take);
        return received;
    }
    Clock::time_point now() const override { return now_; }

private:
    Data input_;
    Mad last_{};
    bool pending_ = false;
    Clock::time_point now_ = Clock::now();
};

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t *bytes, std::size_t size) {
    const Data data(bytes, size);

    Hostile transport(data);
    EngineOptions options;
    options.window = 1;
    Engine engine(transport, options);
    PortReader reader(engine);
    unsigned told = 0;
    for (unsigned port = 1; port <= 2; ++port)
        reader.ask(5, port, [&](PortReading reading) {
            ++told;
            if (reading.counters.empty())
                std::abort();
        });
    engine.run();
    if (told != 2)
        std::abort();

    PmaCapabilities caps;
    if (const auto decoded = decode_class_port_info(data))
        caps = *decoded;
    Counters counters;
    decode_port_counters(caps, size > 1 ? bytes[1] : 0, data, counters);
    decode_port_counters_extended(caps, size > 1 ? bytes[1] : 0, data, counters);
    for (const auto &[name, reading] : counters)
        if (reading.value && reading.width < 64 && *reading.value >> reading.width != 0)
            std::abort(); // more than the field holds
    if (const auto info = decode_port_info(data)) {
        (void)info->rate(true);
        (void)info->rate(false);
        (void)info->state_name();
        (void)info->phys_state_name();
    }
    if (const auto info = decode_switch_info(data))
        if (info->blocks() == 0 || info->blocks() > 768)
            std::abort();
    (void)decode_lft_block(data);
    if (const auto info = decode_sm_info(data))
        if (info->priority > 15 || info->state > 15)
            std::abort();
    (void)decode_adaptive_routing(data);
    return 0;
}
