// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "mad/engine.hpp"
#include "mad/transport.hpp"

#include <infiniband/mad.h>

#include <algorithm>
#include <functional>
#include <map>
#include <optional>
#include <vector>

namespace fabric_check::mad {

/// A MAD as it was sent.
struct Sent {
    Address to;
    Mad mad;
    std::uint16_t attribute = 0;
    std::uint32_t modifier = 0;
    std::uint8_t port_select = 0;
    std::uint32_t id = 0;
    Transport::Clock::time_point at;
};

/// A fabric with a clock of its own: nothing waits, time jumps to the next event.
class FakeTransport : public Transport {
public:
    struct Event {
        std::chrono::milliseconds delay{0};
        Received received;
    };
    /// What happens after a send; empty: silence.
    std::function<std::vector<Event>(const Sent &)> answer;
    std::vector<Sent> sent;
    unsigned most_outstanding = 0;
    std::map<std::pair<MadClass, std::uint16_t>, unsigned> most_by_lid;
    unsigned room = 1000000; ///< sends refused as "not now" above this many outstanding
    std::optional<Error> broken;
    unsigned receives = 0;
    unsigned cap = Transport::most_outstanding; ///< max_outstanding()
    std::map<std::uint16_t, unsigned> pkeys;    ///< index_of_pkey()

    Status send(const Address &to, const Mad &mad, std::chrono::milliseconds) override {
        if (open_.size() >= room)
            return Error{Errc::unavailable, "full"};
        Sent one{to, mad, 0, 0, 0, 0, now_};
        Mad copy = mad;
        one.attribute = static_cast<std::uint16_t>(mad_get_field(copy.data(), 0, IB_MAD_ATTRID_F));
        one.modifier = mad_get_field(copy.data(), 0, IB_MAD_ATTRMOD_F);
        one.port_select = copy[65];
        one.id = static_cast<std::uint32_t>(mad_get_field64(copy.data(), 0, IB_MAD_TRID_F));
        sent.push_back(one);
        open_[one.id] = {to.mad_class, to.lid};
        most_outstanding = std::max(most_outstanding, static_cast<unsigned>(open_.size()));
        unsigned same = 0;
        for (const auto &[id, where] : open_)
            same += where == std::pair{to.mad_class, to.lid} ? 1 : 0;
        auto &most = most_by_lid[{to.mad_class, to.lid}];
        most = std::max(most, same);
        if (answer)
            for (Event &event : answer(one))
                events_.emplace(now_ + event.delay, event.received);
        return {};
    }

    Result<Received> receive(std::chrono::milliseconds wait) override {
        ++receives;
        if (broken)
            return *broken;
        if (!events_.empty() && events_.begin()->first <= now_ + wait) {
            auto first = events_.begin();
            now_ = std::max(now_, first->first);
            Received received = first->second;
            events_.erase(first);
            Mad copy = received.mad;
            open_.erase(static_cast<std::uint32_t>(mad_get_field64(copy.data(), 0, IB_MAD_TRID_F)));
            return received;
        }
        now_ += wait;
        return Received{};
    }

    Clock::time_point now() const override { return now_; }
    unsigned max_outstanding() const override { return cap; }
    std::optional<unsigned> index_of_pkey(std::uint16_t pkey) const override {
        const auto at = pkeys.find(pkey);
        return at == pkeys.end() ? std::nullopt : std::optional(at->second);
    }
    unsigned outstanding() const { return static_cast<unsigned>(open_.size()); }
    std::chrono::milliseconds elapsed() const {
        return std::chrono::duration_cast<std::chrono::milliseconds>(now_ - start_);
    }

private:
    Clock::time_point start_ = Clock::now();
    Clock::time_point now_ = start_;
    std::multimap<Clock::time_point, Received> events_;
    std::map<std::uint32_t, std::pair<MadClass, std::uint16_t>> open_;
};

/// The answer to a request: its header with the response bit, high transaction bits as the kernel sets them, and
/// attribute data.
inline Received reply_to(const Sent &sent, const std::vector<std::uint8_t> &data = {}, std::uint16_t status = 0) {
    Received received;
    received.kind = Received::Kind::reply;
    received.length = mad_size;
    received.mad = sent.mad;
    mad_set_field(received.mad.data(), 0, IB_MAD_METHOD_F, 1);
    mad_set_field(received.mad.data(), 0, IB_MAD_RESPONSE_F, 1);
    mad_set_field(received.mad.data(), 0, IB_MAD_STATUS_F, status);
    mad_set_field64(received.mad.data(), 0, IB_MAD_TRID_F, 0xabcd000000000000ULL | sent.id);
    std::copy(data.begin(), data.end(), received.mad.begin() + 64);
    return received;
}

/// As ib_umad gives a request up: the header only.
inline Received timeout_of(const Sent &sent) {
    Received received = reply_to(sent);
    received.kind = Received::Kind::timed_out;
    received.length = 24;
    std::fill(received.mad.begin() + 24, received.mad.end(), std::uint8_t{0});
    return received;
}

} // namespace fabric_check::mad
