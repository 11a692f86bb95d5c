# Helpers that declare libraries and programs.
#
# A library is declared once, in the root CMakeLists.txt. Each directory that has sources for it says
# so in its own CMakeLists.txt, and names the libraries that those sources need:
#
#   target_sources(muster_host PRIVATE host.cpp mapping.cpp)      # paths relative to the directory
#   target_link_libraries(muster_host PRIVATE fmt::fmt)           # after muster_require(fmt)
#
# A program of the project:
#
#   muster_program(04_barrier SOURCES 04_barrier.cpp LIBS muster::host [INTERNAL])
#
# INTERNAL puts src/ on the include path; examples do without it, as a user's program would.
# The program is left out, with one line that says why, where one of its muster:: libraries is.

# One line at configure time for each thing left out, and why.
function(muster_left_out what why)
  message(STATUS "muster: ${what} is left out: ${why}")
endfunction()

function(muster_add_directory directory)
  if(EXISTS ${PROJECT_SOURCE_DIR}/${directory}/CMakeLists.txt)
    add_subdirectory(${PROJECT_SOURCE_DIR}/${directory} ${PROJECT_BINARY_DIR}/${directory})
  endif()
endfunction()

# Finds a package once for the whole project, and notes it as a dependency of the installed tree.
#   muster_require(fmt)    muster_require(Boost COMPONENTS context)
macro(muster_require package)
  find_package(${package} REQUIRED ${ARGN})
  get_property(muster_known GLOBAL PROPERTY MUSTER_DEPENDENCIES)
  string(REPLACE ";" " " muster_dependency "${package};${ARGN}")
  string(STRIP "${muster_dependency}" muster_dependency)
  if(NOT muster_dependency IN_LIST muster_known)
    set_property(GLOBAL APPEND PROPERTY MUSTER_DEPENDENCIES "${muster_dependency}")
  endif()
endmacro()

# Marks a target as part of the installed muster.
function(muster_export target)
  set_property(GLOBAL APPEND PROPERTY MUSTER_EXPORTED ${target})
endfunction()

# muster_declare_library(name DIRECTORIES dir... [LIBS lib...] [NOT_INSTALLED]): a static library
# muster::name, where one of the directories has a CMakeLists.txt.
function(muster_declare_library name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "NOT_INSTALLED" "" "DIRECTORIES;LIBS")
  set(present FALSE)
  foreach(directory IN LISTS arg_DIRECTORIES)
    if(EXISTS ${PROJECT_SOURCE_DIR}/${directory}/CMakeLists.txt)
      set(present TRUE)
    endif()
  endforeach()
  if(NOT present)
    list(JOIN arg_DIRECTORIES ", " where)
    muster_left_out(muster::${name} "there is no CMakeLists.txt in ${where}")
    return()
  endif()

  add_library(muster_${name} STATIC)
  add_library(muster::${name} ALIAS muster_${name})
  set_target_properties(muster_${name} PROPERTIES EXPORT_NAME ${name} LINKER_LANGUAGE CXX
                                                  POSITION_INDEPENDENT_CODE ON)
  target_link_libraries(muster_${name} PUBLIC muster_core PRIVATE $<BUILD_INTERFACE:muster_internal>)
  foreach(library IN LISTS arg_LIBS)
    if(TARGET ${library})
      target_link_libraries(muster_${name} PUBLIC ${library})
    endif()
  endforeach()
  # Named here so that a library whose directories list no file yet can still be configured.
  target_sources(muster_${name} PRIVATE ${PROJECT_SOURCE_DIR}/include/muster/types.hpp)
  if(NOT arg_NOT_INSTALLED)
    muster_export(muster_${name})
  endif()
endfunction()

# Sets `result` to those of the given muster:: libraries that are not built here.
function(muster_missing result)
  set(missing "")
  foreach(library IN LISTS ARGN)
    if(library MATCHES "^muster(::|_)" AND NOT TARGET ${library})
      list(APPEND missing ${library})
    endif()
  endforeach()
  set(${result} "${missing}" PARENT_SCOPE)
endfunction()

function(muster_program name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "INTERNAL" "" "SOURCES;LIBS")
  if(NOT arg_SOURCES)
    message(FATAL_ERROR "muster_program(${name}) needs SOURCES")
  endif()
  muster_missing(missing ${arg_LIBS})
  if(missing)
    muster_left_out("program ${name}" "${missing} is not built here")
    return()
  endif()
  add_executable(${name} ${arg_SOURCES})
  target_link_libraries(${name} PRIVATE ${arg_LIBS} muster_flags)
  if(arg_INTERNAL)
    target_link_libraries(${name} PRIVATE muster_internal)
  endif()
endfunction()
