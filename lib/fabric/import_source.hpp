// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "base/result.hpp"

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

namespace fabric_check::fabric {

/// A plain or gzip text file of any size, read in blocks of whole lines: never held whole. gzip is told by its first
/// bytes; all members of it are read, one after the other, and zeros behind them mean nothing.
class TextSource {
public:
    static constexpr std::size_t block_size = std::size_t(1) << 18; ///< bytes; also the longest line there may be

    /// "-" is standard input. Pipes are read like files. Errors name the file: not_found, denied, io; malformed for a
    /// directory.
    static Result<TextSource> open(const std::string &path);
    TextSource(TextSource &&) noexcept;
    TextSource &operator=(TextSource &&) noexcept;
    ~TextSource();

    const std::string &name() const noexcept; ///< as messages quote it
    /// What the next call of next() returns; it is kept for it.
    Result<std::string_view> peek();
    /// The next block of whole lines; only the file's last one may lack its end. Empty at the end. Valid until the next
    /// call. Malformed: a line longer than block_size, damaged gzip data, something else behind them. A gzip file that ends early gives what there is.
    Result<std::string_view> next();
    /// The gzip data ended early: what came before was given all the same.
    bool cut_short() const noexcept;

private:
    struct State;
    explicit TextSource(std::unique_ptr<State> state);
    std::unique_ptr<State> state_;
};

} // namespace fabric_check::fabric
