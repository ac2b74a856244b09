// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "base/clock.hpp"
#include "base/result.hpp"

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

namespace fabric_check::mad {

/// A management datagram is always this long on the wire.
inline constexpr std::size_t mad_size = 256;
using Mad = std::array<std::uint8_t, mad_size>;

/// Which agent of a port answers: the SMA on QP0 (LID-routed SMPs) or the PMA on QP1.
enum class MadClass : std::uint8_t { smp, gmp };

/// Where a MAD goes.
struct Address {
    MadClass mad_class = MadClass::smp;
    std::uint16_t lid = 0;
    std::uint32_t qp = 0;
    std::uint32_t qkey = 0;
    unsigned pkey_index = 0;
    unsigned sl = 0;
};

/// What came back. The transaction is to be matched on the low 32 bits of its id only: the kernel owns the high ones.
struct Received {
    enum class Kind : std::uint8_t {
        nothing,   ///< none within the wait
        reply,     ///< `length` bytes of `mad` are valid
        timed_out, ///< the layer below gave a request up; only the header (24 bytes) of `mad` is valid
    };
    Kind kind = Kind::nothing;
    std::size_t length = 0; ///< valid bytes of `mad`, never more than mad_size
    Mad mad{};
};

/// A way to send MADs and get answers. Not thread-safe. Tests have one with a clock of its own.
class Transport {
public:
    using Clock = Deadline::Clock;
    virtual ~Transport() = default;
    /// `timeout`: after this the layer below may report Kind::timed_out; it never repeats by itself.
    /// Errc::unavailable: not now, once something was received there may be room.
    virtual Status send(const Address &to, const Mad &mad, std::chrono::milliseconds timeout) = 0;
    /// Waits at most `wait` (at least a millisecond). An error means that the device is gone.
    virtual Result<Received> receive(std::chrono::milliseconds wait) = 0;
    virtual Clock::time_point now() const { return Clock::now(); }
};

/// The real thing: one umad descriptor with an agent each for class 0x01 (SMPs by LID) and 0x04 (PMA).
class UmadTransport final : public Transport {
public:
    /// `device` empty and `port` 0: libibumad's choice, the first active InfiniBand port.
    /// Errc::unavailable when there is no such port or no umad, Errc::denied without the right to it.
    static Result<std::unique_ptr<UmadTransport>> open(const std::string &device, unsigned port);
    ~UmadTransport() override;
    UmadTransport(const UmadTransport &) = delete;
    UmadTransport &operator=(const UmadTransport &) = delete;

    Status send(const Address &to, const Mad &mad, std::chrono::milliseconds timeout) override;
    Result<Received> receive(std::chrono::milliseconds wait) override;

private:
    struct Free {
        void operator()(void *buffer) const;
    };
    UmadTransport(int port_id, int smp_agent, int gmp_agent, void *out, void *in);

    int port_id_;
    int smp_agent_;
    int gmp_agent_;
    std::unique_ptr<void, Free> out_, in_; ///< umad header and one MAD each
};

/// Is there such a port here (empty and 0: any active one)? libibumad and libibnetdisc complain on stderr without one,
/// so it is asked for first. The error names the remedy.
Status umad_present(const std::string &device, unsigned port);

} // namespace fabric_check::mad
