// SPDX-License-Identifier: GPL-2.0-or-later
#include "sample/board.hpp"

#include "mad/fake_switches.hpp"
#include "sample/samples.hpp"
#include "sources/scout.hpp"

namespace fabric_check::sample {
namespace {

using namespace testing;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using fabric_check::testing::FakeSigner;
using fabric_check::testing::files_in;
using fabric_check::testing::TempDir;
using fabric_check::testing::write_text;
using std::chrono::milliseconds;

struct SampleBoard : ::testing::Test {
    TempDir directory;
    SpoolLayout spool{directory.path()};
    FakeSigner signer;
    std::int64_t now = epoch;
    std::function<void()> meanwhile; ///< what happens while somebody waits
    unsigned waits = 0;
    PortId one{switch_a, 13}, two{switch_b, 25};

    BoardOptions options() {
        BoardOptions made;
        made.now_ns = [this] { return now; };
        made.sleep = [this](milliseconds pause) {
            now += pause.count() * 1'000'000;
            ++waits;
            if (meanwhile)
                std::exchange(meanwhile, nullptr)();
        };
        return made;
    }
    Board board() { return {spool, signer, options()}; }
    std::vector<std::string> names() const { return files_in(samples_directory(spool)); }
};

TEST_F(SampleBoard, AReadingIsTakenUntilItIsTooOld) {
    Board first = board(), second_board = board();
    ASSERT_TRUE(first.publish({reading(one, now, 8, 4)}, 1));
    now += 1999 * 1'000'000LL;
    Board::Ports wanted{one, two};
    const auto found = second_board.take(wanted, 0);
    ASSERT_THAT(found, SizeIs(1));
    EXPECT_EQ(found[0].time_ns, epoch);
    EXPECT_EQ(found[0].counters.at("PortXmitData"), Reading::of(2, 64));
    EXPECT_EQ(wanted, Board::Ports{two});
    now += 2 * 1'000'000LL;
    wanted = {one};
    EXPECT_THAT(second_board.take(wanted, 0), IsEmpty());
}

TEST_F(SampleBoard, AnEndTakesNothingFromBeforeIt) {
    Board first = board(), other = board();
    ASSERT_TRUE(first.publish({reading(one, now, 8, 4), reading(two, now + 5, 8, 4)}, 1));
    Board::Ports wanted{one, two};
    const auto found = other.take(wanted, now + 5);
    ASSERT_THAT(found, SizeIs(1));
    EXPECT_EQ(found[0].port, 25U);
}

TEST_F(SampleBoard, TheSamplersLastPassServesToo) {
    Board scout = board();
    ASSERT_TRUE(write_pass(samples_directory(spool) + "/newest.fcp", {now, now, 1, {reading(one, now, 8, 4)}}, signer));
    Board::Ports wanted{one};
    EXPECT_THAT(scout.take(wanted, 0), SizeIs(1));
}

TEST_F(SampleBoard, WhatWasSilentForOthersIsNotTaken) {
    Board first = board(), other = board();
    SwitchPort silent = reading(one, now, 8, 4);
    for (auto &[name, value] : silent.counters)
        value = Reading::missing(Absence::timed_out);
    ASSERT_TRUE(first.publish({silent}, 1));
    Board::Ports wanted{one};
    EXPECT_THAT(other.take(wanted, 0), IsEmpty());
}

TEST_F(SampleBoard, AnErrorCounterAtItsCapIsReadAgain) {
    Board first = board(), other = board();
    SwitchPort full = reading(one, now, 8, 4);
    full.counters["LinkDownedCounter"] = Reading::of(255, 8);
    SwitchPort not_full = reading(two, now, 8, 4);
    not_full.counters["LinkDownedCounter"] = Reading::of(254, 8);
    ASSERT_TRUE(first.publish({full, not_full}, 1));
    Board::Ports wanted{one, two};
    EXPECT_THAT(other.take(wanted, 0), SizeIs(1));
    EXPECT_EQ(wanted, Board::Ports{one}) << "it may have been reset since";
}

TEST_F(SampleBoard, OfTwoThatWantTheSameOneReads) {
    Board first = board(), other = board();
    Board::Ports wanted{one, two}, others_wanted{one};
    EXPECT_EQ(first.claim(wanted, 0), (Board::Ports{one, two}));
    now += 5'000'000;
    EXPECT_THAT(other.claim(others_wanted, 0), IsEmpty());
    meanwhile = [&] { ASSERT_TRUE(first.publish({reading(one, now, 8, 4), reading(two, now, 8, 4)}, 1)); };
    EXPECT_THAT(other.await(others_wanted, 0, Deadline::after(milliseconds(2000))), SizeIs(1));
    EXPECT_EQ(waits, 1U);
    EXPECT_EQ(names().size(), 1U) << "the claim is gone, the pass is there";
}

TEST_F(SampleBoard, AClaimThatLeadsToNothingCostsAMoment) {
    Board first = board(), other = board();
    Board::Ports wanted{one}, others_wanted{one};
    (void)first.claim(wanted, 0);
    (void)other.claim(others_wanted, 0);
    EXPECT_THAT(other.await(others_wanted, 0, Deadline::after(milliseconds(5000))), IsEmpty());
    EXPECT_EQ(others_wanted, Board::Ports{one}) << "to be read";
    EXPECT_GE(now - epoch, 300'000'000);
    EXPECT_LT(now - epoch, 320'000'000);
}

TEST_F(SampleBoard, AClaimTakenBackEndsTheWait) {
    auto first = std::make_unique<Board>(spool, signer, options());
    Board other = board();
    Board::Ports wanted{one}, others_wanted{one};
    (void)first->claim(wanted, 0);
    (void)other.claim(others_wanted, 0);
    meanwhile = [&] { first.reset(); };
    (void)other.await(others_wanted, 0, Deadline::after(milliseconds(5000)));
    EXPECT_EQ(waits, 1U);
}

TEST_F(SampleBoard, AnOldClaimHoldsNobodyUp) {
    Board first = board(), other = board();
    Board::Ports wanted{one}, others_wanted{one};
    (void)first.claim(wanted, 0);
    now += 1'100'000'000;
    EXPECT_EQ(other.claim(others_wanted, 0), Board::Ports{one});
}

TEST_F(SampleBoard, AnEndDoesNotWaitForWhatBeganBeforeIt) {
    Board first = board(), other = board();
    Board::Ports wanted{one}, others_wanted{one};
    (void)first.claim(wanted, 0);
    now += 5'000'000;
    EXPECT_EQ(other.claim(others_wanted, now), Board::Ports{one});
}

TEST_F(SampleBoard, OfTwoClaimsOfOneMomentTheEarlierNameHolds) {
    Board scout = board();
    const Board::Ports both{one, two};
    // Written by somebody between our look and our own claim: as if it had been there all the time, but of our moment.
    write_text(samples_directory(spool) + "/" + FileName{FileKind::claim, now, 0}.text(), encode_claim({one}));
    Board::Ports wanted = both;
    EXPECT_EQ(scout.claim(wanted, 0), Board::Ports{two});
    EXPECT_EQ(wanted, Board::Ports{one});
}

TEST_F(SampleBoard, WhatHasExpiredIsRemovedByWhoeverComesNext) {
    Board first = board(), other = board();
    ASSERT_TRUE(first.publish({reading(one, now, 8, 4)}, 1));
    Board::Ports wanted{two};
    (void)first.claim(wanted, 0);
    ASSERT_THAT(names(), SizeIs(2));
    now += 31 * second;
    wanted = {one};
    (void)other.take(wanted, 0);
    EXPECT_THAT(names(), IsEmpty());
}

TEST_F(SampleBoard, ForgedPassesAreNotTaken) {
    Board first = board(), other = board();
    signer.uid = 1000;
    ASSERT_TRUE(first.publish({reading(one, now, 8, 4)}, 1));
    Board::Ports wanted{one};
    EXPECT_THAT(other.take(wanted, 0), IsEmpty());
}

TEST_F(SampleBoard, WithoutSharingEverythingIsOnesOwn) {
    auto off = options();
    off.share = milliseconds(0);
    Board scout(spool, signer, off);
    Board::Ports wanted{one, two};
    EXPECT_THAT(scout.take(wanted, 0), IsEmpty());
    EXPECT_EQ(scout.claim(wanted, 0), (Board::Ports{one, two}));
    EXPECT_TRUE(scout.publish({reading(one, now, 8, 4)}, 1));
    EXPECT_FALSE(std::filesystem::exists(samples_directory(spool)));
}

TEST(SampleClaim, ComesBackAsItWas) {
    const Board::Ports ports{{1, 0}, {1, 255}, {7, 13}, {UINT64_MAX, 1}};
    EXPECT_EQ(decode_claim(encode_claim(ports)), ports);
    EXPECT_THAT(decode_claim("nonsense"), IsEmpty());
}

/// Scouts of jobs over one spool, with the fabric of the tests.
struct SharedScouts : ::testing::Test {
    TempDir directory;
    SpoolLayout spool{directory.path()};
    FakeSigner signer;
    Config config;
    fabric::MapDraft draft = fabric::testing::two_switches(fabric::testing::even());
    fabric::Map map{draft};

