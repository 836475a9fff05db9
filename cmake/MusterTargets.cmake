# The few verbs in which the folders' CMake files are written.

# muster_library(NAME SOURCES... LINK TARGETS...): a folder's static library, muster::NAME.
function(muster_library name)
  cmake_parse_arguments(arg "" "" "SOURCES;LINK" ${ARGN})
  add_library(muster_${name} STATIC ${arg_SOURCES})
  add_library(muster::${name} ALIAS muster_${name})
  target_include_directories(muster_${name} PUBLIC "${CMAKE_SOURCE_DIR}")
  target_link_libraries(muster_${name} PUBLIC ${arg_LINK})
endfunction()

# muster_test(NAME SOURCES... LINK TARGETS...): one GoogleTest program, one ctest entry a test case.
function(muster_test name)
  cmake_parse_arguments(arg "" "" "SOURCES;LINK" ${ARGN})
  add_executable(${name}_test ${arg_SOURCES})
  target_link_libraries(${name}_test PRIVATE ${arg_LINK} GTest::gtest GTest::gmock
                                             GTest::gtest_main)
  target_compile_definitions(${name}_test PRIVATE MUSTER_SOURCE_DIR="${CMAKE_SOURCE_DIR}")
  include(GoogleTest)
  gtest_discover_tests(${name}_test TEST_PREFIX "${name}/" DISCOVERY_TIMEOUT 60
                       PROPERTIES TIMEOUT 300)
endfunction()
