// SPDX-License-Identifier: GPL-2.0-or-later
#include "job/node_state.hpp"

#include "job/fakes.hpp"

#include <gmock/gmock.h>
#include <sys/stat.h>

namespace fabric_check {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::files_in;
using testing::second_ns;

class NodeStateTest : public ::testing::Test {
protected:
    NodeStateTest() { EXPECT_TRUE(store.prepare()); }
    static NodeState state(std::uint32_t job = 7, const std::string &node = "node01") {
        NodeState state;
        state.job_id = job;
        state.node = node;
        state.boot_id = "boot";
        state.start_ns = state.last_ns = second_ns;
        state.bases = bases_of(testing::node_snapshot(node, second_ns, 5));
        return state;
    }
    testing::TempDir directory;
    NodeStateStore store{directory.path("state")};
};

TEST_F(NodeStateTest, LoadsWhatItSaved) {
    auto saved = state();
    ASSERT_TRUE(fold(saved.intervals, saved.bases, saved.last_ns, testing::node_snapshot("node01", 9 * second_ns, 50), false));
    saved.last_ns = saved.mid_ns = 9 * second_ns;
    ASSERT_TRUE(store.save(saved, true));
    const auto loaded = store.load({7, "node01"});
    ASSERT_TRUE(loaded) << loaded.error().message;
    EXPECT_EQ(*loaded, saved);
    EXPECT_THAT(*store.list(), ElementsAre(NodeJob{7, "node01"}));
}

TEST_F(NodeStateTest, IsNobodyElses) {
    ASSERT_TRUE(store.save(state(), true));
    struct stat status {};
    for (const auto *path : {"state", "state/7.node01"}) {
        ASSERT_EQ(stat(directory.path(path).c_str(), &status), 0);
        EXPECT_EQ(status.st_mode & 0777, 0700U) << path;
    }
    ASSERT_EQ(stat(directory.path("state/7.node01/state.json").c_str(), &status), 0);
    EXPECT_EQ(status.st_mode & 0777, 0600U);
}

TEST_F(NodeStateTest, ADirectoryThatOthersMayWriteIsRefused) {
    chmod(store.root().c_str(), 0777);
    const auto prepared = store.prepare();
    ASSERT_FALSE(prepared);
    EXPECT_EQ(prepared.error().code, Errc::denied);
    EXPECT_THAT(prepared.error().message, HasSubstr("others may write it"));
}

TEST_F(NodeStateTest, ALinkIsNoDirectory) {
    ASSERT_EQ(symlink("/tmp", directory.path("link").c_str()), 0);
    const auto prepared = NodeStateStore(directory.path("link")).prepare();
    ASSERT_FALSE(prepared);
    EXPECT_THAT(prepared.error().message, HasSubstr("not a directory"));
}

TEST_F(NodeStateTest, AJobThatHasEndedIsNotBroughtBack) {
    ASSERT_TRUE(store.save(state(), true));
    ASSERT_TRUE(store.remove({7, "node01"}));
    const auto saved = store.save(state(), false);
    ASSERT_FALSE(saved);
    EXPECT_EQ(saved.error().code, Errc::not_found);
    EXPECT_THAT(files_in(store.root()), IsEmpty());
}

TEST_F(NodeStateTest, AnotherRunOfTheJobBeginsAnew) {
    ASSERT_TRUE(store.save(state(), true));
    testing::write_text(directory.path("state/7.node01/left-over"), "x");
    ASSERT_TRUE(store.save(state(), true));
    EXPECT_THAT(files_in(store.root() + "/7.node01"), ElementsAre("state.json"));
}

TEST_F(NodeStateTest, RemovingTwiceIsNoError) {
    EXPECT_TRUE(store.remove({7, "node01"}));
}

TEST_F(NodeStateTest, AnInterruptedRemovalIsFinished) {
    std::filesystem::create_directory(directory.path("state/.7.node01.gone"));
    testing::write_text(directory.path("state/.7.node01.gone/state.json"), "x");
    ASSERT_TRUE(store.save(state(), true));
    ASSERT_TRUE(store.remove({7, "node01"}));
    EXPECT_THAT(files_in(store.root()), IsEmpty());
}

TEST_F(NodeStateTest, OddNodeNamesStayInTheirDirectory) {
    ASSERT_TRUE(store.save(state(7, "a.b%c"), true));
    EXPECT_THAT(files_in(store.root()), ElementsAre("7.a%2Eb%25c"));
    EXPECT_THAT(*store.list(), ElementsAre(NodeJob{7, "a.b%c"}));
}

TEST_F(NodeStateTest, ListsNothingElse) {
    testing::write_text(directory.path("state/lock"), "");
    testing::write_text(directory.path("state/mid.lock"), "");
    std::filesystem::create_directory(directory.path("state/07.node01"));
    EXPECT_THAT(*store.list(), IsEmpty());
}

TEST_F(NodeStateTest, DamageIsNamedWithItsFile) {
    ASSERT_TRUE(store.save(state(), true));
    testing::write_text(directory.path("state/7.node01/state.json"), "{");
    const auto loaded = store.load({7, "node01"});
    ASSERT_FALSE(loaded);
    EXPECT_EQ(loaded.error().code, Errc::malformed);
    EXPECT_THAT(loaded.error().message, HasSubstr("7.node01/state.json: node state: "));
}

TEST_F(NodeStateTest, RefusesAnotherJobsState) {
    ASSERT_TRUE(store.save(state(), true));
    testing::write_text(directory.path("state/7.node01/state.json"), encode_node_state(state(8)));
    EXPECT_THAT(store.load({7, "node01"}).error().message, HasSubstr("it is of another job"));
}

TEST_F(NodeStateTest, RefusesIntervalsThatDoNotLeadToTheLastReading) {
    auto odd = state();
    odd.last_ns = 5 * second_ns;
    const auto decoded = decode_node_state(encode_node_state(odd));
    ASSERT_FALSE(decoded);
    EXPECT_THAT(decoded.error().message, HasSubstr("do not lead from start_ns to last_ns"));
}

TEST_F(NodeStateTest, TheLockIsWaitedForNotLongerThanAsked) {
    const auto held = store.lock(Deadline::after(std::chrono::milliseconds(10)));
    ASSERT_TRUE(held);
    const auto second = store.lock(Deadline::after(std::chrono::milliseconds(10)));
    ASSERT_FALSE(second);
    EXPECT_EQ(second.error().code, Errc::unavailable);
}

} // namespace
} // namespace fabric_check
