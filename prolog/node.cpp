// SPDX-License-Identifier: GPL-2.0-or-later
#include "job/node_hook.hpp"

int main() {
    return fabric_check::node_hook_main(fabric_check::Phase::start);
}
