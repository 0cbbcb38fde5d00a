// AddN: the sum of tensors with one shape, or of lists of such tensors. AccumulateNV2, which import
// writes as AddN, does not take lists.
#include "kernels/elementwise/unary_binary.h"
#include "kernels/interface/types.h"
#include "kernels/lists/list_math.h"
#include "ops/op.h"

namespace tenon {
namespace {

absl::Status AddNShape(ShapeContext& c) {
  if (c.num_inputs() < 1) return InvalidArgument("nothing to add");
  Shape out = Shape::Unknown();
  for (int i = 0; i < c.num_inputs(); ++i) {
    absl::StatusOr<Shape> merged = MergeShapes(out, c.input(i));
    if (!merged.ok()) {
      return InvalidArgument("inputs of unequal shapes ", c.input(0).ToString(), " and ",
                             c.input(i).ToString());
    }
    out = *std::move(merged);
  }
  c.set_output(0, std::move(out));
  return absl::OkStatus();
}

absl::StatusOr<std::unique_ptr<Kernel>> AddN(PrepareContext& p) {
  if (p.output_dtype(0) == DType::kVariant) return AddVariants(p);
  const int inputs = p.num_inputs();
  const int64_t n = p.output_shape(0).num_elements();
  return DispatchType(Numbers{}, p.output_dtype(0), [&]<typename T>() {
    return MakeKernel([inputs, n](RunContext& run) {
      using C = ComputeType<T>;
      // Blocks whose sum, kept in the compute type, stays in the cache.
      constexpr int64_t kBlock = 1024;
      C sum[kBlock];
      T* out = run.output<T>(0);
      for (int64_t begin = 0; begin < n; begin += kBlock) {
        const int64_t size = std::min(kBlock, n - begin);
        for (int64_t k = 0; k < size; ++k) sum[k] = ToCompute(run.input<T>(0)[begin + k]);
        for (int i = 1; i < inputs; ++i) {
          const T* x = run.input<T>(i) + begin;
          for (int64_t k = 0; k < size; ++k) sum[k] = WrapAdd(sum[k], ToCompute(x[k]));
        }
        for (int64_t k = 0; k < size; ++k) out[begin + k] = static_cast<T>(sum[k]);
      }
      return absl::OkStatus();
    });
  });
}

const OpRegistration add_n({
    .name = "AddN",
    .inputs = "inputs: N * T",
    .outputs = "sum: T",
    .attrs = "N: int; T: type",
    .types = "T: float double int32 uint8 int16 int8 complex64 int64 bfloat16 uint16 complex128 "
             "half uint32 uint64 variant",
    .shape = AddNShape,
    .reference = AddN,
    .accelerated = VectorAddN,
    .native = "_MklNativeAddN",
    .native_types = "float bfloat16",
    .commutative = true,
    .elementwise = true,
    .precision = PrecisionRole::kFollows,
    .error_bound = ErrorBound::kAddN,
});

const OpRegistration accumulate_n({
    .name = "AccumulateNV2",
    .inputs = "inputs: N * T",
    .outputs = "sum: T",
    .attrs = "N: int; T: type; shape: shape",
    .types = "T: float double int32 uint8 int16 int8 complex64 int64 bfloat16 uint16 complex128 "
             "half uint32 uint64",
    .shape = AddNShape,
    .reference = AddN,
    .commutative = true,
    .elementwise = true,
    .error_bound = ErrorBound::kAddN,
});

}  // namespace
}  // namespace tenon
