// TF_OpKernelContext: inputs, outputs and memory during a run of a kernel.
#include "runtime/devices/abi/abi.h"

namespace {

using tenon::InRange;
using tenon::Set;

// Makes the tensor an output of the context; the kernel gets its own handle.
TF_Tensor* Keep(TF_OpKernelContext* ctx, int index, TF_Tensor tensor) {
  auto& output = ctx->outputs[static_cast<size_t>(index)];
  output = std::move(tensor);
  return new TF_Tensor(*output);
}

TF_Tensor* NewOutput(TF_OpKernelContext* ctx, int index, std::vector<int64_t> dims,
                     TF_Status* status) {
  const size_t i = static_cast<size_t>(index);
  std::optional<TF_Tensor> tensor =
      ctx->Allocate(ctx->output_types[i], std::move(dims), ctx->output_on_host[i], *status);
  return tensor.has_value() ? Keep(ctx, index, *std::move(tensor)) : nullptr;
}

bool CanForward(const TF_OpKernelContext& ctx, int input, int output,
                const std::vector<int64_t>& dims) {
  if (input < 0 || static_cast<size_t>(input) >= ctx.inputs.size()) return false;
  const TF_Tensor& in = ctx.inputs[static_cast<size_t>(input)];
  const size_t o = static_cast<size_t>(output);
  // A kernel that has a handle of the input may continue to read it.
  const bool held = in.memory.use_count() > ctx.input_owners[static_cast<size_t>(input)];
  return ctx.may_forward[static_cast<size_t>(input)] && !held && in.type == ctx.output_types[o] &&
         in.on_host == ctx.output_on_host[o] && tenon::Elements(in.dims) == tenon::Elements(dims);
}

}  // namespace

