// SPDX-License-Identifier: GPL-2.0-or-later
#include "base/text.hpp"
#include "command.hpp"
#include "report/report.hpp"
#include "report/report_words.hpp"

#include <algorithm>
#include <iostream>
#include <memory>
#include <string_view>
#include <unistd.h>
#include <utility>
#include <vector>

namespace fabric_check::cli {

namespace {

std::vector<const CLI::App *> subcommands(const CLI::App &app) {
    std::vector<const CLI::App *> out;
    for (const CLI::App *each : app.get_subcommands([](const CLI::App *) { return true; })) {
        if (!each->get_name().empty()) { // an option group has none
            out.push_back(each);
        }
    }
    return out;
}

/// The words of the command line up to `app`: "fabric-check map build".
std::string path_of(const CLI::App &app) {
    const CLI::App *parent = app.get_parent();
    return (parent != nullptr ? path_of(*parent) + " " : "") + app.get_name();
}

/// As CLI11 writes it, within the terminal's width: what follows a wide gap, as an option's description does, goes on below
/// where it began.
class Formatter : public CLI::Formatter {
public:
    std::string make_help(const CLI::App *app, std::string name, CLI::AppFormatMode mode) const override {
        const std::string text = CLI::Formatter::make_help(app, std::move(name), mode);
        if (mode != CLI::AppFormatMode::Normal) {
            return text; // a part of another one's
        }
        const std::size_t columns = text_columns(STDOUT_FILENO);
        std::string out;
        for (const std::string_view line : split(text, '\n')) {
            out += (line.size() <= columns ? std::string(line) : within(line, columns)) + "\n";
        }
        out.pop_back();
        return out;
    }

private:
    static std::string within(std::string_view line, std::size_t columns) {
        const std::size_t word = std::min(line.find_first_not_of(' '), line.size());
        const std::size_t gap = line.find("  ", word);
        const std::size_t words = gap == std::string_view::npos ? word : line.find_first_not_of(' ', gap);
        const std::size_t begin = words == std::string_view::npos || words > columns / 2 ? word : words;
        std::string out = wrapped(std::string(line.substr(begin)), columns, std::string(line.substr(0, begin)),
                                  std::string(begin == word ? word + 2 : begin, ' '));
        out.pop_back();
        return out;
    }
};

std::string help_of(const CLI::App &app) {
    return app.get_formatter()->make_help(&app, path_of(app), CLI::AppFormatMode::Normal);
}

int help(const CLI::App &app, const std::vector<std::string> &words) {
    const CLI::App *at = &app;
    for (const std::string &word : words) {
        const CLI::App *found = nullptr;
        for (const CLI::App *each : subcommands(*at)) {
            found = each->get_name() == word ? each : found;
        }
        if (found == nullptr) {
            const std::string valid = subcommand_names(*at);
            return fail(exit_status::usage, "help: " + path_of(*at) + " has no subcommand '" + printable(word) + "'" +
                                                (valid.empty() ? "" : "; valid: " + valid));
        }
        at = found;
    }
    std::cout << help_of(*at);
    return exit_status::done;
}

} // namespace

void wrap_help(CLI::App &app) { app.formatter(std::make_shared<Formatter>()); }

std::string subcommand_names(const CLI::App &app) {
    std::string out;
    for (const CLI::App *each : subcommands(app)) {
        out += (out.empty() ? "" : ", ") + each->get_name();
    }
    return out;
}

int fail_usage(const CLI::App &app, const CLI::ParseError &error) {
    const CLI::App *at = &app;
    while (!at->get_subcommands().empty()) {
        at = at->get_subcommands().back();
    }
    const std::string prefix = at == &app ? "" : path_of(*at).substr(app.get_name().size() + 1) + ": ";
    const std::string more = "; see " + path_of(*at) + " --help";
    std::string word;
    for (const std::string &each : app.remaining(true)) {
        word = word.empty() && each != "--" ? printable(each) : word;
    }
    const bool option = word.size() > 1 && word.front() == '-';
    const std::string valid = subcommand_names(*at);
    if (!valid.empty() && !word.empty() && !option) {
        return fail(exit_status::usage, prefix + "no subcommand '" + word + "'; valid: " + valid + more);
    }
    if (!word.empty()) {
        return fail(exit_status::usage, prefix + (option ? "unknown option " + word : "unexpected '" + word + "'") + more);
    }
    if (!valid.empty() && dynamic_cast<const CLI::RequiredError *>(&error) != nullptr) {
        return fail(exit_status::usage, prefix + "a subcommand is missing; valid: " + valid + more);
    }
    return fail(exit_status::usage, prefix + error.what() + more);
}

void add_help(CLI::App &app, Context &context) {
    auto words = std::make_shared<std::vector<std::string>>();
    CLI::App *command = app.add_subcommand("help", "What a subcommand does: help map build");
    command->add_option("SUBCOMMAND", *words, "Of which subcommand; none: of fabric-check")->type_name("");
    command->callback([&app, &context, words] { context.exit_code = help(app, *words); });
}

} // namespace fabric_check::cli
