// SPDX-License-Identifier: GPL-2.0-or-later
#include "config/keys.hpp"

#include "base/text.hpp"
#include "record/record_name.hpp"
#include "sources/sysfs.hpp"

#include <fmt/format.h>

namespace fabric_check::config {

namespace {

constexpr std::string_view scout_valid = "head-node, controller, or a host's name";

std::string scout_complaint(const std::string &value) {
    return valid_node_name(value) ? std::string() : fmt::format("\"{}\" is no host", printable(value));
}

constexpr std::string_view sl_valid = "auto, or \"0\" to \"15\"";

std::string sl_complaint(const std::string &value) {
    const auto number = parse_u64(value);
    return value == "auto" || (number && *number <= 15) ? std::string()
                                                        : fmt::format("\"{}\" is no service level", printable(value));
}

constexpr std::string_view pcie_valid = "lanes and speed, as in \"16x 16GT/s\", or empty";

std::string pcie_complaint(const std::string &value) {
    return parse_pcie(value) ? std::string() : fmt::format("\"{}\" is no PCI Express link", printable(value));
}

// The expression names the field, so that its type cannot drift from the structure's.
#define FIELD(type, member) ([](Config &c) -> type & { return c.member; })

std::vector<Key> make_keys() {
    using Unsigned = std::function<unsigned &(Config &)>;
    using Wide = std::function<std::uint64_t &(Config &)>;
    std::vector<Key> all;
    const auto text = [&](const char *section, const char *name, const char *meaning, TextRule rule) {
        all.push_back({section, name, "", meaning, std::move(rule)});
    };
    const auto integer = [&](const char *section, const char *name, const char *unit, const char *meaning,
                             IntegerRule rule) {
        all.push_back({section, name, unit, meaning, std::move(rule)});
    };
    const auto number = [&](const char *section, const char *name, const char *unit, const char *meaning,
                            NumberRule rule) {
        all.push_back({section, name, unit, meaning, std::move(rule)});
    };

    text("", "spool", "Directory that all nodes and the controller share: records, reports, the fabric map.",
         {FIELD(std::string, spool), {}, true, false});
    text("", "state", "Directory on the controller alone: tickets and locks.",
         {FIELD(std::string, state), {}, true, false});
    text("", "sysfs_root", "Where the kernel shows the RDMA cards. %n stands for the node's name.",
         {FIELD(std::string, sysfs_root), {}, true, false});
    text("", "proc_root", "Where the kernel shows the boot id. %n stands for the node's name.",
         {FIELD(std::string, proc_root), {}, true, false});
    text("", "node_state",
         "Directory of the node alone, root's: what the hooks and fabric-check mid know of its running jobs. %n stands for "
         "the node's name.",
         {FIELD(std::string, node_state), {}, true, false});
    text("", "log_file", "File the hooks append their messages to; empty: none.",
         {FIELD(std::string, log_file), {}, true});
    all.push_back({"", "syslog", "", "Send the hooks' messages to syslog.", BooleanRule{FIELD(bool, syslog)}});
    text("", "libexec", "Directory of the hooks and the finisher; empty: where they were installed.",
         {FIELD(std::string, libexec), {}, true});
    text("", "default_mode", "What jobs get that do not say --fabric-check.",
         {FIELD(std::string, default_mode), {"report", "off"}, false, false});
    text("", "services",
         "Hosts outside the job that it talks to, as a Slurm host list: storage servers, gateways. Routes to and from "
         "them "
         "belong to the job.",
         {FIELD(std::string, services), {}, false, true, true});
    text("", "adaptive_routing",
         "Do the switches choose paths themselves? auto asks them. With on, static tables alone never judge.",
         {FIELD(std::string, adaptive_routing), {"auto", "on", "off"}, false, false});
    text("", "scout",
         "Where the switches are read from, at a job's start and end: head-node, the job's first nodes; controller, the "
         "host of slurmctld, by its hooks; or the name of a host where fabric-check-scout.service runs.",
         {FIELD(std::string, scout), {}, false, false, false, false, scout_complaint, scout_valid});
    integer("", "scouts", "nodes",
            "With scout = \"head-node\": nodes of a job that read the switches; more than one, so that one may die.",
            {Unsigned(FIELD(unsigned, scouts)), 1, 16});
    integer("", "step_records", "steps",
            "Steps of a job that a node records when the job says --fabric-check=step; later ones are not read.",
            {Unsigned(FIELD(unsigned, step_records)), 0, 10000});

    integer("hooks", "budget_ms", "milliseconds", "A node hook leaves after this, whatever happens.",
            {Unsigned(FIELD(unsigned, hooks.budget_ms)), 100, 60000});

    integer("mad", "window", "packets", "Management packets in flight in all.",
            {Unsigned(FIELD(unsigned, mad.window)), 1, 512});
    integer("mad", "smp_per_lid", "packets", "Subnet management packets in flight to one LID.",
            {Unsigned(FIELD(unsigned, mad.smp_per_lid)), 1, 16});
    integer("mad", "gmp_per_lid", "packets", "Counter queries in flight to one LID.",
            {Unsigned(FIELD(unsigned, mad.gmp_per_lid)), 1, 64});
    integer("mad", "timeout_ms", "milliseconds", "How long an answer may take.",
            {Unsigned(FIELD(unsigned, mad.timeout_ms)), 10, 10000});
    integer("mad", "retries", "times", "A packet without answer is sent again this often.",
            {Unsigned(FIELD(unsigned, mad.retries)), 0, 10});
    integer("mad", "max_per_second", "packets",
            "Ceiling of management packets that all hosts together send in a second, kept through the spool; 0: none "
            "but the "
            "windows.",
            {Unsigned(FIELD(unsigned, mad.max_per_second)), 0, 10'000'000});
    integer("mad", "pkey_index", "", "Index of the partition key that counter queries use.",
            {Unsigned(FIELD(unsigned, mad.pkey_index)), 0, 65535});
    text("mad", "sl",
         "Service level of counter queries: auto asks the subnet administrator once; name one where none answers.",
         {FIELD(std::string, mad.sl), {}, false, false, false, false, sl_complaint, sl_valid});
    text("mad", "m_key_file",
         "File with the subnet's M_Key in hexadecimal, root's alone, where subnet management packets need one; empty: none.",
         {FIELD(std::string, mad.m_key_file), {}, true});
    text("mad", "device", "Card to send through, \"mlx5_0\"; empty: the first one with an active port.",
         {FIELD(std::string, mad.device), {}});
    integer("mad", "port", "", "Port of that card; 0: the first active one.",
            {Unsigned(FIELD(unsigned, mad.port)), 0, 255});
    all.push_back({"mad", "details", "",
                   "Ask switches for the optional attributes too: why packets were discarded or received damaged, and what "
                   "forward error correction did.",
                   BooleanRule{FIELD(bool, mad.details)}});

    integer("sample", "interval_s", "seconds", "fabric-check sample reads the whole fabric this often.",
            {Unsigned(FIELD(unsigned, sample.interval_s)), 1, 3600});
    integer("sample", "keep_h", "hours", "Samples older than this are removed.",
            {Unsigned(FIELD(unsigned, sample.keep_h)), 1, 8760});
    integer("sample", "max_mb", "MB", "Most that the samples take in the spool; the oldest go first.",
            {Unsigned(FIELD(unsigned, sample.max_mb)), 1, 1'000'000});
    integer("sample", "share_ms", "milliseconds",
            "A reading of a switch younger than this, a sample or another job's, serves a job that starts or ends; 0: every "
            "job reads for itself.",
            {Unsigned(FIELD(unsigned, sample.share_ms)), 0, 600'000});

    integer("finisher", "end_wait_s", "seconds", "Wait for END records after the last one that came.",
            {Unsigned(FIELD(unsigned, finisher.end_wait_s)), 0, 3600});
    integer("finisher", "end_wait_max_s", "seconds", "And never longer than this after the job ended.",
            {Unsigned(FIELD(unsigned, finisher.end_wait_max_s)), 1, 86400});
    integer("finisher", "retry_s", "seconds", "First pause before slurmdbd is asked again; it doubles.",
            {Unsigned(FIELD(unsigned, finisher.retry_s)), 1, 3600});
    integer("finisher", "retry_max_s", "seconds", "Longest such pause.",
            {Unsigned(FIELD(unsigned, finisher.retry_max_s)), 1, 86400});
    integer("finisher", "give_up_h", "hours", "A job that never appears in the accounting is given up after this.",
            {Unsigned(FIELD(unsigned, finisher.give_up_h)), 1, 8760});
    text("finisher", "field", "Field of the job's accounting record that takes the line. Users can write Comment.",
         {FIELD(std::string, finisher.field), {"SystemComment", "AdminComment", "Comment"}, false, false});
    text("finisher", "private_reports",
         "Reports are for the job's owner alone: auto, where slurm.conf's PrivateData has jobs. Where only slurmdbd.conf's "
         "has, say on.",
         {FIELD(std::string, finisher.private_reports), {"auto", "on", "off"}, false, false});
    integer("finisher", "workers", "threads", "That verify records and judge jobs; 0: one for each processor.",
            {Unsigned(FIELD(unsigned, finisher.workers)), 0, 256});
    integer("finisher", "keep_days", "days", "Reports, and records of jobs that do not run any more, are removed when they are older than this; 0: never.",
            {Unsigned(FIELD(unsigned, finisher.keep_days)), 0, 36500});

    text("munge", "socket", "munged's socket; empty: Munge's own default.",
         {FIELD(std::string, munge.socket), {}, true});
    text("munge", "address_policy",
         "Records whose encode address is not one of the node's: enforce refuses them, warn takes them and says so.",
         {FIELD(std::string, munge.address_policy), {"enforce", "warn"}, false, false});

    text("slurm", "conf", "slurm.conf; empty: Slurm's own default.", {FIELD(std::string, slurm.conf), {}, true});
    text("slurm", "user", "SlurmUser: the only user who can read records; empty: root.",
         {FIELD(std::string, slurm.user), {}, false, true, false, true});

    integer("thresholds", "min_traffic_mb", "MB", "A job with less on every port is no-traffic.",
            {Wide(FIELD(std::uint64_t, thresholds.min_traffic_mb)), 0, 1'000'000'000});
    number("thresholds", "congestion_per_gb", "events per GB", "More than this is congestion.",
           {FIELD(double, thresholds.congestion_per_gb), 0, 1e12});
    number("thresholds", "imbalance", "",
           "By the forwarding tables: routes reports a finding above it. 1.0 cannot be better.",
           {FIELD(double, thresholds.imbalance), 1, 1000});
    number("thresholds", "spread", "",
           "Measured: bytes of a group's busiest port over the group's mean; more than this is unbalanced.",
           {FIELD(double, thresholds.spread), 1, 1000});
    number("thresholds", "spread_min_gb", "GB", "Least bytes on the busiest port for its group's spread to count.",
           {FIELD(double, thresholds.spread_min_gb), 0, 1e9});
    number("thresholds", "hot_share", "of the payload ceiling", "A link with this share or more is hot.",
           {FIELD(double, thresholds.hot_share), 0, 1, true});
    number("thresholds", "own_share", "of a port's bytes",
           "Least part of a hot port's bytes that must be the job's own.", {FIELD(double, thresholds.own_share), 0, 1});
    number("thresholds", "bit_error_rate", "errors per bit", "hw= fails above it.",
           {FIELD(double, thresholds.bit_error_rate), 0, 1, true});
    number("thresholds", "lost_share", "of the job's time",
           "With records in mid-job: a counter that is lost for longer, and moved at no other time, is unreadable.",
           {FIELD(double, thresholds.lost_share), 0, 1});

    all.push_back({"ports", "exclude", "",
                   "Ports that are no part of any job, for management or storage: by device (\"mlx5_bond_0\"), network "
                   "device (\"eno*\"), PCI address (\"0000:81:00.*\"), each as a pattern, or by link layer "
                   "(\"ethernet\", \"infiniband\").",
                   TextsRule{FIELD(std::vector<std::string>, ports.exclude), "a list of strings"}});
    integer("ports", "rails", "ports", "Ports in use that each node should have; 0: as many as the job's other nodes.",
            {Unsigned(FIELD(unsigned, ports.rails)), 0, 64});

    text("policy", "width", "InfiniBand links with fewer lanes are findings, even where all agree; empty: none.",
         {FIELD(std::string, policy.width), {"1X", "2X", "4X", "8X", "12X", ""}});
    text("policy", "speed", "InfiniBand links that run slower are findings, even where all agree; empty: none.",
         {FIELD(std::string, policy.speed), {"SDR", "DDR", "QDR", "FDR10", "FDR", "EDR", "HDR", "NDR", "XDR", ""}});
    number("policy", "ethernet_gbps", "Gb/s", "Ethernet links that run slower are findings, even where all agree; 0: none.",
           {FIELD(double, policy.ethernet_gbps), 0, 10000});
    text("policy", "pcie", "Cards with fewer PCI Express lanes, or slower ones, are findings; empty: none.",
         {FIELD(std::string, policy.pcie), {}, false, true, false, false, pcie_complaint, pcie_valid});
    return all;
}

#undef FIELD

} // namespace

const std::vector<Key> &keys() {
    static const std::vector<Key> all = make_keys();
    return all;
}

const std::vector<Section> &sections() {
    static const std::vector<Section> all{
        {"hooks", "Prolog and Epilog on the nodes.", false},
        {"mad", "How the switches are asked.", false},
        {"sample", "The sampler, and readings of switches that jobs share.", false},
        {"finisher", "What happens on the controller after a job.", false},
        {"munge", "How records are signed.", false},
        {"munge.addresses",
         "Addresses each node may sign from, for address_policy: node01 = [\"10.0.0.1\", \"10.1.0.1\"]. Nodes that are "
         "not "
         "listed may sign from anywhere.",
         true},
        {"slurm", "Slurm itself.", false},
        {"thresholds",
         "Where the verdicts draw their lines. A counter's own name sets its bar, more than which is too much: "
         "packet_seq_err = { per_job = 10, per_gb = 0.1, per_hour = 5 }, one of them at least. Without it no event of a "
         "fault is tolerated.",
         false},
        {"known",
         "Links with a fault that the site knows of: \"leaf03:17<->node07/mlx5_0:1\" = { ticket = \"HW-12\", until = "
         "2030-12-31 }; one end suffices. Until that day has passed, physical findings there are shown and decide nothing.",
         true},
        {"ports", "Which ports of the nodes belong to jobs.", false},
        {"policy", "What links and slots should at least run at.", false},
        {"payload_ceilings",
         "GiB/s of payload that a link of this kind carries at best. Measured for 4X HDR, scaled from it for the "
         "others: "
         "put your own measurements here.",
         true},
    };
    return all;
}

} // namespace fabric_check::config