extern "C" {

SP_Stream TF_GetStream(TF_OpKernelContext* ctx, TF_Status* status) {
  Set(status, TF_OK);
  return ctx->stream;
}

int TF_NumInputs(TF_OpKernelContext* ctx) { return static_cast<int>(ctx->inputs.size()); }
int TF_NumOutputs(TF_OpKernelContext* ctx) { return static_cast<int>(ctx->outputs.size()); }

void TF_GetInput(TF_OpKernelContext* ctx, int i, TF_Tensor** tensor, TF_Status* status) {
  *tensor = nullptr;
  if (!InRange(i, ctx->inputs.size(), "input", status)) return;
  *tensor = new TF_Tensor(ctx->inputs[static_cast<size_t>(i)]);
}

void TF_InputRange(TF_OpKernelContext* ctx, const char* name, TF_InputRange_Args* args) {
  for (const tenon::PluginArg& arg : ctx->input_args) {
    if (arg.name != name) continue;
    args->start = arg.start;
    args->stop = arg.stop;
    return Set(args->status, TF_OK);
  }
  args->start = args->stop = -1;
  Set(args->status, TF_INVALID_ARGUMENT, "the op has no input '" + std::string(name) + "'");
}

TF_DataType TF_InputDatatype(TF_OpKernelContext* ctx, int index) {
  if (!InRange(index, ctx->inputs.size(), "input", nullptr)) return static_cast<TF_DataType>(0);
  return ctx->inputs[static_cast<size_t>(index)].type;
}

void TF_SetOutput(TF_OpKernelContext* ctx, int i, const TF_Tensor* tensor, TF_Status* status) {
  if (!InRange(i, ctx->outputs.size(), "output", status)) return;
  ctx->outputs[static_cast<size_t>(i)] = *tensor;
}

TF_Tensor* TF_GetMutableOutput(TF_OpKernelContext* ctx, int i, TF_Status* status) {
  if (!InRange(i, ctx->outputs.size(), "output", status)) return nullptr;
  const auto& output = ctx->outputs[static_cast<size_t>(i)];
  return output.has_value() ? new TF_Tensor(*output) : nullptr;
}

void TF_GetSerializedFunctionDefLibrary(TF_OpKernelContext*, TF_Buffer*, TF_Status* status) {
  Set(status, TF_UNIMPLEMENTED, "Tenon does not provide functions to plug-ins");
}
void TF_GetSerializedConfigProto(TF_OpKernelContext*, TF_Buffer*, TF_Status* status) {
  Set(status, TF_UNIMPLEMENTED, "Tenon has no ConfigProto");
}
void TF_GetSerializedResourceHandleProto(TF_OpKernelContext*, int, TF_Buffer*, TF_Status* status) {
  Set(status, TF_UNIMPLEMENTED, "Tenon does not provide resources to plug-ins");
}

void TF_OpKernelContext_Failure(TF_OpKernelContext* ctx, TF_Status* status) {
  ctx->status = *status;
}

TF_DataType TF_ExpectedOutputDataType(TF_OpKernelContext* ctx, int i) {
  if (!InRange(i, ctx->outputs.size(), "output", nullptr)) return static_cast<TF_DataType>(0);
  return ctx->output_types[static_cast<size_t>(i)];
}

bool TF_IsHostMemoryInput(TF_OpKernelContext* ctx, int i, TF_Status* status) {
  return InRange(i, ctx->inputs.size(), "input", status) &&
         ctx->inputs[static_cast<size_t>(i)].on_host;
}
bool TF_IsHostMemoryOutput(TF_OpKernelContext* ctx, int i, TF_Status* status) {
  return InRange(i, ctx->outputs.size(), "output", status) &&
         ctx->output_on_host[static_cast<size_t>(i)];
}

int64_t TF_StepId(TF_OpKernelContext* ctx) { return ctx->step; }
int64_t TF_GetStepId(TF_OpKernelContext* ctx) { return ctx->step; }
uint64_t TF_GetFrameId(TF_OpKernelContext*) { return 0; }
int64_t TF_GetIterId(TF_OpKernelContext*) { return 0; }
int TF_GetDeviceId(TF_OpKernelContext* ctx) { return ctx->device_ordinal; }
TF_StringView TF_GetDeviceName(TF_OpKernelContext* ctx) { return tenon::View(ctx->device); }
int TF_GetGraphDefVersion(TF_OpKernelContext*) { return 0; }
TF_StringView TF_GetOpKernelName(TF_OpKernelContext* ctx) { return tenon::View(ctx->node); }
TF_StringView TF_GetResourceMgrDefaultContainerName(TF_OpKernelContext*) { return {"", 0}; }
TF_StringView TF_GetOpKernelRequestedInput(TF_OpKernelContext* ctx, size_t index) {
  if (index >= ctx->input_names.size()) return {"", 0};
  return tenon::View(ctx->input_names[index]);
}

TF_Tensor* TF_AllocateOutput(TF_OpKernelContext* ctx, int index, TF_DataType dtype,
                             const int64_t* dims, int num_dims, size_t, TF_Status* status) {
  if (!InRange(index, ctx->outputs.size(), "output", status)) return nullptr;
  if (dtype != ctx->output_types[static_cast<size_t>(index)]) {
    Set(status, TF_INVALID_ARGUMENT, "the output is of another type");
    return nullptr;
  }
  return NewOutput(ctx, index, tenon::Dims(dims, num_dims), status);
}

TF_Tensor* TF_ForwardInputOrAllocateOutput(TF_OpKernelContext* ctx,
                                           const int* candidate_input_indices,
                                           int num_candidate_input_indices, int output_index,
                                           const int64_t* output_dims, int output_num_dims,
                                           int* forwarded_input, TF_Status* status) {
  if (forwarded_input != nullptr) *forwarded_input = -1;
  if (!InRange(output_index, ctx->outputs.size(), "output", status)) return nullptr;
  std::vector<int64_t> dims = tenon::Dims(output_dims, output_num_dims);
  for (int i = 0; i < num_candidate_input_indices; ++i) {
    const int input = candidate_input_indices[i];
    if (!CanForward(*ctx, input, output_index, dims)) continue;
    const size_t at = static_cast<size_t>(input);
    ctx->may_forward[at] = false;  // only once
    TF_Tensor tensor = ctx->inputs[at];
    tensor.dims = std::move(dims);
    if (forwarded_input != nullptr) *forwarded_input = input;
    return Keep(ctx, output_index, std::move(tensor));
  }
  return NewOutput(ctx, output_index, std::move(dims), status);
}

TF_Tensor* TF_AllocateTemp(TF_OpKernelContext* ctx, TF_DataType dtype, const int64_t* dims,
                           int num_dims, TF_AllocatorAttributes* alloc_attrs, TF_Status* status) {
  const bool on_host = alloc_attrs != nullptr && alloc_attrs->on_host;
  std::optional<TF_Tensor> tensor =
      ctx->Allocate(dtype, tenon::Dims(dims, num_dims), on_host, *status);
  if (!tensor.has_value()) return nullptr;
  Set(status, TF_OK);
  return new TF_Tensor(*std::move(tensor));
}

// For kernels that continue after they returned; Tenon waits for the stream in any case.
void TF_IncNumDeferredOps(TF_OpKernelContext*) {}
void TF_DecNumDeferredOps(TF_OpKernelContext*) {}

}  // extern "C"
