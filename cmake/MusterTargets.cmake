# The few verbs in which the folders' CMake files are written.

# Headers that a kind of code includes everywhere, compiled once and used by all targets of the kind
# (PCH KIND in the verbs below). Every kind holds those before it that it names.
set(MUSTER_PCH_std
    <algorithm> <array> <chrono> <cstdint> <deque> <filesystem> <functional> <map> <memory>
    <mutex> <optional> <set> <span> <string> <string_view> <unordered_map> <unordered_set>
    <utility> <variant> <vector>)
set(MUSTER_PCH_json ${MUSTER_PCH_std} <fmt/format.h> <nlohmann/json.hpp>)
set(MUSTER_PCH_asio ${MUSTER_PCH_json} <asio.hpp> <asio/ssl.hpp>)
set(MUSTER_PCH_caf ${MUSTER_PCH_json} <caf/all.hpp>)
set(MUSTER_PCH_cli ${MUSTER_PCH_json} <CLI/CLI.hpp>)
set(MUSTER_PCH_test ${MUSTER_PCH_json} <gmock/gmock.h> <gtest/gtest.h>)
set(MUSTER_PCH_caf_test ${MUSTER_PCH_caf} <gmock/gmock.h> <gtest/gtest.h>)

# muster_pch_owners(): makes the target behind each kind; once, before any other target.
function(muster_pch_owners)
  set(empty "${CMAKE_BINARY_DIR}/pch/empty.cpp")
  file(CONFIGURE OUTPUT "${empty}" CONTENT "// Gives a library of precompiled headers a source.\n")
  foreach(kind std json asio caf cli test caf_test)
    add_library(muster_pch_${kind} STATIC "${empty}")
    target_precompile_headers(muster_pch_${kind} PRIVATE ${MUSTER_PCH_${kind}})
  endforeach()
  foreach(kind json asio caf cli test caf_test)
    target_link_libraries(muster_pch_${kind} PRIVATE fmt::fmt nlohmann_json::nlohmann_json)
  endforeach()
  target_link_libraries(muster_pch_asio PRIVATE asio)
  target_link_libraries(muster_pch_cli PRIVATE CLI11::CLI11)
  foreach(kind caf caf_test)
    target_link_libraries(muster_pch_${kind} PRIVATE CAF::core)
    target_compile_definitions(muster_pch_${kind} PRIVATE CAF_ENABLE_TYPE_ID_CHECKS)
  endforeach()
  foreach(kind test caf_test)
    target_link_libraries(muster_pch_${kind} PRIVATE GTest::gtest GTest::gmock)
  endforeach()
endfunction()

# muster_use_pch(TARGET KIND): compiles the target behind the headers of the kind, which it has to
# link; NONE for a target without.
function(muster_use_pch target kind)
  # Of a unity build too few compiler runs include these for a header of their own to pay.
  if(MUSTER_UNITY AND kind MATCHES "^(asio|cli)$")
    set(kind json)
  endif()
  if(NOT kind STREQUAL "NONE")
    target_precompile_headers(${target} REUSE_FROM muster_pch_${kind})
  endif()
  # g++ takes precompiled headers only where the same macros are defined, fmt's among them.
  if(NOT kind MATCHES "^(NONE|std)$")
    target_link_libraries(${target} PRIVATE fmt::fmt nlohmann_json::nlohmann_json)
  endif()
endfunction()

# muster_use_unity(TARGET): compiles all sources of the target at once where MUSTER_UNITY is on, so
# that no two of them may give the same name to things of their own.
function(muster_use_unity target)
  if(MUSTER_UNITY)
    set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 0)
    # To g++ what a file keeps in an anonymous namespace looks then like a header's.
    target_compile_options(${target} PRIVATE $<$<COMPILE_LANGUAGE:CXX>:-Wno-subobject-linkage>)
  endif()
endfunction()

# muster_read_groups(): learns which sources of a test program can be compiled at once; before any
# test. Without python3 each is compiled alone.
function(muster_read_groups)
  set(groups "${CMAKE_BINARY_DIR}/unity_groups.cmake")
  execute_process(COMMAND "${CMAKE_SOURCE_DIR}/tools/checks/unity_groups" "${CMAKE_SOURCE_DIR}"
                  OUTPUT_FILE "${groups}" RESULT_VARIABLE failed)
  if(failed)
    message(WARNING "tools/checks/unity_groups failed (${failed}): tests compile one by one")
  else()
    include("${groups}")
  endif()
endfunction()

# muster_use_groups(TARGET SOURCE...): compiles the sources of a test program in groups in which no
# two give the same name to things of their own.
function(muster_use_groups target)
  foreach(source ${ARGN})
    cmake_path(ABSOLUTE_PATH source NORMALIZE OUTPUT_VARIABLE path)
    file(RELATIVE_PATH path "${CMAKE_SOURCE_DIR}" "${path}")
    get_property(group GLOBAL PROPERTY "MUSTER_GROUP_${path}")
    if(group)
      set_source_files_properties("${source}" PROPERTIES UNITY_GROUP "${group}")
    endif()
  endforeach()
  set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP)
  # To g++ a name that one file has to itself is a global one in the next file of its group.
  target_compile_options(${target} PRIVATE -Wno-subobject-linkage -Wno-shadow)
endfunction()

# muster_library(NAME [PCH KIND] SOURCES... LINK TARGETS...): a folder's static library,
# muster::NAME. The kind of its precompiled headers is std unless said.
function(muster_library name)
  cmake_parse_arguments(arg "" "PCH" "SOURCES;LINK" ${ARGN})
  if(NOT arg_PCH)
    set(arg_PCH std)
  endif()
  add_library(muster_${name} STATIC ${arg_SOURCES})
  add_library(muster::${name} ALIAS muster_${name})
  target_include_directories(muster_${name} PUBLIC "${CMAKE_SOURCE_DIR}")
  target_link_libraries(muster_${name} PUBLIC ${arg_LINK})
  muster_use_pch(muster_${name} ${arg_PCH})
  muster_use_unity(muster_${name})
endfunction()

# muster_test(NAME [PCH KIND] SOURCES... LINK TARGETS...): one GoogleTest program, one ctest entry a
# test case. The kind of its precompiled headers is test unless said.
function(muster_test name)
  cmake_parse_arguments(arg "" "PCH" "SOURCES;LINK" ${ARGN})
  if(NOT arg_PCH)
    set(arg_PCH test)
  endif()
  add_executable(${name}_test ${arg_SOURCES})
  target_link_libraries(${name}_test PRIVATE ${arg_LINK} test_golden fmt::fmt
                                             nlohmann_json::nlohmann_json GTest::gtest GTest::gmock
                                             GTest::gtest_main)
  muster_use_pch(${name}_test ${arg_PCH})
  if(MUSTER_UNITY)
    muster_use_groups(${name}_test ${arg_SOURCES})
  endif()
  # Most of a build is tests, which compile a quarter sooner so; what they test keeps its -O2.
  target_compile_options(${name}_test PRIVATE $<$<CONFIG:Release>:-O1>)
  include(GoogleTest)
  gtest_discover_tests(${name}_test TEST_PREFIX "${name}/" DISCOVERY_TIMEOUT 60
                       PROPERTIES TIMEOUT 600)
endfunction()
