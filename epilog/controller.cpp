// SPDX-License-Identifier: GPL-2.0-or-later
#include "job/controller_hook.hpp"

int main() {
    return fabric_check::controller_hook_main();
}
