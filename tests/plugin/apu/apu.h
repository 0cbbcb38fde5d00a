// A sample device plug-in: "APU", an accelerator that is a thread with its own memory and has one
// kernel, Relu. It uses only TensorFlow's C interface, from TensorFlow's headers or from
// tenon/device_plugin.h: TensorFlow and Tenon load the same shared library.
//
//   apu_device.cc    SE_InitPlugin: platform, device, memory, copies
//   apu_stream.cc    streams, events and timers: work is queued, and done by the stream's thread
//   apu_kernel.cc    TF_InitKernel: Relu on float
//   apu_graph.cc     TF_InitGraph: a graph optimizer (which leaves graphs as they are)
//   apu_profiler.cc  TF_InitProfiler: the kernel runs, as a plane of TensorFlow's profile
#ifndef TENON_TESTS_PLUGIN_APU_APU_H_
#define TENON_TESTS_PLUGIN_APU_APU_H_

#ifdef APU_WITH_TENSORFLOW_HEADERS
#include "tensorflow/c/experimental/grappler/grappler.h"
#include "tensorflow/c/experimental/pluggable_profiler/pluggable_profiler.h"
#include "tensorflow/c/experimental/stream_executor/stream_executor.h"
#include "tensorflow/c/kernels.h"
#else
#include "tenon/device_plugin.h"
#include "tenon/device_plugin_tools.h"
#endif

#include <atomic>
#include <cstdint>
#include <functional>
#include <string>

namespace apu {

inline constexpr char kDeviceType[] = "APU";
inline constexpr char kPlatform[] = "SAMPLE_APU";
inline constexpr uint64_t kMemory = uint64_t{1} << 30;

// ---- for the tests: apu_count() ----
enum Counter {
  kKernelsMade,
  kKernelsDeleted,
  kKernelRuns,
  kAllocations,
  kBytesInUse,
  kBlocksInUse,
  kStreamsInUse,
  kEventsInUse,
  kDevicesInUse,
  kExecutorsInUse,
  kCopiesToDevice,
  kCopiesToHost,
  kCopiesOnDevice,
  kGraphsOptimized,
  kProfilesTaken,
  kCounters,
};
std::atomic<int64_t>& Count(Counter counter);

// Whether the whole range is memory of this device.
bool IsDeviceMemory(const void* address, uint64_t bytes);

// ---- apu_stream.cc ----
void Enqueue(SP_Stream stream, std::function<void()> work);
void SetStreamFunctions(SP_StreamExecutor* executor);
uint64_t TimerNanoseconds(SP_Timer timer);

// ---- apu_profiler.cc ----
int64_t NowNs();
void RecordRun(int64_t start_ns, int64_t end_ns);  // while a profile is taken

// Whether an environment variable, a list with commas, names this.
bool Names(const char* variable, const char* what);
// APU_FAIL, with which a test causes failures: "init", "kernel" … (APU_WITHOUT: functions that the
// device does not have.)
inline bool MustFail(const char* where) { return Names("APU_FAIL", where); }

inline void Ok(TF_Status* status) { TF_SetStatus(status, TF_OK, ""); }
// The result of the function of that name: OK, unless it must fail.
bool Succeeds(const char* function, TF_Status* status);

}  // namespace apu

#endif  // TENON_TESTS_PLUGIN_APU_APU_H_
