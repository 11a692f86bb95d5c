# Writes the commit that is being built into a header, on every build, and only where it changed:
#   cmake -DSOURCE=dir -DHEADER=file -P commit.cmake
set(commit "unknown")
execute_process(
  COMMAND git -C ${SOURCE} rev-parse --short=12 HEAD
  OUTPUT_VARIABLE head RESULT_VARIABLE failed OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
if(NOT failed)
  set(commit ${head})
  # Results of earlier runs are no part of what is built.
  execute_process(
    COMMAND git -C ${SOURCE} status --porcelain -- . ":!bench/results"
    OUTPUT_VARIABLE changes ERROR_QUIET)
  if(changes)
    string(APPEND commit "-changed")
  endif()
endif()
file(CONFIGURE OUTPUT ${HEADER} @ONLY CONTENT [[
#pragma once
namespace muster::bench {
inline constexpr const char* built_commit = "@commit@";
}
]])
