// SPDX-License-Identifier: GPL-2.0-or-later
//
// Files told by their content, in blocks, plain and gzip; and which part is missing.
#include "fabric/import.hpp"
#include "fabric/import_kind.hpp"
#include "fabric/import_source.hpp"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <zlib.h>

namespace fabric_check::fabric {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

const std::string fixtures = FABRIC_CHECK_SOURCE_DIR "/tests/fixtures/routes/";
const std::string topology = fixtures + "article.ibnetdiscover";
const std::string tables = fixtures + "article.opensm-lfts.dump";

std::string slurp(const std::string &path) {
    std::ifstream in(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
}

std::vector<std::string> problems(const MapDraft &map) {
    std::vector<std::string> out;
    for (const Problem &problem : map.problems)
        out.push_back(problem.where + ": " + problem.reason);
    return out;
}

class ImportFile : public ::testing::Test {
protected:
    void SetUp() override {
        std::string pattern = ::testing::TempDir() + "import-XXXXXX";
        ASSERT_NE(mkdtemp(pattern.data()), nullptr);
        directory_ = pattern;
    }
    void TearDown() override { std::filesystem::remove_all(directory_); }
    std::string write(const std::string &name, const std::string &text) const {
        std::ofstream(directory_ + "/" + name, std::ios::binary) << text;
        return directory_ + "/" + name;
    }
    std::string gzip(const std::string &text, const char *mode = "wb") const {
        const std::string path = directory_ + "/packed.gz";
        gzFile out = gzopen(path.c_str(), mode);
        EXPECT_EQ(gzwrite(out, text.data(), unsigned(text.size())), int(text.size()));
        gzclose(out);
        return path;
    }
    /// All blocks of a file, one after the other.
    static Result<std::string> whole(const std::string &path) {
        auto source = TextSource::open(path);
        if (!source)
            return source.error();
        for (std::string out;;) {
            const auto block = source->next();
            if (!block)
                return block.error();
            if (block->empty())
                return out;
            out += *block;
        }
    }
    std::string directory_;
};

TEST_F(ImportFile, FilesAreToldByContentInAnyOrder) {
    const auto map = import_fabric({tables, topology});
    ASSERT_TRUE(map) << map.error().message;
    EXPECT_THAT(problems(*map), IsEmpty());
    EXPECT_EQ(map->nodes[map->by_lid(42)].lft.at(1), 25);
    EXPECT_EQ(map->source, tables + ", " + topology);
    EXPECT_NE(map->built_ns, 0);
    EXPECT_EQ(map->adaptive_routing, AdaptiveRouting::unknown);
}

TEST_F(ImportFile, ATopologyAloneIsAMapThatSaysItHasNoRoutes) {
    const auto map = import_fabric({topology});
    ASSERT_TRUE(map);
    EXPECT_THAT(problems(*map), ::testing::ElementsAre(HasSubstr("tables: no forwarding tables were given")));
}

TEST_F(ImportFile, TablesOfAnotherFabricAloneMakeNoMap) {
    const auto foreign = write("t", "Unicast lids [0-1] of switch Lid 900 guid 0xdead (x):\n0x0001 001\n");
    const auto map = import_fabric({topology, foreign});
    ASSERT_FALSE(map);
    EXPECT_EQ(map.error().code, Errc::malformed);
    EXPECT_THAT(map.error().message, HasSubstr("t: not one forwarding table of the fabric in " + topology + ": these files do not belong together"));
}

TEST_F(ImportFile, TablesOfAnotherFabricBesideTheRightOnesAreNamed) {
    const auto foreign = write("t", "Unicast lids [0-1] of switch Lid 900 guid 0xdead (x):\n0x0001 001\n");
    const auto map = import_fabric({topology, foreign, tables});
    ASSERT_TRUE(map);
    EXPECT_THAT(problems(*map), Contains(HasSubstr("t:1: the table of 0x000000000000dead (LID 900), which is no switch")));
}

TEST_F(ImportFile, WithoutATopologyNothingCanBeMade) {
    const auto map = import_fabric({tables});
    ASSERT_FALSE(map);
    EXPECT_EQ(map.error().code, Errc::malformed);
    EXPECT_THAT(map.error().message, HasSubstr("add the output of ibnetdiscover"));
}

TEST_F(ImportFile, AFileThatIsNoneOfTheseIsNamedWithWhatIsAccepted) {
    const auto map = import_fabric({topology, write("readme", "Hello there.\n")});
    ASSERT_FALSE(map);
    EXPECT_EQ(map.error().code, Errc::malformed);
    EXPECT_THAT(map.error().message, HasSubstr("/readme: not recognised: accepted are ibnetdiscover output"));
}

TEST_F(ImportFile, LikelyMistakesAreToldApart) {
    const auto message = [&](const std::string &text) { return import_fabric({write("f", text)}).error().message; };
    EXPECT_THAT(message(""), HasSubstr("it is empty"));
    EXPECT_THAT(message(std::string("FCMAP\r\n\0\1\0\0\0", 12)), HasSubstr("a map already: name it with --map"));
    EXPECT_THAT(message("Ca\t : 0x0000000000100006 ports 2 devid 0x0 vendid 0x0 \"node03\"\n"), HasSubstr("a list of nodes"));
}

TEST_F(ImportFile, AMissingFileIsNamed) {
    const auto map = import_files({topology}, {directory_ + "/none"});
    ASSERT_FALSE(map);
    EXPECT_EQ(map.error().code, Errc::not_found);
    EXPECT_THAT(map.error().message, HasSubstr("/none"));
}

TEST_F(ImportFile, ADirectoryIsRefused) {
    const auto map = import_fabric({directory_});
    ASSERT_FALSE(map);
    EXPECT_EQ(map.error().code, Errc::malformed);
    EXPECT_THAT(map.error().message, HasSubstr("is a directory"));
}

TEST_F(ImportFile, StandardInputCannotBeNamedTwice) {
    const auto map = import_fabric({"-", "-"});
    ASSERT_FALSE(map);
    EXPECT_EQ(map.error().code, Errc::usage);
}

TEST_F(ImportFile, RoutesNeedATableThatIsOfTheTopology) {
    const auto map = import_files({topology}, {write("t", "Unicast lids [0-1] of switch Lid 900 guid 0xdead (x):\n0x0001 001\n")});
    ASSERT_FALSE(map);
    EXPECT_EQ(map.error().code, Errc::malformed);
    EXPECT_THAT(map.error().message, HasSubstr("/t: no forwarding table of this fabric in it"));
}

TEST_F(ImportFile, WarningsAndAByteOrderMarkBeforeTheFirstLineDoNotHideWhatItIs) {
    EXPECT_EQ(recognise("ibwarn: [77] x: y\nsomething else\nSwitch\t8 \"S-0000000000200001\"\t\t# \"x\"\n"), FileKind::topology);
    const auto map = import_fabric({write("f", "\xef\xbb\xbf" + slurp(topology)), tables});
    ASSERT_TRUE(map);
    EXPECT_THAT(problems(*map), IsEmpty());
}

TEST_F(ImportFile, GzipIsReadLikePlainText) {
    const std::string text = slurp(topology);
    EXPECT_EQ(whole(gzip(text)).value(), text);
    EXPECT_EQ(whole(topology).value(), text);
}

TEST_F(ImportFile, EveryMemberOfAGzipFileIsRead) {
    gzip("first\n");
    EXPECT_EQ(whole(gzip("second\n", "ab")).value(), "first\nsecond\n");
}

TEST_F(ImportFile, ATruncatedGzipFileIsUsedAndNamed) {
    const std::string path = gzip(slurp(topology) + std::string(300000, '\n'));
    std::filesystem::resize_file(path, std::filesystem::file_size(path) - 10);
    const auto map = import_fabric({path, tables});
    ASSERT_TRUE(map) << map.error().message;
    EXPECT_THAT(problems(*map), Contains(HasSubstr("packed.gz: the gzip data end early")));
}

TEST_F(ImportFile, ZerosBehindGzipDataMeanNothing) {
    const std::string packed = slurp(gzip("text\n"));
    for (const std::size_t zeros : {std::size_t(1), std::size_t(511), 3 * TextSource::block_size}) {
        const auto read = whole(write("tape.gz", packed + std::string(zeros, '\0')));
        ASSERT_TRUE(read) << zeros << " zeros: " << read.error().message;
        EXPECT_EQ(*read, "text\n");
    }
}

TEST_F(ImportFile, ZerosBehindGzipDataAreNoTruncation) {
    const auto map = import_fabric({write("tape.gz", slurp(gzip(slurp(topology))) + std::string(600, '\0')), tables});
    ASSERT_TRUE(map) << map.error().message;
    EXPECT_THAT(problems(*map), IsEmpty());
}

TEST_F(ImportFile, AnythingElseBehindGzipDataIsNamed) {
    const std::string packed = slurp(gzip("text\n"));
    for (const std::string &behind : {std::string("x"), std::string(700, '\0') + "x", std::string("\0", 1) + packed,
                                      std::string(2 * TextSource::block_size, '\0') + "x"}) {
        const auto read = whole(write("more.gz", packed + behind));
        ASSERT_FALSE(read);
        EXPECT_EQ(read.error().code, Errc::malformed);
        EXPECT_THAT(read.error().message, HasSubstr("more.gz: the gzip data are followed by something else"));
    }
}

TEST_F(ImportFile, DamagedGzipDataAreNamed) {
    const std::string path = gzip(slurp(topology));
    std::string bytes = slurp(path);
    bytes[bytes.size() / 2] = char(bytes[bytes.size() / 2] ^ 0x55);
    std::ofstream(path, std::ios::binary) << bytes << bytes;
    const auto read = whole(path);
    ASSERT_FALSE(read);
    EXPECT_THAT(read.error().message, HasSubstr("packed.gz: gzip data are damaged"));
}

TEST_F(ImportFile, WhatHasNoLinesIsNoText) {
    const auto read = whole(gzip(std::string(std::size_t(1) << 20, '0')));
    ASSERT_FALSE(read);
    EXPECT_EQ(read.error().code, Errc::malformed);
    EXPECT_THAT(read.error().message, HasSubstr("this is no text"));
}

TEST_F(ImportFile, BlocksEndAtLineEndsAndLoseNothing) {
    std::string text;
    for (int i = 0; text.size() < 5 * TextSource::block_size; ++i)
        text += std::string(std::size_t(i % 97), 'x') + std::to_string(i) + "\n";
    auto source = TextSource::open(write("long", text));
    ASSERT_TRUE(source);
    std::string read;
    for (;;) {
        const auto block = source->next();
        ASSERT_TRUE(block);
        if (block->empty())
            break;
        EXPECT_EQ(block->back(), '\n');
        read += *block;
    }
    EXPECT_EQ(read, text);
}

TEST_F(ImportFile, LineNumbersGoOnFromBlockToBlock) {
    std::string text = slurp(tables);
    const auto lines = std::count(text.begin(), text.end(), '\n');
    const std::string padding(100, '#');
    for (std::size_t i = 0; i < TextSource::block_size / 50; ++i)
        text += padding + "\n";
    const auto map = import_fabric({topology, write("t", text + "noise\n")});
    ASSERT_TRUE(map);
    const auto line = lines + long(TextSource::block_size / 50) + 1;
    EXPECT_THAT(problems(*map), ::testing::ElementsAre(HasSubstr("/t:" + std::to_string(line) + ": not understood: 'noise'")));
}

TEST_F(ImportFile, AFarFileWithFreeEntriesShowsAdaptiveRouting) {
    const std::string head = "File version: 2\n\nSwitch 0x00000000000000b1 (leaf)\nGroups Definition:\nGroup  Sub Group  WHBF  Ports\n"
                             "-----------------\n1      0          0     13,14,\n\nLFT Definition:\nPLFT_NUM: 0, top: 0x30\n"
                             "LID     Static Port  Lid State  Group\n-----------------\n";
    auto map = import_fabric({topology, tables, write("ibdiagnet2.far", head + "0x0001  13  Static  1\n0x0002  13  Free  1\n")});
    ASSERT_TRUE(map) << map.error().message;
    EXPECT_EQ(map->adaptive_routing, AdaptiveRouting::on);
    EXPECT_THAT(problems(*map), ::testing::ElementsAre(HasSubstr("adaptive routing is on: 1 of 2 entries let the switch choose")));

    map = import_fabric({topology, tables, write("ibdiagnet2.far", head + "0x0001  13  Static  1\n")});
    ASSERT_TRUE(map);
    EXPECT_EQ(map->adaptive_routing, AdaptiveRouting::unknown) << "files never say that it is off";
    EXPECT_THAT(problems(*map), IsEmpty());
}

TEST_F(ImportFile, ACutFarFileShowsNothing) {
    const auto map = import_fabric({topology, tables, write("ibdiagnet2.far", "File version: 2\nSwitch 0xb1\nGroups Definition:\n")});
    ASSERT_TRUE(map);
    EXPECT_EQ(map->adaptive_routing, AdaptiveRouting::unknown);
    EXPECT_THAT(problems(*map), ::testing::ElementsAre(HasSubstr("no LID in these tables of adaptive routing")));
}

TEST_F(ImportFile, AnAdaptiveEngineInTheLogShowsAdaptiveRouting) {
    const std::string start = "Jun 20 14:38:48 734296 [F66B8740] 0x03 -> OpenSM 5.21\n";
    const auto routed = [](const std::string &engine) {
        return "Jun 20 14:38:48 850162 [E63ED6C0] 0x02 -> osm_ucast_mgr_process: " + engine + " tables configured on all switches\n";
    };
    const auto state = [&](const std::string &log) {
        return import_fabric({topology, tables, write("opensm.log", log)}).value().adaptive_routing;
    };
    EXPECT_EQ(state(start + routed("minhop") + routed("ar_ftree")), AdaptiveRouting::on);
    EXPECT_EQ(state(start + routed("ar_ftree") + routed("minhop")), AdaptiveRouting::unknown) << "the last one routed";
    EXPECT_EQ(state(start + routed("updn")), AdaptiveRouting::unknown);
    const auto map = import_fabric({topology, tables, write("opensm.log", start)});
    ASSERT_TRUE(map);
    EXPECT_THAT(problems(*map), ::testing::ElementsAre(HasSubstr("this log names no routing engine")));
}

} // namespace
} // namespace fabric_check::fabric
