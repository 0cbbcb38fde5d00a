// SE_InitPlugin: one platform with one device. Its memory is host memory, but tracked, so that
// passing ordinary host memory to a kernel is detected.
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>

#include "apu.h"

namespace apu {
namespace {

std::mutex& BlocksMutex() {
  static std::mutex mutex;
  return mutex;
}
std::map<const char*, uint64_t>& Blocks() {
  static auto* blocks = new std::map<const char*, uint64_t>;
  return *blocks;
}

// TensorFlow's CPU kernels use such memory too, and need it aligned.
void* Aligned(uint64_t size) {
  void* block = nullptr;
  return posix_memalign(&block, 64, size == 0 ? 1 : size) == 0 ? block : nullptr;
}

void Allocate(const SP_Device*, uint64_t size, int64_t, SP_DeviceMemoryBase* memory) {
  memory->struct_size = SP_DEVICE_MEMORY_BASE_STRUCT_SIZE;
  memory->opaque = nullptr;
  memory->size = 0;
  if (MustFail("allocate")) return;
  if (static_cast<uint64_t>(Count(kBytesInUse)) + size > kMemory) return;
  void* block = Aligned(size);
  if (block == nullptr) return;
  memory->opaque = block;
  memory->size = size;
  std::lock_guard<std::mutex> lock(BlocksMutex());
  Blocks()[static_cast<const char*>(block)] = size;
  ++Count(kAllocations);
  ++Count(kBlocksInUse);
  Count(kBytesInUse) += static_cast<int64_t>(size);
}

void Deallocate(const SP_Device*, SP_DeviceMemoryBase* memory) {
  if (memory->opaque == nullptr) return;
  std::lock_guard<std::mutex> lock(BlocksMutex());
  const auto block = Blocks().find(static_cast<const char*>(memory->opaque));
  if (block == Blocks().end()) std::abort();  // not ours, or freed twice
  Count(kBytesInUse) -= static_cast<int64_t>(block->second);
  --Count(kBlocksInUse);
  Blocks().erase(block);
  // Invalidates the bytes for anyone who still reads them.
  std::memset(memory->opaque, 0xee, memory->size);
  std::free(memory->opaque);
  memory->opaque = nullptr;
  memory->size = 0;
}

void* HostAllocate(const SP_Device*, uint64_t size) { return Aligned(size); }
void HostDeallocate(const SP_Device*, void* memory) { std::free(memory); }

TF_Bool AllocatorStats(const SP_Device*, SP_AllocatorStats* stats) {
  stats->struct_size = SP_ALLOCATORSTATS_STRUCT_SIZE;
  stats->num_allocs = Count(kAllocations);
  stats->bytes_in_use = Count(kBytesInUse);
  return 1;
}

TF_Bool MemoryUsage(const SP_Device*, int64_t* free, int64_t* total) {
  *total = static_cast<int64_t>(kMemory);
  *free = *total - Count(kBytesInUse);
  return 1;
}

// Copies in stream order.
void CopyToHost(const SP_Device*, SP_Stream stream, void* to, const SP_DeviceMemoryBase* from,
                uint64_t size, TF_Status* status) {
  if (!Succeeds("memcpy_dtoh", status)) return;
  ++Count(kCopiesToHost);
  Enqueue(stream, [to, from = from->opaque, size] { std::memcpy(to, from, size); });
}
void CopyToDevice(const SP_Device*, SP_Stream stream, SP_DeviceMemoryBase* to, const void* from,
                  uint64_t size, TF_Status* status) {
  if (!Succeeds("memcpy_htod", status)) return;
  ++Count(kCopiesToDevice);
  Enqueue(stream, [to = to->opaque, from, size] { std::memcpy(to, from, size); });
}
void CopyOnDevice(const SP_Device*, SP_Stream stream, SP_DeviceMemoryBase* to,
                  const SP_DeviceMemoryBase* from, uint64_t size, TF_Status* status) {
  ++Count(kCopiesOnDevice);
  Enqueue(stream, [to = to->opaque, from = from->opaque, size] { std::memcpy(to, from, size); });
  Ok(status);
}

// Synchronous copies.
void CopyToHostNow(const SP_Device*, void* to, const SP_DeviceMemoryBase* from, uint64_t size,
                   TF_Status* status) {
  ++Count(kCopiesToHost);
  std::memcpy(to, from->opaque, size);
  Ok(status);
}
void CopyToDeviceNow(const SP_Device*, SP_DeviceMemoryBase* to, const void* from, uint64_t size,
                     TF_Status* status) {
  ++Count(kCopiesToDevice);
  std::memcpy(to->opaque, from, size);
  Ok(status);
}
void CopyOnDeviceNow(const SP_Device*, SP_DeviceMemoryBase* to, const SP_DeviceMemoryBase* from,
                     uint64_t size, TF_Status* status) {
  ++Count(kCopiesOnDevice);
  std::memcpy(to->opaque, from->opaque, size);
  Ok(status);
}

void FillBytes(const SP_Device*, SP_Stream stream, SP_DeviceMemoryBase* memory, uint8_t pattern,
               uint64_t size, TF_Status* status) {
  Enqueue(stream, [to = memory->opaque, pattern, size] { std::memset(to, pattern, size); });
  Ok(status);
}
void FillZero(const SP_Device* device, SP_Stream stream, SP_DeviceMemoryBase* memory, uint64_t size,
              TF_Status* status) {
  FillBytes(device, stream, memory, 0, size, status);
}
void FillWords(const SP_Device*, SP_Stream stream, SP_DeviceMemoryBase* memory, uint32_t pattern,
               uint64_t size, TF_Status* status) {
  Enqueue(stream, [to = memory->opaque, pattern, size] {
    for (uint64_t i = 0; i + sizeof(pattern) <= size; i += sizeof(pattern)) {
      std::memcpy(static_cast<char*>(to) + i, &pattern, sizeof(pattern));
    }
  });
  Ok(status);
}

void CreateStreamExecutor(const SP_Platform*, SE_CreateStreamExecutorParams* params,
                          TF_Status* status) {
  if (!Succeeds("create_stream_executor", status)) return;
  ++Count(kExecutorsInUse);
  SP_StreamExecutor* executor = params->stream_executor;
  executor->struct_size = MustFail("executor_size") ? 8 : SP_STREAMEXECUTOR_STRUCT_SIZE;
  executor->allocate = Allocate;
  executor->deallocate = Deallocate;
  executor->host_memory_allocate = HostAllocate;
  executor->host_memory_deallocate = HostDeallocate;
  executor->get_allocator_stats = AllocatorStats;
  executor->device_memory_usage = MemoryUsage;
  executor->memcpy_dtoh = CopyToHost;
  executor->memcpy_htod = CopyToDevice;
  executor->memcpy_dtod = CopyOnDevice;
  executor->sync_memcpy_dtoh = CopyToHostNow;
  executor->sync_memcpy_htod = CopyToDeviceNow;
  executor->sync_memcpy_dtod = CopyOnDeviceNow;
  executor->mem_zero = FillZero;
  executor->memset = FillBytes;
  executor->memset32 = FillWords;
  SetStreamFunctions(executor);
  if (MustFail("executor_functions")) executor->memcpy_htod = nullptr;
  if (Names("APU_WITHOUT", "block_host_until_done")) executor->block_host_until_done = nullptr;
}

void GetDeviceCount(const SP_Platform*, int* count, TF_Status* status) {
  *count = 1;
  Succeeds("get_device_count", status);
}

void CreateDevice(const SP_Platform*, SE_CreateDeviceParams* params, TF_Status* status) {
  params->device->struct_size = SP_DEVICE_STRUCT_SIZE;
  params->device->hardware_name = "sample";
  params->device->device_vendor = "Tenon";
  params->device->pci_bus_id = "";
  if (Succeeds("create_device", status)) ++Count(kDevicesInUse);
}

int32_t NumaNode(const SP_Device*) { return -1; }
int64_t Bandwidth(const SP_Device*) { return -1; }
double Gflops(const SP_Device*) { return -1; }

void CreateDeviceFns(const SP_Platform*, SE_CreateDeviceFnsParams* params, TF_Status* status) {
  params->device_fns->struct_size = SP_DEVICE_FNS_STRUCT_SIZE;
  params->device_fns->get_numa_node = NumaNode;
  params->device_fns->get_memory_bandwidth = Bandwidth;
  params->device_fns->get_gflops = Gflops;
  Ok(status);
}

void CreateTimerFns(const SP_Platform*, SP_TimerFns* timer, TF_Status* status) {
  timer->struct_size = SP_TIMER_FNS_STRUCT_SIZE;
  timer->nanoseconds = TimerNanoseconds;
  Ok(status);
}

// The caller's structs own no allocations.
void DestroyDevice(const SP_Platform*, SP_Device*) { --Count(kDevicesInUse); }
void DestroyDeviceFns(const SP_Platform*, SP_DeviceFns*) {}
void DestroyStreamExecutor(const SP_Platform*, SP_StreamExecutor*) { --Count(kExecutorsInUse); }
void DestroyTimerFns(const SP_Platform*, SP_TimerFns*) {}
void DestroyPlatform(SP_Platform*) {}
void DestroyPlatformFns(SP_PlatformFns*) {}

}  // namespace

std::atomic<int64_t>& Count(Counter counter) {
  static std::atomic<int64_t> counts[kCounters];
  return counts[counter];
}

bool IsDeviceMemory(const void* address, uint64_t bytes) {
  const char* first = static_cast<const char*>(address);
  std::lock_guard<std::mutex> lock(BlocksMutex());
  auto block = Blocks().upper_bound(first);
  if (block == Blocks().begin()) return false;
  --block;
  return first + bytes <= block->first + block->second;
}

bool Succeeds(const char* function, TF_Status* status) {
  const bool fails = MustFail(function);
  TF_SetStatus(status, fails ? TF_INTERNAL : TF_OK, fails ? "the APU is on fire" : "");
  return !fails;
}

bool Names(const char* variable, const char* what) {
  const char* list = std::getenv(variable);
  const size_t size = std::strlen(what);
  while (list != nullptr) {
    if (std::strncmp(list, what, size) == 0 && (list[size] == ',' || list[size] == 0)) return true;
    list = std::strchr(list, ',');
    if (list != nullptr) ++list;
  }
  return false;
}

}  // namespace apu

