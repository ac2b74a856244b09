// SPDX-License-Identifier: GPL-2.0-or-later
#include "peers.hpp"

#include <benchmark/benchmark.h>

int main(int argc, char **argv) {
    benchmark::Initialize(&argc, argv);
    if (benchmark::ReportUnrecognizedArguments(argc, argv)) {
        return 2;
    }
    benchmark::RunSpecifiedBenchmarks();
    compare_with_peers();
    compare_import_with_wc();
    compare_routes();
    return 0;
}
