// SPDX-License-Identifier: GPL-2.0-or-later
#include "job/finisher.hpp"

int main() {
    return fabric_check::finisher_main();
}
