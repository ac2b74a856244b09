// SPDX-License-Identifier: GPL-2.0-or-later
#include "sample/ring.hpp"

#include "record/digest.hpp"
#include "sample/bytes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

namespace fabric_check::sample {

namespace {

constexpr std::string_view magic = "fcring1\n";
constexpr std::uint32_t frame_magic = 0x31424346; // "FCB1"
constexpr std::size_t most_credential = 1 << 16;
constexpr std::size_t most_files = 4096; // by name; an hour each is half a year

std::string path_of(const SpoolLayout &spool, const FileName &file) { return samples_directory(spool) + "/" + file.text(); }

/// One write at the end: a reader finds a frame whole, or no frame. `create`: the file must be new.
Status add_to(const std::string &path, std::string_view bytes, bool create) {
    const int fd =
        ::open(path.c_str(), O_WRONLY | O_APPEND | O_CLOEXEC | O_NOFOLLOW | (create ? O_CREAT | O_EXCL : 0), 0644);
    if (fd < 0)
        return errno_error(path, errno);
    int error = create && ::fchmod(fd, 0644) != 0 ? errno : 0;
    while (error == 0 && !bytes.empty()) {
        const ssize_t n = ::write(fd, bytes.data(), bytes.size());
        if (n >= 0)
            bytes.remove_prefix(static_cast<std::size_t>(n));
        else if (errno != EINTR)
            error = errno;
    }
    if (::close(fd) != 0 && error == 0)
        error = errno;
    return error == 0 ? Status() : errno_error(path, error);
}

std::optional<std::uint64_t> size_of(const std::string &path) {
    struct stat status {};
    if (::lstat(path.c_str(), &status) != 0 || !S_ISREG(status.st_mode))
        return std::nullopt;
    return static_cast<std::uint64_t>(status.st_size);
}

std::vector<FileName> ring_files(const SpoolLayout &spool) {
    std::vector<FileName> files = list_samples(spool, 0);
    std::erase_if(files, [](const FileName &file) { return file.kind != FileKind::ring; });
    return files;
}

class RingReader {
public:
    RingReader(const SpoolLayout &spool, std::int64_t from_ns, std::int64_t to_ns, Signer &signer, const Trust &trust,
               const std::function<void(const Layout &, const Block &)> &visit, std::vector<Problem> &problems)
        : spool_(spool), from_ns_(from_ns), to_ns_(to_ns), signer_(signer), trust_(trust), visit_(visit),
          problems_(problems) {}

    Status run() {
        std::vector<FileName> files = ring_files(spool_);
        // A block may be as long as the sampler was willing to bridge; a file's last one begins within the hour.
        constexpr std::int64_t longest = 2 * file_span_ns;
        std::erase_if(files, [&](const FileName &file) {
            return file.time_ns > to_ns_ || file.time_ns < from_ns_ - std::min(from_ns_, longest);
        });
        if (files.size() > most_files)
            files.erase(files.begin(), files.end() - most_files);
        for (const FileName &file : files)
            if (auto done = read(file); !done)
                return done;
        return {};
    }

private:
    void problem(const std::string &what) {
        if (std::none_of(problems_.begin(), problems_.end(),
                         [&](const Problem &said) { return said.where == "samples" && said.reason == what; }))
            problems_.push_back({"samples", "", what});
    }

    Status read(const FileName &name) {
        const auto file = TrustedFile::open(path_of(spool_, name), trust_);
        if (!file) {
            if (file.error().code == Errc::denied)
                problem("a file of samples that neither root nor SlurmUser owns is ignored");
            return {};
        }
        if (file->size() > ring_file_limit) {
            problem("a file of samples is too large, and ignored");
            return {};
        }
        const auto bytes = file->read(0, static_cast<std::size_t>(file->size()));
        const auto parsed = bytes ? parse_ring(*bytes) : Result<RingFile>(bytes.error());
        if (!parsed) {
            problem("a file of samples is damaged, and ignored: " + parsed.error().message);
            return {};
        }
        if (parsed->torn)
            problem("a file of samples is damaged at its end");
        for (const RingFrame &frame : parsed->frames)
            if (frame.to_ns > from_ns_ && frame.from_ns < to_ns_ && frame.from_ns >= last_ns_)
                if (auto done = take(*parsed, frame); !done)
                    return done;
        return {};
    }

    Status take(const RingFile &file, const RingFrame &frame) {
        auto verified =
            verify_signed(signer_, trust_, std::string(frame.credential),
                          block_text(frame.from_ns, frame.to_ns, file.layout_hash, std::string(frame.payload)));
        if (!verified && verified.error().code == Errc::unavailable)
            return verified;
        if (!verified) {
            problem("samples that are forged or damaged are ignored: " + verified.error().message);
            return {};
        }
        const auto block = decode_block(file.layout, frame.payload);
        if (!block || block->from_ns != frame.from_ns || block->to_ns != frame.to_ns) {
            problem("samples that are damaged are ignored");
            return {};
        }
        last_ns_ = frame.to_ns;
        visit_(file.layout, *block);
        return {};
    }

