// SPDX-License-Identifier: GPL-2.0-or-later
#include "sources/ethtool.hpp"

#include <gmock/gmock.h>

#include <cerrno>
#include <cstring>
#include <linux/ethtool.h>
#include <net/if.h>
#include <numeric>

namespace fabric_check {
namespace {

using ethtool::Statistics;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Pair;
using Bytes = std::vector<std::uint8_t>;

template <class T> void put(Bytes &bytes, T value) {
    const auto at = bytes.size();
    bytes.resize(at + sizeof value);
    std::memcpy(bytes.data() + at, &value, sizeof value);
}

Bytes names_answer(const std::vector<std::string> &names, std::uint32_t count) {
    Bytes bytes;
    put(bytes, std::uint32_t{ETHTOOL_GSTRINGS});
    put(bytes, std::uint32_t{ETH_SS_STATS});
    put(bytes, count);
    for (const std::string &name : names) {
        const auto at = bytes.size();
        bytes.resize(at + ETH_GSTRING_LEN);
        std::memcpy(bytes.data() + at, name.data(), std::min<std::size_t>(name.size(), ETH_GSTRING_LEN));
    }
    return bytes;
}
Bytes names_answer(const std::vector<std::string> &names) {
    return names_answer(names, static_cast<std::uint32_t>(names.size()));
}
Bytes values_answer(const std::vector<std::uint64_t> &values, std::uint32_t count) {
    Bytes bytes;
    put(bytes, std::uint32_t{ETHTOOL_GSTATS});
    put(bytes, count);
    for (const std::uint64_t value : values) {
        put(bytes, value);
    }
    return bytes;
}
Bytes values_answer(const std::vector<std::uint64_t> &values) {
    return values_answer(values, static_cast<std::uint32_t>(values.size()));
}
Bytes count_answer(std::uint64_t mask, std::uint32_t count) {
    Bytes bytes;
    put(bytes, std::uint32_t{ETHTOOL_GSSET_INFO});
    put(bytes, std::uint32_t{0});
    put(bytes, mask);
    put(bytes, count);
    return bytes;
}
constexpr std::uint64_t has_statistics = 1U << ETH_SS_STATS;

TEST(EthtoolDecode, PairsNamesWithValues) {
    const auto statistics = ethtool::decode_statistics(names_answer({"rx_prio3_pause", "rx_bytes_phy"}),
                                                       values_answer({7, UINT64_MAX}));
    ASSERT_TRUE(statistics.ok()) << statistics.error().message;
    EXPECT_THAT(*statistics, ElementsAre(Pair("rx_bytes_phy", UINT64_MAX), Pair("rx_prio3_pause", 7)));
}
TEST(EthtoolDecode, TakesANameThatFillsItsField) {
    const std::string full(ETH_GSTRING_LEN, 'x');
    const auto statistics = ethtool::decode_statistics(names_answer({full, "b"}), values_answer({1, 2}));
    ASSERT_TRUE(statistics.ok());
    EXPECT_THAT(*statistics, ElementsAre(Pair("b", 2), Pair(full, 1)));
}
TEST(EthtoolDecode, StripsBlanksThatSomeDriversPadWith) {
    EXPECT_THAT(*ethtool::decode_statistics(names_answer({"  rx_bytes "}), values_answer({1})),
                ElementsAre(Pair("rx_bytes", 1)));
}
TEST(EthtoolDecode, SkipsNamesThatAreNoneAndKeepsTheOthersInStep) {
    const auto statistics = ethtool::decode_statistics(names_answer({"", "a\x1b", "two words", "good"}),
                                                       values_answer({1, 2, 3, 4}));
    EXPECT_THAT(*statistics, ElementsAre(Pair("good", 4)));
}
TEST(EthtoolDecode, TakesTheFirstOfEqualNames) {
    EXPECT_THAT(*ethtool::decode_statistics(names_answer({"a", "a"}), values_answer({1, 2})), ElementsAre(Pair("a", 1)));
}
TEST(EthtoolDecode, WithoutAnyIsEmpty) {
    EXPECT_THAT(*ethtool::decode_statistics(names_answer({}), values_answer({})), IsEmpty());
}
TEST(EthtoolDecode, RefusesACountBeyondTheAnswer) {
    const auto names = ethtool::decode_statistics(names_answer({"a"}, 2), values_answer({1, 2}));
    ASSERT_FALSE(names.ok());
    EXPECT_EQ(names.error().code, Errc::malformed);
    EXPECT_EQ(names.error().message, "the kernel's answer is shorter than it says");
    const auto values = ethtool::decode_statistics(names_answer({"a", "b"}), values_answer({1}, 2));
    ASSERT_FALSE(values.ok());
    EXPECT_EQ(values.error().message, "the kernel's answer is shorter than it says");
}
TEST(EthtoolDecode, RefusesMoreThanTheMost) {
    const auto answer = ethtool::decode_statistics(names_answer({"a"}, ethtool::most_statistics + 1), values_answer({1}));
    ASSERT_FALSE(answer.ok());
    EXPECT_EQ(answer.error().message, "the kernel says 16385 statistics, more than 16384");
    EXPECT_FALSE(ethtool::decode_statistics(names_answer({"a"}, UINT32_MAX), values_answer({1})).ok());
}
TEST(EthtoolDecode, RefusesEveryCutOffAnswer) {
    const Bytes names = names_answer({"abc"});
    const Bytes values = values_answer({1});
    for (std::size_t size = 0; size < names.size(); ++size) {
        EXPECT_FALSE(ethtool::decode_statistics(std::span(names).first(size), values).ok()) << size;
    }
    for (std::size_t size = 0; size < values.size(); ++size) {
        EXPECT_FALSE(ethtool::decode_statistics(names, std::span(values).first(size)).ok()) << size;
    }
}
TEST(EthtoolDecode, SaysWhenNamesAndValuesDifferInNumber) {
    const auto answer = ethtool::decode_statistics(names_answer({"a", "b"}), values_answer({1}));
    ASSERT_FALSE(answer.ok());
    EXPECT_EQ(answer.error().code, Errc::unavailable);
    EXPECT_EQ(answer.error().message, "2 names for 1 statistics: they changed while they were read");
}
TEST(EthtoolDecode, CountsOnlyWhereTheSetIsThere) {
    EXPECT_EQ(*ethtool::decode_count(count_answer(has_statistics, 9)), 9U);
    EXPECT_EQ(*ethtool::decode_count(count_answer(0, 9)), 0U);
    EXPECT_EQ(*ethtool::decode_count(count_answer(has_statistics, 16384)), 16384U);
    EXPECT_FALSE(ethtool::decode_count(count_answer(has_statistics, 16385)).ok());
    EXPECT_FALSE(ethtool::decode_count(Bytes(8)).ok());
    EXPECT_FALSE(ethtool::decode_count(Bytes()).ok());
}

/// A kernel with these statistics; `grown` times it has one more when the values are asked for.
struct FakeKernel {
    std::vector<std::string> names;
    int error = 0, failing = 0, grown = 0;
    std::vector<unsigned> asked = {};

