# Finds nvcc and enables the CUDA language. Sets MUSTER_HAVE_CUDA.

set(MUSTER_HAVE_CUDA FALSE)
if(MUSTER_CUDA STREQUAL "OFF")
  muster_left_out(muster::gpu "MUSTER_CUDA is OFF")
  return()
endif()

find_program(
  MUSTER_NVCC nvcc
  HINTS ENV CUDACXX ENV CUDA_HOME ENV CUDA_PATH
  PATHS /usr/local/cuda
  PATH_SUFFIXES bin)
if(NOT MUSTER_NVCC)
  if(MUSTER_CUDA STREQUAL "ON")
    message(FATAL_ERROR "MUSTER_CUDA is ON, but nvcc is neither on the PATH nor in /usr/local/cuda/bin")
  endif()
  muster_left_out(muster::gpu "nvcc is neither on the PATH nor in /usr/local/cuda/bin")
  return()
endif()

if(NOT CMAKE_CUDA_COMPILER)
  set(CMAKE_CUDA_COMPILER ${MUSTER_NVCC})
endif()
if(NOT CMAKE_CUDA_ARCHITECTURES)
  set(CMAKE_CUDA_ARCHITECTURES ${MUSTER_CUDA_ARCHITECTURES})
endif()
enable_language(CUDA)
find_package(CUDAToolkit REQUIRED)
set(MUSTER_HAVE_CUDA TRUE)

# CMake 3.25 refuses cuda_std_20 and ignores CMAKE_CUDA_STANDARD 20 without a word for this nvcc.
# A fixed flag also reaches sources that link neither muster::gpu nor muster::flags.
if(NOT CMAKE_CUDA_FLAGS MATCHES "-std=")
  string(APPEND CMAKE_CUDA_FLAGS " -std=c++20")
endif()

# Programs with kernels that only have to compile and to be right: PTX, little optimised.
option(MUSTER_CUDA_QUICK "Compile kernels in little time rather than to be fast" OFF)
set(MUSTER_GPU_PROGRAM_ARCHITECTURES 90 CACHE STRING
    "Compute capability of the GPU that tests, examples and benchmarks run on")
if(MUSTER_CUDA_QUICK)
  set(MUSTER_GPU_PROGRAM_ARCHITECTURES 90-virtual)
  include(CheckCompilerFlag)
  check_compiler_flag(CUDA --Ofast-compile=max MUSTER_HAVE_OFAST_COMPILE)
  if(MUSTER_HAVE_OFAST_COMPILE)
    string(APPEND CMAKE_CUDA_FLAGS " --Ofast-compile=max")
  endif()
endif()
