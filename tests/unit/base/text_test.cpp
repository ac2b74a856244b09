// SPDX-License-Identifier: GPL-2.0-or-later
#include "base/text.hpp"

#include <gmock/gmock.h>

#include <cstdint>
#include <cstdlib>
#include <ctime>

namespace fabric_check {
namespace {

using testing::ElementsAre;

TEST(Trim, TakesBlanksTabsAndLineEndsFromBothEnds) {
    EXPECT_EQ(trim(" \t\r\n4: ACTIVE \r\n"), "4: ACTIVE");
}
TEST(Trim, OfOnlyBlanksIsEmpty) {
    EXPECT_EQ(trim(" \r\n\t"), "");
}

TEST(Split, KeepsEmptyParts) {
    EXPECT_THAT(split(",a,,b,", ','), ElementsAre("", "a", "", "b", ""));
}
TEST(Split, OfNothingIsOneEmptyPart) {
    EXPECT_THAT(split("", ','), ElementsAre(""));
}

TEST(ParseU64, TakesTheWholeRange) {
    EXPECT_EQ(parse_u64("0"), 0U);
    EXPECT_EQ(parse_u64("9"), 9U);
    EXPECT_EQ(parse_u64("10"), 10U);
    EXPECT_EQ(parse_u64("18446744073709551615"), UINT64_MAX);
}
TEST(ParseU64, RefusesOverflow) {
    EXPECT_EQ(parse_u64("18446744073709551616"), std::nullopt);
}
TEST(ParseU64, RefusesWhatIsNotAllDigits) {
    for (const char *text : {"", " 1", "1 ", "+1", "-1", "1x", "0x1", "1.0", "1\n"}) {
        EXPECT_EQ(parse_u64(text), std::nullopt) << '"' << text << '"';
    }
}
TEST(ParseU64, ReadsHexadecimalWithAndWithoutPrefix) {
    EXPECT_EQ(parse_u64("0xffff", 16), 0xffffU);
    EXPECT_EQ(parse_u64("FFFF", 16), 0xffffU);
    EXPECT_EQ(parse_u64("0X1a", 16), 26U);
}
TEST(ParseU64, RefusesAPrefixWithoutDigits) {
    EXPECT_EQ(parse_u64("0x", 16), std::nullopt);
}

TEST(ParseBytes, TakesPlainNumbersExactly) {
    EXPECT_EQ(parse_bytes("0"), 0U);
    EXPECT_EQ(parse_bytes("18446744073709551615"), UINT64_MAX);
}
TEST(ParseBytes, TakesDecimalPrefixes) {
    EXPECT_EQ(parse_bytes("1TB"), 1'000'000'000'000U);
    EXPECT_EQ(parse_bytes("1.5G"), 1'500'000'000U);
    EXPECT_EQ(parse_bytes("64kB"), 64'000U);
    EXPECT_EQ(parse_bytes("512B"), 512U);
}
TEST(ParseBytes, RefusesOverflowAndAnythingElse) {
    for (const char *text :
         {"", "-5", "B", "k", "kB", "1TiB", "1 TB", "1e3", "nan", "inf", "18446744073709551616", "19EB", "1KB"}) {
        EXPECT_EQ(parse_bytes(text), std::nullopt) << '"' << text << '"';
    }
}

TEST(PercentEncode, KeepsLinksDirectionsAndHostlists) {
    const std::string text = "SwitchA:13<->node[01-12]/mlx5_0:1>x";
    EXPECT_EQ(percent_encode(text), text);
}
TEST(PercentEncode, EscapesWhatWouldBreakTheLine) {
    EXPECT_EQ(percent_encode("a b|c\"d'e;f=g%h\n\xc3"), "a%20b%7Cc%22d%27e%3Bf%3Dg%25h%0A%C3");
}
TEST(PercentEncode, NeverYieldsAForbiddenByte) {
    for (int byte = 0; byte < 256; ++byte) {
        const std::string out = percent_encode(std::string(1, static_cast<char>(byte)));
        for (const unsigned char c : out) {
            EXPECT_TRUE(c > 0x20 && c < 0x7f && c != '|' && c != '"' && c != '\'' && c != ';') << "byte " << byte;
        }
    }
}

TEST(Printable, EscapesControlAndForeignBytes) {
    EXPECT_EQ(printable("a\x1b[31m\n\xff~"), "a\\x1b[31m\\x0a\\xff~");
}

TEST(HumanBytes, ChangesPrefixesAtThousands) {
    EXPECT_EQ(human_bytes(0), "0B");
    EXPECT_EQ(human_bytes(999), "999B");
    EXPECT_EQ(human_bytes(1000), "1.0kB");
    EXPECT_EQ(human_bytes(3'000'000'000'000), "3.0TB");
    EXPECT_EQ(human_bytes(UINT64_MAX), "18.4EB");
}
TEST(HumanBytes, HasAGapWhereAsked) {
    EXPECT_EQ(human_bytes(0, " "), "0 B");
    EXPECT_EQ(human_bytes(485'300'000'000, " "), "485.3 GB");
}
TEST(HumanBytes, NeverRoundsUpToAThousand) {
    EXPECT_EQ(human_bytes(999'949), "999.9kB");
    EXPECT_EQ(human_bytes(999'950), "1.0MB");
}

TEST(FormatTime, IsUtcWithSeconds) {
    EXPECT_EQ(format_time(0), "1970-01-01T00:00:00Z");
    EXPECT_EQ(format_time(1'772'323'199), "2026-02-28T23:59:59Z");
}
TEST(FormatLocalTime, HasTheOffset) {
    for (const auto &[zone, text] : {std::pair("CET-1", "2026-03-01T00:59:59+01:00"), std::pair("XYZ3:30", "2026-02-28T20:29:59-03:30"),
                                     std::pair("UTC", "2026-02-28T23:59:59+00:00")}) {
        ::setenv("TZ", zone, 1); // NOLINT(concurrency-mt-unsafe)
        ::tzset();
        EXPECT_EQ(format_local_time(1'772'323'199), text);
    }
    ::unsetenv("TZ"); // NOLINT(concurrency-mt-unsafe)
    ::tzset();
}
TEST(FormatTime, OfAnImpossibleYearIsTheNumber) {
    EXPECT_EQ(format_time(INT64_MAX), "@9223372036854775807");
}

} // namespace
} // namespace fabric_check
