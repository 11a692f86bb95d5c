# How everything is compiled: build type, compiler cache, warnings, sanitizers.
#
#   muster::flags     for everything in this project: warnings as errors, sanitizers
#   muster::internal  the same, and src/ on the include path: for muster's own sources and tests
#
# Both are private: they are never exported to users of an installed muster.

if(PROJECT_IS_TOP_LEVEL)
  if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
    set(CMAKE_BUILD_TYPE RelWithDebInfo CACHE STRING "Build type" FORCE)
  endif()
  set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
  # Programs of this tree lie side by side, so that `muster run ./04_barrier` is short to type.
  set(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/bin)

  find_program(MUSTER_CCACHE ccache)
  if(MUSTER_CCACHE)
    foreach(language IN ITEMS CXX CUDA)
      if(NOT CMAKE_${language}_COMPILER_LAUNCHER)
        set(CMAKE_${language}_COMPILER_LAUNCHER ${MUSTER_CCACHE})
      endif()
    endforeach()
  endif()
endif()

set(CMAKE_CXX_EXTENSIONS OFF)

add_library(muster_flags INTERFACE)
add_library(muster::flags ALIAS muster_flags)
target_compile_features(muster_flags INTERFACE cxx_std_20)

set(cxx_warnings -Wall -Wextra -Wpedantic -Wshadow -Wconversion)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
  # GCC 12 sees overlapping copies in every "literal" + std::string (its bug 105651).
  list(APPEND cxx_warnings -Wno-restrict)
endif()
# nvcc's generated code is not pedantic, and its own front end warns for the device side. 20014 (a
# host function called in a kernel) would otherwise compile to nothing at all.
# g++ sees the pragmas that are meant for the device (unroll).
set(cuda_warnings -Xcompiler=-Wall,-Wextra,-Wshadow,-Wno-unknown-pragmas --Wext-lambda-captures-this)
if(MUSTER_WERROR)
  list(APPEND cxx_warnings -Werror)
  list(APPEND cuda_warnings -Werror=all-warnings -Xcompiler=-Werror)
endif()
target_compile_options(
  muster_flags INTERFACE "$<$<COMPILE_LANGUAGE:CXX>:${cxx_warnings}>"
                         "$<$<COMPILE_LANGUAGE:CUDA>:${cuda_warnings}>")

if(MUSTER_SANITIZE)
  set(sanitize -fsanitize=${MUSTER_SANITIZE} -fno-omit-frame-pointer)
  if(MUSTER_SANITIZE MATCHES "undefined")
    list(APPEND sanitize -fno-sanitize-recover=undefined)
  endif()
  target_compile_options(muster_flags INTERFACE "$<$<COMPILE_LANGUAGE:CXX>:${sanitize}>")
  target_link_options(muster_flags INTERFACE -fsanitize=${MUSTER_SANITIZE})
endif()

add_library(muster_internal INTERFACE)
add_library(muster::internal ALIAS muster_internal)
target_link_libraries(muster_internal INTERFACE muster_flags)
target_include_directories(muster_internal INTERFACE ${PROJECT_SOURCE_DIR}/src)
