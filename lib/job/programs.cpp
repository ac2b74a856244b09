// SPDX-License-Identifier: GPL-2.0-or-later
#include "job/programs.hpp"

#include "base/user.hpp"

#include <cstdio>
#include <fmt/format.h>
#include <string_view>
#include <unistd.h>
#include <utility>
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
        auto path = fmt::format("{}/{}", directory, name);
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
    auto uid = uid_of(user);
    if (!uid)
        return Error{Errc::usage, "slurm.user: " + uid.error().message + "; give SlurmUser of slurm.conf"};
    return uid;
}

Log program_log(std::string ident, const Config &config, bool standard_error) {
    return Log({.ident = std::move(ident),
                .file = config.log_file,
                .syslog = config.syslog,
                .standard_error = standard_error,
                .level = Log::Level::info});
}

bool answer_about_program(int argc, char **argv, const char *about) noexcept {
    if (argc != 2 || argv == nullptr || argv[1] == nullptr)
        return false;
    const std::string_view asked = argv[1];
    const std::string_view name = argv[0] == nullptr ? "" : argv[0];
    const std::string_view base = name.substr(name.rfind('/') + 1); // npos + 1 is 0
    const int length = static_cast<int>(base.size());
    if (asked == "--version")
        (void)std::printf("%.*s " FABRIC_CHECK_VERSION "\n", length, base.data());
    else if (asked == "--help" || asked == "-h")
        (void)std::printf("usage: %.*s\n%s\nOther arguments: --help, --version. See fabric-check-hooks(8).\n", length,
                          base.data(), about);
    else
        return false;
    return true;
}

} // namespace fabric_check
