// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <string>
#include <string_view>

namespace fabric_check {

/// SHA-256 in lower-case hexadecimal, 64 characters.
std::string sha256_hex(std::string_view bytes);

} // namespace fabric_check