    ethtool::Ioctl ioctl() {
        return [this](const std::string &, void *data) {
            std::uint32_t command = 0;
            std::memcpy(&command, data, sizeof command);
            asked.push_back(command);
            if (error != 0 && (failing == 0 || command == static_cast<unsigned>(failing))) {
                return error;
            }
            std::vector<std::uint64_t> values(names.size() + (command == ETHTOOL_GSTATS && grown-- > 0 ? 1 : 0));
            std::iota(values.begin(), values.end(), 10);
            const Bytes answer = command == ETHTOOL_GSSET_INFO
                                     ? count_answer(names.empty() ? 0 : has_statistics,
                                                    static_cast<std::uint32_t>(names.size()))
                                 : command == ETHTOOL_GSTRINGS ? names_answer(names)
                                                               : values_answer(values);
            std::memcpy(data, answer.data(), answer.size());
            return 0;
        };
    }
};

TEST(EthtoolRead, AsksForCountNamesAndValues) {
    FakeKernel kernel{.names = {"a", "b"}};
    const auto statistics = ethtool::read_statistics("ens1", kernel.ioctl());
    ASSERT_TRUE(statistics.ok()) << statistics.error().message;
    EXPECT_THAT(*statistics, ElementsAre(Pair("a", 10), Pair("b", 11)));
    EXPECT_THAT(kernel.asked, ElementsAre(ETHTOOL_GSSET_INFO, ETHTOOL_GSTRINGS, ETHTOOL_GSTATS));
}
TEST(EthtoolRead, AsksAgainWhenTheyChangedMeanwhile) {
    FakeKernel kernel{.names = {"a"}, .grown = 1};
    EXPECT_TRUE(ethtool::read_statistics("ens1", kernel.ioctl()).ok());
    kernel.grown = 9;
    const auto never = ethtool::read_statistics("ens1", kernel.ioctl());
    ASSERT_FALSE(never.ok());
    EXPECT_EQ(never.error().message, "ens1: 1 names for 2 statistics: they changed while they were read");
}
TEST(EthtoolRead, SaysWhyThereAreNone) {
    const auto said = [](FakeKernel kernel) {
        const auto answer = ethtool::read_statistics("ens1", kernel.ioctl());
        return answer.ok() ? std::string("ok") : answer.error().message;
    };
    EXPECT_EQ(said({.names = {}}), "ens1: its driver shows no statistics");
    EXPECT_EQ(said({.names = {"a"}, .error = EOPNOTSUPP}), "ens1: its driver shows no statistics");
    EXPECT_EQ(said({.names = {"a"}, .error = ENODEV}), "ens1: No such device");
    EXPECT_EQ(said({.names = {"a"}, .error = EFAULT, .failing = ETHTOOL_GSTRINGS}), "ens1: Bad address");
    EXPECT_EQ(said({.names = {"a"}, .error = EIO, .failing = ETHTOOL_GSTATS}), "ens1: Input/output error");
}
TEST(EthtoolRead, AsksForNoNameThatIsNone) {
    FakeKernel kernel{.names = {"a"}};
    for (const char *name : {"", "a/b", "..", "sixteen-letters!", "a b", "a\n"}) {
        EXPECT_FALSE(ethtool::read_statistics(name, kernel.ioctl()).ok()) << name;
    }
    EXPECT_THAT(kernel.asked, IsEmpty());
    EXPECT_TRUE(ethtool::read_statistics("fifteen-letters", kernel.ioctl()).ok());
}
TEST(EthtoolRead, OfADeviceThatIsNotThereSaysSo) {
    const auto answer = ethtool::read_statistics("no-such-dev0", ethtool::kernel_ioctl());
    ASSERT_FALSE(answer.ok());
    EXPECT_THAT(answer.error().message, HasSubstr("no-such-dev0: "));
}
TEST(EthtoolRead, ReadsTheMachinesOwnDevices) {
    std::string devices;
    struct if_nameindex *all = ::if_nameindex();
    ASSERT_NE(all, nullptr);
    bool any = false;
    for (const auto *one = all; one->if_index != 0; ++one) {
        const auto answer = ethtool::read_statistics(one->if_name, ethtool::kernel_ioctl());
        any = any || answer.ok();
        if (answer.ok()) {
            EXPECT_FALSE(answer->empty()) << one->if_name;
        } else {
            EXPECT_THAT(answer.error().message, HasSubstr(std::string(one->if_name) + ": "));
            devices += answer.error().message + "; ";
        }
    }
    ::if_freenameindex(all);
    if (!any) {
        GTEST_SKIP() << "no network device here has statistics: " << devices;
    }
}

TEST(EthtoolText, ReadsWhatTheProgramPrints) {
    EXPECT_THAT(*ethtool::parse_statistics("NIC statistics:\n     rx_bytes: 5\n     [0]:tx: 6\r\n     odd: x\n\n"),
                ElementsAre(Pair("[0]:tx", 6), Pair("rx_bytes", 5)));
}
TEST(EthtoolText, HasItsBound) {
    std::string text;
    for (int i = 0; i < 16385; ++i) {
        text += "c" + std::to_string(i) + ": 1\n";
    }
    const auto answer = ethtool::parse_statistics(text);
    ASSERT_FALSE(answer.ok());
    EXPECT_EQ(answer.error().message, "more than 16384 statistics");
}

} // namespace
} // namespace fabric_check
