// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "base/clock.hpp"
#include "base/result.hpp"

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace fabric_check::mad {

/// A management datagram is always this long on the wire.
inline constexpr std::size_t mad_size = 256;
using Mad = std::array<std::uint8_t, mad_size>;

/// Which agent of a port answers: the SMA on QP0 (LID-routed SMPs), the PMA on QP1, or subnet administration on QP1.
enum class MadClass : std::uint8_t { smp, gmp, sa };

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
    /// What has come already, else what comes within `wait`. An error means that the device is gone.
    virtual Result<Received> receive(std::chrono::milliseconds wait) = 0;
    virtual Clock::time_point now() const { return Clock::now(); }
    /// How many MADs without an answer the layer below bears, those given up waiting for included.
    virtual unsigned max_outstanding() const { return most_outstanding; }
    /// Where this P_Key (membership bit included) stands in the local port's table; nothing: not in it.
    virtual std::optional<unsigned> index_of_pkey(std::uint16_t) const { return std::nullopt; }

    static constexpr unsigned most_outstanding = 1024;
};

/// What is known here of the port that MADs leave through.
struct LocalPort {
    std::uint16_t lid = 0;
    std::uint16_t sm_lid = 0; ///< 0: no subnet manager has been here
    std::uint8_t sm_sl = 0;   ///< to reach it
    std::uint64_t guid = 0;
    std::vector<std::uint16_t> pkeys; ///< the P_Key table
};

/// The real thing: an agent each for class 0x01 (SMPs by LID), 0x04 (PMA) and 0x03 (SA). All on one umad descriptor, but
/// for planarized ports, whose SMI and GSI are devices of their own; those rdma-core must know (since 56).
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
    /// 128 over umad2sim, which deadlocks above about 320.
    unsigned max_outstanding() const override { return max_outstanding_; }
    std::optional<unsigned> index_of_pkey(std::uint16_t pkey) const override;
    /// Of the port that GMPs leave through.
    const LocalPort &local() const noexcept { return local_; }

private:
    struct Free {
        void operator()(void *buffer) const;
    };
    UmadTransport() = default;
    Status open_ports(const std::string &device, unsigned port);
    Status register_agents(const std::string &name);
    bool split() const noexcept { return smi_port_ != gsi_port_; }
    int try_receive(int port_id, int wait_ms, int &length);

    int smi_port_ = -1, gsi_port_ = -1; ///< libibumad's; the same unless planarized
    int agents_[3] = {-1, -1, -1};      ///< by MadClass
    bool gsi_first_ = false;            ///< of two descriptors, the one to look at first
    unsigned max_outstanding_ = most_outstanding;
    LocalPort local_;
    std::unique_ptr<void, Free> out_, in_; ///< umad header and one MAD each
};

/// Is there such a port here (empty and 0: any active one)? libibumad and libibnetdisc complain on stderr without one,
/// so it is asked for first. The error names the remedy.
Status umad_present(const std::string &device, unsigned port);

} // namespace fabric_check::mad
