# Tests.
#
#   muster_test(barrier_test
#     SOURCES barrier_test.cpp          # GoogleTest; gtest_main is linked
#     LIBS muster::host muster_support  # left out with one line where one of them is not built
#     LABELS unit                       # the group: ./dev test unit
#     [TIMEOUT 120]                     # seconds for each TEST
#     [TIMED]                           # measures time or load: has the label `timed`, too, and
#                                       # runs beside no other test
#     [QUICK]                           # waits more than it computes: MUSTER_QUICK_TEST_FLAGS
#     [NO_MAIN]                         # the sources have a main() of their own
#     [ENVIRONMENT NAME=value...])
#
# Each TEST becomes one test of ctest, so a skipped one is shown as skipped and the count is honest.
# Tests labelled `soak` are left out of ./dev test and run by ./dev soak.
#
#   muster_test_objects(name SOURCES a_test.cpp LIBS muster::check)
#
# compiles sources that several programs link, by $<TARGET_OBJECTS:name> among their SOURCES.
#
#   muster_command_test(tutorial_04 COMMAND 04_barrier -n 4 LABELS tutorial
#     [TIMEOUT 60] [SERIAL] [EXIT_CODE 2] [MATCHES "regular expression"] [ENVIRONMENT ...])
#
# runs a program of this build (or any command): it must exit with EXIT_CODE (0 by default) and its
# output, stdout and stderr together, must match. A line that starts with "SKIPPED: " skips it.
#
#   muster_header_tests(headers HEADERS muster/types.hpp ... LIBS muster::core [CUDA])
#
# compiles one generated source for each header, which includes it twice and nothing else: with g++,
# or with nvcc where CUDA is given. A header that does not stand alone fails the build.

find_package(GTest REQUIRED)

set(MUSTER_QUICK_TEST_FLAGS "" CACHE STRING
    "Compiler flags for tests that take longer to compile than to compute; after those of the build type")

include(GoogleTest)

function(muster_test name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "TIMED;QUICK;NO_MAIN" "TIMEOUT" "SOURCES;LIBS;LABELS;ENVIRONMENT")
  if(NOT arg_SOURCES OR NOT arg_LABELS)
    message(FATAL_ERROR "muster_test(${name}) needs SOURCES and LABELS")
  endif()
  muster_missing(missing ${arg_LIBS})
  if(missing)
    muster_left_out("test ${name}" "${missing} is not built here")
    return()
  endif()
  add_executable(${name} ${arg_SOURCES})
  target_link_libraries(${name} PRIVATE ${arg_LIBS} muster_internal GTest::gtest)
  target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR}/tests)
  if(arg_QUICK)
    target_compile_options(${name} PRIVATE ${MUSTER_QUICK_TEST_FLAGS})
  endif()
  if(NOT arg_NO_MAIN)
    target_link_libraries(${name} PRIVATE GTest::gtest_main)
  endif()
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/tests/bin)
  if(NOT arg_TIMEOUT)
    set(arg_TIMEOUT 120)
  endif()
  # Lists do not survive the PROPERTIES of gtest_discover_tests, so a file of our own, which ctest
  # reads after the discovery's, sets them. NAME_TESTS is the list that the discovery leaves.
  # MUSTER_TIMED_TOGETHER: whoever calls ctest has it run timed tests and nothing else.
  if(arg_TIMED)
    list(APPEND arg_LABELS timed)
  endif()
  set(properties ${CMAKE_CURRENT_BINARY_DIR}/${name}_properties.cmake)
  file(CONFIGURE OUTPUT ${properties} @ONLY CONTENT [[
if(@name@_TESTS)
  set(alone "@arg_TIMED@")
  if(DEFINED ENV{MUSTER_TIMED_TOGETHER})
    set(alone FALSE)
  endif()
  set_tests_properties(${@name@_TESTS} PROPERTIES
    TIMEOUT "@arg_TIMEOUT@" LABELS "@arg_LABELS@" ENVIRONMENT "@arg_ENVIRONMENT@" RUN_SERIAL "${alone}")
endif()
]])
  gtest_discover_tests(${name} TEST_PREFIX ${name}. NO_PRETTY_VALUES DISCOVERY_MODE PRE_TEST DISCOVERY_TIMEOUT 60)
  set_property(DIRECTORY APPEND PROPERTY TEST_INCLUDE_FILES ${properties})
endfunction()

function(muster_test_objects name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "SOURCES;LIBS")
  add_library(${name} OBJECT ${arg_SOURCES})
  target_link_libraries(${name} PRIVATE ${arg_LIBS} muster_internal GTest::gtest)
  target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR}/tests)
endfunction()

function(muster_command_test name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "SERIAL" "TIMEOUT;EXIT_CODE;MATCHES" "COMMAND;LABELS;ENVIRONMENT")
  if(NOT arg_COMMAND OR NOT arg_LABELS)
    message(FATAL_ERROR "muster_command_test(${name}) needs COMMAND and LABELS")
  endif()
  if(NOT arg_TIMEOUT)
    set(arg_TIMEOUT 120)
  endif()
  if(NOT arg_EXIT_CODE)
    set(arg_EXIT_CODE 0)
  endif()
  list(GET arg_COMMAND 0 program)
  if(TARGET ${program})
    list(POP_FRONT arg_COMMAND)
    list(PREPEND arg_COMMAND $<TARGET_FILE:${program}>)
  endif()
  add_test(NAME ${name} COMMAND ${CMAKE_COMMAND} -DEXIT_CODE=${arg_EXIT_CODE} "-DPATTERN=${arg_MATCHES}" -P
                                ${PROJECT_SOURCE_DIR}/cmake/RunCommandTest.cmake -- ${arg_COMMAND})
  set_tests_properties(${name} PROPERTIES TIMEOUT ${arg_TIMEOUT} LABELS "${arg_LABELS}" ENVIRONMENT
                                          "${arg_ENVIRONMENT}" RUN_SERIAL ${arg_SERIAL}
                                          SKIP_REGULAR_EXPRESSION "^SKIPPED: |\nSKIPPED: ")
endfunction()

function(muster_header_tests name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "CUDA" "" "HEADERS;LIBS")
  muster_missing(missing ${arg_LIBS})
  if(missing)
    muster_left_out("header test ${name}" "${missing} is not built here")
    return()
  endif()
  set(extension cpp)
  if(arg_CUDA)
    set(extension cu)
  endif()
  set(sources "")
  foreach(header IN LISTS arg_HEADERS)
    string(MAKE_C_IDENTIFIER "${header}" stem)
    set(source ${CMAKE_CURRENT_BINARY_DIR}/${name}/${stem}.${extension})
    # Twice: a header without a guard fails too.
    file(CONFIGURE OUTPUT ${source} CONTENT "#include \"@header@\"\n#include \"@header@\"\n" @ONLY)
    list(APPEND sources ${source})
  endforeach()
  add_library(${name} OBJECT ${sources})
  set_target_properties(${name} PROPERTIES UNITY_BUILD OFF)
  target_link_libraries(${name} PRIVATE ${arg_LIBS} muster_flags)
  if(arg_CUDA)
    # To PTX and for one architecture: what a header lacks does not depend on what follows.
    list(GET CMAKE_CUDA_ARCHITECTURES -1 newest)
    set_target_properties(${name} PROPERTIES CUDA_PTX_COMPILATION ON CUDA_ARCHITECTURES ${newest}-virtual)
  endif()
endfunction()
