// SPDX-License-Identifier: GPL-2.0-or-later
#include "mad/transport.hpp"

#include <infiniband/mad.h>
#include <infiniband/umad.h>
#include <link.h>
#include <poll.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <string_view>

namespace fabric_check::mad {

namespace {

constexpr unsigned most_over_umad2sim = 128;

std::string port_name(const std::string &device, unsigned port) {
    return (device.empty() ? "umad" : "umad of " + device) + (port ? ":" + std::to_string(port) : "");
}

const char *name_or_null(const std::string &device) { return device.empty() ? nullptr : device.c_str(); }

bool over_umad2sim() {
    const auto is_it = [](dl_phdr_info *object, std::size_t, void *) -> int {
        return object->dlpi_name && std::string_view(object->dlpi_name).find("libumad2sim") != std::string_view::npos;
    };
    return dl_iterate_phdr(is_it, nullptr) != 0;
}

LocalPort local_port(const std::string &device, unsigned port) {
    LocalPort local;
    umad_port_t found;
    if (umad_get_port(name_or_null(device), static_cast<int>(port), &found) < 0)
        return local;
    local.lid = static_cast<std::uint16_t>(found.base_lid);
    local.sm_lid = static_cast<std::uint16_t>(found.sm_lid);
    local.sm_sl = static_cast<std::uint8_t>(found.sm_sl & 0x0fU);
    local.guid = be64toh(found.port_guid);
    if (found.pkeys)
        local.pkeys.assign(found.pkeys, found.pkeys + found.pkeys_size);
    umad_release_port(&found);
    return local;
}

/// A device and a port of it, as libibumad takes them; empty and 0: its choice.
struct Place {
    std::string device;
    unsigned port = 0;
};

/// Where SMPs leave, and where GMPs do.
struct Places {
    Place smi, gsi;
};

#ifdef FABRIC_CHECK_SMI_GSI_PAIRS
Places places_of(const std::string &device, unsigned port) {
    umad_ca_pair pair;
    std::memset(&pair, 0, sizeof pair);
    const Place plain{device, port};
    // Fails where it knows no such port; what is wrong with that, opening it says.
    if (umad_get_smi_gsi_pair_by_ca_name(name_or_null(device), static_cast<std::uint8_t>(port), &pair, 0) != 0 ||
        pair.gsi_name[0] == 0)
        return {plain, plain};
    const auto name = [](const char (&field)[UMAD_CA_NAME_LEN]) {
        return std::string(field, strnlen(field, sizeof field));
    };
    const Place gsi{name(pair.gsi_name), pair.gsi_preferred_port};
    if (pair.smi_name[0] == 0) // no SMI that we could use: SMPs go where they are refused or answered
        return {gsi, gsi};
    return {{name(pair.smi_name), pair.smi_preferred_port}, gsi};
}
#else
Places places_of(const std::string &device, unsigned port) { return {{device, port}, {device, port}}; }
#endif

} // namespace

Status umad_present(const std::string &device, unsigned port) {
    umad_port_t found;
    if (umad_init() < 0 || umad_get_port(name_or_null(device), static_cast<int>(port), &found) < 0)
        return Error{Errc::unavailable,
                     device.empty() ? "umad: no active InfiniBand port on this host (is a card there, its driver "
                                      "loaded, its link up?)"
                                    : port_name(device, port) + ": there is no such port on this host"};
    umad_release_port(&found);
    return {};
}

void UmadTransport::Free::operator()(void *buffer) const { std::free(buffer); }

Status UmadTransport::open_ports(const std::string &device, unsigned port) {
    const Places places = places_of(device, port);
    const auto open_one = [&](const Place &place, int &port_id) -> Status {
        port_id = umad_open_port(name_or_null(place.device), static_cast<int>(place.port));
        if (port_id >= 0)
            return {};
        const int error = port_id == -EACCES || port_id == -EPERM ? -port_id : errno;
        port_id = -1;
        const std::string name = port_name(place.device, place.port);
        if (error == EACCES || error == EPERM)
            return Error{Errc::denied, name + ": no permission to send MADs (root is needed)"};
        return Error{Errc::unavailable, name + ": no usable InfiniBand port (is one active, and ib_umad loaded?)"};
    };
    if (auto opened = open_one(places.gsi, gsi_port_); !opened)
        return opened;
    smi_port_ = gsi_port_;
    if (places.smi.device != places.gsi.device || places.smi.port != places.gsi.port) {
        int smi = -1;
        if (auto opened = open_one(places.smi, smi); !opened)
            return opened;
        smi_port_ = smi;
    }
    local_ = local_port(places.gsi.device, places.gsi.port);
    return register_agents(port_name(device, port));
}

Status UmadTransport::register_agents(const std::string &name) {
    // Class 0x01 alone lets us send SMPs by LID; directed routes (0x81) are libibnetdisc's. Of the SA one datagram is
    // asked, so that the kernel's RMPP is not needed.
    constexpr int sa_version = 2;
    const auto add = [&](MadClass mad_class, int port_id, int number, int version) {
        return (agents_[static_cast<std::size_t>(mad_class)] = umad_register(port_id, number, version, 0, nullptr)) >= 0;
    };
    if (!add(MadClass::smp, smi_port_, IB_SMI_CLASS, 1) || !add(MadClass::gmp, gsi_port_, IB_PERFORMANCE_CLASS, 1) ||
        !add(MadClass::sa, gsi_port_, IB_SA_CLASS, sa_version))
        return Error{Errc::unavailable, name + ": the kernel refused a MAD agent"};
    return {};
}

Result<std::unique_ptr<UmadTransport>> UmadTransport::open(const std::string &device, unsigned port) {
    if (auto present = umad_present(device, port); !present)
        return present.error();
    std::unique_ptr<UmadTransport> transport(new UmadTransport);
    if (auto opened = transport->open_ports(device, port); !opened)
        return opened.error();
    // Only now: opening the first port may make umad_size() larger (a kernel that takes a P_Key index).
    transport->out_.reset(std::calloc(1, umad_size() + mad_size));
    transport->in_.reset(std::calloc(1, umad_size() + mad_size));
    if (!transport->out_ || !transport->in_)
        return Error{Errc::unavailable, port_name(device, port) + ": out of memory"};
    if (over_umad2sim())
        transport->max_outstanding_ = most_over_umad2sim;
    return transport;
}

UmadTransport::~UmadTransport() {
    for (const MadClass mad_class : {MadClass::smp, MadClass::gmp, MadClass::sa})
        if (const int agent = agents_[static_cast<std::size_t>(mad_class)]; agent >= 0)
            umad_unregister(mad_class == MadClass::smp ? smi_port_ : gsi_port_, agent);
    if (smi_port_ >= 0 && split())
        umad_close_port(smi_port_);
    if (gsi_port_ >= 0)
        umad_close_port(gsi_port_);
}

std::optional<unsigned> UmadTransport::index_of_pkey(std::uint16_t pkey) const {
    const auto at = std::find(local_.pkeys.begin(), local_.pkeys.end(), pkey);
    if (at == local_.pkeys.end())
        return std::nullopt;
    return static_cast<unsigned>(at - local_.pkeys.begin());
}

Status UmadTransport::send(const Address &to, const Mad &mad, std::chrono::milliseconds timeout) {
    void *umad = out_.get();
    std::memset(umad, 0, umad_size());
    umad_set_grh(umad, nullptr);
    umad_set_pkey(umad, static_cast<int>(to.pkey_index));
    umad_set_addr(umad, to.lid, static_cast<int>(to.qp), static_cast<int>(to.sl), static_cast<int>(to.qkey));
    std::memcpy(umad_get_mad(umad), mad.data(), mad_size);
    errno = 0;
    const int port_id = to.mad_class == MadClass::smp ? smi_port_ : gsi_port_;
    if (umad_send(port_id, agents_[static_cast<std::size_t>(to.mad_class)], umad, mad_size,
                  static_cast<int>(timeout.count()), 0) == 0)
        return {};
    if (errno == EAGAIN || errno == EWOULDBLOCK || errno == ENOMEM || errno == ENOBUFS)
        return Error{Errc::unavailable, std::string("umad: ") + std::strerror(errno)};
    return Error{Errc::io, std::string("umad: cannot send: ") + std::strerror(errno ? errno : EIO)};
}

/// The agent whose answer came, or a negative errno; -EAGAIN: nothing did.
int UmadTransport::try_receive(int port_id, int wait_ms, int &length) {
    // umad_recv overwrites the length on errors too, so that it starts afresh each time.
    length = static_cast<int>(mad_size);
    errno = 0;
    const int agent = umad_recv(port_id, in_.get(), &length, wait_ms);
    if (agent >= 0)
        return agent;
    if (agent == -ETIMEDOUT || agent == -EWOULDBLOCK || errno == ETIMEDOUT || errno == EAGAIN || errno == EINTR)
        return -EAGAIN;
    return errno ? -errno : agent;
}

Result<Received> UmadTransport::receive(std::chrono::milliseconds wait) {
    const int wait_ms = static_cast<int>(std::max<std::int64_t>(0, wait.count()));
    std::memset(in_.get(), 0, umad_size());
    int length = 0;
    int agent = -EAGAIN;
    if (!split()) {
        // Descriptors do not block: while answers stand in line, none is polled for.
        agent = try_receive(gsi_port_, 0, length);
        if (agent == -EAGAIN && wait_ms > 0)
            agent = try_receive(gsi_port_, wait_ms, length);
    } else {
        const auto look = [&] {
            gsi_first_ = !gsi_first_; // neither may starve the other
            agent = try_receive(gsi_first_ ? gsi_port_ : smi_port_, 0, length);
            if (agent == -EAGAIN)
                agent = try_receive(gsi_first_ ? smi_port_ : gsi_port_, 0, length);
        };
        look();
        if (agent == -EAGAIN && wait_ms > 0) {
            pollfd both[] = {{umad_get_fd(smi_port_), POLLIN, 0}, {umad_get_fd(gsi_port_), POLLIN, 0}};
            if (poll(both, 2, wait_ms) > 0)
                look();
        }
    }
    Received received;
    if (agent == -EAGAIN)
        return received;
    if (agent < 0)
        return Error{Errc::unavailable, std::string("umad: cannot receive: ") + std::strerror(-agent)};
    received.length = std::clamp<std::size_t>(length < 0 ? 0 : static_cast<std::size_t>(length), 0, mad_size);
    std::memcpy(received.mad.data(), umad_get_mad(in_.get()), received.length);
    // Any status (ETIMEDOUT, or EIO when the port went down) means that this request gets no answer.
    received.kind = umad_status(in_.get()) ? Received::Kind::timed_out : Received::Kind::reply;
    return received;
}

} // namespace fabric_check::mad
