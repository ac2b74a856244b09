// SPDX-License-Identifier: GPL-2.0-or-later
// A report from the spool is text of unknown making: whatever JSON it holds, the text is made, without control bytes.
#include "report/report.hpp"

#include <cstdint>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <string>

using namespace fabric_check;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t *data, std::size_t size) {
    const auto report = nlohmann::ordered_json::parse(data, data + size, nullptr, false);
    if (report.is_discarded()) {
        return 0;
    }
    for (const char c : report_text(report, false)) {
        const auto byte = static_cast<unsigned char>(c);
        if (byte >= 0x7f || (byte < 0x20 && c != '\n')) {
            std::abort();
        }
    }
    return 0;
}
