// SPDX-License-Identifier: GPL-2.0-or-later
#include "sample/files.hpp"

#include "base/file.hpp"
#include "base/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <fcntl.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

namespace fabric_check::sample {

namespace {

constexpr std::uint32_t everybody = UINT32_MAX; // munge's MUNGE_UID_ANY
constexpr std::size_t time_digits = 19, id_digits = 16;

struct Shape {
    FileKind kind;
    std::string_view prefix, suffix;
};
constexpr Shape shapes[] = {
    {FileKind::ring, "ring.", ".fcs"}, {FileKind::pass, "pass.", ".fcp"}, {FileKind::claim, "claim.", ""}};

} // namespace

std::string samples_directory(const SpoolLayout &spool) { return spool.root + "/samples"; }

Status prepare_samples(const SpoolLayout &spool, std::uint32_t owner_uid) {
    const std::string path = samples_directory(spool);
    struct stat status {};
    if (::lstat(path.c_str(), &status) == 0)
        return S_ISDIR(status.st_mode) ? Status() : Error{Errc::denied, path + ": not a directory; remove it"};
    if (auto made = make_spool_directory(spool, path, 01777); !made)
        return made;
    if (::geteuid() == 0 && owner_uid != 0)
        (void)!::lchown(path.c_str(), owner_uid, static_cast<gid_t>(-1));
    return {};
}

std::string newest_file(const SpoolLayout &spool) {
    return samples_directory(spool) + "/" + std::string(newest_name);
}

std::string FileName::text() const {
    const Shape &shape = shapes[static_cast<std::size_t>(kind)];
    return fmt::format("{}{:019}.{:016x}{}", shape.prefix, time_ns, id, shape.suffix);
}

std::optional<FileName> parse_file_name(std::string_view name) {
    for (const Shape &shape : shapes) {
        if (!name.starts_with(shape.prefix) || !name.ends_with(shape.suffix) ||
            name.size() != shape.prefix.size() + time_digits + 1 + id_digits + shape.suffix.size())
            continue;
        const auto time = parse_u64(name.substr(shape.prefix.size(), time_digits));
        const auto id = parse_u64(name.substr(shape.prefix.size() + time_digits + 1, id_digits), 16);
        if (!time || !id || *time > INT64_MAX)
            continue;
        FileName found{shape.kind, static_cast<std::int64_t>(*time), *id};
        if (found.text() == name)
            return found;
    }
    return std::nullopt;
}

std::uint64_t random_id() {
    std::uint64_t id = 0;
    if (::getrandom(&id, sizeof id, GRND_NONBLOCK) != static_cast<ssize_t>(sizeof id))
        id = static_cast<std::uint64_t>(::getpid());
    return id;
}

std::vector<FileName> list_samples(const SpoolLayout &spool, std::size_t most) {
    std::vector<FileName> all;
    const auto names = list_directory(samples_directory(spool));
    if (!names)
        return all;
    for (const std::string &name : *names)
        if (const auto file = parse_file_name(name))
            all.push_back(*file);
    std::sort(all.begin(), all.end());
    std::vector<FileName> kept;
    for (std::size_t i = 0; i < all.size(); ++i)
        if (all[i].kind == FileKind::ring || i + most >= all.size() || all[i + most].kind != all[i].kind)
            kept.push_back(all[i]);
    return kept;
}

bool Trust::owns(std::uint32_t uid) const noexcept {
    return uid == squashed_root || uid == ::geteuid() ||
           std::find(signers.begin(), signers.end(), uid) != signers.end();
}

Result<std::string> sign_for_all(Signer &signer, const std::string &text) { return signer.sign(text, everybody); }

Status verify_signed(Signer &signer, const Trust &trust, const std::string &credential, const std::string &text) {
    if (credential.find('\0') != std::string::npos)
        return Error{Errc::denied, "not a munge credential"};
    const auto verified = signer.verify(credential);
    if (!verified)
        return verified.error();
    if (std::find(trust.signers.begin(), trust.signers.end(), verified->uid) == trust.signers.end())
        return Error{Errc::denied, fmt::format("signed by uid {}, not by root or SlurmUser", verified->uid)};
    if (verified->payload != text)
        return Error{Errc::denied, "signed for something else"};
    return {};
}

Status write_unsynced(const std::string &path, std::string_view content) {
    const auto slash = path.find_last_of('/');
    const std::string temporary =
        fmt::format("{}/.{}.{:016x}.tmp", path.substr(0, slash), path.substr(slash + 1), random_id());
    const int fd = ::open(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (fd < 0)
        return errno_error(path, errno);
    int error = ::fchmod(fd, 0644) == 0 ? 0 : errno;
    while (error == 0 && !content.empty()) {
        const ssize_t n = ::write(fd, content.data(), content.size());
        if (n >= 0)
            content.remove_prefix(static_cast<std::size_t>(n));
        else if (errno != EINTR)
            error = errno;
    }
    if (::close(fd) != 0 && error == 0)
        error = errno;
    if (error == 0 && ::rename(temporary.c_str(), path.c_str()) != 0)
        error = errno;
    if (error == 0)
        return {};
    ::unlink(temporary.c_str());
    return errno_error(path, error);
}

Result<TrustedFile> TrustedFile::open(const std::string &path, const Trust &trust) {
    const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY | O_NOFOLLOW);
    if (fd < 0)
        return errno_error(path, errno);
    TrustedFile file(fd, 0);
    struct stat status {};
    if (::fstat(fd, &status) != 0)
        return errno_error(path, errno);
    if (!S_ISREG(status.st_mode) || !trust.owns(status.st_uid))
        return Error{Errc::denied, fmt::format("{}: a file of uid {}, not of root or SlurmUser", path, status.st_uid)};
    file.size_ = static_cast<std::uint64_t>(status.st_size);
    return file;
}

TrustedFile::~TrustedFile() {
    if (fd_ >= 0)
        ::close(fd_);
}

Result<std::string> TrustedFile::read(std::uint64_t offset, std::size_t size) const {
    if (offset > size_ || size > size_ - offset)
        return Error{Errc::malformed, "shorter than it says"};
    std::string content(size, '\0');
    std::size_t done = 0;
    while (done < size) {
        const ssize_t n = ::pread(fd_, content.data() + done, size - done, static_cast<off_t>(offset + done));
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return n < 0 ? errno_error("samples", errno) : Error{Errc::malformed, "shorter than it says"};
        done += static_cast<std::size_t>(n);
    }
    return content;
}

} // namespace fabric_check::sample
