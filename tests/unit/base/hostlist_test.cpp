// SPDX-License-Identifier: GPL-2.0-or-later
#include "base/hostlist.hpp"

#include <gmock/gmock.h>
#include <slurm/slurm.h>

#include <cstdlib>
#include <memory>
#include <random>
#include <set>

namespace fabric_check {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

using Names = std::vector<std::string>;

Names expanded(std::string_view text, std::size_t limit = 65536) {
    const auto names = expand_hostlist(text, limit);
    EXPECT_TRUE(names.ok()) << text << ": " << (names ? "" : names.error().message);
    return names ? *names : Names{};
}

TEST(ExpandHostlist, OfNothingIsNothing) {
    EXPECT_THAT(expanded(""), IsEmpty());
}
TEST(ExpandHostlist, KeepsOrderAndDuplicates) {
    EXPECT_THAT(expanded("node[01-03,7],login,node01"),
                ElementsAre("node01", "node02", "node03", "node7", "login", "node01"));
}
TEST(ExpandHostlist, PadsToTheWidthOfTheFirstNumber) {
    EXPECT_THAT(expanded("n[9-11]"), ElementsAre("n9", "n10", "n11"));
    EXPECT_THAT(expanded("n[099-101]"), ElementsAre("n099", "n100", "n101"));
    EXPECT_THAT(expanded("n[09-10]"), ElementsAre("n09", "n10"));
}
TEST(ExpandHostlist, MultipliesBrackets) {
    EXPECT_THAT(expanded("rack[1-2]n[1-2]x"), ElementsAre("rack1n1x", "rack1n2x", "rack2n1x", "rack2n2x"));
}
TEST(ExpandHostlist, TakesExactlyTheLimit) {
    EXPECT_EQ(expanded("n[1-100]", 100).size(), 100U);
}
TEST(ExpandHostlist, RefusesMoreNamesThanTheLimit) {
    for (const char *text : {"n[1-101]", "n[1-99],a,b", "n[1-11]x[1-10]", "n[0-999999999999999999]"}) {
        const auto names = expand_hostlist(text, 100);
        ASSERT_FALSE(names.ok()) << text;
        EXPECT_EQ(names.error().code, Errc::malformed);
        EXPECT_THAT(names.error().message, HasSubstr("more than 100 names"));
    }
}
TEST(ExpandHostlist, RefusesBrokenBracketsQuotingTheItem) {
    for (const char *text : {"n[1-2", "n1-2]", "n[[1-2]]", "n[]", "n[a-b]", "n[2-1]", "n[1--2]", "n[1,]", "n[-1]",
                             "n[1-2-3]", "n[99999999999999999999]"}) {
        const auto names = expand_hostlist(text);
        ASSERT_FALSE(names.ok()) << text;
        EXPECT_EQ(names.error().code, Errc::malformed);
        EXPECT_THAT(names.error().message, HasSubstr(std::string("\"") + text)) << text;
    }
}
TEST(ExpandHostlist, EscapesHostileBytesInItsMessage) {
    const auto names = expand_hostlist("n[\x1b]");
    ASSERT_FALSE(names.ok());
    EXPECT_THAT(names.error().message, HasSubstr("n[\\x1b]"));
}

TEST(FoldHostlist, SortsJoinsAndDropsDuplicates) {
    EXPECT_EQ(fold_hostlist({"node03", "login", "node01", "node02", "node07", "node01"}), "login,node[01-03,07]");
}
TEST(FoldHostlist, OfOneNameIsThatName) {
    EXPECT_EQ(fold_hostlist({"node07"}), "node07");
}
TEST(FoldHostlist, OfNothingIsEmpty) {
    EXPECT_EQ(fold_hostlist({}), "");
}
TEST(FoldHostlist, CountsOnFromNineToTenWithoutPadding) {
    EXPECT_EQ(fold_hostlist({"n9", "n10"}), "n[9-10]");
}
TEST(FoldHostlist, KeepsDifferentPaddingsApart) {
    EXPECT_EQ(fold_hostlist({"n1", "n01", "n10"}), "n1,n[01,10]");
}
TEST(FoldHostlist, LeavesNumbersTooLongToCountWith) {
    EXPECT_EQ(fold_hostlist({"n12345678901234567890", "n12345678901234567891"}),
              "n12345678901234567890,n12345678901234567891");
}

/// libslurm's own hostlists, the authority.
class SlurmHostlist {
public:
    explicit SlurmHostlist(const std::string &text)
        : list_(slurm_hostlist_create(text.c_str()), slurm_hostlist_destroy) {}
    Names names() {
        Names all;
        while (char *name = slurm_hostlist_shift(list_.get())) {
            all.emplace_back(name);
            std::free(name);
        }
        return all;
    }
    std::string folded() {
        slurm_hostlist_uniq(list_.get());
        std::unique_ptr<char, decltype(&std::free)> text(slurm_hostlist_ranged_string_malloc(list_.get()), std::free);
        return text.get();
    }

private:
    std::unique_ptr<std::remove_pointer_t<hostlist_t>, void (*)(hostlist_t)> list_;
};

class RandomLists {
public:
    std::string list() {
        std::string text;
        for (unsigned items = 1 + pick(4); items > 0; --items) {
            text += (text.empty() ? "" : ",") + item();
        }
        return text;
    }

