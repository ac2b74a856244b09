// SPDX-License-Identifier: GPL-2.0-or-later
#include "report/parts.hpp"

#include "base/file.hpp"

#include <filesystem>
#include <gmock/gmock.h>

namespace fabric_check {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

class Parts : public ::testing::Test {
protected:
    Parts() {
        char name[] = "/tmp/fabric-check-parts-XXXXXX";
        config_.spool = ::mkdtemp(name);
        std::filesystem::create_directories(config_.spool + "/reports");
    }
    ~Parts() override { std::filesystem::remove_all(config_.spool); }
    void report(const std::string &raw, const std::string &alias = "") {
        ASSERT_TRUE(write_file_atomic(config_.spool + "/reports/" + raw + ".0.json", "{}"));
        if (!alias.empty()) {
            std::filesystem::create_symlink(raw + ".0.json", config_.spool + "/reports/" + alias + ".0.json");
        }
    }
    JobRef ref(const char *text) { return *parse_job_ref(text); }
    Config config_;
};

TEST_F(Parts, AreInTheOrderOfTheirNumbers) {
    report("9", "9_10");
    report("12", "9_2");
    report("13", "9_1");
    report("91", "91_3");
    EXPECT_THAT(parts_with_report(config_, ref("9")), ElementsAre("9_1", "9_2", "9_10"));
    EXPECT_EQ(describe_parts(config_, ref("9")),
              "job 9 is an array; this is the report of 9_10 alone, the others are: fabric-check report 9_1, 9_2");
}

TEST_F(Parts, OfAHetJobAreItsComponents) {
    report("19", "19+0");
    report("20", "19+1");
    EXPECT_EQ(describe_parts(config_, ref("19")), "job 19 is a heterogeneous job; this is the report of 19+0 alone, the "
                                                  "others are: fabric-check report 19+1");
}

TEST_F(Parts, AreListedWhereNoneHasTheArraysOwnNumber) {
    report("12", "9_2");
    report("13", "9_3");
    EXPECT_EQ(describe_parts(config_, ref("9")),
              "job 9 is an array, with a report for each part: fabric-check report 9_2, 9_3");
}

TEST_F(Parts, AreNotAllNamedWhenTheyAreMany) {
    for (int i = 1; i <= 12; ++i) {
        report(std::to_string(100 + i), "9_" + std::to_string(i));
    }
    EXPECT_EQ(describe_parts(config_, ref("9")),
              "job 9 is an array, with a report for each part: fabric-check report 9_1, 9_2, 9_3, 9_4, 9_5, 9_6, 9_7, "
              "9_8 and 4 more, to 9_12");
}

TEST_F(Parts, AreNoneForAPlainJobAPartOrALoneTask) {
    report("7");
    report("9", "9_1");
    EXPECT_EQ(describe_parts(config_, ref("7")), "");
    EXPECT_EQ(describe_parts(config_, ref("9")), "") << "the number finds all there is";
    EXPECT_THAT(parts_with_report(config_, ref("9_1")), IsEmpty());
    config_.spool += "/none";
    EXPECT_EQ(describe_parts(config_, ref("9")), "");
}

} // namespace
} // namespace fabric_check
