// SPDX-License-Identifier: GPL-2.0-or-later
#include "record/credential.hpp"

#include "unit_munged.hpp"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

namespace fabric_check {
namespace {

using testing::PrivateMunged;

TEST(Munge, WithoutADaemonNamesItTheSocketAndTheRemedy) {
    const auto signer = munge_signer("/nonexistent/munge.socket");
    const auto credential = signer->sign("x", 0);
    ASSERT_FALSE(credential);
    EXPECT_EQ(credential.error().code, Errc::unavailable);
    EXPECT_NE(
        credential.error().message.find("is munged running on /nonexistent/munge.socket? (systemctl start munge)"),
        std::string::npos)
        << credential.error().message;
    EXPECT_EQ(signer->verify("MUNGE:AwQ:").error().code, Errc::unavailable);
}

class WithMunged : public ::testing::Test {
protected:
    void SetUp() override {
        if (!munged.running())
            GTEST_SKIP() << "munged cannot be started here: " << munged.why();
        signer = munge_signer(munged.socket());
    }
    PrivateMunged munged;
    std::unique_ptr<Signer> signer;
};

TEST_F(WithMunged, WhatWasSignedIsReadBackWithItsSigner) {
    const std::string payload("a\0b", 3);
    const auto credential = signer->sign(payload, geteuid());
    ASSERT_TRUE(credential) << credential.error().message;
    const auto decoded = signer->verify(*credential);
    ASSERT_TRUE(decoded) << decoded.error().message;
    EXPECT_EQ(decoded->payload, payload);
    EXPECT_EQ(decoded->uid, geteuid());
    EXPECT_FALSE(decoded->address.empty());
    EXPECT_GT(decoded->encoded_at, 1600000000);
    EXPECT_FALSE(decoded->replayed);
}

TEST_F(WithMunged, AReplayedCredentialStillVerifies) {
    const auto credential = signer->sign("x", geteuid());
    ASSERT_TRUE(credential);
    ASSERT_TRUE(signer->verify(*credential));
    const auto again = signer->verify(*credential);
    ASSERT_TRUE(again) << again.error().message;
    EXPECT_TRUE(again->replayed);
    EXPECT_EQ(again->payload, "x");
}

TEST_F(WithMunged, ACredentialForAnotherUserIsDeniedWithTheRemedy) {
    const auto credential = signer->sign("x", geteuid() + 1);
    ASSERT_TRUE(credential);
    const auto decoded = signer->verify(*credential);
    ASSERT_FALSE(decoded);
    EXPECT_EQ(decoded.error().code, Errc::denied);
    EXPECT_NE(decoded.error().message.find("set slurm.user"), std::string::npos) << decoded.error().message;
}

TEST_F(WithMunged, AChangedCredentialIsDenied) {
    auto credential = signer->sign("x", geteuid());
    ASSERT_TRUE(credential);
    auto &changed = (*credential)[credential->size() / 2];
    changed = changed == 'A' ? 'B' : 'A';
    EXPECT_EQ(signer->verify(*credential).error().code, Errc::denied);
    EXPECT_EQ(signer->verify("").error().code, Errc::denied);
    EXPECT_EQ(signer->verify("no credential").error().code, Errc::denied);
}

TEST_F(WithMunged, SaysWhoSigned) {
    if (geteuid() != 0)
        GTEST_SKIP() << "only root can sign as another user";
    int ends[2];
    ASSERT_EQ(pipe(ends), 0);
    const auto child = fork();
    if (child == 0) {
        (void)!setuid(1000);
        const auto credential = munge_signer(munged.socket())->sign("forged", 0);
        const auto text = credential ? *credential : std::string();
        (void)!write(ends[1], text.data(), text.size());
        _exit(0);
    }
    close(ends[1]);
    char buffer[4096];
    const auto length = read(ends[0], buffer, sizeof buffer);
    close(ends[0]);
    waitpid(child, nullptr, 0);
    ASSERT_GT(length, 0);
    const auto decoded = signer->verify(std::string(buffer, static_cast<std::size_t>(length)));
    ASSERT_TRUE(decoded) << decoded.error().message;
    EXPECT_EQ(decoded->uid, 1000U);
}

} // namespace
} // namespace fabric_check
