# Install rules and the exported package.
get_property(exported GLOBAL PROPERTY MUSTER_EXPORTED)
install(TARGETS ${exported} EXPORT musterTargets)
install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/muster DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}
        FILES_MATCHING PATTERN "*.hpp" PATTERN "*.cuh")
