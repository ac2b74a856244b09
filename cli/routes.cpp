// SPDX-License-Identifier: GPL-2.0-or-later
#include "base/clock.hpp"
#include "base/file.hpp"
#include "base/hostlist.hpp"
#include "base/text.hpp"
#include "command.hpp"
#include "config/config.hpp"
#include "fabric/import.hpp"
#include "fabric/routes.hpp"
#include "report/find_report.hpp"
#include "report/odd_json.hpp"
#include "report/report.hpp"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <unistd.h>

namespace fabric_check::cli {

namespace {

using namespace fabric;

constexpr std::size_t lid_file_limit = 1 << 20;
constexpr std::int64_t second_ns = 1000000000;

struct Options {
    std::optional<std::string> nodes, lids, job;
    bool all_hosts = false;
    int restart = -1;
    std::optional<std::string> from;
    std::vector<std::string> topology, lfts;
    double rate_per_node = 0, payload_ceiling = 0;
};

std::string map_path(const Context &context, const Config &config) {
    return context.map_file.empty() ? config.spool + "/map/map.fcm" : context.map_file;
}

Result<Map> the_map(const Context &context, const Options &options, const Config &config) {
    if (!options.topology.empty() || !options.lfts.empty()) {
        if (options.topology.empty() || options.lfts.empty()) {
            return Error{Errc::usage, "--topology and --lfts belong together: links from the one, routes from the other"};
        }
        if (!context.map_file.empty()) {
            return Error{Errc::usage, "--map and --topology exclude each other"};
        }
        auto map = import_files(options.topology, options.lfts);
        if (!map && map.error().code == Errc::not_found) {
            return Error{Errc::usage, map.error().message};
        }
        if (!map) {
            return map.error();
        }
        return open_draft(*map, options.topology.front());
    }
    auto map = load_map(map_path(context, config));
    if (!map && map.error().code == Errc::not_found) {
        return Error{Errc::unavailable, map.error().message + "; build a map with: fabric-check map build"};
    }
    return map;
}

/// "5", "0x1f", "5-9", separated by blanks, commas or lines; # begins a comment.
Result<std::vector<std::uint16_t>> parse_lids(const std::string &text, const std::string &name) {
    std::vector<std::uint16_t> out;
    std::size_t number = 0;
    for (const std::string_view line : split(text, '\n')) {
        ++number;
        std::string plain(line.substr(0, line.find('#')));
        std::replace_if(plain.begin(), plain.end(), [](char c) { return c == ',' || c == '\t' || c == '\r'; }, ' ');
        for (const std::string_view word : split(plain, ' ')) {
            if (word.empty()) {
                continue;
            }
            const auto lid = [](std::string_view digits) {
                return parse_u64(digits, digits.starts_with("0x") ? 16 : 10);
            };
            const std::size_t dash = word.find('-');
            const auto first = lid(word.substr(0, dash));
            const auto last = dash == std::string_view::npos ? first : lid(word.substr(dash + 1));
            if (!first || !last || *first == 0 || *last >= 0xc000 || *first > *last) {
                return Error{Errc::usage, fmt::format("{}:{}: '{}' is no LID; valid are 1 to 49151, ranges as 5-9", name,
                                                      number, printable(word))};
            }
            for (std::uint64_t each = *first; each <= *last; ++each) {
                out.push_back(std::uint16_t(each));
            }
        }
    }
    if (out.empty()) {
        return Error{Errc::usage, name + ": no LID in it"};
    }
    return out;
}

Result<std::vector<std::uint16_t>> read_lids(const std::string &argument) {
    if (argument.find_first_not_of("0123456789abcdefxABCDEFX,- ") == std::string::npos &&
        ::access(argument.c_str(), F_OK) != 0) {
        return parse_lids(argument, "--lids");
    }
    const auto text = read_file(argument, lid_file_limit);
    return text ? parse_lids(*text, argument) : Result<std::vector<std::uint16_t>>(Error{Errc::usage, text.error().message});
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

Result<std::vector<Endpoint>> endpoints_of(const Map &map, const std::string &hostlist) {
    const auto names = expand_hostlist(hostlist);
    if (!names) {
        return Error{Errc::usage, names.error().message};
    }
    std::vector<std::string> missing;
    auto out = endpoints_by_name(map, *names, missing);
    if (!missing.empty()) {
        constexpr std::size_t named = 20;
        std::string message = missing[0];
        for (std::size_t i = 1; i < missing.size() && i < named; ++i) {
            message += "; " + missing[i];
        }
        if (missing.size() > named) {
            message += fmt::format("; and {} more", missing.size() - named);
        }
        return Error{Errc::not_found, message};
    }
    return out;
}

Result<std::vector<Endpoint>> job_of(const Map &map, const Options &options, const nlohmann::ordered_json &report) {
    if (options.all_hosts) {
        auto all = all_host_endpoints(map);
        return all.empty() ? Result<std::vector<Endpoint>>(Error{Errc::not_found, "no host with a LID in the map"}) : all;
    }
    if (options.lids) {
        const auto lids = read_lids(*options.lids);
        if (!lids) {
            return lids.error();
        }
        std::vector<Endpoint> out;
        for (const std::uint16_t lid : *lids) {
            const auto endpoint = endpoint_by_lid(map, lid);
            if (!endpoint) {
                return Error{Errc::not_found, fmt::format("LID {}: no port of the map has it", lid)};
            }
            out.push_back(*endpoint);
        }
        return out;
    }
    if (options.job) {
        return endpoints_of(map, odd_json::at(odd_json::at(report, "job"), "nodes").get<std::string>());
    }
    return endpoints_of(map, *options.nodes);
}

/// LIDs of the job no switch has an entry for.
std::vector<std::string> in_no_table(const Map &map, const std::vector<Endpoint> &endpoints) {
    std::vector<std::string> out;
    for (const Endpoint &endpoint : endpoints) {
        bool known = false;
        for (const MapNode &node : map.nodes()) {
            const auto table = node.lft();
            known = known || (endpoint.lid < table.size() && table[endpoint.lid] != no_route);
        }
        if (!known) {
            out.push_back(fmt::format("LID {} ({})", endpoint.lid, endpoint.name));
        }
    }
    return out;
}

int judge(const Map &map, const Options &options, const Config &config, const Query &query, const Routes &routes) {
    const auto absent = in_no_table(map, query.job);
    if (!absent.empty() && (options.lids || absent.size() == query.job.size())) {
        std::string message = "in no forwarding table: ";
        for (std::size_t i = 0; i < absent.size() && i < 20; ++i) {
            message += (i ? ", " : "") + absent[i];
        }
        return fail(exit_status::no_answer, message);
    }
    if (!routes.unreachable.empty()) {
        return exit_status::finding;
    }
    // Under adaptive routing the tables alone never judge.
    const bool judged = map.adaptive_routing() != AdaptiveRouting::on;
    return judged && routes.imbalance > config.thresholds.imbalance ? exit_status::finding : exit_status::done;
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
    if (config->adaptive_routing != "auto") {
        map->assume_adaptive_routing(config->adaptive_routing == "on" ? AdaptiveRouting::on : AdaptiveRouting::off);
    }
    Query query;
    auto job = job_of(*map, options, report);
    if (!job) {
        return fail(exit_code(job.error().code), job.error().message);
    }
    query.job = std::move(*job);
    if (query.job.empty()) {
        return fail(exit_status::usage, "no node is named: --nodes takes names as Slurm writes them, node[01-12]");
    }
    const std::string from = options.from.value_or(config->services);
    if (!from.empty()) {
        auto services = endpoints_of(*map, from);
        if (!services) {
            return fail(exit_code(services.error().code),
                        (options.from ? "--from: " : "services in the configuration: ") + services.error().message);
        }
        query.services = std::move(*services);
    }
    query.rate_per_node_gib_s = options.rate_per_node;
    query.flat_ceiling_gib_s = options.payload_ceiling;
    query.ceilings = default_payload_ceilings();
    for (const auto &[kind, ceiling] : config->payload_ceilings) {
        query.ceilings[kind] = ceiling;
    }
    query.want_sources = false;
    query.rails_apart = !options.all_hosts; // the tables' own balance, whoever may call himself what

    const LftView lfts(*map);
    Routes routes = analyse(lfts, query);
    if (query.job.size() <= shape_limit) {
        routes.shapes = shape_loads(lfts, query);
    } else {
        routes.warnings.push_back(fmt::format("no link loads by shape: more than {} LIDs", shape_limit));
    }
    for (const Problem &problem : map->problems()) {
        routes.warnings.push_back(problem.where + ": " + problem.reason);
    }
    nlohmann::ordered_json json = routes_json(*map, routes, query);
    if (options.topology.empty()) {
        json["map"]["file"] = map_path(context, *config);
        if (map->built_ns() > 0) {
            json["map"]["age_s"] = std::max<std::int64_t>(0, wall_ns() - map->built_ns()) / second_ns;
        }
    } else {
        json["map"]["built"] = nullptr; // files do not say
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

/// Finite and more than nothing.
CLI::Validator above_zero() {
    return CLI::Validator(
        [](std::string &text) {
            double value = 0;
            const bool number = CLI::detail::lexical_cast(text, value);
            return number && std::isfinite(value) && value > 0 ? std::string()
                                                               : printable(text) + ": must be a number above 0";
        },
        "");
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
    command->add_option("--lfts", options->lfts, "opensm-lfts.dump, dump_fts, ibroute or .fdbs files for --topology")
        ->type_name("FILE");
    command->add_option("--rate-per-node", options->rate_per_node, "Predict the throughput when each node moves this, GiB/s")
        ->type_name("GIB_S")
        ->check(above_zero());
    command
        ->add_option("--payload-ceiling", options->payload_ceiling,
                     "What one link carries, GiB/s (default: payload_ceilings of the configuration, by the link's rate)")
        ->type_name("GIB_S")
        ->check(above_zero());
    command->callback([&context, options] { context.exit_code = run(context, *options); });
}

} // namespace fabric_check::cli
