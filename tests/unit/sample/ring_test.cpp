// SPDX-License-Identifier: GPL-2.0-or-later
#include "sample/samples.hpp"

#include <sys/stat.h>
#include <unistd.h>

namespace fabric_check::sample {
namespace {

using namespace testing;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using fabric_check::testing::FakeSigner;
using fabric_check::testing::files_in;
using fabric_check::testing::read_text;
using fabric_check::testing::TempDir;
using fabric_check::testing::write_text;

struct SampleRing : ::testing::Test {
    TempDir directory;
    SpoolLayout spool{directory.path()};
    FakeSigner signer;
    Trust trust;
    Layout layout = layout_of(two_switches());
    RingWriter writer{spool, signer, {}};
    std::vector<Problem> problems;

    void SetUp() override { ASSERT_TRUE(prepare_samples(spool, 0)); }
    std::string file(std::size_t n) const { return samples_directory(spool) + "/" + files_in(samples_directory(spool)).at(n); }
    void append(std::int64_t from_s, std::int64_t to_s) {
        ASSERT_TRUE(writer.append(layout, quiet(layout, epoch + from_s * second, epoch + to_s * second)));
    }
    /// Beginnings of the blocks, seconds after the epoch of these tests.
    std::vector<std::int64_t> read(std::int64_t from_s = -100000, std::int64_t to_s = 1000000) {
        std::vector<std::int64_t> starts;
        const auto status = read_ring(
            spool, epoch + from_s * second, epoch + to_s * second, signer, trust,
            [&](const Layout &of, const Block &block) {
                EXPECT_TRUE(of == layout);
                starts.push_back((block.from_ns - epoch) / second);
            },
            problems);
        EXPECT_TRUE(status) << status.error().message;
        return starts;
    }
};

TEST_F(SampleRing, GivesBackWhatLiesInTheTimeAskedFor) {
    for (int i = 0; i < 10; ++i)
        append(30 * i, 30 * i + 30);
    EXPECT_THAT(read(60, 119), ElementsAre(60, 90));
    EXPECT_THAT(problems, IsEmpty());
}

TEST_F(SampleRing, EachProcessGoesOnWithTheFileOfTheOneBefore) {
    for (int i = 0; i < 5; ++i) {
        writer = RingWriter(spool, signer, {}, trust);
        append(30 * i, 30 * i + 30);
    }
    EXPECT_EQ(files_in(samples_directory(spool)).size(), 1U);
    EXPECT_THAT(read(), ElementsAre(0, 30, 60, 90, 120));
    EXPECT_THAT(problems, IsEmpty());
}

TEST_F(SampleRing, AFileThatCannotBeGoneOnWithIsLeftAsItIs) {
    append(0, 30);
    const auto original = read_text(file(0));
    const auto goes_on = [&](std::int64_t from_s) {
        writer = RingWriter(spool, signer, {}, trust);
        append(from_s, from_s + 30);
        return files_in(samples_directory(spool)).size() == 1;
    };
    EXPECT_FALSE(goes_on(3600)) << "its hour is over";
    std::filesystem::remove(file(1));
    EXPECT_FALSE(goes_on(20)) << "it has that time already";
    std::filesystem::remove(file(1));
    write_text(file(0), original + "half a block");
    EXPECT_FALSE(goes_on(60)) << "its end is damaged";
    std::filesystem::remove(file(1));
    write_text(file(0), original);
    layout.ports.front().line_mbps += 1;
    EXPECT_FALSE(goes_on(60)) << "the fabric is another one";
    EXPECT_EQ(read_text(file(0)), original);
}

TEST_F(SampleRing, AStrangersFileIsNotGoneOnWith) {
    if (::geteuid() != 0)
        GTEST_SKIP() << "needs root, to give a file away";
    append(0, 30);
    ASSERT_EQ(::chown(file(0).c_str(), 1000, 1000), 0);
    writer = RingWriter(spool, signer, {}, trust);
    append(30, 60);
    EXPECT_EQ(files_in(samples_directory(spool)).size(), 2U);
}

TEST_F(SampleRing, AnHourIsAFile) {
    append(0, 30);
    append(3570, 3600);
    append(3600, 3630);
    EXPECT_EQ(files_in(samples_directory(spool)).size(), 2U);
    EXPECT_THAT(read(3590, 3601), ElementsAre(3570, 3600));
}

TEST_F(SampleRing, AnotherLayoutIsAnotherFile) {
    append(0, 30);
    layout.ports.pop_back();
    layout.ports[19].peer = no_peer;
    append(30, 60);
    EXPECT_EQ(files_in(samples_directory(spool)).size(), 2U);
    EXPECT_THAT(read(40, 100), ElementsAre(30));
}

TEST_F(SampleRing, GapsStayGaps) {
    append(0, 30);
    append(300, 330);
    EXPECT_THAT(read(60, 290), IsEmpty());
}

TEST_F(SampleRing, WhatAClockSetBackRepeatsIsLeftOut) {
    append(0, 30);
    append(30, 60);
    append(20, 50);
    append(60, 90);
    EXPECT_THAT(read(), ElementsAre(0, 30, 60));
}

TEST_F(SampleRing, FilesOlderThanKeptGo) {
    append(0, 30);
    append(7200, 7230);
    RingWriter other(spool, signer, {.keep_ns = 3600 * second, .max_bytes = 1 << 20});
    other.expire(epoch + 7300 * second);
    EXPECT_THAT(read(), ElementsAre(7200));
}

TEST_F(SampleRing, TheOldestGoWhereThereIsTooMuch) {
    RingWriter small(spool, signer, {.keep_ns = 1000000 * second, .max_bytes = 6000});
    for (int i = 0; i < 100; ++i) {
        ASSERT_TRUE(small.append(layout, quiet(layout, epoch + i * 30 * second, epoch + (i + 1) * 30 * second)));
        small.expire(epoch + i * 30 * second);
        std::uint64_t total = 0;
        for (const auto &name : files_in(samples_directory(spool)))
            total += read_text(samples_directory(spool) + "/" + name).size();
        EXPECT_LE(total, 6000U + 1500U) << "the file in use stays";
    }
    const auto left = read();
    EXPECT_FALSE(left.empty());
    EXPECT_EQ(left.back(), 99 * 30);
    EXPECT_GT(left.front(), 0);
}

TEST_F(SampleRing, BlocksOfOrdinaryUsersAreIgnoredWithAReason) {
    append(0, 30);
    signer.uid = 1000;
    append(30, 60);
    EXPECT_THAT(read(), ElementsAre(0));
    ASSERT_EQ(problems.size(), 1U);
    EXPECT_EQ(problems[0].reason,
              "samples that are forged or damaged are ignored: signed by uid 1000, not by root or SlurmUser");
}

TEST_F(SampleRing, ABlockThatWasChangedIsIgnored) {
    append(0, 30);
    append(30, 60);
    std::string bytes = read_text(file(0));
    bytes.back() = static_cast<char>(bytes.back() ^ 1);
    write_text(file(0), bytes);
    EXPECT_THAT(read(), ElementsAre(0));
    ASSERT_EQ(problems.size(), 1U);
    EXPECT_EQ(problems[0].reason, "samples that are forged or damaged are ignored: signed for something else");
}

TEST_F(SampleRing, AnotherLayoutUnderTheBlocksIsNotBelieved) {
    append(0, 30);
    std::string bytes = read_text(file(0));
    const std::string header = ring_header(encode_layout(layout));
    ASSERT_TRUE(bytes.starts_with(header));
    Layout other = layout;
    other.ports[0].line_mbps = 1;
    write_text(file(0), ring_header(encode_layout(other)) + bytes.substr(header.size()));
    EXPECT_THAT(read(), IsEmpty());
}

TEST_F(SampleRing, WhatIsTornAtTheEndCostsOnlyThat) {
    append(0, 30);
    append(30, 60);
    const std::string bytes = read_text(file(0));
    write_text(file(0), bytes.substr(0, bytes.size() - 3));
    EXPECT_THAT(read(), ElementsAre(0));
    ASSERT_EQ(problems.size(), 1U);
    EXPECT_EQ(problems[0].reason, "a file of samples is damaged at its end");
}

TEST_F(SampleRing, AfterAFailureItGoesOn) {
    append(0, 30);
    signer.away = true;
    EXPECT_FALSE(writer.append(layout, quiet(layout, epoch + 30 * second, epoch + 60 * second)));
    signer.away = false;
    append(30, 60);
    EXPECT_THAT(read(), ElementsAre(0, 30));
}

TEST_F(SampleRing, LinksAreNotFollowed) {
    append(0, 30);
    const std::string there = file(0), moved = directory.path("elsewhere");
    ASSERT_EQ(::rename(there.c_str(), moved.c_str()), 0);
    ASSERT_EQ(::symlink(moved.c_str(), there.c_str()), 0);
    EXPECT_THAT(read(), IsEmpty());
}

TEST_F(SampleRing, FilesOfOrdinaryUsersAreNotOpened) {
    if (::geteuid() != 0)
        GTEST_SKIP() << "only root can give files away";
    append(0, 30);
    ASSERT_EQ(::chown(file(0).c_str(), 1000, 1000), 0);
    EXPECT_THAT(read(), IsEmpty());
    ASSERT_EQ(problems.size(), 1U);
    EXPECT_EQ(problems[0].reason, "a file of samples that neither root nor SlurmUser owns is ignored");
}

TEST_F(SampleRing, WithoutMungeNothingIsKnown) {
    append(0, 30);
    signer.away = true;
    const auto status = read_ring(spool, epoch, epoch + 60 * second, signer, trust, [](const auto &, const auto &) {},
                                  problems);
    ASSERT_FALSE(status);
    EXPECT_EQ(status.error().code, Errc::unavailable);
}

TEST(SampleNames, OnlyTheirOneFormIsAName) {
    const FileName name{FileKind::pass, epoch, 0xab};
    EXPECT_EQ(name.text(), "pass.1700000000000000000.00000000000000ab.fcp");
    EXPECT_EQ(parse_file_name(name.text()), name);
    for (const char *other : {"pass.1700000000000000000.00000000000000AB.fcp", "pass.170000000000000000.0000000000000000ab.fcp",
                              "claim.1700000000000000000.00000000000000ab.fcp", ".pass", "newest.fcp", ""})
        EXPECT_FALSE(parse_file_name(other)) << other;
}

} // namespace
} // namespace fabric_check::sample
