// SPDX-License-Identifier: GPL-2.0-or-later
// A request to the scout's host: whatever it is, refused or the same after another round. And the text of records that are
// written without a tree in between: any bytes become JSON that reads back.
#include "job/scout_requests.hpp"
#include "record/json_writer.hpp"

#include <cstdint>
#include <cstdlib>
#include <nlohmann/json.hpp>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t *data, std::size_t size) {
    using namespace fabric_check;
    const std::string text(reinterpret_cast<const char *>(data), size);
    if (const auto call = decode_scout_call(text)) {
        const auto again = decode_scout_call(encode_scout_call(*call));
        if (!again || encode_scout_call(*again) != encode_scout_call(*call))
            std::abort();
    }
    std::string json;
    JsonWriter(json).value(text);
    if (!nlohmann::json::parse(json, nullptr, false).is_string())
        std::abort();
    return 0;
}
