// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "sample/block.hpp"
#include "sample/files.hpp"
#include "snapshot/model.hpp"

#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace fabric_check::sample {

/// A ring file is eight bytes of magic, the layout, and blocks, each with its own munge credential over its times and
/// the digests of layout and block. Blocks are appended; a file has those that begin within an hour of its name's time.
inline constexpr std::int64_t file_span_ns = 3600LL * 1'000'000'000;
inline constexpr std::size_t ring_file_limit = std::size_t{256} << 20;

struct RingLimits {
    std::int64_t keep_ns = 24 * file_span_ns;
    std::uint64_t max_bytes = std::uint64_t{64} << 20; ///< of all ring files together
};

/// Appends blocks to the ring, and removes what is too old or too much. One at a time: the lease is the sampler's.
class RingWriter {
public:
    RingWriter(const SpoolLayout &spool, Signer &signer, RingLimits limits, Trust trust = {})
        : spool_(spool), signer_(&signer), limits_(limits), trust_(std::move(trust)) {}
    /// Goes on with the file that an earlier process left, if somebody trusted owns it: each has the whole layout,
    /// which a pass a process would write again each time. Starts a new file where the layout is another than before,
    /// an hour is full, or the file has an eighth of the ring. A block is in the file wholly, or the reader stops
    /// before it.
    Status append(const Layout &layout, const Block &block);
    /// Removes files by age at `now_ns`, then the oldest until the ring is within its bound. Never the one in use.
    void expire(std::int64_t now_ns);

private:
    void take_up(const std::string &layout, const Block &block);

    SpoolLayout spool_;
    Signer *signer_;
    RingLimits limits_;
    Trust trust_;
    bool looked_ = false;     ///< for what an earlier process left
    FileName file_;           ///< in use
    std::string layout_;      ///< of it, encoded; empty: none in use
    std::string layout_hash_;
    std::uint64_t size_ = 0;
};

/// The bytes that a file begins with, and that a block adds.
std::string ring_header(const std::string &layout);
std::string ring_frame(const Block &block, const std::string &payload, const std::string &credential);
/// What is signed of a block.
std::string block_text(std::int64_t from_ns, std::int64_t to_ns, const std::string &layout_hash, const std::string &payload);

/// One block of a file, not yet looked into.
struct RingFrame {
    std::int64_t from_ns = 0, to_ns = 0;
    std::string_view credential, payload;
};
struct RingFile {
    Layout layout;
    std::string layout_hash;
    std::vector<RingFrame> frames; ///< into the bytes
    bool torn = false;             ///< something follows that is no block
};
/// Bytes that nobody vouches for. Errc::malformed: not a ring file.
Result<RingFile> parse_ring(std::string_view bytes);

/// Calls `visit` for every verified block that overlaps [from_ns, to_ns], in order of time; one that begins before its
/// predecessor's end is left out (a clock was set back, or somebody copied a file). The layout lives for the call only.
/// What is not believed or damaged is a problem, each kind once. An error: munge is away.
Status read_ring(const SpoolLayout &spool, std::int64_t from_ns, std::int64_t to_ns, Signer &signer, const Trust &trust,
                 const std::function<void(const Layout &, const Block &)> &visit, std::vector<Problem> &problems);

} // namespace fabric_check::sample