    struct Result {
        ScoutSnapshot snapshot;
        std::size_t sent = 0, taken = 0;
    };
    Result run(Phase phase, const std::string &node) {
        BoardOptions options;
        options.now_ns = wall_ns;
        options.sleep = [](milliseconds) {};
        Board board(spool, signer, options);
        mad::FakeSwitches fabric(draft);
        mad::Engine engine(fabric.transport, mad::engine_options(config.mad));
        ScoutRequest request;
        request.node = node;
        request.job_nodes = {node};
        request.services = fabric::testing::names("stor", 8);
        request.phase = phase;
        request.board = &board;
        auto snapshot = scout(engine, map, request, config);
        EXPECT_TRUE(snapshot);
        return {std::move(*snapshot), fabric.transport.sent.size(), board.taken()};
    }
};

TEST_F(SharedScouts, TheSecondJobToStartReadsItsOwnHostsPortsOnly) {
    const Result first = run(Phase::start, "node01"), other = run(Phase::start, "node02");
    EXPECT_EQ(first.taken, 0U);
    EXPECT_EQ(other.taken, 16U) << "both ends of eight links";
    ASSERT_EQ(other.snapshot.ports.size(), first.snapshot.ports.size());
    std::size_t old = 0;
    for (const SwitchPort &port : other.snapshot.ports) {
        EXPECT_NE(port.time_ns, 0);
        old += port.time_ns < other.snapshot.time_ns ? 1 : 0;
    }
    EXPECT_EQ(old, 16U) << "with their true time";
    EXPECT_LT(other.sent, first.sent);
}

TEST_F(SharedScouts, AnEndReadsEverythingItself) {
    (void)run(Phase::start, "node01");
    EXPECT_EQ(run(Phase::end, "node02").taken, 0U);
}

TEST_F(SharedScouts, AForgedClaimCostsAMomentAndNoPort) {
    ASSERT_TRUE(prepare_samples(spool, 0));
    Board::Ports all;
    for (unsigned port = 1; port < 40; ++port) {
        all.insert({switch_a, static_cast<std::uint8_t>(port)});
        all.insert({switch_b, static_cast<std::uint8_t>(port)});
    }
    write_text(samples_directory(spool) + "/" + FileName{FileKind::claim, wall_ns() + 500'000'000, 1}.text(), encode_claim(all));
    const Result scout = run(Phase::start, "node01");
    EXPECT_EQ(scout.snapshot.ports.size(), 1U + 8U + 16U);
    EXPECT_THAT(scout.snapshot.problems, IsEmpty());
}

} // namespace
} // namespace fabric_check::sample
