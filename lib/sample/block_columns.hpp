// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "sample/block.hpp"

namespace fabric_check::sample {

/// A block as it is before it is compressed. Of its own for the fuzzer, which makes no deflated streams.
std::string encode_columns(const Layout &layout, const Block &block);
Result<Block> decode_columns(const Layout &layout, std::string_view raw);

} // namespace fabric_check::sample
