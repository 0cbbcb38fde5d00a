// ArgMax, ArgMin: the index of the largest or smallest element along an axis, the first one if
// several are equal. A NaN is never chosen over a number.
#include "kernels/reduction/arg_reduce.h"

#include "kernels/interface/axis.h"
#include "kernels/interface/late_kernel.h"
#include "kernels/interface/types.h"
#include "ops/op.h"

namespace tenon {
namespace {

absl::Status ArgReduceShape(ShapeContext& c) {
  TENON_RETURN_IF_ERROR(c.ExpectRank(1, 0));
  const Shape& in = c.input(0);
  if (!in.has_rank()) return absl::OkStatus();
  if (in.rank() == 0) return InvalidArgument("input must have at least one dimension");
  if (c.value(1) == nullptr) {
    c.set_output(0, Shape::UnknownOfRank(in.rank() - 1));
    return absl::OkStatus();
  }
  TENON_ASSIGN_OR_RETURN(const int64_t value, ScalarInteger(*c.value(1), "dimension"));
  TENON_ASSIGN_OR_RETURN(const int axis, NormalizeAxis(value, in.rank()));
  if (in.dim(axis) == 0) {
    return InvalidArgument("reduction axis ", axis, " is empty in shape ", in.ToString());
  }
  Shape out = in;
  out.erase(axis);
  c.set_output(0, std::move(out));
  return absl::OkStatus();
}

template <bool largest, typename T>
bool Better(const T& a, const T& best) {
  const auto x = ToCompute(a), y = ToCompute(best);
  const bool better = largest ? x > y : x < y;
  return better || (y != y && x == x);
}

template <bool largest>
absl::StatusOr<std::unique_ptr<Kernel>> ArgReduce(PrepareContext& p) {
  const Tensor* dimension = p.value(1);
  if (dimension == nullptr) return PrepareLate(p, ArgReduce<largest>, {1});
  p.InputNotRead(1);
  const Shape& in = p.input_shape(0);
  TENON_ASSIGN_OR_RETURN(const int64_t value, ScalarInteger(*dimension, "dimension"));
  TENON_ASSIGN_OR_RETURN(const int axis, NormalizeAxis(value, in.rank()));
  const int64_t outer = Product(in, 0, axis);
  const int64_t n = in.dim(axis);
  const int64_t inner = Product(in, axis + 1, in.rank());
  return DispatchType(Joined<RealNumbers, TypeList<bool>>{}, p.input_dtype(0), [&]<typename T>() {
    return DispatchType(TypeList<int16_t, uint16_t, int32_t, int64_t>{}, p.output_dtype(0),
                        [&]<typename I>() {
                          return MakeKernel([outer, n, inner](RunContext& run) {
                            const T* x = run.input<T>(0);
                            I* out = run.output<I>(0);
                            for (int64_t o = 0; o < outer; ++o, x += n * inner) {
                              for (int64_t i = 0; i < inner; ++i) {
                                int64_t best = 0;
                                for (int64_t k = 1; k < n; ++k) {
                                  if (Better<largest>(x[k * inner + i], x[best * inner + i]))
                                    best = k;
                                }
                                *out++ = static_cast<I>(best);
                              }
                            }
                            return absl::OkStatus();
                          });
                        });
  });
}

const OpRegistration arg_max({
    .name = "ArgMax",
    .inputs = "input: T, dimension: Tidx",
    .outputs = "output: output_type",
    .attrs = "T: type; Tidx: type = int32; output_type: type = int64",
    .types = "T: float double int32 uint8 int16 int8 int64 bfloat16 uint16 half uint32 uint64 "
             "bool; Tidx: int16 int32 int64; output_type: int16 uint16 int32 int64",
    .shape = ArgReduceShape,
    .reference = ArgReduce<true>,
    .accelerated = VectorArgMax,
    .native = "_MklNativeArgMax",
    .native_types = "float bfloat16",
    .discontinuous = true,
    .batch_axis = batch_axis::AlongOtherAxes,
});

const OpRegistration arg_min({
    .name = "ArgMin",
    .inputs = "input: T, dimension: Tidx",
    .outputs = "output: output_type",
    .attrs = "T: type; Tidx: type = int32; output_type: type = int64",
    .types = "T: float double int32 uint8 int16 int8 int64 bfloat16 uint16 half uint32 uint64 "
             "bool; Tidx: int32 int64; output_type: int32 int64",
    .shape = ArgReduceShape,
    .reference = ArgReduce<false>,
    .accelerated = VectorArgMin,
    .native = "_MklNativeArgMin",
    .native_types = "float bfloat16",
    .discontinuous = true,
    .batch_axis = batch_axis::AlongOtherAxes,
});

}  // namespace
}  // namespace tenon
