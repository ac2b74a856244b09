// SPDX-License-Identifier: GPL-2.0-or-later
// Records, hosts.json and record names: whatever they are, refused or the same after another round.
#include "job/hosts.hpp"
#include "record/codec.hpp"
#include "record/record_name.hpp"

#include <cstdint>
#include <cstdlib>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t *data, std::size_t size) {
    using namespace fabric_check;
    const std::string text(reinterpret_cast<const char *>(data), size);
    if (const auto record = decode_record(text)) {
        const auto encoded = encode_record(*record);
        const auto again = decode_record(encoded);
        if (!again || encode_record(*again) != encoded)
            std::abort();
    }
    if (const auto snapshot = decode_snapshot(text))
        if (!decode_snapshot(encode_snapshot(*snapshot)))
            std::abort();
    if (const auto hosts = decode_hosts(text); hosts && !decode_hosts(encode_hosts(*hosts)))
        std::abort();
    if (const auto name = parse_record_name(text); name && name->file_name() != text)
        std::abort();
    return 0;
}
