# Sets MUSTER_HAVE_NET where ranks of several hosts can find each other: libcrypto is here, which
# tells members of a job from strangers.
find_package(OpenSSL QUIET)
set(MUSTER_HAVE_NET FALSE)
if(TARGET OpenSSL::Crypto)
  set(MUSTER_HAVE_NET TRUE)
else()
  message(STATUS "muster: muster::net is left out: OpenSSL's libcrypto is not found (libssl-dev)")
endif()
