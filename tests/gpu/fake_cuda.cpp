#include "gpu/fake_cuda.hpp"

#include <cuda.h>
#include <cuda_runtime_api.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <string_view>

namespace muster::gpu_test {

FakeMachine& fake_machine() {
  static FakeMachine machine;
  return machine;
}

}  // namespace muster::gpu_test

struct CUstream_st {
  int device;
};

namespace {

using muster::gpu_test::fake_machine;

CUresult enqueue(bool is_write, CUstream stream, CUdeviceptr address, cuuint32_t value,
                 unsigned flags) {
  auto& machine = fake_machine();
  if (machine.stream_status != 0) return static_cast<CUresult>(machine.stream_status);
  auto* const word = reinterpret_cast<cuuint32_t*>(address);
  machine.operations.push_back({is_write, machine.current, stream, word, value, flags});
  if (is_write) *word = value;
  return CUDA_SUCCESS;
}
CUresult write_value(CUstream stream, CUdeviceptr address, cuuint32_t value, unsigned flags) {
  return enqueue(true, stream, address, value, flags);
}
CUresult wait_value(CUstream stream, CUdeviceptr address, cuuint32_t value, unsigned flags) {
  return enqueue(false, stream, address, value, flags);
}

// ---- virtual memory: a handle is a file descriptor of memory, plus one, since 0 is none

int descriptor_of(CUmemGenericAllocationHandle handle) {
  return static_cast<int>(handle) - 1;
}
CUresult granularity(std::size_t* bytes, const CUmemAllocationProp* /*what*/,
                     CUmemAllocationGranularity_flags /*flags*/) {
  *bytes = 1U << 16U;
  return CUDA_SUCCESS;
}
CUresult create(CUmemGenericAllocationHandle* handle, std::size_t bytes,
                const CUmemAllocationProp* /*what*/, unsigned long long /*flags*/) {
  const int descriptor = memfd_create("fake-gpu", MFD_CLOEXEC);
  if (descriptor < 0 || ftruncate(descriptor, static_cast<off_t>(bytes)) != 0)
    return CUDA_ERROR_OUT_OF_MEMORY;
  *handle = static_cast<CUmemGenericAllocationHandle>(descriptor) + 1;
  return CUDA_SUCCESS;
}
CUresult release(CUmemGenericAllocationHandle handle) {
  close(descriptor_of(handle));
  return CUDA_SUCCESS;
}
CUresult export_handle(void* to, CUmemGenericAllocationHandle handle,
                       CUmemAllocationHandleType /*type*/, unsigned long long /*flags*/) {
  *static_cast<int*>(to) = dup(descriptor_of(handle));
  return CUDA_SUCCESS;
}
CUresult import_handle(CUmemGenericAllocationHandle* handle, void* from,
                       CUmemAllocationHandleType /*type*/) {
  const int descriptor = dup(static_cast<int>(reinterpret_cast<std::intptr_t>(from)));
  *handle = static_cast<CUmemGenericAllocationHandle>(descriptor) + 1;
  return CUDA_SUCCESS;
}
CUresult reserve(CUdeviceptr* address, std::size_t bytes, std::size_t /*align*/,
                 CUdeviceptr /*near*/, unsigned long long /*flags*/) {
  void* const place = mmap(nullptr, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  *address = reinterpret_cast<CUdeviceptr>(place);
  return place == MAP_FAILED ? CUDA_ERROR_OUT_OF_MEMORY : CUDA_SUCCESS;
}
CUresult unreserve(CUdeviceptr address, std::size_t bytes) {
  munmap(reinterpret_cast<void*>(address), bytes);
  return CUDA_SUCCESS;
}
CUresult map(CUdeviceptr address, std::size_t bytes, std::size_t offset,
             CUmemGenericAllocationHandle handle, unsigned long long /*flags*/) {
  void* const place =
      mmap(reinterpret_cast<void*>(address), bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED,
           descriptor_of(handle), static_cast<off_t>(offset));
  return place == MAP_FAILED ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
}
CUresult unmap(CUdeviceptr /*address*/, std::size_t /*bytes*/) {
  return CUDA_SUCCESS;
}
CUresult set_access(CUdeviceptr /*address*/, std::size_t /*bytes*/,
                    const CUmemAccessDesc* /*access*/, std::size_t /*count*/) {
  return CUDA_SUCCESS;
}

struct Entry {
  std::string_view name;
  void* address;
};

template <class Function>
Entry entry(std::string_view name, Function* function) {
  return {name, reinterpret_cast<void*>(function)};
}

void* find_entry(std::string_view name) {
  if (name.starts_with("cuStream") && !fake_machine().has_stream_entries) return nullptr;
  const Entry entries[] = {entry("cuStreamWriteValue32", write_value),
                           entry("cuStreamWaitValue32", wait_value),
                           entry("cuMemGetAllocationGranularity", granularity),
                           entry("cuMemCreate", create),
                           entry("cuMemRelease", release),
                           entry("cuMemExportToShareableHandle", export_handle),
                           entry("cuMemImportFromShareableHandle", import_handle),
                           entry("cuMemAddressReserve", reserve),
                           entry("cuMemAddressFree", unreserve),
                           entry("cuMemMap", map),
                           entry("cuMemUnmap", unmap),
                           entry("cuMemSetAccess", set_access)};
  for (const Entry& one : entries)
    if (one.name == name) return one.address;
  return nullptr;
}

bool is_device(int device) {
  return device >= 0 && device < fake_machine().devices;
}

}  // namespace

extern "C" {

// ---- devices

cudaError_t cudaGetDeviceCount(int* count) {
  *count = fake_machine().devices;
  return *count == 0 ? cudaErrorNoDevice : cudaSuccess;
}
cudaError_t cudaGetDevice(int* device) {
  *device = fake_machine().current;
  return cudaSuccess;
}
cudaError_t cudaSetDevice(int device) {
  if (!is_device(device)) return cudaErrorInvalidDevice;
  fake_machine().current = device;
  return cudaSuccess;
}
cudaError_t cudaDeviceSynchronize() {
  return cudaSuccess;
}
cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr attribute, int device) {
  if (!is_device(device)) return cudaErrorInvalidDevice;
  *value = attribute == cudaDevAttrMultiProcessorCount ? 4 : 0;
  if (attribute == cudaDevAttrComputeCapabilityMajor) *value = fake_machine().capability;
  if (attribute == cudaDevAttrCanFlushRemoteWrites && fake_machine().can_flush) *value = 1;
  return cudaSuccess;
}
cudaError_t cudaDeviceGetP2PAttribute(int* value, cudaDeviceP2PAttr /*attribute*/, int /*from*/,
                                      int /*to*/) {
  *value = fake_machine().peer_access ? 1 : 0;
  return cudaSuccess;
}
cudaError_t cudaDeviceEnablePeerAccess(int /*to*/, unsigned /*flags*/) {
  return cudaSuccess;
}

// ---- memory

cudaError_t cudaMemGetInfo(std::size_t* free_bytes, std::size_t* total) {
  *free_bytes = *total = std::size_t{1} << 30U;
  return cudaSuccess;
}
cudaError_t cudaMalloc(void** memory, std::size_t bytes) {
  // Not zero, as CUDA's is not.
  *memory = std::aligned_alloc(256, (bytes + 255) / 256 * 256);
  if (*memory == nullptr) return cudaErrorMemoryAllocation;
  std::memset(*memory, 0xa5, bytes);
  return cudaSuccess;
}
cudaError_t cudaFree(void* memory) {
  std::free(memory);
  return cudaSuccess;
}
cudaError_t cudaHostAlloc(void** memory, std::size_t bytes, unsigned /*flags*/) {
  return cudaMalloc(memory, bytes);
}
cudaError_t cudaFreeHost(void* memory) {
  return cudaFree(memory);
}
cudaError_t cudaHostRegister(void* /*memory*/, std::size_t /*bytes*/, unsigned /*flags*/) {
  return cudaSuccess;
}
cudaError_t cudaHostUnregister(void* /*memory*/) {
  return cudaSuccess;
}
cudaError_t cudaHostGetDevicePointer(void** seen, void* memory, unsigned /*flags*/) {
  *seen = memory;
  return cudaSuccess;
}
cudaError_t cudaMemset(void* memory, int value, std::size_t bytes) {
  std::memset(memory, value, bytes);
  return cudaSuccess;
}
cudaError_t cudaMemcpy(void* to, const void* from, std::size_t bytes, cudaMemcpyKind /*kind*/) {
  std::memcpy(to, from, bytes);
  return cudaSuccess;
}

// ---- streams, kernels, errors

cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned /*flags*/) {
  *stream = new CUstream_st{fake_machine().current};
  return cudaSuccess;
}
cudaError_t cudaStreamDestroy(cudaStream_t stream) {
  delete stream;
  return cudaSuccess;
}
cudaError_t cudaStreamSynchronize(cudaStream_t /*stream*/) {
  return cudaSuccess;
}
cudaError_t cudaStreamIsCapturing(cudaStream_t /*stream*/, cudaStreamCaptureStatus* status) {
  *status = fake_machine().capturing ? cudaStreamCaptureStatusActive : cudaStreamCaptureStatusNone;
  return cudaSuccess;
}
cudaError_t cudaStreamGetDevice(cudaStream_t stream, int* device) {
  if (fake_machine().capturing) {
    fake_machine().capture_ended = true;
    return cudaErrorStreamCaptureUnsupported;
  }
  *device = stream->device;
  return cudaSuccess;
}
cudaError_t cudaFuncSetAttribute(const void* /*kernel*/, cudaFuncAttribute /*attribute*/,
                                 int /*value*/) {
  return cudaErrorNotSupported;
}
cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, const void* /*kernel*/,
                                                          int /*threads*/, std::size_t /*bytes*/) {
  *blocks = 2;
  return cudaSuccess;
}
cudaError_t cudaLaunchKernelExC(const cudaLaunchConfig_t* shape, const void* /*kernel*/,
                                void** /*arguments*/) {
  ++fake_machine().launches;
  const auto has = [&](cudaLaunchAttributeID attribute) {
    for (unsigned i = 0; i < shape->numAttrs; ++i)
      if (shape->attrs[i].id == attribute) return true;
    return false;
  };
  fake_machine().overlaps = has(cudaLaunchAttributeProgrammaticStreamSerialization);
  fake_machine().cooperative = has(cudaLaunchAttributeCooperative);
  return cudaSuccess;
}
cudaError_t cudaGetDriverEntryPointByVersion(const char* name, void** address, unsigned /*version*/,
                                             unsigned long long /*flags*/,
                                             cudaDriverEntryPointQueryResult* result) {
  *address = find_entry(name);
  *result = *address != nullptr ? cudaDriverEntryPointSuccess : cudaDriverEntryPointSymbolNotFound;
  return cudaSuccess;
}
cudaError_t cudaGetLastError() {
  return cudaSuccess;
}
const char* cudaGetErrorName(cudaError_t /*error*/) {
  return "fakeError";
}
const char* cudaGetErrorString(cudaError_t /*error*/) {
  return "an error of the fake";
}

}  // extern "C"
