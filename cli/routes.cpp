// SPDX-License-Identifier: GPL-2.0-or-later
#include "base/clock.hpp"
#include "base/file.hpp"
#include "base/hostlist.hpp"
#include "base/text.hpp"
#include "command.hpp"
#include "config/config.hpp"
#include "fabric/import.hpp"
#include "fabric/lid_list.hpp"
#include "fabric/name_hints.hpp"
#include "fabric/other_tables.hpp"
#include "fabric/remedies.hpp"
#include "fabric/routes.hpp"
#include "fabric/sm_log.hpp"
#include "fabric/uplinks.hpp"
#include "progress.hpp"
#include "record/spool.hpp"
#include "report/find_report.hpp"
#include "report/odd_json.hpp"
#include "report/remedies_report.hpp"
#include "report/report.hpp"
#include "report/routes_notes.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <unistd.h>

namespace fabric_check::cli {

namespace {

using namespace fabric;

constexpr std::int64_t second_ns = 1000000000;

struct Options {
    std::optional<std::string> nodes, lids, job;
    bool all_hosts = false;
    int restart = -1;
    std::optional<std::string> from;
    std::vector<std::string> topology, lfts, versus;
    std::string sm_log;
    bool remedies = false;
    double rate_per_node = 0, payload_ceiling = 0;
};

/// Files named on the command line that are not there, or cannot be read, are the command line's fault.
Error named(const Error &error) {
    return error.code == Errc::malformed ? error : Error{Errc::usage, error.message};
}

Result<Map> the_map(const Context &context, const Options &options, const Config &config) {
    if (!options.topology.empty()) {
        if (options.lfts.empty()) {
            return Error{Errc::usage, "--topology has no routes: name their file with --lfts"};
        }
        if (!context.map_file.empty()) {
            return Error{Errc::usage, "--map and --topology exclude each other"};
        }
        auto map = import_files(options.topology, options.lfts);
        if (!map) {
            return named(map.error());
        }
        return open_draft(*map, options.topology.front());
    }
    auto map = open_map(context, config);
    if (!map || options.lfts.empty()) {
        return map;
    }
    auto other = with_tables(*map, options.lfts);
    return other ? std::move(other) : Result<Map>(named(other.error()));
}

/// The first of them, and how many there are more.
std::string the_first(const std::vector<std::string> &all, const char *separator) {
    constexpr std::size_t named = 20;
    std::string out = all[0];
    for (std::size_t i = 1; i < all.size() && i < named; ++i) {
        out += separator + all[i];
    }
    return all.size() > named ? out + fmt::format("{}and {} more", separator, all.size() - named) : out;
}

/// The report of --job, where it is asked for.
Result<nlohmann::ordered_json> job_report(const Options &options, const Config &config) {
    const auto job = parse_job_ref(*options.job);
    if (!job) {
        return Error{Errc::usage, "--job: " + job.error().message};
    }
    auto report = find_report(config, *job, options.restart < 0 ? std::nullopt : std::optional<unsigned>(options.restart));
    if (!report) {
        return Error{report.error().code, report.error().message + "; or name its nodes with --nodes"};
    }
    if (odd_json::text(odd_json::at(*report, "job"), "nodes").empty()) {
        return Error{Errc::malformed, fmt::format("the report of job {} has no node list", job->text())};
    }
    return report;
}

/// As endpoints_by_name()'s `missing`, with what the first of them may have been meant to be.
std::vector<std::string> with_hints(const Map &map, const std::vector<std::string> &names, std::vector<std::string> missing) {
    constexpr std::size_t hinted = 20; // as many as are shown
    std::optional<NameHints> hints;
    std::size_t at = 0;
    for (const std::string &name : names) {
        if (at == std::min(missing.size(), hinted)) {
            break;
        }
        const bool absent = map.by_name(name).empty();
        if (!absent && !missing[at].starts_with(printable(name) + ": ")) {
            continue;
        }
        if (absent) {
            if (!hints) {
                hints.emplace(map);
            }
            missing[at] = fmt::format("{}: {}", printable(name), hints->why_absent(name));
        }
        ++at;
    }
    return missing;
}

/// Nodes that are not there are an error, unless `absent` takes them.
Result<std::vector<Endpoint>> endpoints_of(const Map &map, const std::string &hostlist,
                                           std::vector<std::string> *absent = nullptr) {
    const auto names = expand_hostlist(hostlist);
    if (!names) {
        return Error{Errc::usage, names.error().message};
    }
    std::vector<std::string> missing;
    auto out = endpoints_by_name(map, *names, missing);
    missing = with_hints(map, *names, std::move(missing));
    missing = fold_reasons(missing);
    if (absent != nullptr) {
        *absent = std::move(missing);
    } else if (!missing.empty()) {
        return Error{Errc::not_found, the_first(missing, "; ") + "; the map's hosts: fabric-check map show --hosts"};
    }
    return out;
}

Result<std::vector<Endpoint>> job_of(const Map &map, const Options &options, const nlohmann::ordered_json &report) {
    if (options.all_hosts) {
        auto all = all_host_endpoints(map);
        return all.empty() ? Result<std::vector<Endpoint>>(Error{Errc::not_found, "no host with a LID in the map"}) : all;
    }
    if (options.lids) {
        const auto lids = read_lid_list(*options.lids);
        if (!lids) {
            return lids.error();
        }
        std::vector<Endpoint> out;
        std::vector<std::string> strange;
        for (const std::uint16_t lid : *lids) {
            if (const auto endpoint = endpoint_by_lid(map, lid)) {
                out.push_back(*endpoint);
            } else {
                strange.push_back(std::to_string(lid));
            }
        }
        if (!strange.empty()) {
            return Error{Errc::not_found, fmt::format("LID {}: no port of the map has {}", the_first(strange, ", "),
                                                      strange.size() == 1 ? "it" : "them")};
        }
        return out;
    }
    if (options.job) {
        return endpoints_of(map, odd_json::at(odd_json::at(report, "job"), "nodes").get<std::string>());
    }
    return endpoints_of(map, *options.nodes);
}

int judge(const Map &map, const Options &options, const Config &config, const Query &query, const Routes &routes) {
    auto absent = in_no_table(map, query.job);
    const bool none = absent.size() == query.job.size();
    for (auto &each : in_no_table(map, query.services)) {
        absent.push_back(std::move(each));
    }
    // Of a whole fabric, hosts without a route are among what is reported.
    if (!absent.empty() && (!options.all_hosts || none)) {
        return fail(exit_status::no_answer, "in no forwarding table: " + the_first(absent, ", "));
    }
    if (!routes.unreachable.empty()) {
        return exit_status::finding;
    }
    // Under adaptive routing the tables alone never judge.
    const bool judged = map.adaptive_routing() != AdaptiveRouting::on;
    return judged && routes.imbalance > config.thresholds.imbalance ? exit_status::finding : exit_status::done;
}

/// The same question to each of the other engines' tables.
Result<std::vector<Versus>> ask_others(const Map &map, const Options &options, const Query &query, const Routes &now) {
    std::vector<Versus> out;
    std::vector<std::uint16_t> lids;
    for (const auto *endpoints : {&query.job, &query.services}) {
        for (const Endpoint &endpoint : *endpoints) {
            lids.push_back(endpoint.lid);
        }
    }
    for (const std::string &file : options.versus) {
        const auto other = with_tables(map, {file});
        if (!other) {
            return named(other.error());
        }
        const Routes then = analyse(LftView(*other), query);
        out.push_back({file, figures_of(*other, then), {}, differing_entries(map, *other, lids), other->problems()});
        if (now.worst >= 0) {
            out.back().group = figures_of_same(*other, then, query, now.groups[static_cast<std::size_t>(now.worst)]);
        }
    }
    return out;
}

Result<std::optional<SmLog>> the_sm_log(const Options &options) {
    if (options.sm_log.empty()) {
        return std::optional<SmLog>();
    }
    const auto text = read_file(options.sm_log, std::size_t{1} << 30);
    if (!text) {
        return named(text.error());
    }
    auto log = parse_sm_log(*text, options.sm_log);
    return log ? Result<std::optional<SmLog>>(std::move(*log)) : Result<std::optional<SmLog>>(log.error());
}

void add_remedies(nlohmann::ordered_json &json, const Map &map, const Query &query, const Routes &routes,
                  const std::optional<SmLog> &log) {
    Progress progress("looking for remedies");
    RemedyOptions options;
    options.progress = [&progress](std::string_view what, std::size_t done, std::size_t total) {
        progress.report(what, done, total);
    };
    json["remedies"] = remedies_json(map, evaluate_remedies(map, query, routes, options), tiers_of(map), log);
}

Query question(const Options &options, const Config &config) {
    Query query;
    query.rate_per_node_gib_s = options.rate_per_node;
    query.flat_ceiling_gib_s = options.payload_ceiling;
    query.ceilings = default_payload_ceilings();
    for (const auto &[kind, ceiling] : config.payload_ceilings) {
        query.ceilings[kind] = ceiling;
    }
    query.want_sources = false;
    query.rails_apart = !options.all_hosts; // the tables' own balance, whoever may call himself what
    return query;
}

int run(const Context &context, const Options &options) {
    const auto config = find_config(context.config_file);
    if (!config) {
        return fail(exit_code(config.error().code), config.error().message);
    }
    for (const auto &[name, value] : {std::pair("--nodes", &options.nodes), std::pair("--lids", &options.lids),
                                      std::pair("--job", &options.job)}) {
        if (*value && trim(**value).empty()) {
            return fail(exit_status::usage, fmt::format("{} is empty: it says whose routes", name));
        }
    }
    if (options.restart >= 0 && !options.job) {
        return fail(exit_status::usage, "--restart chooses the run of a job: it needs --job");
    }
    if (!options.sm_log.empty() && !options.remedies) {
        return fail(exit_status::usage, "--sm-log tells what a distribution may come from: it needs --remedies");
    }
    const auto log = the_sm_log(options);
    if (!log) {
        return fail(exit_code(log.error().code), log.error().message);
    }
    nlohmann::ordered_json report;
    if (options.job) {
        auto found = job_report(options, *config);
        if (!found) {
            return fail(exit_code(found.error().code), found.error().message);
        }
        report = std::move(*found);
    }
    auto map = the_map(context, options, *config);
    if (!map) {
        return fail(exit_code(map.error().code), map.error().message);
    }
    const std::string map_file = context.map_file.empty() ? SpoolLayout{config->spool}.map_file() : context.map_file;
    if (without_tables(*map)) {
        return fail(exit_status::no_answer, map_file + ": the map has no forwarding tables, so routes cannot be told; import it with "
                                                       "the tables' file (fabric-check map import TOPOLOGY TABLES), or name that "
                                                       "with --lfts");
    }
    if (config->adaptive_routing != "auto") {
        map->assume_adaptive_routing(config->adaptive_routing == "on" ? AdaptiveRouting::on : AdaptiveRouting::off);
    } else if (*log && (*log)->used.starts_with("ar_") && !is_of_another_fabric(**log, *map)) {
        map->assume_adaptive_routing(AdaptiveRouting::on);
    }
    Query query = question(options, *config);
    auto job = job_of(*map, options, report);
    if (!job) {
        return fail(exit_code(job.error().code), job.error().message);
    }
    query.job = std::move(*job);
    if (query.job.empty()) {
        return fail(exit_status::usage, "no node is named: --nodes takes names as Slurm writes them, node[01-12]");
    }
    const std::string from = options.from.value_or(config->services);
    std::vector<std::string> absent_services; // of the configuration: no reason to answer nothing
    if (!from.empty()) {
        auto services = endpoints_of(*map, from, options.from ? nullptr : &absent_services);
        if (!services) {
            return fail(exit_code(services.error().code),
                        (options.from ? "--from: " : "services in the configuration: ") + services.error().message);
        }
        query.services = std::move(*services);
    }
    const LftView lfts(*map);
    query.want_shapes = query.job.size() <= shape_limit;
    query.want_lids = query.job.size() <= list_limit && (context.json || options.job || options.remedies);
    Routes routes = analyse(lfts, query);
    if (!query.want_shapes) {
        routes.warnings.push_back(fmt::format("no link loads by shape: more than {} LIDs", shape_limit));
    }
    query.want_shapes = false;
    if (!absent_services.empty()) {
        routes.warnings.push_back("services in the configuration: " + the_first(absent_services, "; "));
    }
    for (std::string &warning : fewer_cards(*map, query.job)) {
        routes.warnings.push_back(std::move(warning));
    }
    for (const Problem &problem : map->problems()) {
        routes.warnings.push_back(problem.where + ": " + problem.reason);
    }
    // Whoever compares with a report, or reads JSON, wants all groups.
    nlohmann::ordered_json json = context.json || options.job ? routes_json(*map, routes, query)
                                                              : routes_json(*map, routes, query, -1, groups_for_text);
    json["all_hosts"] = options.all_hosts;
    if (options.topology.empty()) {
        json["map"]["file"] = map_file;
        if (options.lfts.empty() && map->built_ns() > 0) {
            json["map"]["age_s"] = std::max<std::int64_t>(0, wall_ns() - map->built_ns()) / second_ns;
        }
    } else {
        json["map"]["built"] = nullptr; // files do not say
    }
    if (!options.versus.empty()) {
        const auto others = ask_others(*map, options, query, routes);
        if (!others) {
            return fail(exit_code(others.error().code), others.error().message);
        }
        json["versus"] = versus_json(*map, *others);
    }
    if (options.remedies) {
        add_remedies(json, *map, query, routes, *log);
    }
    if (map->adaptive_routing() != AdaptiveRouting::on) {
        json["bar"] = config->thresholds.imbalance;
    }
    if (options.job) {
        json["job"] = *options.job;
        warn_of_other_routes(report, json);
    }
    if (context.json) {
        std::cout << json.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) << '\n';
    } else {
        std::cout << routes_text(json, use_colour(STDOUT_FILENO), text_columns(STDOUT_FILENO), options.job.has_value());
    }
    return judge(*map, options, *config, query, routes);
}

} // namespace

