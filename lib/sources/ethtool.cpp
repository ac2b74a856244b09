// SPDX-License-Identifier: GPL-2.0-or-later
#include "sources/ethtool.hpp"

#include "base/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <linux/ethtool.h>
#include <linux/sockios.h>
#include <net/if.h>
#include <new>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

namespace fabric_check::ethtool {

namespace {

static_assert(name_size == ETH_GSTRING_LEN);

using Bytes = std::vector<std::uint8_t>;

constexpr int attempts = 2;

/// A field of an answer; nothing when it is too short.
template <class T> std::optional<T> field(std::span<const std::uint8_t> bytes, std::size_t offset) {
    T value{};
    if (bytes.size() < sizeof value || offset > bytes.size() - sizeof value) {
        return std::nullopt;
    }
    std::memcpy(&value, bytes.data() + offset, sizeof value);
    return value;
}

/// How many entries of `entry` bytes the answer says it has and has room for.
Result<std::uint32_t> entries(std::span<const std::uint8_t> answer, std::size_t count_at, std::size_t header,
                              std::size_t entry) {
    const auto count = field<std::uint32_t>(answer, count_at);
    if (!count || answer.size() < header) {
        return Error{Errc::malformed, "the kernel's answer is too short"};
    }
    if (*count > most_statistics) {
        return Error{Errc::malformed,
                     fmt::format("the kernel says {} statistics, more than {}", *count, most_statistics)};
    }
    if (*count > (answer.size() - header) / entry) {
        return Error{Errc::malformed, "the kernel's answer is shorter than it says"};
    }
    return *count;
}

bool is_name(std::string_view name) noexcept {
    return !name.empty() && std::all_of(name.begin(), name.end(), [](unsigned char c) { return c > 0x20 && c < 0x7f; });
}

Error error_of(const std::string &netdev, int error) {
    const Errc code = error == ENODEV       ? Errc::not_found
                      : error == EOPNOTSUPP ? Errc::unsupported
                                            : Errc::unavailable;
    char text[128];
    return {code, error == EOPNOTSUPP ? fmt::format("{}: its driver shows no statistics", netdev)
                                      : fmt::format("{}: {}", netdev, strerror_r(error, text, sizeof text))};
}

/// The kernel writes as many entries as it has at that moment, whatever the caller has room for: room for twice the most.
/// Mapped, not allocated: of the megabyte only what the kernel writes to becomes memory.
class Answer {
public:
    Answer(std::size_t header, std::size_t entry) : size_(header + 2 * most_statistics * entry) {
        void *memory = ::mmap(nullptr, size_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (memory == MAP_FAILED) {
            throw std::bad_alloc();
        }
        data_ = static_cast<std::uint8_t *>(memory);
    }
    Answer(const Answer &) = delete;
    Answer &operator=(const Answer &) = delete;
    ~Answer() { ::munmap(data_, size_); }
    std::uint8_t *data() noexcept { return data_; }
    std::span<const std::uint8_t> bytes() const noexcept { return {data_, size_}; }

private:
    std::uint8_t *data_ = nullptr;
    std::size_t size_;
};

Result<Statistics> try_once(const std::string &netdev, const Ioctl &ioctl) {
    Bytes info(sizeof(ethtool_sset_info) + 64 * sizeof(std::uint32_t));
    ethtool_sset_info head{};
    head.cmd = ETHTOOL_GSSET_INFO;
    head.sset_mask = std::uint64_t{1} << ETH_SS_STATS;
    std::memcpy(info.data(), &head, sizeof head);
    if (const int error = ioctl(netdev, info.data()); error != 0) {
        return error_of(netdev, error);
    }
    const auto count = decode_count(info);
    if (!count) {
        return Error{count.error().code, netdev + ": " + count.error().message};
    }
    if (*count == 0) {
        return error_of(netdev, EOPNOTSUPP);
    }
    Answer names(sizeof(ethtool_gstrings), name_size);
    ethtool_gstrings wanted{};
    wanted.cmd = ETHTOOL_GSTRINGS;
    wanted.string_set = ETH_SS_STATS;
    wanted.len = *count;
    std::memcpy(names.data(), &wanted, sizeof wanted);
    if (const int error = ioctl(netdev, names.data()); error != 0) {
        return error_of(netdev, error);
    }
    Answer values(sizeof(ethtool_stats), sizeof(std::uint64_t));
    ethtool_stats asked{};
    asked.cmd = ETHTOOL_GSTATS;
    asked.n_stats = *count;
    std::memcpy(values.data(), &asked, sizeof asked);
    if (const int error = ioctl(netdev, values.data()); error != 0) {
        return error_of(netdev, error);
    }
    auto statistics = decode_statistics(names.bytes(), values.bytes());
    if (!statistics) {
        return Error{statistics.error().code, netdev + ": " + statistics.error().message};
    }
    return statistics;
}

} // namespace

bool is_netdev_name(std::string_view name) noexcept {
    return name.size() < IFNAMSIZ && is_name(name) && name.find('/') == std::string_view::npos && name != "." &&
           name != "..";
}

Ioctl kernel_ioctl() {
    return [](const std::string &netdev, void *data) {
        const int fd = ::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
        if (fd < 0) {
            return errno;
        }
        ifreq request{};
        std::copy_n(netdev.begin(), std::min<std::size_t>(netdev.size(), IFNAMSIZ - 1), request.ifr_name);
        request.ifr_data = static_cast<char *>(data);
        const int error = ::ioctl(fd, SIOCETHTOOL, &request) == 0 ? 0 : errno;
        ::close(fd);
        return error;
    };
}

Result<std::uint32_t> decode_count(std::span<const std::uint8_t> answer) {
    const auto mask = field<std::uint64_t>(answer, offsetof(ethtool_sset_info, sset_mask));
    if (!mask) {
        return Error{Errc::malformed, "the kernel's answer is too short"};
    }
    if ((*mask >> ETH_SS_STATS & 1) == 0) { // the kernel clears the bits of sets that are not there
        return std::uint32_t{0};
    }
    const auto count = field<std::uint32_t>(answer, sizeof(ethtool_sset_info));
    if (!count) {
        return Error{Errc::malformed, "the kernel's answer is too short"};
    }
    if (*count > most_statistics) {
        return Error{Errc::malformed,
                     fmt::format("the kernel says {} statistics, more than {}", *count, most_statistics)};
    }
    return *count;
}

Result<Statistics> decode_statistics(std::span<const std::uint8_t> names, std::span<const std::uint8_t> values) {
    const auto name_count = entries(names, offsetof(ethtool_gstrings, len), sizeof(ethtool_gstrings), name_size);
    if (!name_count) {
        return name_count.error();
    }
    const auto value_count =
        entries(values, offsetof(ethtool_stats, n_stats), sizeof(ethtool_stats), sizeof(std::uint64_t));
    if (!value_count) {
        return value_count.error();
    }
    if (*name_count != *value_count) {
        return Error{Errc::unavailable, fmt::format("{} names for {} statistics: they changed while they were read",
                                                    *name_count, *value_count)};
    }
    Statistics statistics;
    for (std::size_t i = 0; i < *name_count; ++i) {
        const auto raw = names.subspan(sizeof(ethtool_gstrings) + i * name_size, name_size);
        const auto end = std::find(raw.begin(), raw.end(), std::uint8_t{0}); // a full field has no end
        const std::string_view name = trim(
            {reinterpret_cast<const char *>(raw.data()), static_cast<std::size_t>(end - raw.begin())});
        if (is_name(name)) {
            statistics.emplace(
                name, *field<std::uint64_t>(values, sizeof(ethtool_stats) + i * sizeof(std::uint64_t)));
        }
    }
    return statistics;
}

Result<Statistics> read_statistics(const std::string &netdev, const Ioctl &ioctl) {
    if (!is_netdev_name(netdev)) {
        return Error{Errc::malformed, fmt::format("\"{}\" is no network device", printable(netdev))};
    }
    Result<Statistics> statistics = try_once(netdev, ioctl);
    for (int i = 1; i < attempts && !statistics && statistics.error().code == Errc::unavailable; ++i) {
        statistics = try_once(netdev, ioctl);
    }
    return statistics;
}

Result<Statistics> parse_statistics(std::string_view text) {
    Statistics statistics;
    for (const std::string_view line : split(text, '\n')) {
        const auto colon = line.rfind(':');
        if (colon == std::string_view::npos) {
            continue;
        }
        const std::string_view name = trim(line.substr(0, colon));
        const auto value = parse_u64(trim(line.substr(colon + 1)));
        if (!value || !is_name(name)) {
            continue;
        }
        if (statistics.size() == most_statistics) {
            return Error{Errc::malformed, fmt::format("more than {} statistics", most_statistics)};
        }
        statistics.emplace(name, *value);
    }
    return statistics;
}

} // namespace fabric_check::ethtool
