#include "kernels/quantized/pool.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "env/status.h"
#include "kernels/pooling/pool.h"
#include "kernels/quantized/range_inputs.h"

namespace tenon {
namespace {

DType PlainType(DType dtype) { return dtype == DType::kQint8 ? DType::kInt8 : DType::kUint8; }

using PoolFactory = absl::StatusOr<std::unique_ptr<Kernel>> (*)(PrepareContext&, int, PoolKind);

struct InnerPool {
  std::unique_ptr<Kernel> kernel;
  size_t scratch = 0;
};

absl::StatusOr<InnerPool> PreparePool(PrepareContext& p, DType dtype, PoolKind kind,
                                      PoolFactory factory) {
  const TensorSpec in{dtype, p.input_shape(0), nullptr}, out{dtype, p.output_shape(0), nullptr};
  PrepareContext pool(p.node(), absl::MakeConstSpan(&in, 1), {}, absl::MakeConstSpan(&out, 1),
                      p.services(), p.infer_outputs());
  InnerPool inner;
  TENON_ASSIGN_OR_RETURN(inner.kernel, factory(pool, 2, kind));
  inner.scratch = pool.scratch_bytes();
  return inner;
}

class PoolKernel final : public Kernel {
 public:
  explicit PoolKernel(std::unique_ptr<Kernel> pool) : pool_(std::move(pool)) {}
  absl::Status Run(RunContext& r) const override {
    SetRange(r, 1, ScalarRange(r, 1));
    const void* in = r.input(0);
    void* out = r.output(0);
    RunContext inner(&in, &out, r.scratch());
    return pool_->Run(inner);
  }
  std::string Implementation() const override { return pool_->Implementation(); }
  size_t HeldBytes() const override { return pool_->HeldBytes(); }

 private:
  const std::unique_ptr<Kernel> pool_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<Kernel>> QuantizedMaxPoolReference(PrepareContext& p) {
  TENON_ASSIGN_OR_RETURN(InnerPool pool, PreparePool(p, PlainType(p.input_dtype(0)), PoolKind::kMax,
                                                     PoolReferenceKernel));
  return std::make_unique<PoolKernel>(std::move(pool.kernel));
}

absl::StatusOr<std::unique_ptr<Kernel>> QuantizedAveragePoolReference(PrepareContext& p) {
  TENON_ASSIGN_OR_RETURN(InnerPool pool,
                         PreparePool(p, DType::kInt32, PoolKind::kAverage, PoolReferenceKernel));
  const int64_t n = p.input_shape(0).num_elements(), m = p.output_shape(0).num_elements();
  const bool is_signed = p.input_dtype(0) == DType::kQint8;
  return MakeKernel([n, m, is_signed, kernel = std::shared_ptr<Kernel>(std::move(pool.kernel))](
                        RunContext& r) -> absl::Status {
    std::vector<int32_t> in(static_cast<size_t>(n)), out(static_cast<size_t>(m));
    if (is_signed) {
      std::copy_n(r.input<int8_t>(0), n, in.begin());
    } else {
      std::copy_n(r.input<uint8_t>(0), n, in.begin());
    }
    const void* inputs = in.data();
    void* outputs = out.data();
    RunContext inner(&inputs, &outputs, r.scratch());
    TENON_RETURN_IF_ERROR(kernel->Run(inner));
    for (size_t i = 0; i < out.size(); ++i) r.output<uint8_t>(0)[i] = static_cast<uint8_t>(out[i]);
    SetRange(r, 1, ScalarRange(r, 1));
    return absl::OkStatus();
  });
}

absl::StatusOr<std::unique_ptr<Kernel>> QuantizedPoolOnednn(PrepareContext& p, PoolKind kind) {
  TENON_ASSIGN_OR_RETURN(InnerPool pool, PreparePool(p, p.input_dtype(0), kind, PoolOnednnKernel));
  if (pool.scratch > 0) p.RequestScratch(pool.scratch);
  return std::make_unique<PoolKernel>(std::move(pool.kernel));
}

}  // namespace tenon
