# SPDX-License-Identifier: GPL-2.0-or-later
# Every outside library, found once. report_dependencies() ends the configuration with what was found.
find_package(PkgConfig REQUIRED)
find_package(fmt REQUIRED)
find_package(tomlplusplus REQUIRED)
find_package(CLI11 REQUIRED)
find_package(nlohmann_json REQUIRED)
find_package(SQLite3 REQUIRED)
find_package(ZLIB REQUIRED)
find_package(Threads REQUIRED)
if(FABRIC_CHECK_TESTS)
    find_package(GTest REQUIRED)
    find_package(benchmark REQUIRED)
endif()
pkg_check_modules(MUNGE REQUIRED IMPORTED_TARGET munge)
pkg_check_modules(UMAD REQUIRED IMPORTED_TARGET libibumad)
# Planarized ports have an SMI and a GSI of their own; rdma-core knows them since 56.
include(CheckSymbolExists)
set(CMAKE_REQUIRED_INCLUDES ${UMAD_INCLUDE_DIRS})
set(CMAKE_REQUIRED_LIBRARIES ${UMAD_LINK_LIBRARIES})
check_symbol_exists(umad_get_smi_gsi_pair_by_ca_name infiniband/umad.h FABRIC_CHECK_HAS_SMI_GSI_PAIRS)
unset(CMAKE_REQUIRED_INCLUDES)
unset(CMAKE_REQUIRED_LIBRARIES)
if(FABRIC_CHECK_HAS_SMI_GSI_PAIRS)
    set_source_files_properties(lib/mad/umad_transport.cpp PROPERTIES
        COMPILE_DEFINITIONS FABRIC_CHECK_SMI_GSI_PAIRS SKIP_PRECOMPILE_HEADERS ON)
endif()
pkg_check_modules(IBMAD REQUIRED IMPORTED_TARGET libibmad)
pkg_check_modules(IBNETDISC REQUIRED IMPORTED_TARGET libibnetdisc)
pkg_check_modules(NETTLE REQUIRED IMPORTED_TARGET nettle)
pkg_check_modules(ACL REQUIRED IMPORTED_TARGET libacl)
pkg_check_modules(XXHASH REQUIRED IMPORTED_TARGET libxxhash)

# Debian's libslurm-dev has no pkg-config file.
find_path(SLURM_INCLUDE_DIR slurm/slurm.h REQUIRED)
find_library(SLURM_LIBRARY slurm REQUIRED)
file(STRINGS ${SLURM_INCLUDE_DIR}/slurm/slurm_version.h slurm_version_line REGEX "SLURM_VERSION_NUMBER ")
string(REGEX MATCH "0x([0-9a-f][0-9a-f])([0-9a-f][0-9a-f])([0-9a-f][0-9a-f])" _ "${slurm_version_line}")
math(EXPR slurm_major "0x${CMAKE_MATCH_1}")
math(EXPR slurm_minor "0x${CMAKE_MATCH_2}")
math(EXPR slurm_micro "0x${CMAKE_MATCH_3}")
set(SLURM_VERSION "${slurm_major}.${slurm_minor}.${slurm_micro}")
add_library(slurm_api INTERFACE)
target_include_directories(slurm_api SYSTEM INTERFACE ${SLURM_INCLUDE_DIR})
target_link_libraries(slurm_api INTERFACE ${SLURM_LIBRARY})

set(fabric_check_dependencies
    fmt::fmt CLI11::CLI11 nlohmann_json::nlohmann_json SQLite::SQLite3 ZLIB::ZLIB
    Threads::Threads PkgConfig::MUNGE PkgConfig::UMAD PkgConfig::IBMAD PkgConfig::IBNETDISC PkgConfig::NETTLE
    PkgConfig::ACL PkgConfig::XXHASH slurm_api)

function(report_dependencies)
    message(STATUS "slurm-fabric-check ${PROJECT_VERSION} (${CMAKE_BUILD_TYPE}), found:")
    foreach(pair "Slurm|${SLURM_VERSION}" "munge|${MUNGE_VERSION}" "libibumad|${UMAD_VERSION}"
                 "libibmad|${IBMAD_VERSION}" "libibnetdisc|${IBNETDISC_VERSION}" "nettle|${NETTLE_VERSION}"
                 "libacl|${ACL_VERSION}" "libxxhash|${XXHASH_VERSION}"
                 "fmt|${fmt_VERSION}" "toml++|${tomlplusplus_VERSION}" "CLI11|${CLI11_VERSION}"
                 "nlohmann-json|${nlohmann_json_VERSION}" "SQLite|${SQLite3_VERSION}" "zlib|${ZLIB_VERSION}"
                 "GoogleTest and GoogleMock|${GTest_VERSION}" "Google Benchmark|${benchmark_VERSION}" "ccache|${CCACHE}")
        string(REPLACE "|" ";" pair "${pair}")
        list(GET pair 0 name)
        list(LENGTH pair n)
        set(version "not found")
        if(n GREATER 1)
            list(GET pair 1 version)
        endif()
        message(STATUS "  ${name}: ${version}")
    endforeach()
endfunction()
