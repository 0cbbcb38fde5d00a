#include "runtime/devices/device.h"

#include <algorithm>
#include <new>

#include "env/status.h"

namespace tenon {
namespace {

std::string Text(const char* s) { return s == nullptr ? "" : s; }

SP_DeviceMemoryBase EmptyBlock() {
  SP_DeviceMemoryBase block = {};
  block.struct_size = SP_DEVICE_MEMORY_BASE_STRUCT_SIZE;
  return block;
}

}  // namespace

absl::Status FromPlugin(const TSL_Status& status) {
  if (status.code == TF_OK) return absl::OkStatus();
  return absl::Status(static_cast<absl::StatusCode>(status.code), status.message);
}

// ---- streams ----

DeviceStream::~DeviceStream() {
  Synchronize().IgnoreError();  // no caller is left to report it to
  device_.executor_.destroy_stream(&device_.device_, handle_);
  Deallocate();
}

absl::StatusOr<Tensor> DeviceStream::Allocate(DType dtype, const Shape& shape) {
  TENON_ASSIGN_OR_RETURN(const int64_t elements, shape.CheckedElements());
  uint64_t bytes = 0;
  if (__builtin_mul_overflow(static_cast<uint64_t>(elements), SizeOf(dtype), &bytes)) {
    return absl::ResourceExhaustedError("a tensor's size overflows");
  }
  auto memory = std::make_shared<DeviceMemory>();
  memory->stream = shared_from_this();
  memory->block = EmptyBlock();
  const auto fits = [&](const SP_DeviceMemoryBase& b) { return b.size == bytes; };
  const auto reuse = std::find_if(retired_.begin(), retired_.end(), fits);
  if (reuse != retired_.end()) {
    memory->block = *reuse;
    retired_.erase(reuse);
  } else if (bytes > 0) {
    device_.executor_.allocate(&device_.device_, bytes, 0, &memory->block);
    if (memory->block.opaque == nullptr) {
      return absl::ResourceExhaustedError(
          absl::StrCat("device ", device_.name(), " has no ", bytes, " bytes"));
    }
  }
  DeviceMemory* const raw = memory.get();
  return Tensor::FromExternal(dtype, shape, raw, std::move(memory));
}

absl::StatusOr<Tensor> DeviceStream::ToDevice(const Tensor& host) {
  TENON_ASSIGN_OR_RETURN(Tensor tensor, Allocate(host.dtype(), host.shape()));
  if (host.bytes() == 0) return tensor;
  TSL_Status status;
  device_.executor_.memcpy_htod(&device_.device_, handle_, &MemoryOf(tensor)->block, host.raw(),
                                host.bytes(), &status);
  busy_ = true;
  // The caller may overwrite `host` next.
  const absl::Status done = Synchronize();
  TENON_RETURN_IF_ERROR(FromPlugin(status));
  TENON_RETURN_IF_ERROR(done);
  return tensor;
}

absl::Status DeviceStream::ToHost(const Tensor& on_device, void* host) {
  if (on_device.bytes() == 0) return absl::OkStatus();
  TSL_Status status;
  device_.executor_.memcpy_dtoh(&device_.device_, handle_, host, &MemoryOf(on_device)->block,
                                on_device.bytes(), &status);
  busy_ = true;
  const absl::Status done = Synchronize();
  TENON_RETURN_IF_ERROR(FromPlugin(status));
  return done;
}

absl::Status DeviceStream::Synchronize() {
  absl::Status status;
  if (busy_) {
    status = Wait();
    if (!status.ok()) {
      failed_ = true;
      if (!WaitForDevice()) return status;
    }
  }
  busy_ = false;
  Deallocate();
  return status;
}

absl::Status DeviceStream::Wait() const {
  const SP_StreamExecutor& executor = device_.executor_;
  TSL_Status status;
  if (executor.block_host_until_done != nullptr) {
    executor.block_host_until_done(&device_.device_, handle_, &status);
  } else {
    SP_Event event = nullptr;
    executor.create_event(&device_.device_, &event, &status);
    if (status.code == TF_OK) {
      executor.record_event(&device_.device_, handle_, event, &status);
      if (status.code == TF_OK) executor.block_host_for_event(&device_.device_, event, &status);
      executor.destroy_event(&device_.device_, event);
    }
  }
  return FromPlugin(status);
}

bool DeviceStream::WaitForDevice() const {
  if (device_.executor_.synchronize_all_activity == nullptr) return false;
  TSL_Status status;
  device_.executor_.synchronize_all_activity(&device_.device_, &status);
  return status.code == TF_OK;
}

void DeviceStream::Deallocate() {
  for (SP_DeviceMemoryBase& block : retired_) {
    device_.executor_.deallocate(&device_.device_, &block);
  }
  retired_.clear();
}

void DeviceStream::Retire(const SP_DeviceMemoryBase& block) {
  if (block.opaque == nullptr) return;
  if (busy_) {
    try {
      retired_.push_back(block);
      return;
    } catch (const std::bad_alloc&) {  // it is freed at once, when the work is done
      Synchronize().IgnoreError();
    }
  }
  SP_DeviceMemoryBase gone = block;
  device_.executor_.deallocate(&device_.device_, &gone);
}

DeviceMemory::~DeviceMemory() {
  if (stream != nullptr) stream->Retire(block);
}

// ---- devices ----

absl::StatusOr<std::unique_ptr<Device>> Device::Create(const SP_Platform& platform,
                                                       const SP_PlatformFns& functions, int ordinal,
                                                       const std::string& source) {
  std::unique_ptr<Device> device(new Device(platform, functions));
  device->info_.type = platform.type;
  device->info_.platform = platform.name;
  device->info_.ordinal = ordinal;
  device->info_.name = absl::StrCat(platform.type, ":", ordinal);
  device->info_.source = source;

  device->device_.struct_size = SP_DEVICE_STRUCT_SIZE;
  device->device_.ordinal = ordinal;
  SE_CreateDeviceParams device_params = {};
  device_params.struct_size = SE_CREATE_DEVICE_PARAMS_STRUCT_SIZE;
  device_params.ordinal = ordinal;
  device_params.device = &device->device_;
  TSL_Status status;
  functions.create_device(&platform, &device_params, &status);
  if (status.code != TF_OK) return Annotate(FromPlugin(status), "create_device");
  device->has_device_ = true;
  device->device_.ordinal = ordinal;
  device->info_.hardware = Text(device->device_.hardware_name);
  device->info_.vendor = Text(device->device_.device_vendor);

  device->executor_.struct_size = SP_STREAMEXECUTOR_STRUCT_SIZE;
  SE_CreateStreamExecutorParams executor_params = {};
  executor_params.struct_size = SE_CREATE_STREAM_EXECUTOR_PARAMS_STRUCT_SIZE;
  executor_params.stream_executor = &device->executor_;
  functions.create_stream_executor(&platform, &executor_params, &status);
  if (status.code != TF_OK) return Annotate(FromPlugin(status), "create_stream_executor");
  device->has_executor_ = true;
  TENON_RETURN_IF_ERROR(device->CheckFunctions());
  return device;
}

Device::~Device() {
  const bool knows_both =
      functions_.struct_size >= TF_OFFSET_OF_END(SP_PlatformFns, destroy_stream_executor);
  if (has_executor_ && knows_both && functions_.destroy_stream_executor != nullptr) {
    functions_.destroy_stream_executor(&platform_, &executor_);
  }
  if (has_device_ && functions_.destroy_device != nullptr) {
    functions_.destroy_device(&platform_, &device_);
  }
}

absl::Status Device::CheckFunctions() const {
  const SP_StreamExecutor& e = executor_;
  constexpr size_t kNeeded = TF_OFFSET_OF_END(SP_StreamExecutor, block_host_until_done);
  if (e.struct_size < kNeeded) {
    return InvalidArgument("SP_StreamExecutor has struct_size ", e.struct_size, "; at least ",
                           kNeeded, " is needed");
  }
  const char* missing = nullptr;
  if (e.allocate == nullptr) missing = "allocate";
  if (e.deallocate == nullptr) missing = "deallocate";
  if (e.create_stream == nullptr) missing = "create_stream";
  if (e.destroy_stream == nullptr) missing = "destroy_stream";
  if (e.memcpy_htod == nullptr) missing = "memcpy_htod";
  if (e.memcpy_dtoh == nullptr) missing = "memcpy_dtoh";
  if (e.block_host_until_done == nullptr) {
    if (e.create_event == nullptr) missing = "create_event";
    if (e.destroy_event == nullptr) missing = "destroy_event";
    if (e.record_event == nullptr) missing = "record_event";
    if (e.block_host_for_event == nullptr) missing = "block_host_for_event";
  }
  if (missing != nullptr) return InvalidArgument("SP_StreamExecutor has no ", missing);
  return absl::OkStatus();
}

DeviceInfo Device::Describe() const {
  DeviceInfo info = info_;
  int64_t free_bytes = -1, total_bytes = -1;
  if (executor_.device_memory_usage != nullptr &&
      executor_.device_memory_usage(&device_, &free_bytes, &total_bytes)) {
    info.free_bytes = free_bytes;
    info.total_bytes = total_bytes;
  }
  return info;
}

absl::StatusOr<std::shared_ptr<DeviceStream>> Device::NewStream() const {
  TSL_Status status;
  SP_Stream stream = nullptr;
  executor_.create_stream(&device_, &stream, &status);
  if (status.code != TF_OK) return Annotate(FromPlugin(status), "create_stream");
  return std::make_shared<DeviceStream>(*this, stream);
}

}  // namespace tenon
