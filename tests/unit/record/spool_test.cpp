// SPDX-License-Identifier: GPL-2.0-or-later
#include "record/spool.hpp"

#include "job/fakes.hpp"
#include "record/digest.hpp"

#include <gmock/gmock.h>
#include <sys/stat.h>
#include <unistd.h>

namespace fabric_check {
namespace {

using testing::FakeSigner;
using testing::node_record;
using testing::read_text;
using testing::write_text;

TEST(Digest, IsSha256InHexadecimal) {
    EXPECT_EQ(sha256_hex("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    EXPECT_EQ(sha256_hex(""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
}

class Spool : public ::testing::Test {
protected:
    void SetUp() override { ASSERT_TRUE(prepare_records(spool, 0)); }

    RecordName write(const Record &record) {
        const auto path = write_record(spool, record, signer, 0);
        EXPECT_TRUE(path) << path.error().message;
        return *parse_record_name(path->substr(path->rfind('/') + 1));
    }
    VerifiedRecord verify(const RecordName &name) {
        auto verified = verify_record(spool, name, signer, policy);
        EXPECT_TRUE(verified) << verified.error().message;
        return *verified;
    }
    std::string refused(const RecordName &name) {
        const auto prefix = "forged or copied record " + name.file_name() + ": ";
        const auto text = verify(name).refused;
        EXPECT_TRUE(text.starts_with(prefix)) << text;
        return text.substr(std::min(prefix.size(), text.size()));
    }
    std::string file(const RecordName &name) const { return spool.records() + "/" + name.file_name(); }

    testing::TempDir directory;
    SpoolLayout spool{directory.path()};
    FakeSigner signer;
    TrustPolicy policy;
};

TEST_F(Spool, RecordsDirectoryIsOpenToAllAndSticky) {
    struct stat status {};
    ASSERT_EQ(stat(spool.records().c_str(), &status), 0);
    EXPECT_EQ(status.st_mode & 07777, 01777U);
}

TEST_F(Spool, RecordsThatIsNoDirectoryIsAnError) {
    const SpoolLayout other{directory.path("other")};
    std::filesystem::create_directory(other.root);
    std::filesystem::create_symlink("/tmp", other.records());
    const auto status = prepare_records(other, 0);
    ASSERT_FALSE(status);
    EXPECT_EQ(status.error().message, other.records() + ": not a directory; remove it");
}

TEST_F(Spool, IsNotMadeWhereItIsNotMounted) {
    const SpoolLayout other{directory.path("other")};
    const auto status = prepare_records(other, 0);
    ASSERT_FALSE(status);
    EXPECT_EQ(status.error().message, other.root + ": No such file or directory");
    EXPECT_FALSE(std::filesystem::exists(other.root));
}

TEST_F(Spool, ARecordIsFoundByItsJobAndVerifies) {
    const auto name = write(node_record(7, "node01", Phase::start, 100, 5));
    write(node_record(8, "node01", Phase::end, 200));
    write_text(spool.records() + "/strange", "x");
    const auto index = index_spool(spool);
    ASSERT_TRUE(index);
    EXPECT_EQ(index->size(), 2U);
    ASSERT_EQ(index->at(7).size(), 1U);
    EXPECT_EQ(index->at(7)[0], name);
    EXPECT_EQ(name, (RecordName{7, "node01", 100, RecordKind::start}));
    const auto verified = verify(name);
    ASSERT_TRUE(verified.record) << verified.refused;
    EXPECT_EQ(std::get<NodeSnapshot>(verified.record->snapshot).ports[0].counters.at("PortXmitData"), Reading::of(5));
}

TEST_F(Spool, AScoutsRecordIsNamedSo) {
    EXPECT_EQ(write(testing::scout_record(7, "node01", Phase::end, 100, 3)).kind, RecordKind::scout_end);
}

TEST_F(Spool, ALargePayloadLiesBesideASignedDigest) {
    auto record = testing::scout_record(7, "node01", Phase::start, 100, 9000);
    const auto name = write(record);
    EXPECT_LT(read_text(file(name)).size(), 300U);
    EXPECT_GT(read_text(file(name) + ".payload").size(), credential_payload_limit);
    const auto verified = verify(name);
    ASSERT_TRUE(verified.record) << verified.refused;
    EXPECT_EQ(std::get<ScoutSnapshot>(verified.record->snapshot).ports.size(), 9000U);
}

TEST_F(Spool, AChangedPayloadIsRefused) {
    const auto name = write(testing::scout_record(7, "node01", Phase::start, 100, 9000));
    auto payload = read_text(file(name) + ".payload");
    payload[payload.size() / 2] ^= 1;
    write_text(file(name) + ".payload", payload);
    EXPECT_EQ(refused(name), "the payload beside it does not match its signed digest");
}

TEST_F(Spool, AMissingPayloadIsRefused) {
    const auto name = write(testing::scout_record(7, "node01", Phase::start, 100, 9000));
    unlink((file(name) + ".payload").c_str());
    EXPECT_NE(refused(name).find(".payload: No such file"), std::string::npos);
}

TEST_F(Spool, ARecordOfAnOrdinaryUserIsRefused) {
    signer.uid = 1000;
    EXPECT_EQ(refused(write(node_record(7, "node01", Phase::start, 100))),
              "signed by uid 1000, not by root or SlurmUser");
}

TEST_F(Spool, ARecordOfSlurmUserIsBelieved) {
    signer.uid = 64030;
    policy.signers = {0, 64030};
    EXPECT_TRUE(verify(write(node_record(7, "node01", Phase::start, 100))).record);
}

TEST_F(Spool, ACopiedRecordIsRefusedWhateverItsNewName) {
    const auto name = write(node_record(7, "node01", Phase::start, 100));
    const auto copy = [&](const RecordName &as) {
        std::filesystem::copy_file(file(name), file(as));
        return refused(as);
    };
    EXPECT_EQ(copy({7, "node02", 100, RecordKind::start}), "it was signed for node node01");
    EXPECT_EQ(copy({8, "node01", 100, RecordKind::start}), "it was signed for job 7");
    EXPECT_EQ(copy({7, "node01", 101, RecordKind::start}), "it was signed for another time");
    EXPECT_EQ(copy({7, "node01", 100, RecordKind::end}), "it was signed as a start record");
    EXPECT_EQ(copy({7, "node01", 100, RecordKind::scout_start}), "it was signed as a start record");
}

TEST_F(Spool, AScoutsRecordCopiedAsANodesIsRefused) {
    const auto name = write(testing::scout_record(7, "node01", Phase::end, 100, 1));
    const RecordName as{7, "node01", 100, RecordKind::end};
    std::filesystem::copy_file(file(name), file(as));
    EXPECT_EQ(refused(as), "it was signed as a scout end record");
}

TEST_F(Spool, ALinkIsRefusedAndNotFollowed) {
    const auto name = write(node_record(7, "node01", Phase::start, 100));
    std::filesystem::rename(file(name), directory.path("elsewhere"));
    std::filesystem::create_symlink(directory.path("elsewhere"), file(name));
    EXPECT_NE(refused(name).find("a symbolic link is not followed here"), std::string::npos);
}

TEST_F(Spool, AFifoIsRefusedAndNotWaitedFor) {
    const RecordName name{7, "node01", 100, RecordKind::start};
    ASSERT_EQ(mkfifo(file(name).c_str(), 0666), 0);
    EXPECT_NE(refused(name).find("not a regular file"), std::string::npos);
}

TEST_F(Spool, GarbageIsRefused) {
    const RecordName name{7, "node01", 100, RecordKind::start};
    write_text(file(name), "garbage\n\x1b[31m");
    EXPECT_EQ(refused(name), "munge decode: Invalid credential");
    write_text(file(name), std::string("fake|0|a|0|\0", 12));
    EXPECT_EQ(refused(name), "not a munge credential");
    write_text(file(name), "fake|0|a|0|{}");
    EXPECT_EQ(refused(name), "record: schema: missing");
    write_text(file(name), std::string(2 * 1024 * 1024 + 1, 'x'));
    EXPECT_NE(refused(name).find("longer than 2097152 bytes"), std::string::npos);
}

TEST_F(Spool, AForeignAddressIsReportedUnderWarn) {
    policy.addresses["node01"] = {"10.0.0.2", "10.0.0.3"};
    const auto name = write(node_record(7, "node01", Phase::start, 100));
    const auto verified = verify(name);
    EXPECT_TRUE(verified.record);
    ASSERT_EQ(verified.problems.size(), 1U);
    EXPECT_EQ(verified.problems[0].where, "node01");
    EXPECT_EQ(verified.problems[0].reason,
              "record 7.node01.100.start was signed at address 10.0.0.1, which is not one of node01's (believed: "
              "munge.address_policy = warn)");
}

TEST_F(Spool, AForeignAddressIsRefusedUnderEnforce) {
    policy.addresses["node01"] = {"10.0.0.2"};
    policy.enforce_addresses = true;
    EXPECT_EQ(refused(write(node_record(7, "node01", Phase::start, 100))),
              "signed at address 10.0.0.1, which is not one of node01's");
}

TEST_F(Spool, AKnownAddressAndAnUnknownNodePassUnderEnforce) {
    policy.addresses["node01"] = {"10.0.0.1"};
    policy.enforce_addresses = true;
    EXPECT_TRUE(verify(write(node_record(7, "node01", Phase::start, 100))).record);
    EXPECT_TRUE(verify(write(node_record(7, "node02", Phase::start, 100))).record);
}

TEST_F(Spool, WithMungedAwayNothingIsKnown) {
    const auto name = write(node_record(7, "node01", Phase::start, 100));
    signer.away = true;
    const auto verified = verify_record(spool, name, signer, policy);
    ASSERT_FALSE(verified);
    EXPECT_EQ(verified.error().code, Errc::unavailable);
}

TEST_F(Spool, ANoteIsReadAsItsText) {
    ASSERT_TRUE(write_failed_note(spool, 7, "node01", Phase::end, 100, "munge away\n\x1b[31m"));
    const auto verified = verify({7, "node01", 100, RecordKind::failed});
    EXPECT_FALSE(verified.record);
    EXPECT_EQ(verified.refused, "");
    EXPECT_EQ(verified.note, "end: munge away\\x0a\\x1b[31m");
}

TEST_F(Spool, RemovingARecordTakesItsPayloadAlong) {
    const auto name = write(testing::scout_record(7, "node01", Phase::start, 100, 9000));
    ASSERT_TRUE(remove_record(spool, name));
    EXPECT_TRUE(std::filesystem::is_empty(spool.records()));
    EXPECT_TRUE(remove_record(spool, name));
}

TEST_F(Spool, ExpiryRemovesOldFilesOnly) {
    const auto name = write(node_record(7, "node01", Phase::start, 100));
    std::filesystem::create_directory(spool.reports());
    write_text(spool.reports() + "/7.0.json", "{}");
    struct stat status {};
    ASSERT_EQ(stat(file(name).c_str(), &status), 0);
    const auto now = status.st_mtime;
    const auto none_runs = [](std::uint32_t) { return false; };
    EXPECT_EQ(*expire_spool(spool, 30, now + 30 * 86400, none_runs), 0U);
    EXPECT_EQ(*expire_spool(spool, 0, now + 300 * 86400, none_runs), 0U);
    EXPECT_EQ(*expire_spool(spool, 30, now + 30 * 86400 + 10, none_runs), 2U);
}

TEST_F(Spool, ExpiryLeavesTheRecordsOfAJobThatRunsForLonger) {
    const auto name = write(testing::scout_record(7, "node01", Phase::start, 100, 9000)); // has a payload
    write(node_record(7, "node01", Phase::start, 100));
    write(node_record(8, "node01", Phase::start, 100));
    struct stat status {};
    ASSERT_EQ(stat(file(name).c_str(), &status), 0);
    std::vector<std::uint32_t> asked;
    const auto seven_runs = [&](std::uint32_t job) {
        asked.push_back(job);
        return job == 7;
    };
    EXPECT_EQ(*expire_spool(spool, 30, status.st_mtime + 31 * 86400, seven_runs), 1U);
    EXPECT_EQ(testing::files_in(spool.records()).size(), 3U);
    EXPECT_THAT(asked, ::testing::UnorderedElementsAre(7, 8)) << "once for each job";
}

TEST_F(Spool, WritingIntoASpoolThatIsNotThereNamesIt) {
    const SpoolLayout other{"/nonexistent/spool"};
    const auto path = write_record(other, node_record(7, "node01", Phase::start, 100), signer, 0);
    ASSERT_FALSE(path);
    EXPECT_NE(path.error().message.find("/nonexistent/spool/records"), std::string::npos);
}

} // namespace
} // namespace fabric_check
