// SPDX-License-Identifier: GPL-2.0-or-later
#include "record/json_writer.hpp"

#include <gtest/gtest.h>
#include <limits>
#include <nlohmann/json.hpp>

namespace fabric_check {
namespace {

template <class T> std::string written(const T &what) {
    std::string text;
    JsonWriter(text).value(what);
    return text;
}

TEST(JsonWriter, SeparatesMembersAndElements) {
    std::string text;
    JsonWriter json(text);
    json.begin_object();
    json.key("a");
    json.begin_array();
    json.end_array();
    json.key("b");
    json.begin_array();
    json.value(1U);
    json.begin_object();
    json.member("c", true);
    json.member("d", "x");
    json.end_object();
    json.raw("[2]");
    json.end_array();
    json.end_object();
    EXPECT_EQ(text, R"({"a":[],"b":[1,{"c":true,"d":"x"},[2]]})");
}

TEST(JsonWriter, WritesTheWholeRangeOfNumbers) {
    EXPECT_EQ(written(std::numeric_limits<std::uint64_t>::max()), "18446744073709551615");
    EXPECT_EQ(written(std::numeric_limits<std::int64_t>::min()), "-9223372036854775808");
    EXPECT_EQ(written(53.125), "53.125");
    EXPECT_EQ(written(200.0), "200.0") << "stays a number with a fraction";
    EXPECT_EQ(written(std::numeric_limits<double>::quiet_NaN()), "null");
}

TEST(JsonWriter, DoublesReadBackTheSame) {
    for (const double number : {0.1, 1e300, -2.5e-9, 1e6, 123456789.125})
        EXPECT_EQ(nlohmann::json::parse(written(number)).get<double>(), number);
}

TEST(JsonWriter, EveryByteIsEscapedAsTheParserWantsIt) {
    std::string all;
    for (int c = 0; c < 128; ++c)
        all += static_cast<char>(c);
    const auto text = written(all);
    EXPECT_EQ(nlohmann::json::parse(text).get<std::string>(), all);
    for (const char c : text)
        EXPECT_TRUE(c >= ' ' && c <= '~') << static_cast<int>(c);
}

TEST(JsonWriter, CharactersBeyondAsciiAreEscaped) {
    EXPECT_EQ(written("\xc3\xa9"), R"("\u00e9")");
    EXPECT_EQ(written("\xf0\x9f\x98\x80"), R"("\ud83d\ude00")");
    EXPECT_EQ(written("\xe2\x82\xac|"), R"("\u20ac|")");
}

TEST(JsonWriter, WhatIsNotUtf8BecomesTheReplacement) {
    EXPECT_EQ(written("a\xff" "b"), R"("a\ufffdb")");
    EXPECT_EQ(written("\xc3"), R"("\ufffd")") << "cut short";
    EXPECT_EQ(written("\xc0\x80"), R"("\ufffd\ufffd")") << "over-long";
    EXPECT_EQ(written("\xed\xa0\x80"), R"("\ufffd\ufffd\ufffd")") << "a surrogate";
    EXPECT_EQ(written("\xf4\x90\x80\x80"), R"("\ufffd\ufffd\ufffd\ufffd")") << "beyond Unicode";
}

} // namespace
} // namespace fabric_check
