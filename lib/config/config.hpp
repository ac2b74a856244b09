// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "base/result.hpp"
#include "counters/bar.hpp"
#include "snapshot/model.hpp"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace fabric_check {

/// Everything the configuration file can say, at its defaults. One table of keys (config.cpp) feeds the parser, the
/// shipped etc/fabric-check.toml and the man page; a test proves that they agree.
struct Config {
    // Where things are
    std::string spool = "/var/spool/fabric-check"; ///< directory all nodes and the controller share
    std::string state = "/var/lib/fabric-check";   ///< directory on the controller only: tickets, locks
    std::string sysfs_root = "/sys";               ///< %n: node name
    std::string proc_root = "/proc";               ///< %n: node name
    std::string node_state = "/run/fabric-check";  ///< of this node alone, root's; %n: node name
    std::string log_file;                          ///< empty: syslog only
    bool syslog = true;
    std::string libexec;                           ///< where the hooks and the finisher are; empty: as built

    // What is asked for
    std::string default_mode = "report";           ///< jobs without --fabric-check: "report" or "off"
    std::string services;                          ///< hostlist: storage servers and others the job talks to
    std::string adaptive_routing = "auto";         ///< auto, on, off
    std::string scout = "head-node";               ///< where the switches are read from: head-node, controller, or a host
    unsigned scouts = 2;                           ///< nodes of a job that read the switches, with scout = "head-node"
    unsigned step_records = 100;                   ///< steps of a job that a node records, where the job asks for it

    struct Hooks {
        unsigned budget_ms = 2000;                 ///< a node hook leaves after this, whatever happens
    } hooks;

    struct Mad {
        unsigned window = 64;                      ///< outstanding MADs in all
        unsigned smp_per_lid = 2;
        unsigned gmp_per_lid = 4;
        unsigned timeout_ms = 500;
        unsigned retries = 1;
        unsigned max_per_second = 0; ///< MADs of all processes that share the spool; 0: no ceiling
        unsigned pkey_index = 0;
        std::string sl = "auto";                   ///< of GMPs: "auto" asks the subnet administrator; else "0" to "15"
        std::string m_key_file;                    ///< holds the subnet's M_Key, in hexadecimal; empty: M_Key 0
        std::string device;                        ///< card to send through; empty: the first active port
        unsigned port = 0;
        bool details = true;                       ///< ask switches for the optional attributes
    } mad;

    /// The sampler, and readings of switches that several jobs share.
    struct Sample {
        unsigned interval_s = 30;                  ///< between two readings of the whole fabric
        unsigned keep_h = 24;                      ///< of them in the ring
        unsigned max_mb = 64;                      ///< size of the ring; its oldest part goes first
        unsigned share_ms = 2000;                  ///< a reading younger than this serves other jobs too; 0: none does
    } sample;

    struct Finisher {
        unsigned end_wait_s = 20;                  ///< wait for END records after the last one that came
        unsigned end_wait_max_s = 120;             ///< and never longer than this after the ticket
        unsigned retry_s = 5;                      ///< first pause before slurmdbd is asked again; doubles
        unsigned retry_max_s = 60;
        unsigned give_up_h = 168;                  ///< a job record that never appears is given up after this
        std::string field = "SystemComment";       ///< SystemComment, AdminComment, Comment
        std::string private_reports = "auto";      ///< auto (by slurm.conf's PrivateData), on, off
        unsigned workers = 0;                      ///< threads that verify records and judge; 0: one for each processor
        unsigned keep_days = 30;                   ///< reports and records older than this are removed; 0: never
    } finisher;

    struct Munge {
        std::string socket;                        ///< empty: munge's own
        std::string address_policy = "warn";       ///< enforce, warn: records whose encode address is not the node's
        std::map<std::string, std::vector<std::string>> addresses; ///< node -> addresses it may encode from
    } munge;

    struct Slurm {
        std::string conf;                          ///< slurm.conf; empty: Slurm's own
        std::string user;                          ///< SlurmUser, who alone may read records; empty: root
    } slurm;

    struct Thresholds {
        std::uint64_t min_traffic_mb = 100;        ///< less on every host port: no-traffic
        double congestion_per_gb = 1000;           ///< events per GB, exclusive
        double imbalance = 1.5;                    ///< from LFTs; routes exits 1 above it
        double spread = 1.5;                       ///< measured, exclusive
        double spread_min_gb = 1;                  ///< on the busiest port of the group
        double hot_share = 0.8;                    ///< of the payload ceiling
        double own_share = 0.5;                    ///< of a hot port's bytes
        double bit_error_rate = 1e-12;
        Bars counters;                             ///< the site's own, by canonical name of the counter or its family
        double lost_share = 0.1;                   ///< of a job's time: a counter lost for longer is unreadable
    } thresholds;

    struct Ports {
        std::vector<std::string> exclude;          ///< device, netdev, PCI address (glob patterns) or link layer
        unsigned rails = 0;                        ///< ports in use each node should have; 0: as the job's other nodes
    } ports;

    struct Policy {
        std::string width;                         ///< "4X": narrower InfiniBand links are findings; empty: none
        std::string speed;                         ///< "HDR"; empty: none
        double ethernet_gbps = 0;                  ///< slower Ethernet links are findings; 0: none
        std::string pcie;                          ///< "16x 16GT/s"; empty: none
    } policy;

    /// A link with a fault that the site knows of.
    struct KnownLink {
        std::string ticket;
        std::int64_t until = 0; ///< seconds since the epoch: no longer known from then on
        bool operator==(const KnownLink &) const = default;
    };
    using Known = std::map<std::string, KnownLink>; ///< by the link's name, or that of one of its ends
    Known known;

    std::map<std::string, double> payload_ceilings; ///< GiB/s by "4X HDR", the site's own; others: default_payload_ceilings()

    std::string expand(const std::string &path, const std::string &node) const; ///< replaces %n; %% is a percent sign
};

/// Payload ceilings, GiB/s, of every width and speed: measured for 4X HDR (22.6), scaled from it for the others.
const std::map<std::string, double> &default_payload_ceilings();

/// Strict: an unknown key, a wrong type or a bad value is an error "FILE:LINE: key: what is wrong and what is valid".
Result<Config> load_config(const std::string &path);
Result<Config> parse_config(const std::string &text, const std::string &name);

/// $FABRIC_CHECK_CONFIG, or /etc/fabric-check/fabric-check.toml.
std::string config_path();

/// For the command line: the file named by --config, else config_path(). A missing default file means the defaults.
Result<Config> find_config(const std::string &option);

/// What is right of the text: a key in error keeps its default, and `first` says which was the first. Nothing is right of a
/// text that is no TOML.
Config parse_good_keys(const std::string &text, const std::string &name, std::optional<Error> &first);

/// For hooks: the configuration; with an error in it, everything in it that is right, and the error to log once. A missing
/// default file is no error. Never throws.
Config config_or_defaults(const std::string &path, std::string *error);

/// One row of the key table.
struct ConfigKey {
    const char *section; ///< "" top level
    const char *name;    ///< "<node>" where the site chooses the names
    const char *type;    ///< "string", "integer", "number", "boolean", "strings"
    std::string fallback; ///< default, as TOML
    const char *unit;
    const char *meaning;
};
std::vector<ConfigKey> config_keys();

} // namespace fabric_check
