// SPDX-License-Identifier: GPL-2.0-or-later
#include "mad/transport.hpp"

#include <infiniband/mad.h>
#include <infiniband/umad.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>

namespace fabric_check::mad {

namespace {

std::string port_name(const std::string &device, unsigned port) {
    return (device.empty() ? "umad" : "umad of " + device) + (port ? ":" + std::to_string(port) : "");
}

} // namespace

Status umad_present(const std::string &device, unsigned port) {
    umad_port_t found;
    if (umad_init() < 0 ||
        umad_get_port(device.empty() ? nullptr : device.c_str(), static_cast<int>(port), &found) < 0)
        return Error{Errc::unavailable,
                     device.empty() ? "umad: no active InfiniBand port on this host (is a card there, its driver "
                                      "loaded, its link up?)"
                                    : port_name(device, port) + ": there is no such port on this host"};
    umad_release_port(&found);
    return {};
}

void UmadTransport::Free::operator()(void *buffer) const { std::free(buffer); }

UmadTransport::UmadTransport(int port_id, int smp_agent, int gmp_agent, void *out, void *in)
    : port_id_(port_id), smp_agent_(smp_agent), gmp_agent_(gmp_agent), out_(out), in_(in) {}

Result<std::unique_ptr<UmadTransport>> UmadTransport::open(const std::string &device, unsigned port) {
    if (auto present = umad_present(device, port); !present)
        return present.error();
    const int port_id = umad_open_port(device.empty() ? nullptr : device.c_str(), static_cast<int>(port));
    if (port_id < 0) {
        const int error = port_id == -EACCES || port_id == -EPERM ? -port_id : errno;
        if (error == EACCES || error == EPERM)
            return Error{Errc::denied, port_name(device, port) + ": no permission to send MADs (root is needed)"};
        return Error{Errc::unavailable, port_name(device, port) +
                                            ": no usable InfiniBand port (is one active, and ib_umad loaded?)"};
    }
    // Class 0x01 alone lets us send SMPs by LID; directed routes (0x81) are libibnetdisc's.
    const int smp = umad_register(port_id, IB_SMI_CLASS, 1, 0, nullptr);
    const int gmp = umad_register(port_id, IB_PERFORMANCE_CLASS, 1, 0, nullptr);
    void *out = std::calloc(1, umad_size() + mad_size);
    void *in = std::calloc(1, umad_size() + mad_size);
    if (smp < 0 || gmp < 0 || !out || !in) {
        std::free(out);
        std::free(in);
        umad_close_port(port_id);
        return Error{Errc::unavailable, port_name(device, port) + ": the kernel refused a MAD agent"};
    }
    return std::unique_ptr<UmadTransport>(new UmadTransport(port_id, smp, gmp, out, in));
}

UmadTransport::~UmadTransport() {
    umad_unregister(port_id_, smp_agent_);
    umad_unregister(port_id_, gmp_agent_);
    umad_close_port(port_id_);
}

Status UmadTransport::send(const Address &to, const Mad &mad, std::chrono::milliseconds timeout) {
    void *umad = out_.get();
    std::memset(umad, 0, umad_size());
    umad_set_grh(umad, nullptr);
    umad_set_pkey(umad, static_cast<int>(to.pkey_index));
    umad_set_addr(umad, to.lid, static_cast<int>(to.qp), static_cast<int>(to.sl), static_cast<int>(to.qkey));
    std::memcpy(umad_get_mad(umad), mad.data(), mad_size);
    errno = 0;
    const int agent = to.mad_class == MadClass::smp ? smp_agent_ : gmp_agent_;
    if (umad_send(port_id_, agent, umad, mad_size, static_cast<int>(timeout.count()), 0) == 0)
        return {};
    if (errno == EAGAIN || errno == EWOULDBLOCK || errno == ENOMEM || errno == ENOBUFS)
        return Error{Errc::unavailable, std::string("umad: ") + std::strerror(errno)};
    return Error{Errc::io, std::string("umad: cannot send: ") + std::strerror(errno ? errno : EIO)};
}

Result<Received> UmadTransport::receive(std::chrono::milliseconds wait) {
    Received received;
    void *umad = in_.get();
    std::memset(umad, 0, umad_size());
    // umad_recv overwrites the length on errors too, so that it starts afresh each time.
    int length = static_cast<int>(mad_size);
    errno = 0;
    const int agent = umad_recv(port_id_, umad, &length, static_cast<int>(std::max<std::int64_t>(1, wait.count())));
    if (agent < 0) {
        if (agent == -ETIMEDOUT || agent == -EWOULDBLOCK || errno == ETIMEDOUT || errno == EAGAIN || errno == EINTR)
            return received;
        return Error{Errc::unavailable, std::string("umad: cannot receive: ") + std::strerror(errno ? errno : -agent)};
    }
    received.length = std::clamp<std::size_t>(length < 0 ? 0 : static_cast<std::size_t>(length), 0, mad_size);
    std::memcpy(received.mad.data(), umad_get_mad(umad), received.length);
    // Any status (ETIMEDOUT, or EIO when the port went down) means that this request gets no answer.
    received.kind = umad_status(umad) ? Received::Kind::timed_out : Received::Kind::reply;
    return received;
}

} // namespace fabric_check::mad
