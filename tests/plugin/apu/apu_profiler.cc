// TF_InitProfiler: while a profile is being recorded, each run of the kernel is an event on a
// separate plane, in a serialized XSpace message.
#include <chrono>
#include <cstring>
#include <mutex>
#include <utility>
#include <vector>

#include "apu.h"

namespace apu {
namespace {

struct Recording {
  std::mutex mutex;
  bool on = false;
  std::vector<std::pair<int64_t, int64_t>> runs;  // start and end, in nanoseconds
};

Recording& TheRecording() {
  static auto* recording = new Recording;
  return *recording;
}

// ---- the needed parts of the protocol buffer wire format ----
void Varint(std::string& out, uint64_t value) {
  for (; value >= 0x80; value >>= 7) out += static_cast<char>(value | 0x80);
  out += static_cast<char>(value);
}
void Number(std::string& out, int field, int64_t value) {
  Varint(out, static_cast<uint64_t>(field) << 3);
  Varint(out, static_cast<uint64_t>(value));
}
void Bytes(std::string& out, int field, const std::string& value) {
  Varint(out, static_cast<uint64_t>(field) << 3 | 2);
  Varint(out, value.size());
  out += value;
}

// XSpace > XPlane "/device:APU:0" > XLine > XEvent "Relu".
std::string Profile(const std::vector<std::pair<int64_t, int64_t>>& runs) {
  constexpr int64_t kRelu = 1, kPicoseconds = 1000;
  std::string line;
  Number(line, 1, 1);         // id
  Bytes(line, 2, "kernels");  // name
  const int64_t origin = runs.empty() ? NowNs() : runs[0].first;
  Number(line, 3, origin);  // timestamp_ns
  for (const auto& [start, end] : runs) {
    std::string event;
    Number(event, 1, kRelu);                            // metadata_id
    Number(event, 2, (start - origin) * kPicoseconds);  // offset_ps
    Number(event, 3, (end - start) * kPicoseconds);     // duration_ps
    Bytes(line, 4, event);
  }
  std::string metadata, entry;
  Number(metadata, 1, kRelu);
  Bytes(metadata, 2, "Relu");
  Number(entry, 1, kRelu);
  Bytes(entry, 2, metadata);
  std::string plane, space;
  Number(plane, 1, 1);
  Bytes(plane, 2, std::string("/device:") + kDeviceType + ":0");
  Bytes(plane, 3, line);
  Bytes(plane, 4, entry);
  Bytes(space, 1, plane);
  return space;
}

void Start(const TP_Profiler*, TF_Status* status) {
  Recording& r = TheRecording();
  std::lock_guard<std::mutex> lock(r.mutex);
  r.on = true;
  r.runs.clear();
  Ok(status);
}

void Stop(const TP_Profiler*, TF_Status* status) {
  Recording& r = TheRecording();
  std::lock_guard<std::mutex> lock(r.mutex);
  r.on = false;
  Ok(status);
}

// Called without a buffer to learn the size, then with one.
void Collect(const TP_Profiler*, uint8_t* buffer, size_t* size, TF_Status* status) {
  Recording& r = TheRecording();
  std::lock_guard<std::mutex> lock(r.mutex);
  const std::string profile = Profile(r.runs);
  if (buffer != nullptr) {
    if (*size < profile.size()) {
      return TF_SetStatus(status, TF_INVALID_ARGUMENT, "the buffer is too small");
    }
    std::memcpy(buffer, profile.data(), profile.size());
    ++Count(kProfilesTaken);
  }
  *size = profile.size();
  Ok(status);
}

void DestroyProfiler(TP_Profiler*) {}
void DestroyProfilerFns(TP_ProfilerFns*) {}

}  // namespace

int64_t NowNs() {
  return std::chrono::system_clock::now().time_since_epoch() / std::chrono::nanoseconds(1);
}

void RecordRun(int64_t start_ns, int64_t end_ns) {
  Recording& r = TheRecording();
  std::lock_guard<std::mutex> lock(r.mutex);
  if (r.on) r.runs.emplace_back(start_ns, end_ns);
}

}  // namespace apu

extern "C" __attribute__((visibility("default"))) void TF_InitProfiler(
    TF_ProfilerRegistrationParams* params, TF_Status* status) {
  using namespace apu;
  params->struct_size = TF_PROFILER_REGISTRATION_PARAMS_STRUCT_SIZE;
  params->major_version = TP_MAJOR;
  params->minor_version = TP_MINOR;
  params->patch_version = TP_PATCH;
  params->profiler->struct_size = TP_PROFILER_STRUCT_SIZE;
  params->profiler->device_type = kDeviceType;
  params->profiler_fns->struct_size = TP_PROFILER_FNS_STRUCT_SIZE;
  params->profiler_fns->start = Start;
  params->profiler_fns->stop = Stop;
  params->profiler_fns->collect_data_xspace = Collect;
  params->destroy_profiler = DestroyProfiler;
  params->destroy_profiler_fns = DestroyProfilerFns;
  Ok(status);
}
