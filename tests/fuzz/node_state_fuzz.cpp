// SPDX-License-Identifier: GPL-2.0-or-later
// The node-local state of a job: whatever it is, refused or the same after another round, and safe to go on from. And what
// the step recorder is asked, which holds a user's words, and what it leaves of a step.
#include "base/text.hpp"
#include "job/node_state.hpp"
#include "job/step.hpp"
#include "verdict/times.hpp"

#include <cstdint>
#include <cstdlib>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t *data, std::size_t size) {
    using namespace fabric_check;
    const std::string text(reinterpret_cast<const char *>(data), size);
    if (const auto request = parse_step_request(split(text, '\n')))
        if (step_name(request->name) != step_name(step_name(request->name)))
            std::abort();
    if (const auto step = decode_step_line(text))
        (void)step_json(*step);
    auto state = decode_node_state(text);
    if (!state)
        return 0;
    const auto encoded = encode_node_state(*state);
    const auto again = decode_node_state(encoded);
    if (!again || *again != *state || encode_node_state(*again) != encoded)
        std::abort();
    for (const auto &[port, counters] : state->bases)
        (void)with_intervals({}, {totals_of(state->intervals, port), state->start_ns, state->last_ns, false}, 0.1);
    NodeSnapshot snapshot;
    snapshot.time_ns = INT64_MAX;
    if (fold(state->intervals, state->bases, state->last_ns, snapshot, true) && state->intervals.size() > most_intervals)
        std::abort();
    return 0;
}