    Names names() {
        Names all;
        for (unsigned count = 1 + pick(30); count > 0; --count) {
            all.push_back(stems_[pick(stems_.size())] + padded(pick(130), pick(4)));
        }
        return all;
    }

private:
    std::string item() {
        std::string text = stems_[pick(stems_.size())];
        if (pick(4) == 0) {
            return text;
        }
        text += bracket();
        return pick(3) == 0 ? text + "n" + bracket() : text;
    }
    std::string bracket() {
        std::string text;
        for (unsigned ranges = 1 + pick(3); ranges > 0; --ranges) {
            const unsigned first = pick(120), width = pick(4);
            text += (text.empty() ? "" : ",") + padded(first, width);
            if (pick(2) == 0) {
                text += "-" + padded(first + pick(15), width);
            }
        }
        return "[" + text + "]";
    }
    static std::string padded(unsigned number, unsigned width) {
        std::string text = std::to_string(number);
        return text.size() < width ? std::string(width - text.size(), '0') + text : text;
    }
    unsigned pick(std::size_t below) { return static_cast<unsigned>(random_() % below); }

    std::mt19937 random_{20240229};
    Names stems_{"node", "n", "gpu-a", "rack1-", "login"};
};

TEST(ExpandHostlist, AgreesWithLibslurm) {
    RandomLists random;
    for (int i = 0; i < 3000; ++i) {
        const std::string text = random.list();
        EXPECT_EQ(expanded(text), SlurmHostlist(text).names()) << text;
    }
}

TEST(FoldHostlist, ExpandsToTheSameSetByUsAndByLibslurm) {
    RandomLists random;
    for (int i = 0; i < 3000; ++i) {
        const Names names = random.names();
        const std::set<std::string> wanted(names.begin(), names.end());
        const std::string text = fold_hostlist(names);
        const Names ours = expanded(text), theirs = SlurmHostlist(text).names();
        EXPECT_EQ(std::set<std::string>(ours.begin(), ours.end()), wanted) << text;
        EXPECT_EQ(ours.size(), wanted.size()) << "a name stands twice in " << text;
        EXPECT_EQ(theirs, ours) << text;
    }
}

TEST(FoldHostlist, IsWhatLibslurmWritesForNamesOfOneKind) {
    std::mt19937 numbers(7);
    for (int i = 0; i < 300; ++i) {
        std::string all;
        Names names;
        for (int n = 0; n < 40; ++n) {
            char name[16];
            std::snprintf(name, sizeof name, "node%03u", static_cast<unsigned>(numbers() % 60));
            names.emplace_back(name);
            all += (all.empty() ? "" : ",") + names.back();
        }
        EXPECT_EQ(fold_hostlist(names), SlurmHostlist(all).folded());
    }
}

} // namespace
} // namespace fabric_check
