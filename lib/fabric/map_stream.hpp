// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <type_traits>

/// The byte stream of a map's variable part: numbers little endian, texts with their length in front.
namespace fabric_check::fabric::image {

inline constexpr std::size_t max_speed_name = 15;

class StreamWriter {
public:
    template <class T> void number(T value) {
        auto bits = std::make_unsigned_t<T>(value);
        for (std::size_t i = 0; i < sizeof(T); ++i) {
            bytes_.push_back(char(bits & 0xff));
            if constexpr (sizeof(T) > 1)
                bits = std::make_unsigned_t<T>(bits >> 8);
        }
    }
    void real(double value) { number(std::bit_cast<std::uint64_t>(value)); }
    void text(const std::string &value) {
        number(std::uint32_t(value.size()));
        bytes_ += value;
    }
    std::string &bytes() { return bytes_; }

private:
    std::string bytes_;
};

/// Reads within its bounds only; after the first short read everything is zero and ok() is false.
class StreamReader {
public:
    explicit StreamReader(std::span<const std::uint8_t> bytes) : bytes_(bytes) {}
    bool ok() const { return ok_; }
    std::size_t left() const { return bytes_.size() - at_; }
    template <class T> T number() {
        const auto data = raw(sizeof(T));
        std::uint64_t value = 0;
        for (std::size_t i = 0; i < data.size(); ++i)
            value |= std::uint64_t(data[i]) << (8 * i);
        return T(value);
    }
    double real() { return std::bit_cast<double>(number<std::uint64_t>()); }
    std::string text() {
        const auto data = raw(number<std::uint32_t>());
        return {data.begin(), data.end()};
    }

private:
    std::span<const std::uint8_t> raw(std::size_t size) {
        if (!ok_ || size > left()) {
            ok_ = false;
            return {};
        }
        const auto out = bytes_.subspan(at_, size);
        at_ += size;
        return out;
    }

    std::span<const std::uint8_t> bytes_;
    std::size_t at_ = 0;
    bool ok_ = true;
};

} // namespace fabric_check::fabric::image
