// SPDX-License-Identifier: GPL-2.0-or-later
#include "record/json_tree.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <random>

namespace fabric_check {
namespace {

bool parses(std::string_view text) {
    JsonTree tree;
    return tree.parse(text);
}

nlohmann::json as_nlohmann(const JsonValue &value) {
    nlohmann::json out;
    if (value.is_object()) {
        out = nlohmann::json::object();
        for (const auto member : value)
            out[member.key()] = as_nlohmann(member);
    } else if (value.is_array()) {
        out = nlohmann::json::array();
        for (const auto element : value)
            out.push_back(as_nlohmann(element));
    } else if (value.is_string()) {
        out = value.text();
    } else if (value.is_boolean()) {
        out = value.boolean();
    } else if (value.is_number()) {
        if (const auto whole = value.whole())
            out = *whole;
        else
            out = value.real().value_or(0);
    }
    return out;
}

TEST(JsonTree, FindsKeysInAndOutOfOrder) {
    JsonTree tree;
    ASSERT_TRUE(tree.parse(R"({"a": 1, "b": {"a": 7}, "c": 3, "\u0064": 4})"));
    const auto root = tree.root();
    auto from = root.begin();
    for (const auto &[key, value] : {std::pair("c", 3U), {"a", 1U}, {"d", 4U}, {"d", 4U}, {"c", 3U}, {"a", 1U}}) {
        const auto found = root.find(key, from);
        ASSERT_TRUE(found) << key;
        EXPECT_EQ(found->whole(), value);
    }
    EXPECT_FALSE(root.find("e", from));
    EXPECT_FALSE(root.find("", from));
    EXPECT_EQ(root.find("c", from)->whole(), 3U) << "what is not there moves nothing";
    ASSERT_TRUE(tree.parse("{}"));
    auto nowhere = tree.root().begin();
    EXPECT_FALSE(tree.root().find("a", nowhere));
}

TEST(JsonTree, HoldsWhatItsTextSays) {
    const std::string text = R"( {"a": [1, -2.5, true, false, null, "x", [], {}], "b": {"c": {"d": 18446744073709551615}}} )";
    JsonTree tree;
    ASSERT_TRUE(tree.parse(text));
    EXPECT_EQ(as_nlohmann(tree.root()), nlohmann::json::parse(text));
    EXPECT_EQ(tree.root().find("a")->size(), 8U);
    EXPECT_EQ(tree.root().find("b")->find("c")->find("d")->whole(), 18446744073709551615U);
    EXPECT_FALSE(tree.root().find("d"));
}

TEST(JsonTree, TakesOnlyWholeNumbersForWhole) {
    for (const auto *text : {"-0", "-1", "1.0", "1e3", "18446744073709551616"}) {
        JsonTree tree;
        ASSERT_TRUE(tree.parse(text)) << text;
        EXPECT_FALSE(tree.root().whole()) << text;
        EXPECT_TRUE(tree.root().real()) << text;
    }
}

TEST(JsonTree, ResolvesEscapes) {
    const std::string text = R"({"a\n\u0041": "\"\\\/\b\f\n\r\t\u00e9\u20ac\ud83d\ude00"})";
    JsonTree tree;
    ASSERT_TRUE(tree.parse(text));
    EXPECT_EQ(as_nlohmann(tree.root()), nlohmann::json::parse(text));
    EXPECT_TRUE(tree.root().find("a\nA"));
}

TEST(JsonTree, TheLastOfOneKeyCounts) {
    JsonTree tree;
    ASSERT_TRUE(tree.parse(R"({"a": 1, "a": 2})"));
    EXPECT_EQ(tree.root().find("a")->whole(), 2U);
}

TEST(JsonTree, RefusesWhatIsNoJson) {
    for (const std::string_view text :
         {"", " ", "{", "}", "[1,]", "[1 2]", "{\"a\"}", "{\"a\":}", "{\"a\":1,}", "{a:1}", "[1}", "01", "+1", ".5", "1.",
          "1e", "-", "nul", "truex", "\"a", "\"\x01\"", "\"\\x\"", "\"\\u12\"", "\"\\ud800\"", "\"\\ud800\\u0041\"",
          "\"\\udc00\"", "\"\xff\"", "\"\xc0\x80\"", "\"\xed\xa0\x80\"", "\"\xf4\x90\x80\x80\"", "1 1", "{} []", "\"\\"})
        EXPECT_FALSE(parses(text)) << text;
}

TEST(JsonTree, AgreesWithAnotherParserOnDamagedRecords) {
    const std::string good = R"({"schema":"fabric-check/record/1","job":9,"list":[{"a":-1.5e3,"b":"\u00e9x"},[],{},null,true]})";
    std::mt19937 random(3);
    const std::string_view bytes = "{}[]\",:\\u0019-.eE+tnf \n\xc3\xa9";
    for (int i = 0; i < 20000; ++i) {
        auto text = good;
        for (auto changes = 1 + random() % 3; changes > 0; --changes)
            text[random() % text.size()] = bytes[random() % bytes.size()];
        JsonTree tree;
        const auto other = nlohmann::json::parse(text, nullptr, false);
        ASSERT_EQ(tree.parse(text), !other.is_discarded()) << text;
    }
}

TEST(JsonTree, NestsAsDeepAsItLikes) {
    const std::string deep = std::string(200000, '[') + std::string(200000, ']');
    EXPECT_TRUE(parses(deep));
    EXPECT_FALSE(parses(std::string(200000, '[')));
}

} // namespace
} // namespace fabric_check
