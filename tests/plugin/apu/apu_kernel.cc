// TF_InitKernel: Relu on float tensors, computed by the stream's thread.
#include <vector>

#include "apu.h"

namespace apu {
namespace {

struct Status {
  TF_Status* get = TF_NewStatus();
  ~Status() { TF_DeleteStatus(get); }
  bool ok() const { return TF_GetCode(get) == TF_OK; }
};

struct Tensor {
  TF_Tensor* get = nullptr;
  ~Tensor() { Reset(); }
  void Reset() {
    if (get != nullptr) TF_DeleteTensor(get);
    get = nullptr;
  }
};

struct Relu {};

void* Create(TF_OpKernelConstruction* construction) {
  ++Count(kKernelsMade);
  Status status;
  TF_DataType type = TF_FLOAT;
  TF_OpKernelConstruction_GetAttrType(construction, "T", &type, status.get);
  if (MustFail("create")) TF_SetStatus(status.get, TF_RESOURCE_EXHAUSTED, "no APU is free");
  if (!status.ok()) TF_OpKernelConstruction_Failure(construction, status.get);
  return new Relu;
}

void Delete(void* kernel) {
  ++Count(kKernelsDeleted);
  delete static_cast<Relu*>(kernel);
}

// NaN stays NaN, as in TensorFlow's own kernel.
void Compute(const float* x, float* y, int64_t n) {
  const int64_t start = NowNs();
  for (int64_t i = 0; i < n; ++i) y[i] = x[i] < 0 ? 0 : x[i];
  RecordRun(start, NowNs());
}

void Run(void*, TF_OpKernelContext* context) {
  Status status;
  const auto fail = [&] { TF_OpKernelContext_Failure(context, status.get); };
  if (MustFail("kernel")) {
    TF_SetStatus(status.get, TF_INTERNAL, "the APU has lost its way");
    return fail();
  }
  Tensor input, output;
  TF_GetInput(context, 0, &input.get, status.get);
  if (!status.ok()) return fail();
  std::vector<int64_t> dims;
  for (int i = 0; i < TF_NumDims(input.get); ++i) dims.push_back(TF_Dim(input.get, i));
  const int64_t n = TF_TensorElementCount(input.get);
  const size_t bytes = TF_TensorByteSize(input.get);
  const auto* x = static_cast<const float*>(TF_TensorData(input.get));
  // While a handle exists, the output cannot reuse the memory, which the context keeps.
  input.Reset();
  const int candidates[] = {0};
  int forwarded = -1;
  output.get =
      TF_ForwardInputOrAllocateOutput(context, candidates, 1, 0, dims.data(),
                                      static_cast<int>(dims.size()), &forwarded, status.get);
  if (!status.ok()) return fail();
  if (n == 0) return;
  auto* y = static_cast<float*>(TF_TensorData(output.get));
  if (!IsDeviceMemory(x, bytes) || !IsDeviceMemory(y, TF_TensorByteSize(output.get))) {
    TF_SetStatus(status.get, TF_INVALID_ARGUMENT, "Relu was given memory that is not the APU's");
    return fail();
  }
  SP_Stream stream = TF_GetStream(context, status.get);
  if (!status.ok()) return fail();
  ++Count(kKernelRuns);
  Enqueue(stream, [x, y, n] { Compute(x, y, n); });
}

}  // namespace
}  // namespace apu

extern "C" __attribute__((visibility("default"))) void TF_InitKernel() {
  using namespace apu;
  Status status;
  TF_KernelBuilder* builder = TF_NewKernelBuilder("Relu", kDeviceType, Create, Run, Delete);
  TF_KernelBuilder_TypeConstraint(builder, "T", TF_FLOAT, status.get);
  if (!status.ok()) return TF_DeleteKernelBuilder(builder);
  TF_RegisterKernelBuilder("ApuRelu", builder, status.get);  // takes the builder
}
