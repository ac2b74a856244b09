// SPDX-License-Identifier: GPL-2.0-or-later
#include "counters/reading.hpp"

#include <array>
#include <cstring>

namespace fabric_check {

namespace {
constexpr std::array all{Absence::absent, Absence::unsupported, Absence::denied, Absence::unparsable,
                         Absence::timed_out};
}

const char *to_string(Absence absence) noexcept {
    switch (absence) {
    case Absence::absent:
        return "absent";
    case Absence::unsupported:
        return "unsupported";
    case Absence::denied:
        return "denied";
    case Absence::unparsable:
        return "unparsable";
    case Absence::timed_out:
        break;
    }
    return "timed out";
}

std::optional<Absence> absence_from(const char *text) noexcept {
    if (text == nullptr) {
        return std::nullopt;
    }
    for (const Absence absence : all) {
        if (std::strcmp(text, to_string(absence)) == 0) {
            return absence;
        }
    }
    return std::nullopt;
}

} // namespace fabric_check
