#include "runtime/devices/kernel.h"

#include <algorithm>
#include <atomic>

#include "env/status.h"
#include "runtime/devices/attrs.h"

namespace tenon {
namespace {

TF_Tensor OnDevice(const Tensor& tensor) {
  DeviceMemory* memory = MemoryOf(tensor);
  TF_Tensor t;
  t.type = static_cast<TF_DataType>(tensor.dtype());
  t.dims.assign(tensor.shape().dims().begin(), tensor.shape().dims().end());
  t.data = memory->block.opaque;
  t.bytes = tensor.bytes();
  t.memory = memory->shared_from_this();
  t.on_host = false;
  return t;
}

class Context final : public TF_OpKernelContext {
 public:
  explicit Context(DeviceStream& stream) : stream_(stream) {}

  std::optional<TF_Tensor> Allocate(TF_DataType type, std::vector<int64_t> dims, bool on_host,
                                    TSL_Status& status) override {
    const DType dtype = static_cast<DType>(type);
    absl::StatusOr<Tensor> made = InvalidArgument("no memory for this dtype");
    if (IsValid(dtype) && SizeOf(dtype) > 0 && dtype != DType::kString) {
      made = on_host ? Tensor::Allocate(dtype, Shape(dims)) : stream_.Allocate(dtype, Shape(dims));
    }
    status.code = static_cast<TF_Code>(made.status().raw_code());
    status.message = std::string(made.status().message());
    if (!made.ok()) return std::nullopt;
    return on_host ? HostTensor(*made) : OnDevice(*made);
  }

 private:
  DeviceStream& stream_;
};

absl::StatusOr<Tensor> FromOutput(const TF_Tensor& t, DType dtype, bool on_host) {
  if (t.type != static_cast<TF_DataType>(dtype)) {
    return InvalidArgument("is ", Name(static_cast<DType>(t.type)), ", not ", Name(dtype));
  }
  if (t.on_host != on_host) {
    return InvalidArgument("is in the ", t.on_host ? "host" : "device",
                           "'s memory, but belongs in the ", on_host ? "host" : "device", "'s");
  }
  const Shape shape(t.dims);
  TENON_ASSIGN_OR_RETURN(const int64_t elements, shape.CheckedElements());
  size_t bytes = 0;
  if (__builtin_mul_overflow(static_cast<size_t>(elements), SizeOf(dtype), &bytes) ||
      bytes != t.bytes) {
    return InvalidArgument("has ", t.bytes, " bytes for shape ", shape.ToString());
  }
  if (on_host) return Tensor::FromExternal(dtype, shape, t.data, t.memory);
  // Made by this file, because a plug-in has no other way to get device memory into a tensor.
  auto memory = std::static_pointer_cast<DeviceMemory>(t.memory);
  DeviceMemory* const raw = memory.get();
  return Tensor::FromExternal(dtype, shape, raw, std::move(memory));
}

std::vector<PluginArg> InputArgs(const OpInfo& op, const Node& node) {
  std::vector<PluginArg> args;
  int next = 0;
  for (const ArgSpec& spec : op.signature.inputs) {
    int count = 1;
    if (const auto* n = node.attr<int64_t>(spec.number_attr)) count = static_cast<int>(*n);
    if (const auto* l = node.attr<std::vector<DType>>(spec.type_list_attr)) {
      count = static_cast<int>(l->size());
    }
    args.push_back({spec.name, next, next + count});
    next += count;
  }
  return args;
}

bool Contains(const std::vector<std::string>& names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

}  // namespace

absl::StatusOr<std::shared_ptr<const DeviceKernel>> DeviceKernel::Create(
    const Device& device, const TF_KernelBuilder& builder, const OpInfo& op, const Node& node) {
  std::shared_ptr<DeviceKernel> kernel(new DeviceKernel(device, builder));
  kernel->node_ = node.name;
  kernel->input_args_ = InputArgs(op, node);
  for (const PluginArg& arg : kernel->input_args_) {
    kernel->input_on_host_.insert(kernel->input_on_host_.end(),
                                  static_cast<size_t>(arg.stop - arg.start),
                                  Contains(builder.host_args, arg.name));
  }
  TENON_ASSIGN_OR_RETURN(kernel->output_dtypes_, OutputDTypes(op, node));
  TENON_ASSIGN_OR_RETURN(const auto output_args, OutputArgs(op, node));
  for (const auto& [name, count] : output_args) {
    kernel->output_on_host_.insert(kernel->output_on_host_.end(), static_cast<size_t>(count),
                                   Contains(builder.host_args, name));
  }
  if (builder.create != nullptr) {
    TF_OpKernelConstruction construction;
    construction.node = node.name;
    construction.attrs = PluginAttrs(node.attrs);
    kernel->kernel_ = builder.create(&construction);
    TENON_RETURN_IF_ERROR(FromPlugin(construction.status));
  }
  return kernel;
}

DeviceKernel::~DeviceKernel() {
  if (builder_.destroy != nullptr && kernel_ != nullptr) builder_.destroy(kernel_);
}

absl::StatusOr<std::vector<Tensor>> DeviceKernel::Run(DeviceStream& stream,
                                                      std::vector<Tensor> inputs,
                                                      const std::vector<bool>& released) const {
  static std::atomic<int64_t> steps{0};
  Context context(stream);
  context.node = node_;
  context.device = absl::StrCat("/job:localhost/replica:0/task:0/device:", device_.name());
  context.device_ordinal = device_.ordinal();
  context.step = ++steps;
  context.stream = stream.handle();
  context.input_args = input_args_;
  for (size_t i = 0; i < inputs.size(); ++i) {
    const bool on_host = input_on_host_[i];
    // Another tensor over the same memory, here or in the run, would see the change.
    context.may_forward.push_back(released[i] && !on_host &&
                                  MemoryOf(inputs[i])->weak_from_this().use_count() == 1);
    context.inputs.push_back(on_host ? HostTensor(inputs[i]) : OnDevice(inputs[i]));
  }
  for (const TF_Tensor& t : context.inputs) context.input_owners.push_back(t.memory.use_count());
  context.outputs.resize(output_dtypes_.size());
  for (DType dtype : output_dtypes_) {
    context.output_types.push_back(static_cast<TF_DataType>(dtype));
  }
  context.output_on_host = output_on_host_;

  stream.MarkBusy();
  if (builder_.compute != nullptr) {
    builder_.compute(kernel_, &context);
  } else {
    TF_AsyncOpKernelDoneCallback done;
    builder_.compute_async(kernel_, &context, &done);
    done.Wait();
  }
  TENON_RETURN_IF_ERROR(FromPlugin(context.status));
  std::vector<Tensor> outputs;
  for (size_t i = 0; i < context.outputs.size(); ++i) {
    if (!context.outputs[i].has_value()) return Internal("output ", i, " was not set");
    absl::StatusOr<Tensor> output =
        FromOutput(*context.outputs[i], output_dtypes_[i], output_on_host_[i]);
    if (!output.ok()) return Annotate(output.status(), absl::StrCat("output ", i));
    outputs.push_back(*std::move(output));
  }
  return outputs;
}

}  // namespace tenon
