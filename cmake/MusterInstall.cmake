# Install rules: headers, libraries, the program, find_package(muster) and muster.pc.
#
# Each library is a component with an export of its own, so that a user of muster::host needs nothing
# that only muster::check needs. What a component needs follows from what its target links.

set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/muster)
get_property(exported GLOBAL PROPERTY MUSTER_EXPORTED)
get_property(dependencies GLOBAL PROPERTY MUSTER_DEPENDENCIES)
list(APPEND dependencies Threads)

# Nothing is installed of a build that holds a part only, as after ./dev demo: said before the first
# file is copied.
set(installed "")
foreach(target IN LISTS exported ITEMS muster muster-peer-mpi muster-bench-gpu muster-peer-nccl
                                       muster-peer-nvshmem)
  if(TARGET ${target} AND NOT target STREQUAL "muster_core")
    string(APPEND installed " \"$<TARGET_FILE:${target}>\"")
  endif()
endforeach()
install(
  CODE "set(missing \"\")
foreach(file IN ITEMS${installed})
  if(NOT EXISTS \"\${file}\")
    get_filename_component(name \"\${file}\" NAME)
    list(APPEND missing \${name})
  endif()
endforeach()
if(missing)
  list(JOIN missing \", \" missing)
  message(FATAL_ERROR \"muster: this build holds a part only (./dev demo builds no more than it runs); \"
    \"missing: \${missing}. Nothing was installed. First build all of it: \"
    \"cmake --build ${PROJECT_BINARY_DIR}, or ./dev build release\")
endif()"
  ALL_COMPONENTS)

# The pkg-config words for what a library links besides muster itself.
set(pc_word_Threads::Threads -pthread)
set(pc_word_Boost::context -lboost_context)
set(pc_word_CUDA::cudart_static -L${CUDAToolkit_LIBRARY_DIR} -lcudart_static -ldl -lrt -pthread)
set(pc_module_fmt::fmt fmt)
set(pc_module_TBB::tbb tbb)
set(pc_module_OpenSSL::Crypto libcrypto)

# Sets packages (arguments of find_dependency), components, words and modules for one target.
function(muster_needs target packages components words modules)
  set(links "")
  set(found_packages "")
  set(found_components "")
  set(found_words "")
  set(found_modules "")
  if(NOT target STREQUAL "muster_core")
    get_target_property(links ${target} LINK_LIBRARIES)
  endif()
  foreach(link IN LISTS links)
    if(link MATCHES "^muster(::|_)([a-z_]+)$")
      list(APPEND found_components ${CMAKE_MATCH_2})
    elseif(link MATCHES "^([A-Za-z0-9_]+)::")
      set(package ${CMAKE_MATCH_1})
      foreach(dependency IN LISTS dependencies)
        if(dependency MATCHES "^${package}( |$)")
          list(APPEND found_packages "${dependency}")
        endif()
      endforeach()
      # CUDA's targets are those of the package CUDAToolkit.
      if(package STREQUAL "CUDA")
        list(APPEND found_packages CUDAToolkit)
      endif()
      list(APPEND found_words ${pc_word_${link}})
      list(APPEND found_modules ${pc_module_${link}})
    endif()
  endforeach()
  list(REMOVE_DUPLICATES found_packages)
  set(${packages} "${found_packages}" PARENT_SCOPE)
  set(${components} "${found_components}" PARENT_SCOPE)
  set(${words} "${found_words}" PARENT_SCOPE)
  set(${modules} "${found_modules}" PARENT_SCOPE)
endfunction()

# muster.pc for the host, muster-NAME.pc for the others; core and base come with each.
function(muster_install_pkg_config name components words modules)
  set(pc_name muster-${name})
  if(name STREQUAL "host")
    set(pc_name muster)
  endif()
  set(libraries -lmuster_${name})
  if(TARGET muster_${name}_main)
    list(PREPEND libraries -lmuster_${name}_main)
  endif()
  # Of what it builds on, base is the last.
  list(REMOVE_ITEM components core base ${name})
  foreach(component IN LISTS components ITEMS base)
    if(TARGET muster_${component})
      list(APPEND libraries -lmuster_${component})
      muster_needs(muster_${component} unused unused more_words more_modules)
      list(APPEND words ${more_words})
      list(APPEND modules ${more_modules})
    endif()
  endforeach()
  list(REMOVE_DUPLICATES words)
  list(REMOVE_DUPLICATES modules)
  # Relative to the file, so that the installed tree can be moved.
  file(RELATIVE_PATH pc_up /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)
  list(JOIN libraries " " pc_libraries)
  list(JOIN words " " pc_words)
  list(JOIN modules " " pc_modules)
  configure_file(${PROJECT_SOURCE_DIR}/cmake/muster.pc.in ${PROJECT_BINARY_DIR}/${pc_name}.pc @ONLY)
  install(FILES ${PROJECT_BINARY_DIR}/${pc_name}.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
endfunction()

set(known_components "")
set(component_rules "")
foreach(target IN LISTS exported)
  string(REGEX REPLACE "^muster_" "" name ${target})
  muster_needs(${target} packages components words modules)
  list(APPEND known_components ${name})
  string(APPEND component_rules "set(muster_${name}_needs \"${components}\")\n"
                                "set(muster_${name}_packages \"${packages}\")\n")
  install(TARGETS ${target} EXPORT muster-${name} ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
  install(EXPORT muster-${name} NAMESPACE muster:: DESTINATION ${package_dir})
  if(NOT name MATCHES "^(core|base|check_main)$")
    muster_install_pkg_config(${name} "${components}" "${words}" "${modules}")
  endif()
endforeach()

include(CMakePackageConfigHelpers)
configure_package_config_file(
  ${PROJECT_SOURCE_DIR}/cmake/musterConfig.cmake.in ${PROJECT_BINARY_DIR}/musterConfig.cmake
  INSTALL_DESTINATION ${package_dir} NO_SET_AND_CHECK_MACRO)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/musterConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/musterConfig.cmake ${PROJECT_BINARY_DIR}/musterConfigVersion.cmake
        DESTINATION ${package_dir})

install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/muster DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}
        FILES_MATCHING PATTERN "*.hpp" PATTERN "*.cuh")
install(FILES ${PROJECT_SOURCE_DIR}/LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR})
if(TARGET muster)
  install(TARGETS muster DESTINATION ${CMAKE_INSTALL_BINDIR})
  # What `muster bench` starts; found beside it.
  foreach(program IN ITEMS muster-peer-mpi muster-bench-gpu muster-peer-nccl muster-peer-nvshmem)
    if(TARGET ${program})
      install(TARGETS ${program} DESTINATION ${CMAKE_INSTALL_BINDIR})
    endif()
  endforeach()
  if(TARGET muster-peer-pytorch)
    install(PROGRAMS ${PROJECT_SOURCE_DIR}/bench/peers/pytorch.py DESTINATION ${CMAKE_INSTALL_BINDIR}
            RENAME muster-peer-pytorch)
  endif()
endif()
