// SPDX-License-Identifier: GPL-2.0-or-later
#include "sample/samples.hpp"

namespace fabric_check::sample {
namespace {

using namespace testing;
using fabric_check::testing::FakeSigner;
using fabric_check::testing::read_text;
using fabric_check::testing::TempDir;
using fabric_check::testing::write_text;

struct SamplePass : ::testing::Test {
    TempDir directory;
    FakeSigner signer;
    Trust trust;
    std::string path = directory.path("newest.fcp");
    Pass pass = pass_at(layout_of(two_switches()), epoch, 4000);
    Result<Pass> read(const std::set<std::uint64_t> &switches = {}, std::int64_t not_before = 0) {
        return read_pass(path, switches, not_before, signer, trust);
    }
};

TEST_F(SamplePass, ComesBackAsItWas) {
    SwitchPort &odd = pass.ports[3];
    odd.counters["PortRcvErrors"] = Reading::missing(Absence::timed_out);
    odd.counters["VL15Dropped"] = Reading::of(UINT64_MAX);
    odd.counters["LinkDownedCounter"] = Reading::of(255, 8);
    odd.time_ns = epoch + 5;
    pass.to_ns = epoch + 5;
    ASSERT_TRUE(write_pass(path, pass, signer));
    const auto again = read();
    ASSERT_TRUE(again) << again.error().message;
    EXPECT_EQ(again->from_ns, epoch);
    EXPECT_EQ(again->to_ns, epoch + 5);
    EXPECT_EQ(again->map_id, 7U);
    ASSERT_EQ(again->ports.size(), pass.ports.size());
    for (std::size_t i = 0; i < pass.ports.size(); ++i) {
        EXPECT_EQ(again->ports[i].counters, pass.ports[i].counters);
        EXPECT_EQ(again->ports[i].time_ns, pass.ports[i].time_ns);
        EXPECT_EQ(again->ports[i].rate, pass.ports[i].rate);
        EXPECT_EQ(again->ports[i].state, "ACTIVE");
        EXPECT_EQ(again->ports[i].switch_name, pass.ports[i].switch_name);
        EXPECT_EQ(again->ports[i].switch_lid, pass.ports[i].switch_lid);
    }
}

TEST_F(SamplePass, OnlyTheSwitchesAskedForAreReadAndVerified) {
    ASSERT_TRUE(write_pass(path, pass, signer));
    std::string bytes = read_text(path);
    bytes.back() = static_cast<char>(bytes.back() ^ 1); // in SwitchB's ports
    write_text(path, bytes);
    const auto a = read({switch_a});
    ASSERT_TRUE(a) << a.error().message;
    EXPECT_EQ(a->ports.size(), 20U);
    const auto b = read({switch_b});
    ASSERT_FALSE(b);
    EXPECT_EQ(b.error().message, "not what was signed");
}

TEST_F(SamplePass, AnOldOneIsNotEvenVerified) {
    ASSERT_TRUE(write_pass(path, pass, signer));
    signer.away = true;
    const auto old = read({}, epoch + 1);
    ASSERT_FALSE(old);
    EXPECT_EQ(old.error().code, Errc::not_found);
}

TEST_F(SamplePass, OfAnOrdinaryUserIsRefused) {
    signer.uid = 1000;
    ASSERT_TRUE(write_pass(path, pass, signer));
    const auto forged = read();
    ASSERT_FALSE(forged);
    EXPECT_EQ(forged.error().message, "signed by uid 1000, not by root or SlurmUser");
}

TEST_F(SamplePass, WithAnotherHeadIsRefused) {
    ASSERT_TRUE(write_pass(path, pass, signer));
    std::string bytes = read_text(path);
    const auto at = bytes.find("SymbolErrorCounter");
    ASSERT_NE(at, std::string::npos);
    bytes[at] = 's';
    write_text(path, bytes);
    const auto forged = read();
    ASSERT_FALSE(forged);
    EXPECT_EQ(forged.error().message, "signed for something else");
}

TEST_F(SamplePass, EveryCutIsRefused) {
    ASSERT_TRUE(write_pass(path, pass, signer));
    const std::string bytes = read_text(path);
    for (std::size_t size = 0; size < bytes.size(); size += 7) {
        write_text(path, bytes.substr(0, size));
        EXPECT_FALSE(read()) << size;
    }
}

TEST_F(SamplePass, APortReadOutsideThePassIsRefused) {
    const EncodedPass encoded = encode_pass(pass);
    auto head = decode_pass_head(encoded.head);
    ASSERT_TRUE(head);
    head->to_ns = head->from_ns = epoch - 1;
    std::vector<SwitchPort> ports;
    EXPECT_FALSE(decode_pass_ports(*head, head->switches[0], std::string_view(encoded.body).substr(0, head->switches[0].size),
                                   ports));
}

} // namespace
} // namespace fabric_check::sample
