// SPDX-License-Identifier: GPL-2.0-or-later
#include "job/ticket.hpp"

#include <cstdint>
#include <cstdlib>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t *data, std::size_t size) {
    using namespace fabric_check;
    const auto ticket = decode_ticket(std::string(reinterpret_cast<const char *>(data), size));
    if (!ticket)
        return 0;
    const auto again = decode_ticket(encode_ticket(*ticket));
    if (!again || !(*again == *ticket))
        std::abort();
    return 0;
}