extern "C" {

__attribute__((visibility("default"))) void SE_InitPlugin(SE_PlatformRegistrationParams* params,
                                                          TF_Status* status) {
  using namespace apu;
  if (MustFail("init")) {
    return TF_SetStatus(status, TF_FAILED_PRECONDITION, "the APU is switched off");
  }
  params->struct_size = SE_PLATFORM_REGISTRATION_PARAMS_STRUCT_SIZE;
  params->major_version = MustFail("version") ? SE_MAJOR + 1 : SE_MAJOR;
  params->minor_version = SE_MINOR;
  params->patch_version = SE_PATCH;
  params->destroy_platform = DestroyPlatform;
  params->destroy_platform_fns = DestroyPlatformFns;

  SP_Platform* platform = params->platform;
  platform->struct_size = MustFail("size") ? 0 : SP_PLATFORM_STRUCT_SIZE;
  platform->name = kPlatform;
  platform->type = kDeviceType;
  // The framework's allocator makes sure that memory which a stream may still use is not reused.
  platform->use_bfc_allocator = 1;
  platform->force_memory_growth = 1;

  SP_PlatformFns* fns = params->platform_fns;
  fns->struct_size = SP_PLATFORM_FNS_STRUCT_SIZE;
  fns->get_device_count = GetDeviceCount;
  fns->create_device = CreateDevice;
  fns->destroy_device = DestroyDevice;
  fns->create_device_fns = CreateDeviceFns;
  fns->destroy_device_fns = DestroyDeviceFns;
  fns->create_stream_executor = CreateStreamExecutor;
  fns->destroy_stream_executor = DestroyStreamExecutor;
  fns->create_timer_fns = CreateTimerFns;
  fns->destroy_timer_fns = DestroyTimerFns;
  Ok(status);
}

// For tests: a counter by its name, or -1.
__attribute__((visibility("default"))) int64_t apu_count(const char* name) {
  static const char* const kNames[apu::kCounters] = {
      "kernels_made",     "kernels_deleted",  "kernel_runs",      "allocations",
      "bytes_in_use",     "blocks_in_use",    "streams_in_use",   "events_in_use",
      "devices_in_use",   "executors_in_use", "copies_to_device", "copies_to_host",
      "copies_on_device", "graphs_optimized", "profiles_taken"};
  for (int i = 0; i < apu::kCounters; ++i) {
    if (std::strcmp(name, kNames[i]) == 0) return apu::Count(static_cast<apu::Counter>(i));
  }
  return -1;
}

}  // extern "C"
