# SPDX-License-Identifier: GPL-2.0-or-later
# The hooks are what every job waits for. All a hook of this size costs is its start: the dynamic linker and its libraries
# take longer than the hook's work does. So hooks are linked with nothing that is not in them: statically where there is a
# static C library, else with C's own library alone.
option(FABRIC_CHECK_STATIC_HOOKS "Link the hooks statically where possible" ON)

set(hook_static OFF)
set(hook_sanitized OFF)
if(FABRIC_CHECK_SANITIZE OR FABRIC_CHECK_FUZZ)
    set(hook_sanitized ON) # a sanitizer is a shared library
endif()
find_library(MUNGE_ARCHIVE libmunge.a HINTS ${MUNGE_LIBRARY_DIRS})
find_library(NETTLE_ARCHIVE libnettle.a HINTS ${NETTLE_LIBRARY_DIRS})
if(FABRIC_CHECK_STATIC_HOOKS AND NOT hook_sanitized AND MUNGE_ARCHIVE AND NETTLE_ARCHIVE)
    include(CheckCXXSourceCompiles)
    set(CMAKE_REQUIRED_LINK_OPTIONS -static)
    check_cxx_source_compiles("#include <string>\nint main(int argc, char **) { return std::string(argc, 'x').size() > 9; }"
                              FABRIC_CHECK_CAN_LINK_STATICALLY)
    unset(CMAKE_REQUIRED_LINK_OPTIONS)
    set(hook_static ${FABRIC_CHECK_CAN_LINK_STATICALLY})
endif()

# All that a hook may be made of. Nothing here needs Slurm, a fabric or a database, nor a shared library of C++'s. Compiled
# once, for the library and for the hooks.
add_library(fabric_check_core OBJECT
    lib/base/clock.cpp lib/base/file.cpp lib/base/guard.cpp lib/base/hostlist.cpp lib/base/json_extern.cpp lib/base/log.cpp lib/base/process.cpp
    lib/base/result.cpp lib/base/text.cpp
    lib/config/config.cpp lib/config/keys.cpp lib/config/parse.cpp lib/config/shipped.cpp
    lib/counters/counters.cpp lib/counters/reading.cpp lib/counters/table.cpp lib/snapshot/model.cpp
    lib/sources/attributes.cpp lib/sources/ethtool.cpp lib/sources/netdev.cpp lib/sources/rate.cpp
    lib/sources/sysfs.cpp lib/sources/sysfs_text.cpp
    lib/record/codec_decode.cpp lib/record/codec_encode.cpp lib/record/codec_parts.cpp lib/record/credential.cpp lib/record/digest.cpp
    lib/record/intervals.cpp lib/record/intervals_codec.cpp lib/record/json_reader.cpp lib/record/json_tree.cpp lib/record/json_writer.cpp
    lib/record/record_name.cpp lib/record/scout_codec.cpp lib/record/spool_write.cpp lib/record/steps.cpp
    lib/job/controller_hook.cpp lib/job/hand_in.cpp lib/job/hook_environment.cpp lib/job/hook_guard.cpp
    lib/job/mode.cpp lib/job/node_hook.cpp lib/job/node_hook_main.cpp lib/job/node_state.cpp lib/job/own_node.cpp
    lib/job/programs.cpp lib/job/scout_calls.cpp lib/job/step.cpp lib/job/ticket.cpp
    lib/verdict/delta.cpp lib/verdict/exclusions.cpp)
target_include_directories(fabric_check_core PUBLIC lib)
target_compile_definitions(fabric_check_core PRIVATE ${fabric_check_definitions})
target_link_libraries(fabric_check_core PRIVATE ${fabric_check_dependencies})
set_source_files_properties(lib/config/parse.cpp PROPERTIES COMPILE_DEFINITIONS TOML_HEADER_ONLY=1)
precompile_headers(fabric_check_core "${PROJECT_SOURCE_DIR}/lib/base/json_extern.hpp" <fmt/format.h>
    <fmt/ranges.h> <algorithm> <array> <chrono> <functional> <map> <memory> <optional> <set> <span> <string> <string_view>
    <unordered_map> <utility> <variant> <vector>)

if(NOT hook_sanitized)
    # User names are looked up without the C library's name services, which a static program has not.
    add_library(fabric_check_hook STATIC $<TARGET_OBJECTS:fabric_check_core> prolog/user.cpp prolog/format.cpp)
    target_include_directories(fabric_check_hook PUBLIC lib)
    target_compile_definitions(fabric_check_hook PUBLIC ${fabric_check_definitions})
    set_source_files_properties(prolog/format.cpp PROPERTIES COMPILE_OPTIONS "$<$<CXX_COMPILER_ID:GNU>:-fkeep-inline-functions>;-fno-inline")
    if(MUNGE_ARCHIVE AND NETTLE_ARCHIVE)
        target_link_libraries(fabric_check_hook PUBLIC ${MUNGE_ARCHIVE} ${NETTLE_ARCHIVE})
    else()
        target_link_libraries(fabric_check_hook PUBLIC PkgConfig::MUNGE PkgConfig::NETTLE)
    endif()
    target_link_options(fabric_check_hook INTERFACE -Wl,--gc-sections -static-libstdc++ -static-libgcc)
    if(hook_static)
        target_link_options(fabric_check_hook INTERFACE -static $<$<CXX_COMPILER_ID:GNU>:-no-pie>)
    endif()
endif()

# A hook: what Slurm runs for every job.
function(add_hook name source)
    add_executable(${name} ${source})
    target_link_libraries(${name} PRIVATE $<IF:$<BOOL:${hook_sanitized}>,fabric_check,fabric_check_hook>)
endfunction()

# What hooks start where it is needed.
function(add_helper name source)
    add_executable(${name} ${source})
    target_link_libraries(${name} PRIVATE fabric_check)
endfunction()
