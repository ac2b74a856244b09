// SPDX-License-Identifier: GPL-2.0-or-later
#include "base/file.hpp"
#include "base/temporary.hpp"
#include "base/text.hpp"
#include "config/config.hpp"
#include "config/keys.hpp"
#include "sources/sysfs.hpp"

#include <gmock/gmock.h>

#include <cstdlib>

namespace fabric_check {
namespace {

using test::TemporaryDirectory;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

Config parsed(const std::string &text) {
    const auto config = parse_config(text, "f.toml");
    EXPECT_TRUE(config.ok()) << (config ? "" : config.error().message);
    return config ? *config : Config{};
}

std::string error_of(const std::string &text) {
    const auto config = parse_config(text, "f.toml");
    EXPECT_FALSE(config.ok()) << text;
    if (config.ok()) {
        return "";
    }
    EXPECT_EQ(config.error().code, Errc::usage);
    return config.error().message;
}

/// All values as the table reads them back: one way to compare configurations.
std::vector<std::string> values(const Config &config) {
    std::vector<std::string> all;
    for (const config::Key &key : config::keys()) {
        all.push_back(std::string(key.section) + "." + key.name + "=" + config::value_of(key, config));
    }
    return all;
}

TEST(ParseConfig, OfNothingIsTheDefaults) {
    EXPECT_EQ(values(parsed("")), values(Config{}));
}
TEST(ParseConfig, TakesEveryKindOfValue) {
    const Config config = parsed("spool = \"/shared/fabric\"\nsyslog = false\nscouts = 3\nservices = \"stor[01-08]\"\n"
                                 "[thresholds]\nmin_traffic_mb = 5\nspread = 2\nbit_error_rate = 1e-15\n");
    EXPECT_EQ(config.spool, "/shared/fabric");
    EXPECT_FALSE(config.syslog);
    EXPECT_EQ(config.scouts, 3U);
    EXPECT_EQ(config.services, "stor[01-08]");
    EXPECT_EQ(config.thresholds.min_traffic_mb, 5U);
    EXPECT_EQ(config.thresholds.spread, 2.0); // an integer does for a number
    EXPECT_EQ(config.thresholds.bit_error_rate, 1e-15);
}
TEST(ParseConfig, TakesAddressesOfNodesSinglyAndAsLists) {
    const Config config =
        parsed("[munge.addresses]\nnode01 = \"10.0.0.1\"\n\"node02\" = [\"10.0.0.2\", \"fe80::2\"]\n");
    EXPECT_THAT(config.munge.addresses.at("node01"), ElementsAre("10.0.0.1"));
    EXPECT_THAT(config.munge.addresses.at("node02"), ElementsAre("10.0.0.2", "fe80::2"));
}

TEST(ParseConfig, TakesWhereTheScoutRuns) {
    EXPECT_EQ(parsed("scout = \"controller\"\n").scout, "controller");
    EXPECT_EQ(parsed("scout = \"fabric-admin01\"\n").scout, "fabric-admin01");
    EXPECT_EQ(error_of("scout = \"a/b\"\n"),
              "f.toml:1: key 'scout': \"a/b\" is no host; valid: head-node, controller, or a host's name");
    EXPECT_EQ(error_of("scout = \"\"\n"), "f.toml:1: key 'scout': empty; valid: head-node, controller, or a host's name");
}
TEST(ParseConfig, TakesServiceLevels) {
    EXPECT_EQ(parsed("[mad]\nsl = \"15\"\n").mad.sl, "15");
    EXPECT_EQ(error_of("[mad]\nsl = \"16\"\n"),
              "f.toml:2: key 'mad.sl': \"16\" is no service level; valid: auto, or \"0\" to \"15\"");
    EXPECT_EQ(error_of("[mad]\nsl = 0\n"), "f.toml:2: key 'mad.sl': not a string; valid: auto, or \"0\" to \"15\"");
}
TEST(ParseConfig, TakesPortsThatAreExcluded) {
    const Config config = parsed("[ports]\nexclude = [\"mlx5_bond_0\", \"0000:81:00.*\", \"ethernet\"]\nrails = 2\n");
    EXPECT_THAT(config.ports.exclude, ElementsAre("mlx5_bond_0", "0000:81:00.*", "ethernet"));
    EXPECT_EQ(config.ports.rails, 2U);
    EXPECT_THAT(parsed("[ports]\nexclude = []\n").ports.exclude, testing::IsEmpty());
}
TEST(ParseConfig, RefusesAListThatIsNone) {
    EXPECT_EQ(error_of("[ports]\nexclude = \"mlx5_0\"\n"),
              "f.toml:2: key 'ports.exclude': not a list; valid: a list of strings");
    EXPECT_EQ(error_of("[ports]\nexclude = [\"a\", 1]\n"),
              "f.toml:2: key 'ports.exclude': has something that is not a string; valid: a list of strings");
    EXPECT_EQ(error_of("[ports]\nexclude = [\"\"]\n"),
              "f.toml:2: key 'ports.exclude': has an empty string; valid: a list of strings");
    EXPECT_EQ(error_of("[ports]\nexclude = [\"a\\u0007\"]\n"),
              "f.toml:2: key 'ports.exclude': has a control character; valid: a list of strings");
}
TEST(ParseConfig, TakesAPolicyOrNone) {
    const Config config = parsed("[policy]\nwidth = \"4X\"\nspeed = \"HDR\"\npcie = \"16x 16GT/s\"\n");
    EXPECT_EQ(config.policy.width + config.policy.speed + config.policy.pcie, "4XHDR16x 16GT/s");
    EXPECT_EQ(parsed("[policy]\nwidth = \"\"\npcie = \"\"\n").policy.width, "");
}
TEST(ParseConfig, RefusesAPolicyThatNoLinkCanMeet) {
    EXPECT_EQ(error_of("[policy]\nwidth = \"3X\"\n"),
              "f.toml:2: key 'policy.width': \"3X\" is not one of them; valid: 1X, 2X, 4X, 8X, 12X, or empty");
    EXPECT_EQ(error_of("[policy]\npcie = \"gen4\"\n"),
              "f.toml:2: key 'policy.pcie': \"gen4\" is no PCI Express link; valid: lanes and speed, as in "
              "\"16x 16GT/s\", or empty");
}

TEST(ParseConfig, NamesFileLineAndValidKeysForAnUnknownKey) {
    EXPECT_EQ(error_of("spool = \"/s\"\n\n[hooks]\nbudget = 1\n"),
              "f.toml:4: key 'hooks.budget': not known; valid: budget_ms");
}
TEST(ParseConfig, ListsTheSectionsForAnUnknownOne) {
    EXPECT_THAT(error_of("[hook]\nbudget_ms = 1\n"),
                testing::AllOf(HasSubstr("f.toml:1: key 'hook': not known; valid: spool, state"),
                               HasSubstr("[hooks], [mad], [sample], [finisher], [munge], [slurm]")));
}
TEST(ParseConfig, NamesTheChoices) {
    EXPECT_EQ(error_of("default_mode = \"on\"\n"),
              "f.toml:1: key 'default_mode': \"on\" is not one of them; valid: report, off");
}
TEST(ParseConfig, NamesTheRange) {
    EXPECT_EQ(error_of("[mad]\nwindow = 513\n"), "f.toml:2: key 'mad.window': 513 is out of range; valid: 1 to 512");
}
TEST(ParseConfig, TakesBothEndsOfARangeAndNothingBeyond) {
    EXPECT_EQ(parsed("[mad]\nwindow = 1\n").mad.window, 1U);
    EXPECT_EQ(parsed("[mad]\nwindow = 128\n").mad.window, 128U);
    EXPECT_THAT(error_of("[mad]\nwindow = 0\n"), HasSubstr("out of range"));
    EXPECT_THAT(error_of("[mad]\nwindow = -1\n"), HasSubstr("out of range"));
    EXPECT_EQ(parsed("[thresholds]\nhot_share = 1.0\n").thresholds.hot_share, 1.0);
    EXPECT_THAT(error_of("[thresholds]\nhot_share = 0.0\n"), HasSubstr("valid: above 0 to 1"));
    EXPECT_EQ(parsed("[thresholds]\nown_share = 0\n").thresholds.own_share, 0.0);
}
TEST(ParseConfig, RefusesNumbersThatAreNone) {
    EXPECT_THAT(error_of("[thresholds]\nspread = nan\n"), HasSubstr("out of range"));
    EXPECT_THAT(error_of("[thresholds]\nspread = inf\n"), HasSubstr("out of range"));
}
TEST(ParseConfig, RefusesTheWrongType) {
    EXPECT_THAT(error_of("spool = 1\n"), HasSubstr("f.toml:1: key 'spool': not a string; valid: an absolute path"));
    EXPECT_THAT(error_of("syslog = \"yes\"\n"), HasSubstr("key 'syslog': not a boolean; valid: true, false"));
    EXPECT_THAT(error_of("scouts = 2.0\n"), HasSubstr("key 'scouts': not an integer"));
    EXPECT_THAT(error_of("scouts = true\n"), HasSubstr("key 'scouts': not an integer"));
    EXPECT_THAT(error_of("[thresholds]\nspread = \"2\"\n"), HasSubstr("not a number"));
    EXPECT_THAT(error_of("hooks = 1\n"), HasSubstr("key 'hooks': not a section; valid: [hooks]"));
    EXPECT_THAT(error_of("[spool]\n"), HasSubstr("key 'spool': not a string"));
}
TEST(ParseConfig, RefusesARelativeOrEmptyPath) {
    EXPECT_THAT(error_of("spool = \"spool\"\n"), HasSubstr("\"spool\" is relative"));
    EXPECT_THAT(error_of("spool = \"\"\n"), HasSubstr("key 'spool': empty"));
    EXPECT_EQ(parsed("log_file = \"\"\n").log_file, "");
}
TEST(ParseConfig, RefusesControlCharacters) {
    EXPECT_THAT(error_of("spool = \"/a\\nb\"\n"), HasSubstr("control character"));
}
TEST(ParseConfig, RefusesABrokenHostlist) {
    EXPECT_THAT(error_of("services = \"stor[01-08\"\n"),
                HasSubstr("key 'services': hostlist \"stor[01-08\": a bracket does not close"));
}
TEST(ParseConfig, NamesTheLineOfASyntaxError) {
    EXPECT_THAT(error_of("spool = \"/s\"\nstate = \n"), HasSubstr("f.toml:2: "));
}
TEST(ParseConfig, RefusesAKeyGivenTwice) {
    EXPECT_THAT(error_of("scouts = 1\nscouts = 2\n"), HasSubstr("f.toml:2: "));
}
TEST(ParseConfig, RefusesPausesThatContradictEachOther) {
    EXPECT_EQ(error_of("[finisher]\nend_wait_s = 121\n"),
              "f.toml:2: key 'finisher.end_wait_max_s': less than end_wait_s; valid: at least end_wait_s");
    EXPECT_THAT(error_of("[finisher]\nretry_s = 9\nretry_max_s = 8\n"),
                HasSubstr("f.toml:3: key 'finisher.retry_max_s'"));
}
TEST(ParseConfig, RefusesALinkThatDoesNotExist) {
    EXPECT_THAT(error_of("[payload_ceilings]\n\"5X HDR\" = 1\n"),
                HasSubstr("f.toml:2: key 'payload_ceilings.5X HDR': not a kind of link; valid: 1X, 2X, 4X"));
}
TEST(ParseConfig, RefusesACeilingThatIsNoRate) {
    for (const char *value : {"0", "-1", "\"x\"", "nan", "10001"}) {
        EXPECT_THAT(error_of(std::string("[payload_ceilings]\n\"4X HDR\" = ") + value + "\n"),
                    HasSubstr("not a payload rate"));
    }
}
TEST(ParseConfig, RefusesAddressesThatAreNone) {
    for (const char *value : {"1", "[]x", "[1]", "\"\"", "[\"\"]"}) {
        EXPECT_THAT(error_of(std::string("[munge.addresses]\nn = ") + value + "\n"), HasSubstr("f.toml:2: "));
    }
}
TEST(ParseConfig, QuotesAnAddressThatIsNone) {
    for (const char *value : {"node01", "10.0.0", "10.0.0.1/24", "10.0.0.256", "10.0.0.1 ", "fe80::g", "fe80::1%ib0"}) {
        EXPECT_EQ(error_of(std::string("[munge.addresses]\nn = [\"10.0.0.1\", \"") + value + "\"]\n"),
                  std::string("f.toml:2: key 'munge.addresses.n': \"") + value +
                      "\" is no IP address; valid: an IP address, or a list of them, as in [\"10.0.0.1\"]");
    }
}
TEST(ParseConfig, TakesAUserWhoIsHere) {
    EXPECT_EQ(parsed("[slurm]\nuser = \"root\"\n").slurm.user, "root");
    EXPECT_EQ(parsed("[slurm]\nuser = \"4711\"\n").slurm.user, "4711");
    EXPECT_EQ(parsed("[slurm]\nuser = \"\"\n").slurm.user, "");
}
TEST(ParseConfig, RefusesAUserWhoIsNot) {
    EXPECT_EQ(error_of("[slurm]\nuser = \"no-such-user\"\n"),
              "f.toml:2: key 'slurm.user': no user \"no-such-user\" here; valid: a user of this host, by name or number, "
              "or empty");
    EXPECT_THAT(error_of("[slurm]\nuser = \"4294967295\"\n"), HasSubstr("no user \"4294967295\" here"));
}
TEST(ParseGoodKeys, NeverPutRootInThePlaceOfAnUnknownUser) {
    std::optional<Error> first;
    EXPECT_EQ(parse_good_keys("[slurm]\nuser = \"no-such-user\"\n", "f.toml", first).slurm.user, "no-such-user");
    EXPECT_TRUE(first);
}
TEST(ParseConfig, EscapesHostileKeys) {
    EXPECT_THAT(error_of("\"a\\u001b\" = 1\n"), HasSubstr("key 'a\\x1b'"));
}

TEST(ParseConfig, TakesBarsByTheCountersOwnNames) {
    const Bars bars = parsed("[thresholds]\nsymbol_error = { per_job = 10 }\n"
                             "rx_prio3_pause = { per_gb = 0.5, per_hour = 7 }\n\"rx_prio<n>_pause\" = { per_gb = 0 }\n")
                          .thresholds.counters;
    const Bars expected{{"SymbolErrorCounter", {.per_job = 10}},
                        {"rx_prio3_pause", {.per_job = {}, .per_gb = 0.5, .per_hour = 7}},
                        {"rx_prio<n>_pause", {.per_job = {}, .per_gb = 0}}};
    EXPECT_EQ(bars, expected);
}
TEST(ParseConfig, RefusesBarsThatAreNone) {
    for (const char *bar : {"10", "{}", "{ per_job = -1 }", "{ per_job = nan }", "{ per_job = inf }", "{ per_day = 1 }",
                            "{ per_job = \"1\" }"}) {
        EXPECT_THAT(error_of(std::string("[thresholds]\npacket_seq_err = ") + bar + "\n"),
                    testing::AllOf(HasSubstr("f.toml:2: key 'thresholds.packet_seq_err"),
                                   HasSubstr("not a bar; valid: { per_job = N")))
            << bar;
    }
    EXPECT_THAT(error_of("[thresholds]\npacket_sec_err = { per_job = 1 }\n"),
                testing::AllOf(HasSubstr("f.toml:2: key 'thresholds.packet_sec_err': not known"),
                               HasSubstr("or a counter as in packet_seq_err = { per_job = 10 }")));
}
TEST(ParseConfig, TakesKnownLinksToTheEndOfTheirDay) {
    const auto known = parsed("[known]\n\"SwitchA:7<->node07/mlx5_0:1\" = { ticket = \"HW-12\", until = 2026-12-31 }\n").known;
    const Config::Known expected{{"SwitchA:7<->node07/mlx5_0:1", {"HW-12", 1798761600}}};
    EXPECT_EQ(known, expected);
}
TEST(ParseConfig, RefusesKnownLinksWithoutTicketOrDay) {
    for (const char *link : {"\"HW-12\"", "{ ticket = \"HW-12\" }", "{ until = 2026-12-31 }", "{ ticket = \"\", until = 2026-12-31 }",
                             "{ ticket = \"HW-12\", until = \"2026-12-31\" }", "{ ticket = 1, until = 2026-12-31 }",
                             "{ ticket = \"x\", until = 2026-12-31, by = \"y\" }"}) {
        EXPECT_THAT(error_of(std::string("[known]\n\"A:1\" = ") + link + "\n"),
                    HasSubstr("f.toml:2: key 'known.A:1': not a known link; valid: { ticket = "))
            << link;
    }
}

TEST(DefaultPayloadCeilings, ScaleWithTheDataRateFromTheMeasuredOne) {
    const auto &all = default_payload_ceilings();
    EXPECT_DOUBLE_EQ(all.at("4X HDR"), 22.6);
    EXPECT_DOUBLE_EQ(all.at("1X HDR"), 5.65);
    EXPECT_DOUBLE_EQ(all.at("4X NDR"), 45.2);
    EXPECT_DOUBLE_EQ(all.at("4X EDR"), 11.3);
}
TEST(ParseConfig, KeepsTheSitesOwnCeilings) {
    EXPECT_EQ(parsed("[payload_ceilings]\n\"4X HDR\" = 23\n").payload_ceilings,
              (std::map<std::string, double>{{"4X HDR", 23}}));
}

TEST(Expand, PutsTheNodeInAndKeepsOtherPercentSigns) {
    EXPECT_EQ(Config{}.expand("/lab/%n/sys/%%/%x%", "node07"), "/lab/node07/sys/%/%x%");
}

std::string shipped() {
    const auto text = read_file(FABRIC_CHECK_SOURCE_DIR "/etc/fabric-check.toml", 1 << 20);
    EXPECT_TRUE(text.ok());
    return text ? *text : "";
}
/// "#key = value" is a key, "# text" is prose.
std::string uncommented(const std::string &text) {
    std::string out;
    for (std::string_view line : split(text, '\n')) {
        if (line.size() > 1 && line[0] == '#' && line[1] != ' ') {
            line.remove_prefix(1);
        }
        out += std::string(line) + "\n";
    }
    return out;
}

TEST(ShippedFile, IsWhatTheTableSays) {
    if (std::getenv("FABRIC_CHECK_REGENERATE") != nullptr) {
        ASSERT_TRUE(write_file_atomic(FABRIC_CHECK_SOURCE_DIR "/etc/fabric-check.toml", config::shipped_file()));
    }
    EXPECT_EQ(shipped(), config::shipped_file()) << "etc/fabric-check.toml and lib/config/keys.cpp disagree";
}
TEST(ShippedFile, AsItIsGivesTheDefaults) {
    EXPECT_EQ(values(parsed(shipped())), values(Config{}));
}
TEST(ShippedFile, UncommentedGivesTheDefaults) {
    const Config config = parsed(uncommented(shipped()));
    EXPECT_EQ(values(config), values(Config{}));
    for (const auto &[kind, ceiling] : config.payload_ceilings) {
        EXPECT_EQ(ceiling, default_payload_ceilings().at(kind)) << kind;
    }
    EXPECT_FALSE(config.payload_ceilings.empty());
}
TEST(ShippedFile, HasEveryKeyOfTheListCommentedOut) {
    const std::string text = shipped();
    for (const ConfigKey &key : config_keys()) {
        if (std::string_view(key.name).front() != '<') {
            const std::string quote = std::string_view(key.name).find(' ') != std::string_view::npos ? "\"" : "";
            EXPECT_THAT(text, HasSubstr("\n#" + quote + key.name + quote + " = " + key.fallback + "\n"));
        }
    }
}
TEST(ConfigKeys, HaveAMeaningAndAType) {
    for (const ConfigKey &key : config_keys()) {
        EXPECT_GE(std::string_view(key.meaning).size(), 10U) << key.name;
        EXPECT_THAT(key.type,
                    testing::AnyOf(testing::StrEq("string"), testing::StrEq("integer"), testing::StrEq("number"),
                                   testing::StrEq("boolean"), testing::StrEq("strings")));
    }
}

class Environment {
public:
    explicit Environment(const char *value) {
        if (const char *old = std::getenv("FABRIC_CHECK_CONFIG")) {
            old_ = old;
        }
        value != nullptr ? ::setenv("FABRIC_CHECK_CONFIG", value, 1) : ::unsetenv("FABRIC_CHECK_CONFIG");
    }
    Environment(const Environment &) = delete;
    Environment &operator=(const Environment &) = delete;
    ~Environment() {
        old_.empty() ? ::unsetenv("FABRIC_CHECK_CONFIG") : ::setenv("FABRIC_CHECK_CONFIG", old_.c_str(), 1);
    }

private:
    std::string old_;
};

TEST(ConfigPath, IsTheVariableBeforeTheDefault) {
    const Environment none(nullptr);
    EXPECT_EQ(config_path(), "/etc/fabric-check/fabric-check.toml");
    const Environment set("/x.toml");
    EXPECT_EQ(config_path(), "/x.toml");
}
TEST(FindConfig, PrefersTheOptionToTheVariable) {
    const TemporaryDirectory directory;
    const Environment set(directory.write("variable", "scouts = 3\n").c_str());
    EXPECT_EQ(find_config(directory.write("option", "scouts = 4\n"))->scouts, 4U);
    EXPECT_EQ(find_config("")->scouts, 3U);
}
TEST(FindConfig, MissesAFileThatWasNamed) {
    const auto config = find_config("/nonexistent.toml");
    ASSERT_FALSE(config.ok());
    EXPECT_EQ(config.error().code, Errc::usage);
    EXPECT_EQ(config.error().message, "configuration /nonexistent.toml: No such file or directory");
}
TEST(ConfigOrDefaults, KeepsWhatIsRightBesideAKeyInErrorAndTellsWhy) {
    const TemporaryDirectory directory;
    std::string error;
    const Config config = config_or_defaults(
        directory.write("c", "spool = \"/shared\"\nscouts = 99\nx = 1\n[finisher]\nretry_s = 50\nretry_max_s = 9\n"), &error);
    EXPECT_EQ(config.spool, "/shared");
    EXPECT_EQ(config.scouts, Config{}.scouts);
    EXPECT_EQ(config.finisher.retry_s, Config{}.finisher.retry_s);
    EXPECT_EQ(config.finisher.retry_max_s, Config{}.finisher.retry_max_s);
    EXPECT_THAT(error, HasSubstr("c:2: key 'scouts'"));
}
TEST(ConfigOrDefaults, GoesOnWithDefaultsWhereTheFileIsNoToml) {
    const TemporaryDirectory directory;
    std::string error;
    const Config config = config_or_defaults(directory.write("c", "scouts = 4\nx = [\n"), &error);
    EXPECT_EQ(values(config), values(Config{}));
    EXPECT_THAT(error, HasSubstr("c:"));
}
TEST(ConfigOrDefaults, IsSilentAboutAGoodFile) {
    const TemporaryDirectory directory;
    std::string error;
    EXPECT_EQ(config_or_defaults(directory.write("c", "scouts = 4\n"), &error).scouts, 4U);
    EXPECT_THAT(error, IsEmpty());
}
TEST(ConfigOrDefaults, TakesNoErrorSink) {
    EXPECT_EQ(config_or_defaults("/nonexistent.toml", nullptr).scouts, 2U);
}

TEST(ConfigBars, OfACounterThatIsNeverJudgedIsRefused) {
    EXPECT_THAT(error_of("[thresholds]\nspread = 2\nPortXmitWait = { per_job = 5 }\n"),
                AllOf(HasSubstr(":3:"), HasSubstr("PortXmitWait"), HasSubstr("never judged")));
    EXPECT_EQ(parsed("[thresholds]\nlink_down_events_phy = { per_job = 5 }\n").thresholds.counters.size(), 1U);
}
TEST(ConfigBars, OfOneCounterUnderTwoNamesAreRefused) {
    EXPECT_THAT(error_of("[thresholds]\nSymbolErrorCounter = { per_job = 5 }\nsymbol_error = { per_job = 20 }\n"),
                HasSubstr("SymbolErrorCounter has a bar already"));
}
TEST(ConfigKnown, NamesALinkOrOneOfItsEnds) {
    for (const char *place : {"SwitchA:13", "node07/mlx5_0:1", "SwitchA:13<->SwitchB:25"}) {
        EXPECT_EQ(parsed(fmt::format("[known]\n\"{}\" = {{ ticket = \"HW-12\", until = 2030-12-31 }}\n", place)).known.size(), 1U);
    }
    for (const char *place : {"garbage", "*", "SwitchA:", ":13", "SwitchA:x", "SwitchA:14<->SwitchB:26<->x:1", "SwitchA:14<->"}) {
        EXPECT_THAT(error_of(fmt::format("[known]\n\"{}\" = {{ ticket = \"HW-12\", until = 2030-12-31 }}\n", place)),
                    HasSubstr("not a link")) << place;
    }
}

} // namespace
} // namespace fabric_check
