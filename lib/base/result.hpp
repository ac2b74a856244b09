// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <variant>

namespace fabric_check {

/// Why an operation failed; the category decides the exit code, the message names the object and the remedy.
enum class Errc {
    usage,       ///< wrong command line or configuration: exit 2
    malformed,   ///< bytes that do not parse: exit 2
    not_found,   ///< a named object does not exist: exit 3
    unsupported, ///< the other side answered that it cannot: exit 3
    no_answer,   ///< the evidence does not suffice: exit 3
    denied,      ///< permission, or a credential that does not hold: exit 4
    timed_out,   ///< exit 4
    unavailable, ///< a service or device is not there (umad, munge, slurmdbd, spool): exit 4
    io,          ///< the operating system refused: exit 4
};

struct Error {
    Errc code = Errc::io;
    std::string message;
};

/// The commands' exit codes.
namespace exit_status {
inline constexpr int done = 0;
inline constexpr int finding = 1;
inline constexpr int usage = 2;
inline constexpr int no_answer = 3;
inline constexpr int environment = 4;
} // namespace exit_status

int exit_code(Errc code) noexcept;

/// The error for a failed system call on `object`: category from errno, message "object: strerror".
Error errno_error(std::string_view object, int errnum);

/// A value or an error. value() on an error, or error() on a value, is a programming fault (std::bad_variant_access).
template <class T> class [[nodiscard]] Result {
public:
    Result(T value) : state_(std::in_place_index<0>, std::move(value)) {}
    Result(Error error) : state_(std::in_place_index<1>, std::move(error)) {}

    bool ok() const noexcept { return state_.index() == 0; }
    explicit operator bool() const noexcept { return ok(); }
    T &value() & { return std::get<0>(state_); }
    const T &value() const & { return std::get<0>(state_); }
    T &&value() && { return std::get<0>(std::move(state_)); }
    T *operator->() { return &value(); }
    const T *operator->() const { return &value(); }
    T &operator*() & { return value(); }
    const T &operator*() const & { return value(); }
    const Error &error() const { return std::get<1>(state_); }

private:
    std::variant<T, Error> state_;
};

/// Success, or an error.
class [[nodiscard]] Status {
public:
    Status() = default;
    Status(Error error) : error_(std::move(error)), ok_(false) {}
    bool ok() const noexcept { return ok_; }
    explicit operator bool() const noexcept { return ok_; }
    const Error &error() const { return error_; }

private:
    Error error_;
    bool ok_ = true;
};

} // namespace fabric_check
