// SPDX-License-Identifier: GPL-2.0-or-later
#include "report/fold_links.hpp"

#include <gtest/gtest.h>

namespace fabric_check {
namespace {

TEST(FoldLinks, ParallelLinksAreOneWithTheirPorts) {
    EXPECT_EQ(fold_links({"SwitchA:13<->SwitchB:25", "SwitchA:15<->SwitchB:27", "SwitchA:14<->SwitchB:26",
                          "SwitchA:20<->SwitchB:32"}),
              "SwitchA:13-15,20<->SwitchB");
}

TEST(FoldLinks, HostsOfOneSwitchAreAHostlist) {
    EXPECT_EQ(fold_links({"SwitchA:1<->node01/mlx5_0:1", "SwitchA:2<->node02/mlx5_0:1"}),
              "SwitchA<->node[01-02]/mlx5_0:1");
}

TEST(FoldLinks, ALinkAloneKeepsItsName) {
    EXPECT_EQ(fold_links({"SwitchA:13<->SwitchB:25", "SwitchA:1<->node01/mlx5_0:1", "SwitchA:2<->node02/mlx5_1:1"}),
              "SwitchA:13<->SwitchB:25, SwitchA:1<->node01/mlx5_0:1, SwitchA:2<->node02/mlx5_1:1");
}

TEST(FoldLinks, WhatIsNoLinkStaysAsItIs) {
    EXPECT_EQ(fold_links({"odd", "a<->b", "x:y<->z:1"}), "odd, a<->b, x:y<->z:1");
    EXPECT_EQ(fold_links({}), "");
}

TEST(FoldLinks, WhatIsBeyondTheLimitIsCounted) {
    EXPECT_EQ(fold_links({"A:1<->B:1", "A:2<->B:2", "C:1<->B:3", "D:1<->B:4", "D:2<->B:5"}, 2),
              "A:1-2<->B, C:1<->B:3 and 2 more links");
}

} // namespace
} // namespace fabric_check
