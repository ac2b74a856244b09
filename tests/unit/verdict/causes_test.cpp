// SPDX-License-Identifier: GPL-2.0-or-later
#include "verdict/causes.hpp"

#include <gmock/gmock.h>

namespace fabric_check {
namespace {

TEST(Causes, TellWhoIsHeldBackWhateverTheDriverCallsIt) {
    for (const char *name : {"rx_prio3_pause", "rx_global_pause", "rx_pfc_ena_frames_pri3", "rx_priority_3_xoff.nic"}) {
        EXPECT_TRUE(is_congestion(name, Against::sent)) << name;
        EXPECT_FALSE(is_congestion(name, Against::received)) << name;
    }
    for (const char *name : {"tx_prio3_pause", "tx_global_pause", "tx_pfc_ena_frames_pri3", "tx_pause_prio_3"}) {
        EXPECT_TRUE(is_congestion(name, Against::received)) << name;
        EXPECT_FALSE(is_congestion(name, Against::both)) << name;
    }
    for (const char *name : {"rp_cnp_handled", "np_cnp_sent", "np_ecn_marked_roce_packets", "rx_cnp_pkts", "RxECNMrkd"}) {
        EXPECT_TRUE(is_congestion(name, Against::both)) << name;
    }
    for (const char *name : {"rx_prio3_pause_duration", "rx_discards_phy", "novelty", ""}) {
        EXPECT_FALSE(is_congestion(name, Against::sent) || is_congestion(name, Against::both)) << name;
    }
}

TEST(Causes, KnowReceiversThatWereNotReady) {
    for (const char *name : {"rnr_nak_retry_err", "rnr_naks_rcvd", "sq_num_rnr", "RnrNak", "RNR received"}) {
        EXPECT_TRUE(is_receiver_not_ready(name)) << name;
    }
    for (const char *name : {"packet_seq_err", "RcTimeOut", "to_retransmits", ""}) {
        EXPECT_FALSE(is_receiver_not_ready(name)) << name;
    }
}

} // namespace
} // namespace fabric_check