    const SpoolLayout &spool_;
    std::int64_t from_ns_, to_ns_, last_ns_ = 0;
    Signer &signer_;
    const Trust &trust_;
    const std::function<void(const Layout &, const Block &)> &visit_;
    std::vector<Problem> &problems_;
};

} // namespace

std::string ring_header(const std::string &layout) {
    std::string out(magic);
    ByteWriter writer(out);
    writer.u32(static_cast<std::uint32_t>(layout.size()));
    writer.bytes(layout);
    return out;
}

std::string ring_frame(const Block &block, const std::string &payload, const std::string &credential) {
    std::string out;
    ByteWriter writer(out);
    writer.u32(frame_magic);
    writer.i64(block.from_ns);
    writer.i64(block.to_ns);
    writer.u32(static_cast<std::uint32_t>(credential.size()));
    writer.u32(static_cast<std::uint32_t>(payload.size()));
    writer.bytes(credential);
    writer.bytes(payload);
    return out;
}

std::string block_text(std::int64_t from_ns, std::int64_t to_ns, const std::string &layout_hash,
                       const std::string &payload) {
    return fmt::format("fabric-check/samples/1 {} {} {} {}", from_ns, to_ns, layout_hash, sha256_hex(payload));
}

Result<RingFile> parse_ring(std::string_view bytes) {
    ByteReader reader(bytes);
    if (reader.bytes(magic.size()) != magic)
        return Error{Errc::malformed, "not a file of samples"};
    const std::string_view layout_bytes = reader.bytes(reader.u32());
    auto layout = decode_layout(layout_bytes);
    if (!layout)
        return layout.error();
    RingFile file{std::move(*layout), sha256_hex(layout_bytes), {}, false};
    while (!reader.at_end()) {
        RingFrame frame;
        const bool begins = reader.u32() == frame_magic;
        frame.from_ns = reader.i64();
        frame.to_ns = reader.i64();
        const std::uint32_t credential = reader.u32(), payload = reader.u32();
        if (begins && credential <= most_credential) {
            frame.credential = reader.bytes(credential);
            frame.payload = reader.bytes(payload);
        } else {
            reader.fail();
        }
        if (!reader.ok() || frame.from_ns < 0 || frame.to_ns <= frame.from_ns) {
            file.torn = true;
            break;
        }
        file.frames.push_back(frame);
    }
    return file;
}

void RingWriter::take_up(const std::string &layout, const Block &block) {
    const std::vector<FileName> files = ring_files(spool_);
    if (files.empty())
        return;
    const auto file = TrustedFile::open(path_of(spool_, files.back()), trust_);
    if (!file || file->size() > limits_.max_bytes / 8)
        return;
    const auto bytes = file->read(0, static_cast<std::size_t>(file->size()));
    const auto parsed = bytes ? parse_ring(*bytes) : Result<RingFile>(bytes.error());
    if (!parsed || parsed->torn || parsed->layout_hash != sha256_hex(layout) ||
        (!parsed->frames.empty() && parsed->frames.back().to_ns > block.from_ns))
        return;
    file_ = files.back();
    size_ = file->size();
    layout_ = layout;
    layout_hash_ = parsed->layout_hash;
}

Status RingWriter::append(const Layout &layout, const Block &block) {
    const std::string encoded = encode_layout(layout);
    if (!std::exchange(looked_, true))
        take_up(encoded, block);
    const bool fresh = layout_.empty() || encoded != layout_ || block.from_ns < file_.time_ns ||
                       block.from_ns >= file_.time_ns + file_span_ns || size_ > limits_.max_bytes / 8;
    const std::string hash = fresh ? sha256_hex(encoded) : layout_hash_;
    const std::string payload = encode_block(layout, block);
    const auto credential = sign_for_all(*signer_, block_text(block.from_ns, block.to_ns, hash, payload));
    if (!credential)
        return credential.error();
    std::string bytes = ring_frame(block, payload, *credential);
    const FileName file = fresh ? FileName{FileKind::ring, block.from_ns, random_id()} : file_;
    if (fresh)
        bytes.insert(0, ring_header(encoded));
    layout_.clear(); // a file in which half a block stands is not gone on with
    if (auto added = add_to(path_of(spool_, file), bytes, fresh); !added)
        return added;
    size_ = (fresh ? 0 : size_) + bytes.size();
    file_ = file;
    layout_ = encoded;
    layout_hash_ = hash;
    return {};
}

void RingWriter::expire(std::int64_t now_ns) {
    const std::vector<FileName> files = ring_files(spool_);
    std::vector<std::pair<FileName, std::uint64_t>> kept;
    std::uint64_t total = 0;
    for (const FileName &file : files) {
        const std::string path = path_of(spool_, file);
        const bool in_use = !layout_.empty() && file == file_;
        const auto size = size_of(path);
        if (!in_use && (!size || file.time_ns + file_span_ns < now_ns - limits_.keep_ns)) {
            (void)::unlink(path.c_str());
            continue;
        }
        total += size.value_or(0);
        if (!in_use)
            kept.emplace_back(file, size.value_or(0));
    }
    for (std::size_t i = 0; i < kept.size() && total > limits_.max_bytes; ++i) {
        (void)::unlink(path_of(spool_, kept[i].first).c_str());
        total -= kept[i].second;
    }
}

Status read_ring(const SpoolLayout &spool, std::int64_t from_ns, std::int64_t to_ns, Signer &signer, const Trust &trust,
                 const std::function<void(const Layout &, const Block &)> &visit, std::vector<Problem> &problems) {
    return RingReader(spool, from_ns, to_ns, signer, trust, visit, problems).run();
}

} // namespace fabric_check::sample
