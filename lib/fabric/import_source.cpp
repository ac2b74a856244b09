// SPDX-License-Identifier: GPL-2.0-or-later
#include "fabric/import_source.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>
#include <vector>
#include <zlib.h>

namespace fabric_check::fabric {
namespace {

/// zlib's inflater for gzip members, ended on every way out.
struct Inflater {
    z_stream stream{};
    bool ready = false;
    Inflater() { ready = inflateInit2(&stream, 15 + 16) == Z_OK; }
    Inflater(const Inflater &) = delete;
    Inflater &operator=(const Inflater &) = delete;
    ~Inflater() {
        if (ready) {
            inflateEnd(&stream);
        }
    }
};

} // namespace

struct TextSource::State {
    std::string name;
    int fd = -1;
    bool own_fd = false;
    bool ended = false; ///< the descriptor has no more
    bool cut = false;
    std::unique_ptr<Inflater> inflater; ///< gzip files only
    std::vector<char> packed;           ///< gzip files only
    bool between_members = false, padded = false; ///< zeros behind the last member, as tapes have them
    std::vector<char> text = std::vector<char>(block_size);
    std::size_t begin = 0, end = 0; ///< of what was read and not given out yet
    std::size_t ready = 0;          ///< of that, the bytes peek() promised

    State() = default;
    State(const State &) = delete;
    State &operator=(const State &) = delete;
    ~State() {
        if (own_fd) {
            ::close(fd);
        }
    }
    Result<std::size_t> read(char *to, std::size_t room);
    Result<std::size_t> unpack(char *to, std::size_t room);
    Result<bool> another_member();
    Status fill();
};

Result<std::size_t> TextSource::State::read(char *to, std::size_t room) {
    for (;;) {
        const ssize_t n = ::read(fd, to, room);
        if (n >= 0) {
            ended = ended || n == 0;
            return std::size_t(n);
        }
        if (errno != EINTR) {
            return errno_error(name, errno);
        }
    }
}

/// Between two members, with bytes at hand: whether these begin another one. Zeros are skipped, as gzip(1) does; anything
/// else is malformed.
Result<bool> TextSource::State::another_member() {
    z_stream &z = inflater->stream;
    constexpr unsigned char first_byte = 0x1f;
    if (!padded && *z.next_in == first_byte) {
        return true;
    }
    const Bytef *const at = z.next_in;
    if (!std::all_of(at, at + z.avail_in, [](Bytef byte) { return byte == 0; })) {
        return Error{Errc::malformed, name + ": the gzip data are followed by something else"};
    }
    padded = true;
    z.avail_in = 0;
    return false;
}

/// 0 at the end only.
Result<std::size_t> TextSource::State::unpack(char *to, std::size_t room) {
    z_stream &z = inflater->stream;
    z.next_out = reinterpret_cast<Bytef *>(to);
    z.avail_out = uInt(room);
    while (z.avail_out == room) {
        if (z.avail_in == 0 && !ended) {
            auto n = read(packed.data(), packed.size());
            if (!n) {
                return n;
            }
            z.next_in = reinterpret_cast<Bytef *>(packed.data());
            z.avail_in = uInt(*n);
        }
        if (z.avail_in == 0 && ended) {
            cut = cut || !between_members;
            return std::size_t(0);
        }
        if (between_members) {
            const auto another = another_member();
            if (!another) {
                return another.error();
            }
            if (!*another) {
                continue;
            }
            if (inflateReset(&z) != Z_OK) {
                return Error{Errc::io, name + ": cannot go on unpacking"};
            }
        }
        between_members = false;
        const int state = inflate(&z, Z_NO_FLUSH);
        if (state == Z_STREAM_END) {
            between_members = true;
        } else if (state != Z_OK && state != Z_BUF_ERROR) {
            return Error{Errc::malformed, name + ": gzip data are damaged"};
        }
    }
    return room - z.avail_out;
}

/// Until a block is there, or the end.
Status TextSource::State::fill() {
    std::memmove(text.data(), text.data() + begin, end - begin);
    end -= begin;
    begin = 0;
    while (end < block_size) {
        const std::size_t room = block_size - end;
        const auto n = inflater ? unpack(text.data() + end, room) : read(text.data() + end, room);
        if (!n) {
            return n.error();
        }
        if (*n == 0) {
            break;
        }
        end += *n;
    }
    return {};
}

Result<TextSource> TextSource::open(const std::string &path) {
    auto state = std::make_unique<State>();
    state->name = path == "-" ? "standard input" : path;
    state->own_fd = path != "-";
    state->fd = path == "-" ? STDIN_FILENO : ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY);
    struct stat info {};
    if (state->fd < 0 || ::fstat(state->fd, &info) != 0) {
        state->own_fd = state->own_fd && state->fd >= 0;
        return errno_error(state->name, errno);
    }
    if (S_ISDIR(info.st_mode)) {
        return Error{Errc::malformed, state->name + ": is a directory; name the files in it"};
    }
    if (const Status filled = state->fill(); !filled) {
        return filled.error();
    }
    if (state->end >= 2 && std::memcmp(state->text.data(), "\x1f\x8b", 2) == 0) {
        state->packed.assign(state->text.begin(), state->text.begin() + std::ptrdiff_t(state->end));
        state->inflater = std::make_unique<Inflater>();
        if (!state->inflater->ready) {
            return Error{Errc::io, state->name + ": cannot start to unpack"};
        }
        state->inflater->stream.avail_in = uInt(state->packed.size());
        state->packed.resize(block_size); // may move it
        state->inflater->stream.next_in = reinterpret_cast<Bytef *>(state->packed.data());
        state->end = 0;
    }
    return TextSource(std::move(state));
}

TextSource::TextSource(std::unique_ptr<State> state) : state_(std::move(state)) {}
TextSource::TextSource(TextSource &&) noexcept = default;
TextSource &TextSource::operator=(TextSource &&) noexcept = default;
TextSource::~TextSource() = default;

const std::string &TextSource::name() const noexcept { return state_->name; }
bool TextSource::cut_short() const noexcept { return state_->cut; }

Result<std::string_view> TextSource::peek() {
    State &s = *state_;
    if (s.ready == 0) {
        if (const Status filled = s.fill(); !filled) {
            return filled.error();
        }
        const bool last = s.end < block_size;
        const void *newline = s.end == 0 ? nullptr : ::memrchr(s.text.data(), '\n', s.end);
        if (last) {
            s.ready = s.end;
        } else if (newline != nullptr) {
            s.ready = std::size_t(static_cast<const char *>(newline) - s.text.data()) + 1;
        } else {
            return Error{Errc::malformed,
                         fmt::format("{}: a line of more than {} bytes; this is no text", s.name, block_size)};
        }
    }
    return std::string_view(s.text.data() + s.begin, s.ready);
}

Result<std::string_view> TextSource::next() {
    auto block = peek();
    if (block) {
        state_->begin += state_->ready;
        state_->ready = 0;
    }
    return block;
}

} // namespace fabric_check::fabric
