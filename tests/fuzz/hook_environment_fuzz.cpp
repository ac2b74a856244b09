// SPDX-License-Identifier: GPL-2.0-or-later
// The input is an environment: NAME=VALUE, separated by NUL bytes, as a user and Slurm may fill it.
#include "base/text.hpp"
#include "job/hook_environment.hpp"

#include <cstdint>
#include <cstdlib>
#include <map>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t *data, std::size_t size) {
    using namespace fabric_check;
    std::map<std::string, std::string> variables;
    for (const auto part : split(std::string_view(reinterpret_cast<const char *>(data), size), '\0'))
        if (const auto equals = part.find('='); equals != part.npos)
            variables[std::string(part.substr(0, equals))] = part.substr(equals + 1);
    const Environment environment = [&](const char *name) -> const char * {
        const auto found = variables.find(name);
        return found == variables.end() ? nullptr : found->second.c_str();
    };
    if (const auto hook = node_hook_environment(environment, Mode::report))
        if (hook->job_id == 0 || hook->nodes.empty() || hook->index > hook->nodes.size())
            std::abort();
    if (const auto hook = controller_hook_environment(environment, Mode::off)) {
        auto ticket = hook->ticket;
        ticket.time_ns = 1;
        if (!decode_ticket(encode_ticket(ticket)))
            std::abort();
    }
    return 0;
}
