// Memory of ranks that live in several processes: virtual memory allocations of the driver, passed
// as file descriptors over the bootstrap, so that nobody outside of it can map them.
#include <fmt/format.h>
#include <unistd.h>

#include <set>

#include "fabric/gpu/bootstrap_calls.hpp"
#include "fabric/gpu/cuda_calls.hpp"
#include "fabric/gpu/driver_calls.hpp"
#include "fabric/gpu/memory.hpp"

namespace muster::gpu {

namespace {

struct Driver {
  decltype(cuMemGetAllocationGranularity)* granularity =
      find_driver<decltype(cuMemGetAllocationGranularity)>("cuMemGetAllocationGranularity");
  decltype(cuMemCreate)* create = find_driver<decltype(cuMemCreate)>("cuMemCreate");
  decltype(cuMemRelease)* release = find_driver<decltype(cuMemRelease)>("cuMemRelease");
  decltype(cuMemExportToShareableHandle)* export_handle =
      find_driver<decltype(cuMemExportToShareableHandle)>("cuMemExportToShareableHandle");
  decltype(cuMemImportFromShareableHandle)* import_handle =
      find_driver<decltype(cuMemImportFromShareableHandle)>("cuMemImportFromShareableHandle");
  decltype(cuMemAddressReserve)* reserve =
      find_driver<decltype(cuMemAddressReserve)>("cuMemAddressReserve");
  decltype(cuMemAddressFree)* unreserve =
      find_driver<decltype(cuMemAddressFree)>("cuMemAddressFree");
  decltype(cuMemMap)* map = find_driver<decltype(cuMemMap)>("cuMemMap");
  decltype(cuMemUnmap)* unmap = find_driver<decltype(cuMemUnmap)>("cuMemUnmap");
  decltype(cuMemSetAccess)* set_access = find_driver<decltype(cuMemSetAccess)>("cuMemSetAccess");
};

CUmemAllocationProp on_device(int device) {
  CUmemAllocationProp what{};
  what.type = CU_MEM_ALLOCATION_TYPE_PINNED;
  what.requestedHandleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
  what.location = {CU_MEM_LOCATION_TYPE_DEVICE, device};
  return what;
}

class SharedMemory : public Memory {
 public:
  SharedMemory(const std::vector<int>& devices, std::uint64_t bytes,
               const std::vector<std::uint32_t>& ranks_of, const Bootstrap& bootstrap)
      : own_(devices.begin(), devices.end()), bytes_(rounded(devices, bytes)) {
    const OnDevice on(devices.front());
    std::vector<Own> mine;
    mine.reserve(devices.size());
    for (const int device : devices) mine.push_back({device, create(device), nullptr});
    exchange(mine, ranks_of, bootstrap);
  }
  ~SharedMemory() override {
    for (std::byte* base : bases_) {
      const auto address = reinterpret_cast<CUdeviceptr>(base);
      (void)driver_.unmap(address, bytes_);
      (void)driver_.unreserve(address, bytes_);
    }
  }

 private:
  struct Own {
    int device;
    CUmemGenericAllocationHandle handle;
    std::byte* base;
  };

  std::uint64_t rounded(const std::vector<int>& devices, std::uint64_t bytes) const {
    std::size_t unit = 1;
    for (const int device : devices) {
      const CUmemAllocationProp what = on_device(device);
      std::size_t one = 0;
      must_driver(driver_.granularity(&one, &what, CU_MEM_ALLOC_GRANULARITY_RECOMMENDED),
                  "asking for the size of pages");
      if (one > unit) unit = one;
    }
    return (bytes + unit - 1) / unit * unit;
  }

  CUmemGenericAllocationHandle create(int device) {
    const OnDevice on(device);
    const CUmemAllocationProp what = on_device(device);
    CUmemGenericAllocationHandle handle = 0;
    must_driver(driver_.create(&handle, bytes_, &what, 0),
                fmt::format("allocating {} bytes on GPU {}", bytes_, device));
    return handle;
  }

  // Reserves addresses for the memory, for the GPUs of this process. The mapping keeps the memory,
  // so the handle is given back.
  std::byte* map(CUmemGenericAllocationHandle handle) {
    CUdeviceptr address = 0;
    must_driver(driver_.reserve(&address, bytes_, 0, 0, 0), "reserving addresses");
    must_driver(driver_.map(address, bytes_, 0, handle, 0), "mapping memory");
    std::vector<CUmemAccessDesc> access;
    for (const int device : own_)
      access.push_back({{CU_MEM_LOCATION_TYPE_DEVICE, device}, CU_MEM_ACCESS_FLAGS_PROT_READWRITE});
    must_driver(driver_.set_access(address, bytes_, access.data(), access.size()),
                "letting the GPUs reach memory");
    must_driver(driver_.release(handle), "giving back a handle");
    return reinterpret_cast<std::byte*>(address);
  }

  CUmemGenericAllocationHandle import_from(const Bootstrap& bootstrap, std::uint32_t process) {
    const int descriptor = receive_descriptor(bootstrap, process);
    CUmemGenericAllocationHandle handle = 0;
    const CUresult result = driver_.import_handle(
        &handle, reinterpret_cast<void*>(static_cast<std::intptr_t>(descriptor)),
        CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR);
    close(descriptor);
    must_driver(result, "opening the memory of another process");
    return handle;
  }

  [[nodiscard]] int export_handle(CUmemGenericAllocationHandle handle) const {
    int descriptor = -1;
    must_driver(
        driver_.export_handle(&descriptor, handle, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0),
        "passing memory on");
    return descriptor;
  }

  // Own memory is zero before any peer gets it.
  void map_and_clear(Own& own) {
    own.base = map(own.handle);
    const OnDevice on(own.device);
    must(cudaMemset(own.base, 0, bytes_), "clearing memory");
    must(cudaDeviceSynchronize(), "clearing memory");
  }

  void exchange(std::vector<Own>& mine, const std::vector<std::uint32_t>& ranks_of,
                const Bootstrap& bootstrap) {
    std::vector<int> descriptors;
    descriptors.reserve(mine.size());
    for (const Own& own : mine) descriptors.push_back(export_handle(own.handle));
    for (Own& own : mine) map_and_clear(own);
    for (std::uint32_t other = 0; other < bootstrap.processes(); ++other)
      if (other != bootstrap.process)
        for (const int descriptor : descriptors) send_descriptor(bootstrap, other, descriptor);
    for (const int descriptor : descriptors) close(descriptor);
    for (std::uint32_t process = 0; process < bootstrap.processes(); ++process)
      for (std::uint32_t i = 0; i < ranks_of[process]; ++i)
        bases_.push_back(process == bootstrap.process ? mine[i].base
                                                      : map(import_from(bootstrap, process)));
    meet(bootstrap);
  }

  Driver driver_;
  std::set<int> own_;
  std::uint64_t bytes_;
};

}  // namespace

std::unique_ptr<Memory> allocate_shared(const std::vector<int>& devices, std::uint64_t bytes,
                                        const std::vector<std::uint32_t>& ranks_of,
                                        const Bootstrap& bootstrap) {
  require_reach(devices);
  return std::make_unique<SharedMemory>(devices, bytes, ranks_of, bootstrap);
}

}  // namespace muster::gpu
