// SPDX-License-Identifier: GPL-2.0-or-later
#include "job/programs.hpp"

#include "base/text.hpp"

#include <limits>
#include <pwd.h>
#include <unistd.h>
#include <vector>

namespace fabric_check {

Result<std::string> find_program(const Config &config, const std::string &name) {
    std::vector<std::string> directories;
    if (!config.libexec.empty())
        directories.push_back(config.libexec);
    char self[4096];
    if (const auto length = readlink("/proc/self/exe", self, sizeof self - 1); length > 0) {
        const std::string path(self, static_cast<std::size_t>(length));
        const auto here = path.substr(0, path.rfind('/'));
        for (const auto *relative : {"", "/../libexec/fabric-check", "/../bin", "/../../bin"})
            directories.push_back(here + relative);
    }
    directories.emplace_back(FABRIC_CHECK_LIBEXECDIR);
    directories.emplace_back(FABRIC_CHECK_BINDIR);
    for (const auto &directory : directories) {
        auto path = directory + "/" + name;
        if (access(path.c_str(), X_OK) == 0)
            return path;
    }
    return Error{Errc::not_found, name + ": not found beside the hooks nor in " + FABRIC_CHECK_LIBEXECDIR +
                                      "; set libexec in the configuration"};
}

Result<std::uint32_t> slurm_uid(const Config &config) {
    const auto &user = config.slurm.user;
    if (user.empty() || user == "root")
        return std::uint32_t{0};
    if (const auto number = parse_u64(user); number && *number < std::numeric_limits<std::uint32_t>::max())
        return static_cast<std::uint32_t>(*number);
    std::vector<char> buffer(16384);
    passwd entry{};
    passwd *found = nullptr;
    if (getpwnam_r(user.c_str(), &entry, buffer.data(), buffer.size(), &found) != 0 || found == nullptr)
        return Error{Errc::usage, "slurm.user: no user \"" + printable(user) + "\" here; give SlurmUser of slurm.conf"};
    return static_cast<std::uint32_t>(entry.pw_uid);
}

} // namespace fabric_check
