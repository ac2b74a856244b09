// SPDX-License-Identifier: GPL-2.0-or-later
#include "mad/session.hpp"

#include "base/clock.hpp"
#include "base/text.hpp"
#include "mad/ceiling.hpp"

#include <fmt/format.h>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <string_view>

namespace fabric_check::mad {

namespace {

constexpr std::size_t longest_key = 256;

struct Descriptor {
    int number;
    explicit Descriptor(int n) : number(n) {}
    ~Descriptor() {
        if (number >= 0)
            close(number);
    }
    Descriptor(const Descriptor &) = delete;
    Descriptor &operator=(const Descriptor &) = delete;
};

} // namespace

Result<std::uint64_t> read_m_key(const std::string &path) {
    if (path.empty())
        return std::uint64_t{0};
    const std::string object = "mad.m_key_file " + path;
    // Not a FIFO that would hold us, and looked at before it is read.
    const Descriptor file(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
    struct stat about {};
    if (file.number < 0 || fstat(file.number, &about) != 0)
        return errno_error(object, errno);
    if (!S_ISREG(about.st_mode))
        return Error{Errc::usage, object + ": not a regular file"};
    if ((about.st_mode & (S_IRWXG | S_IRWXO)) != 0)
        return Error{Errc::denied, fmt::format("{}: mode {:04o} lets others than its owner at the key: chmod 0600 {}",
                                               object, about.st_mode & 07777U, path)};
    char buffer[longest_key];
    const ssize_t got = read(file.number, buffer, sizeof buffer);
    if (got < 0)
        return errno_error(object, errno);
    const bool too_long = static_cast<std::size_t>(got) == sizeof buffer;
    std::string_view text = trim(std::string_view(buffer, static_cast<std::size_t>(got)));
    if (text.starts_with("0x") || text.starts_with("0X"))
        text.remove_prefix(2);
    std::uint64_t key = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), key, 16);
    if (too_long || error != std::errc() || end != text.data() + text.size())
        return Error{Errc::usage, object + ": write the subnet's M_Key into it, one hexadecimal number of at most 16 "
                                           "digits (0x0123456789abcdef), and nothing else"};
    return key;
}

EngineOptions session_options(const Config &config, const UmadTransport &transport, std::uint64_t m_key) {
    const LocalPort &local = transport.local();
    EngineOptions options = engine_options(config.mad);
    if (options.max_per_second > 0)
        options.ceiling =
            std::make_shared<FileCeiling>(config.spool + "/samples/mads", options.max_per_second, wall_ns);
    options.m_key = m_key;
    options.own_guid = local.guid;
    if (config.mad.sl == "auto")
        options.ask_sl = SlQuery{local.lid, local.sm_lid, local.sm_sl};
    return options;
}

Result<Session> open_session(const Config &config) {
    const auto key = read_m_key(config.mad.m_key_file);
    if (!key)
        return key.error();
    auto transport = UmadTransport::open(config.mad.device, config.mad.port);
    if (!transport)
        return transport.error();
    Session session;
    session.transport = std::move(*transport);
    session.engine = std::make_unique<Engine>(*session.transport, session_options(config, *session.transport, *key));
    return session;
}

} // namespace fabric_check::mad
