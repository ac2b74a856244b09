// SPDX-License-Identifier: GPL-2.0-or-later
#include "record/codec.hpp"

#include "counters/table.hpp"
#include "record/codec_parts.hpp"

namespace fabric_check {
namespace {

std::size_t readings_of(const ScoutSnapshot &scout) {
    std::size_t all = 0;
    for (const SwitchPort &port : scout.ports)
        all += port.counters.size();
    return all;
}

bool is_optional(std::string_view counter) {
    const CounterInfo *row = find_counter(counter);
    return row != nullptr && row->source == CounterSource::pma_details;
}

} // namespace

std::string encode_to_fit(Record &record, std::size_t limit) {
    std::string text = encode_record(record);
    auto *scout = std::get_if<ScoutSnapshot>(&record.snapshot);
    if (scout == nullptr)
        return text;
    const auto fits = [&] { // twice: a layout's own readings count as well
        return text.size() <= limit && 2 * readings_of(*scout) <= LayoutReader::most_readings;
    };
    const auto leave_out = [&](const char *what) {
        scout->problems.push_back({scout->node, "", std::string(what) + ": more than a record holds"});
        text = encode_record(record);
    };
    if (!fits()) {
        for (SwitchPort &port : scout->ports)
            erase_if(port.counters, [](const auto &one) { return is_optional(one.first); });
        leave_out("optional counters left out");
    }
    if (!fits()) {
        scout->lfts.clear();
        leave_out("forwarding tables left out");
    }
    if (!fits())
        leave_out("switch ports left out");
    while (!scout->ports.empty() && !fits()) {
        scout->ports.resize(scout->ports.size() / 2);
        text = encode_record(record);
    }
    return text;
}

} // namespace fabric_check