void add_routes(CLI::App &app, Context &context) {
    auto options = std::make_shared<Options>();
    CLI::App *command =
        app.add_subcommand("routes", "How the forwarding tables spread these nodes' LIDs over the links between switches");
    CLI::Option_group *who = command->add_option_group("who", "Whose routes");
    who->add_option("--nodes", options->nodes, "Nodes, as Slurm writes them: node[01-12]")->type_name("LIST");
    who->add_option("--lids", options->lids, "File with LIDs, decimal or 0x, ranges as 5-9; or the LIDs themselves")
        ->type_name("FILE");
    who->add_option("--job", options->job, "The nodes of a job that has a report; 123_4 array task, 123+1 het component")
        ->type_name("JOBID[_TASK][+HET]");
    who->add_flag("--all-hosts", options->all_hosts, "Every host of the map");
    who->require_option(1);
    command
        ->add_option("--from", options->from,
                     "Nodes outside the job that send to it and receive from it, such as storage servers (default: "
                     "services in the configuration; '' for none)")
        ->type_name("LIST");
    command->add_option("--restart", options->restart, "Which run of a requeued --job (default: the latest)")
        ->check(CLI::NonNegativeNumber)
        ->type_name("N");
    command->add_option("--topology", options->topology, "ibnetdiscover output instead of a map; may be repeated")
        ->type_name("FILE");
    command
        ->add_option("--lfts", options->lfts,
                     "opensm-lfts.dump, dump_fts, ibroute or .fdbs files: the routes for --topology, or instead of the map's")
        ->type_name("FILE");
    command
        ->add_option("--versus-lfts", options->versus,
                     "Tables of another engine, as --lfts takes them, to compare with; may be repeated")
        ->type_name("FILE");
    command->add_flag("--remedies", options->remedies,
                      "What could be done: other nodes, routing order, scatter, more links, LMC; what to try first, and what it may come from");
    command->add_option("--sm-log", options->sm_log, "Log of the subnet manager, for --remedies: did an engine fall back?")
        ->type_name("FILE");
    command->add_option("--rate-per-node", options->rate_per_node, "Predict the throughput when each node moves this, GiB/s")
        ->type_name("GIB_S")
        ->check(positive_number());
    command
        ->add_option("--payload-ceiling", options->payload_ceiling,
                     "What one link carries, GiB/s (default: payload_ceilings of the configuration, by the link's rate)")
        ->type_name("GIB_S")
        ->check(positive_number());
    command->callback([&context, options] { context.exit_code = run(context, *options); });
}

} // namespace fabric_check::cli
