// SPDX-License-Identifier: GPL-2.0-or-later
#include "counters/counters.hpp"
#include "counters/table.hpp"

#include <gmock/gmock.h>

#include <map>
#include <random>

namespace fabric_check {
namespace {

TEST(Counters, KeepsNamesInOrderAndOnce) {
    Counters counters;
    for (const char *name : {"b", "a", "c", "a"})
        counters[name] = Reading::of(1);
    std::string names;
    for (const auto &[name, reading] : counters)
        names += name;
    EXPECT_EQ(names, "abc");
}

TEST(Counters, AReadingThatIsThereStays) {
    Counters counters{{"a", Reading::of(1)}};
    const auto [at, fresh] = counters.try_emplace("a", Reading::of(2));
    EXPECT_FALSE(fresh);
    EXPECT_EQ(at->second, Reading::of(1));
}

TEST(Counters, NamesOutliveTheTextTheyCameFrom) {
    Counters copy;
    {
        Counters counters;
        std::string name = "a name that nobody knows, and long";
        counters[name] = Reading::of(1);
        counters["SymbolErrorCounter"] = Reading::of(2);
        name.assign(name.size(), 'x');
        copy = counters;
    }
    EXPECT_TRUE(copy.contains("a name that nobody knows, and long"));
    EXPECT_EQ(copy.find("SymbolErrorCounter")->first.data(), find_counter("SymbolErrorCounter")->name.data())
        << "a name that the table has takes no room";
}

TEST(Counters, AtThrowsForWhatIsNotThere) {
    const Counters counters{{"a", Reading::of(1)}};
    EXPECT_THROW((void)counters.at("b"), std::out_of_range);
    EXPECT_EQ(counters.get("b"), nullptr);
}

TEST(Counters, DoWhatAMapDoes) {
    std::mt19937 random(7); // NOLINT(cert-msc51-cpp): the same every time
    std::vector<std::string> names{"PortXmitData", "PortRcvData", "rx_prio3_pause"};
    for (int i = 0; i < 20; ++i)
        names.push_back("name" + std::to_string(i));
    for (int round = 0; round < 50; ++round) {
        Counters counters;
        std::map<std::string, Reading> twin;
        for (int step = 0; step < 60; ++step) {
            const auto &name = names[random() % names.size()];
            const auto reading = Reading::of(random(), 32);
            switch (random() % 3) {
            case 0:
                counters[name] = reading;
                twin[name] = reading;
                break;
            case 1:
                EXPECT_EQ(counters.try_emplace(name, reading).second, twin.try_emplace(name, reading).second);
                break;
            default:
                EXPECT_EQ(counters.erase(name), twin.erase(name));
            }
        }
        ASSERT_EQ(counters.size(), twin.size());
        EXPECT_TRUE(std::equal(counters.begin(), counters.end(), twin.begin(), [](const auto &a, const auto &b) {
            return a.first == b.first && a.second == b.second;
        }));
    }
}

} // namespace
} // namespace fabric_check
