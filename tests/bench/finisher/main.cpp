// SPDX-License-Identifier: GPL-2.0-or-later
//
// The finisher at scale: records verified against munge's own decoding of the same credentials, and the report of a very
// large job from its records to its line, beside small ones. A munged of its own.
#include "../fat_tree.hpp"
#include "base/clock.hpp"
#include "base/file.hpp"
#include "base/parallel.hpp"
#include "big_job.hpp"
#include "job/finisher.hpp"
#include "unit_munged.hpp"

#include <fmt/format.h>
#include <munge.h>

#include <algorithm>
#include <chrono>
#include <sys/resource.h>
#include <sys/wait.h>

namespace fabric_check::bench {
namespace {

const unsigned rounds = getenv("BENCH_ROUNDS") != nullptr ? 1 : 5;
constexpr std::int64_t second = 1'000'000'000;

double seconds_of(const auto &work) {
    const auto start = std::chrono::steady_clock::now();
    work();
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

double median(std::vector<double> values) {
    std::sort(values.begin(), values.end());
    return values[values.size() / 2];
}

/// A database that answers at once.
class Answers : public Accounting {
public:
    std::vector<JobInstance> records;
    std::map<std::uint32_t, double> attached; ///< seconds after `began`
    std::chrono::steady_clock::time_point began;

    Result<std::vector<std::vector<JobInstance>>> instances(const std::vector<const Ticket *> &tickets) override {
        std::vector<std::vector<JobInstance>> answers;
        for (const auto *ticket : tickets) {
            answers.emplace_back();
            for (const auto &record : records)
                if (record.job.id == ticket->job_id)
                    answers.back().push_back(record);
        }
        return answers;
    }
    void attach(std::vector<Attachment> &lines) override {
        const auto now = std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
        for (auto &line : lines) {
            attached[line.instance->job.id] = now;
            texts[line.instance->job.id] = line.text;
            line.done = {};
        }
    }
    Result<std::vector<std::vector<std::uint32_t>>> sharing(const std::vector<const JobInstance *> &jobs) override {
        return std::vector<std::vector<std::uint32_t>>(jobs.size());
    }
    Result<bool> jobs_are_private() override { return false; }
    std::map<std::uint32_t, std::string> texts;
};

/// A directory of its own, in memory where there is one.
class Place {
public:
    Place() {
        std::string name = access("/dev/shm", W_OK) == 0 ? "/dev/shm/fabric-check-bench.XXXXXX" : "/tmp/fabric-check-bench.XXXXXX";
        path_ = mkdtemp(name.data());
    }
    Place(const Place &) = delete;
    Place &operator=(const Place &) = delete;
    ~Place() {
        std::error_code ignored;
        std::filesystem::remove_all(path_, ignored);
    }
    const std::string &path() const { return path_; }

private:
    std::string path_;
};

void decode(const std::string &socket, const std::string &credential) {
    const auto context = munge_ctx_create();
    munge_ctx_set(context, MUNGE_OPT_SOCKET, socket.c_str());
    void *payload = nullptr;
    int length = 0;
    uid_t uid = 0;
    gid_t gid = 0;
    const auto code = munge_decode(credential.c_str(), context, &payload, &length, &uid, &gid);
    if (code != EMUNGE_SUCCESS && code != EMUNGE_CRED_REPLAYED && code != EMUNGE_CRED_EXPIRED)
        throw std::runtime_error(munge_strerror(code));
    free(payload);
    munge_ctx_destroy(context);
}

/// Records of `cards` ports each, verified with as many threads as munge's decoding.
void verification(const fabric::Map &map, const std::string &socket, unsigned cards, unsigned workers) {
    const Place place;
    const SpoolLayout spool{place.path()};
    if (!prepare_records(spool, 0))
        return;
    const auto signer = munge_signer(socket);
    BigJob job;
    job.nodes = 2500;
    job.cards = cards;
    job.scouts = false;
    job.start = wall_ns() / second - 100;
    job.end = job.start + 90;
    const auto names = write_records(job, map, spool, *signer, workers);
    std::vector<std::string> credentials(names.size());
    std::size_t bytes = 0;
    for (std::size_t i = 0; i < names.size(); ++i) {
        credentials[i] = *read_file(spool.records() + "/" + names[i].file_name(), 4UL << 20);
        bytes += credentials[i].size();
    }
    std::vector<double> by_munge, by_us;
    for (unsigned round = 0; round <= rounds; ++round) {
        const double theirs = seconds_of([&] {
            parallel_for(workers, credentials.size(), [&](std::size_t i) { decode(socket, credentials[i]); });
        });
        const double ours = seconds_of([&] {
            parallel_for(workers, names.size(), [&](std::size_t i) {
                const auto verified = verify_record(spool, names[i], *signer, {});
                if (!verified || !verified->record)
                    throw std::runtime_error(verified ? verified->refused : verified.error().message);
            });
        });
        if (round == 0) // munged has seen none of them before
            continue;
        by_munge.push_back(theirs);
        by_us.push_back(ours);
    }
    const double scale = 1e4 / static_cast<double>(names.size());
    fmt::print("{:4} x {:2} port(s), {:6} B a credential, {} threads: munge {:6.3f} s, verified {:6.3f} s for 10,000; "
               "ratio {:.2f}\n",
               names.size(), cards, bytes / names.size(), workers, median(by_munge) * scale, median(by_us) * scale,
               median(by_us) / median(by_munge));
}

/// The directory's files under the same names in another one.
void link_all(const std::string &from, const std::string &to) {
    std::filesystem::remove_all(to);
    std::filesystem::create_directories(to);
    for (const auto &entry : std::filesystem::directory_iterator(from))
        if (link(entry.path().c_str(), (to + "/" + entry.path().filename().string()).c_str()) != 0)
            throw std::runtime_error("link");
}

struct Outcome {
    double big = 0, last_small = 0;
};

/// In a process of its own, for its memory alone to be seen.
void whole_job(const fabric::Map &map, const std::string &socket, unsigned nodes, bool scouts, unsigned workers) {
    const Place place;
    const SpoolLayout spool{place.path() + "/spool"};
    std::filesystem::create_directories(spool.root + "/map");
    if (!prepare_records(spool, 0) || !fabric::save_map(map, spool.map_file()))
        return;
    const auto signer = munge_signer(socket);
    std::vector<BigJob> jobs(1);
    jobs[0].nodes = nodes;
    jobs[0].scouts = scouts;
    jobs[0].start = wall_ns() / second - 100;
    jobs[0].end = jobs[0].start + 90;
    for (std::uint32_t id = 2; id <= 101; ++id) {
        jobs.push_back(jobs[0]);
        jobs.back().id = id;
        jobs.back().nodes = 1;
        jobs.back().scouts = false; // theirs would read every link of the fabric, too
    }
    const auto kept = place.path() + "/kept";
    for (const auto &job : jobs)
        write_records(job, map, spool, *signer, workers);
    std::filesystem::rename(spool.records(), kept);

    std::vector<double> times, small;
    double memory = 0;
    std::string line;
    std::uintmax_t report = 0;
    for (unsigned round = 0; round < rounds; ++round) {
        link_all(kept, spool.records());
        std::filesystem::remove_all(spool.reports());
        int ends[2];
        if (pipe(ends) != 0)
            return;
        const auto child = fork();
        if (child == 0) {
            Answers accounting;
            Config config;
            config.spool = spool.root;
            config.state = place.path() + "/state";
            config.finisher.workers = workers;
            for (const auto &job : jobs) {
                accounting.records.push_back(instance_of(job));
                (void)file_ticket({config.state}, ticket_of(job)).ok();
            }
            Log log;
            FinisherWorld world;
            world.signer = signer.get();
            world.accounting = &accounting;
            world.log = &log;
            world.now_ns = wall_ns;
            world.sleep = [](std::chrono::milliseconds pause) { std::this_thread::sleep_for(pause); };
            accounting.began = std::chrono::steady_clock::now();
            const auto done = Finisher(config, std::move(world)).run();
            Outcome outcome;
            for (const auto &[id, at] : accounting.attached)
                (id == 1 ? outcome.big : outcome.last_small) = at;
            if (!done || accounting.attached.size() != jobs.size())
                _exit(1);
            (void)!::write(ends[1], &outcome, sizeof outcome);
            if (getenv("BENCH_LINE") != nullptr)
                fmt::print("{}\n", accounting.texts[1]);
            fflush(stdout);
            _exit(0);
        }
        close(ends[1]);
        Outcome outcome;
        const bool whole = read(ends[0], &outcome, sizeof outcome) == static_cast<ssize_t>(sizeof outcome);
        close(ends[0]);
        int status = 0;
        rusage usage{};
        wait4(child, &status, 0, &usage);
        if (!whole || status != 0)
            throw std::runtime_error("the finisher did not finish");
        times.push_back(outcome.big);
        small.push_back(outcome.last_small);
        memory = std::max(memory, static_cast<double>(usage.ru_maxrss) / 1024);
        report = std::filesystem::file_size(spool.reports() + "/1.0.json");
    }
    fmt::print("{} nodes, {}, {} threads: line after {:.2f} s (median of {}), {:.0f} MB at most, report {:.1f} MB; the last "
               "of 100 small jobs filed with it after {:.2f} s\n",
               nodes, scouts ? "scouts with every link and table" : "no scouts", workers, median(times), rounds, memory,
               static_cast<double>(report) / 1e6, median(small));
}

int run(int argc, char **argv) {
    const auto has = [&](std::string_view word) {
        return argc < 2 || std::find(argv + 1, argv + argc, word) != argv + argc;
    };
    testing::PrivateMunged munged;
    if (!munged.running()) {
        fmt::print(stderr, "finisher: no munged of our own: {}\n", munged.why());
        return 1;
    }
    const auto workers = worker_count(0);
    const fabric::Map map(fabric::bench::fat_tree(31, 10'000, fabric::bench::Upwards::by_destination, false));
    if (has("verify"))
        for (const unsigned cards : {1U, 4U, 16U})
            verification(map, munged.socket(), cards, workers);
    if (has("job"))
        whole_job(map, munged.socket(), 10'000, false, workers);
    if (has("scouts"))
        whole_job(map, munged.socket(), 10'000, true, workers);
    return 0;
}

} // namespace
} // namespace fabric_check::bench

int main(int argc, char **argv) {
    setvbuf(stdout, nullptr, _IOLBF, 0);
    try {
        return fabric_check::bench::run(argc, argv);
    } catch (const std::exception &error) {
        fmt::print(stderr, "finisher: {}\n", error.what());
        return 1;
    }
}
