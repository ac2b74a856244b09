// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

namespace fabric_check::sample {

/// Appends numbers, lowest byte first, to a string.
class ByteWriter {
public:
    explicit ByteWriter(std::string &out) : out_(&out) {}
    void u8(std::uint8_t value) { out_->push_back(static_cast<char>(value)); }
    void u32(std::uint32_t value) { fixed(value, 4); }
    void u64(std::uint64_t value) { fixed(value, 8); }
    void i64(std::int64_t value) { u64(static_cast<std::uint64_t>(value)); }
    void real(double value) {
        std::uint64_t bits = 0;
        std::memcpy(&bits, &value, sizeof bits);
        u64(bits);
    }
    /// Seven bits a byte, the lowest first.
    void number(std::uint64_t value) {
        for (; value >= 0x80; value >>= 7U)
            u8(static_cast<std::uint8_t>(value | 0x80U));
        u8(static_cast<std::uint8_t>(value));
    }
    void bytes(std::string_view text) { out_->append(text); }
    void text(std::string_view text) {
        number(text.size());
        bytes(text);
    }

private:
    void fixed(std::uint64_t value, unsigned size) {
        for (unsigned i = 0; i < size; ++i)
            u8(static_cast<std::uint8_t>(value >> (8 * i)));
    }
    std::string *out_;
};

/// Reads what ByteWriter wrote, from bytes that nobody vouches for: past the end everything is zero and ok() false.
class ByteReader {
public:
    explicit ByteReader(std::string_view bytes) : left_(bytes) {}
    bool ok() const noexcept { return ok_; }
    bool at_end() const noexcept { return left_.empty(); }
    std::size_t left() const noexcept { return left_.size(); }
    void fail() noexcept {
        ok_ = false;
        left_ = {};
    }
    std::string_view bytes(std::uint64_t size) {
        if (size > left_.size()) {
            fail();
            return {};
        }
        const auto taken = left_.substr(0, size);
        left_.remove_prefix(size);
        return taken;
    }
    std::uint8_t u8() { return static_cast<std::uint8_t>(fixed(1)); }
    std::uint32_t u32() { return static_cast<std::uint32_t>(fixed(4)); }
    std::uint64_t u64() { return fixed(8); }
    std::int64_t i64() { return static_cast<std::int64_t>(fixed(8)); }
    double real() {
        const std::uint64_t bits = fixed(8);
        double value = 0;
        std::memcpy(&value, &bits, sizeof value);
        return value;
    }
    std::uint64_t number() {
        std::uint64_t value = 0;
        for (unsigned shift = 0; shift < 64; shift += 7) {
            const std::uint64_t byte = u8();
            if (shift == 63 && byte > 1) // more than 64 bits
                break;
            value |= (byte & 0x7fU) << shift;
            if (byte < 0x80)
                return value;
        }
        fail();
        return 0;
    }
    /// A number of things of at least `least` bytes each, which must still be there.
    std::size_t count(std::size_t least, std::size_t most) {
        const std::uint64_t value = number();
        if (value > most || value > left_.size() / least) {
            fail();
            return 0;
        }
        return static_cast<std::size_t>(value);
    }
    std::string_view text(std::size_t most) {
        const std::uint64_t size = number();
        if (size > most) {
            fail();
            return {};
        }
        return bytes(size);
    }

private:
    std::uint64_t fixed(unsigned size) {
        const auto taken = bytes(size);
        std::uint64_t value = 0;
        for (unsigned i = 0; i < taken.size(); ++i)
            value |= std::uint64_t{static_cast<std::uint8_t>(taken[i])} << (8 * i);
        return value;
    }
    std::string_view left_;
    bool ok_ = true;
};

} // namespace fabric_check::sample
