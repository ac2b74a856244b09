// SPDX-License-Identifier: GPL-2.0-or-later
#include "report/line.hpp"

#include <gtest/gtest.h>

namespace fabric_check {
namespace {

const std::string old_line = "fabric=physical at=A:1<->B:2 why=SymbolErrorCounter+90 cover=11/12 nodes=node[01-12]";
const std::string new_line = "fabric=clean cover=12/12 ports=44/44 moved=3.0TB nodes=node[01-12]";

TEST(MergeField, AnEmptyFieldBecomesTheLine) { EXPECT_EQ(merge_field("", new_line), new_line); }

TEST(MergeField, OthersTextIsKeptAndOursFollows) {
    EXPECT_EQ(merge_field("JS1:H4sIAAAA==", new_line), "JS1:H4sIAAAA== ; " + new_line);
}

TEST(MergeField, OurEarlierSegmentIsReplacedAlone) { EXPECT_EQ(merge_field(old_line, new_line), new_line); }

TEST(MergeField, OurEarlierSegmentInTheMiddleIsReplacedInPlace) {
    EXPECT_EQ(merge_field("JS1:abc ; " + old_line + " ; ticket 7", new_line), "JS1:abc ; " + new_line + " ; ticket 7");
}

TEST(MergeField, OurEarlierSegmentAtTheEndIsReplaced) {
    EXPECT_EQ(merge_field("ticket 7 ; " + old_line, new_line), "ticket 7 ; " + new_line);
}

TEST(MergeField, TwiceIsOnce) {
    const std::string once = merge_field("note", old_line);
    EXPECT_EQ(merge_field(merge_field(once, new_line), new_line), "note ; " + new_line);
}

TEST(MergeField, WordsThatContainOurKeyAreNotOurs) {
    const std::string theirs = "see fabric=clean cover=1/1 in the manual";
    EXPECT_EQ(merge_field(theirs, new_line), theirs + " ; " + new_line);
}

TEST(MergeField, WordsThatBeginWithOurKeyButHaveNoVerdictAreNotOurs) {
    EXPECT_EQ(merge_field("fabric=cotton", new_line), "fabric=cotton ; " + new_line);
}

TEST(MergeField, WordsThatBeginLikeOursAndGoOnAsProseAreNotOurs) {
    EXPECT_EQ(merge_field("fabric=clean please keep", new_line), "fabric=clean please keep ; " + new_line);
}

TEST(MergeField, ATextWithASemicolonInsideIsKept) {
    EXPECT_EQ(merge_field("fabric=clean cover=1/1;mine", new_line), "fabric=clean cover=1/1;mine ; " + new_line);
}

TEST(MergeField, ALoneSeparatorAtTheEndIsUsed) { EXPECT_EQ(merge_field("note ; ", new_line), "note ; " + new_line); }

TEST(MergeField, ASemicolonAtTheEndOfOthersTextDoesNotHideOursLater) {
    const std::string once = merge_field("note ;", old_line);
    EXPECT_EQ(once, "note ; ; " + old_line);
    EXPECT_EQ(merge_field(once, new_line), "note ; ; " + new_line);
}

TEST(MergeField, BlanksAfterOursAreNoReasonToRepeatIt) {
    EXPECT_EQ(merge_field(old_line + "  ", new_line), new_line + "  ");
}

TEST(MergeField, ASeparatorWithoutItsLastBlankEndsOurs) {
    EXPECT_EQ(merge_field(old_line + " ;", new_line), new_line + " ;");
}

TEST(MergeField, ASecondSegmentOfOursIsRemoved) {
    EXPECT_EQ(merge_field(old_line + " ; theirs ; " + old_line, new_line), new_line + " ; theirs");
}

TEST(MergeField, SegmentsOfEarlierVersionsWithOtherKeysAreOurs) {
    EXPECT_EQ(merge_field("fabric=clean zebra=1 nodes=a", new_line), new_line);
}

TEST(MergeField, NonAsciiAndControlBytesOfOthersAreKept) {
    const std::string theirs = "r\xc3\xa9sultat\n\x01 ok";
    EXPECT_EQ(merge_field(theirs, new_line), theirs + " ; " + new_line);
}

TEST(MergeField, TheColumnsLastByteIsUsed) {
    const std::string theirs(65535 - 3 - new_line.size(), 'x');
    EXPECT_EQ(merge_field(theirs, new_line).size(), 65535U);
}

TEST(MergeField, OneByteMoreThanTheColumnIsRefused) {
    const std::string theirs(65535 - 3 - new_line.size() + 1, 'x');
    EXPECT_EQ(merge_field(theirs, new_line), "");
}

TEST(OurSegment, IsFoundAmongOthers) { EXPECT_EQ(our_segment("a ; " + old_line + " ; b"), old_line); }
TEST(OurSegment, IsEmptyWithoutOurs) { EXPECT_EQ(our_segment("a ; see fabric=clean ; b"), ""); }

} // namespace
} // namespace fabric_check
