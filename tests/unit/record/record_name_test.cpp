// SPDX-License-Identifier: GPL-2.0-or-later
#include "record/record_name.hpp"

#include <gtest/gtest.h>

namespace fabric_check {
namespace {

TEST(RecordName, IsJobNodeTimeAndKind) {
    EXPECT_EQ((RecordName{123, "node07", 1700000000000000001, RecordKind::scout_end}).file_name(),
              "123.node07.1700000000000000001.scout-end");
}

TEST(RecordName, EncodesEverythingInANodeThatHasAMeaningInFileNames) {
    const RecordName name{1, "a.b%c+d", 5, RecordKind::start};
    EXPECT_EQ(name.file_name(), "1.a%2Eb%25c%2Bd.5.start");
    EXPECT_EQ(parse_record_name(name.file_name()), name);
}

TEST(RecordName, ReadsBackEveryKind) {
    for (const auto kind :
         {RecordKind::start, RecordKind::end, RecordKind::scout_start, RecordKind::scout_end, RecordKind::failed}) {
        const RecordName name{4294967295, "n", 9223372036854775807, kind};
        EXPECT_EQ(parse_record_name(name.file_name()), name) << to_string(kind);
    }
}

TEST(RecordName, RefusesStrangersFiles) {
    for (const auto *text :
         {"", "1.n.5", "1.n.5.start.payload", "1.n.5.begin", "0.n.5.start", "4294967296.n.5.start", "-1.n.5.start",
          "1..5.start", "1.n.9223372036854775808.start", "1.n.x.start", ".1.n.5.start", "1.n.5.start.0123.tmp"})
        EXPECT_FALSE(parse_record_name(text)) << text;
}

TEST(RecordName, HasOnlyOneForm) {
    for (const auto *text : {"01.n.5.start", "1.n.05.start", "1.%6E.5.start", "1.a%2eb.5.start", "1.a%2.5.start",
                             "1.%0x.5.start", "1.%.5.start", "1.a%2Fb.5.start", "1.a b.5.start"})
        EXPECT_FALSE(parse_record_name(text)) << text;
}

TEST(NodeName, TakesWhatHostsAreCalled) {
    EXPECT_TRUE(valid_node_name("node07"));
    EXPECT_TRUE(valid_node_name("a-b.cluster_1"));
    EXPECT_TRUE(valid_node_name(std::string(255, 'n')));
}

TEST(NodeName, RefusesPathsControlBytesAndExcess) {
    EXPECT_FALSE(valid_node_name(""));
    EXPECT_FALSE(valid_node_name(".."));
    EXPECT_FALSE(valid_node_name("-n"));
    EXPECT_FALSE(valid_node_name("a/b"));
    EXPECT_FALSE(valid_node_name("a b"));
    EXPECT_FALSE(valid_node_name("a\n"));
    EXPECT_FALSE(valid_node_name("n\xc3\xb6"));
    EXPECT_FALSE(valid_node_name(std::string(256, 'n')));
}

} // namespace
} // namespace fabric_check
