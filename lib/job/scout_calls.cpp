// SPDX-License-Identifier: GPL-2.0-or-later
#include "job/scout_calls.hpp"

#include "base/file.hpp"
#include "record/json_writer.hpp"
#include "record/record_name.hpp"
#include "record/spool.hpp"

namespace fabric_check {

std::string ScoutCall::file_name() const {
    return RecordName{job_id, node, time_ns, phase == Phase::start ? RecordKind::scout_start : RecordKind::scout_end}
        .file_name();
}

std::string encode_scout_call(const ScoutCall &call) {
    std::string text;
    JsonWriter json(text);
    json.begin_object();
    json.member("schema", "fabric-check/scout-request/1");
    json.member("job", std::uint64_t{call.job_id});
    json.member("phase", to_string(call.phase));
    json.member("node", call.node);
    json.member("host", call.host);
    json.member("time_ns", call.time_ns);
    json.member("nodes", call.nodes);
    json.end_object();
    return text;
}

std::string requests_directory(const Config &config) { return config.spool + "/requests"; }

Status file_scout_call(const Config &config, const ScoutCall &call, Signer &signer) {
    const auto directory = requests_directory(config);
    if (auto made = make_spool_directory({config.spool}, directory, 01777); !made)
        return made;
    const auto credential = signer.sign(encode_scout_call(call), 0);
    if (!credential)
        return credential.error();
    return write_file_atomic(directory + "/" + call.file_name(), *credential, 0644);
}

} // namespace fabric_check
