// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <sys/stat.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

namespace fabric_check::testing {

/// A munged of the test's own, on a socket and a key in a temporary directory; ended with the object.
class PrivateMunged {
public:
    PrivateMunged() {
        char name[] = "/tmp/fabric-check-munge.XXXXXX";
        directory_ = mkdtemp(name);
        chmod(directory_.c_str(), 0755);
        std::ofstream(directory_ + "/key") << std::string(128, 'k');
        chmod((directory_ + "/key").c_str(), 0400);
        if (access("/usr/sbin/munged", X_OK) != 0) {
            why_ = "/usr/sbin/munged is not installed";
            return;
        }
        child_ = fork();
        if (child_ == 0) {
            // munged refuses log and seed files in directories others may write to, /tmp among them.
            freopen("/dev/null", "w", stderr);
            const auto option = [&](const std::string &what) { return "--" + what + "=" + directory_; };
            execl("/usr/sbin/munged", "munged", "--foreground", "--force", (option("socket") + "/socket").c_str(),
                  (option("key-file") + "/key").c_str(), (option("pid-file") + "/pid").c_str(),
                  (option("log-file") + "/log").c_str(), (option("seed-file") + "/seed").c_str(), "--num-threads=2",
                  static_cast<char *>(nullptr));
            _exit(127);
        }
        for (int i = 0; i < 500; ++i) {
            if (access(socket().c_str(), F_OK) == 0)
                return;
            if (waitpid(child_, nullptr, WNOHANG) == child_) {
                child_ = -1;
                why_ = "it ended at once";
                return;
            }
            std::this_thread::sleep_for(std::chrono::milliseconds(10));
        }
        why_ = "no socket after 5 s";
    }
    PrivateMunged(const PrivateMunged &) = delete;
    PrivateMunged &operator=(const PrivateMunged &) = delete;
    ~PrivateMunged() {
        stop();
        std::error_code ignored;
        std::filesystem::remove_all(directory_, ignored);
    }
    void stop() {
        if (child_ > 0) {
            kill(child_, SIGTERM);
            waitpid(child_, nullptr, 0);
        }
        child_ = -1;
    }
    bool running() const { return child_ > 0 && why_.empty(); }
    const std::string &why() const { return why_; }
    std::string socket() const { return directory_ + "/socket"; }

private:
    std::string directory_, why_;
    pid_t child_ = -1;
};

} // namespace fabric_check::testing
