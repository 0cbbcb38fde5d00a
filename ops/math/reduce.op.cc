// Sum, Mean, Prod, Max, Min, EuclideanNorm, All, Any.
#include "kernels/reduction/reduce.h"

#include "kernels/reduction/reference.h"
#include "ops/math/reduction_shape.h"
#include "ops/op.h"

namespace tenon {
namespace {

constexpr char kReducedTypes[] =
    "T: float double int32 uint8 int16 int8 complex64 int64 bfloat16 uint16 complex128 half uint32 "
    "uint64; Tidx: int32 int64";
constexpr char kRealTypes[] =
    "T: float double int32 uint8 int16 int8 int64 bfloat16 uint16 half uint32 uint64; "
    "Tidx: int32 int64";

// `native` and `accelerated` are null if there is no vector kernel.
OpRow OfNumbers(const char* name, const char* types, ErrorBound error_bound,
                KernelFactory reference, const char* native = nullptr,
                KernelFactory accelerated = nullptr) {
  return {
      .name = name,
      .inputs = "input: T, reduction_indices: Tidx",
      .outputs = "output: T",
      .attrs = "keep_dims: bool = false; T: type; Tidx: type = int32",
      .types = types,
      .shape = ReductionShape,
      .reference = reference,
      .accelerated = accelerated,
      .native = native,
      .batch_axis = batch_axis::AlongOtherAxes,
      .error_bound = error_bound,
  };
}

OpRow OfBools(const char* name, KernelFactory reference) {
  return {
      .name = name,
      .inputs = "input: bool, reduction_indices: Tidx",
      .outputs = "output: bool",
      .attrs = "keep_dims: bool = false; Tidx: type = int32",
      .types = "Tidx: int32 int64",
      .shape = ReductionShape,
      .reference = reference,
      .batch_axis = batch_axis::AlongOtherAxes,
  };
}

const OpRegistration sum_op(OfNumbers("Sum", kReducedTypes, ErrorBound::kSum,
                                      ReduceReference<ReferenceReduction::kSum>, "_MklNativeSum",
                                      VectorReduce<VectorReduction::kSum>));
OpRow Mean() {
  OpRow row = OfNumbers("Mean", kReducedTypes, ErrorBound::kMean,
                        ReduceReference<ReferenceReduction::kMean>, "_MklNativeMean",
                        VectorReduce<VectorReduction::kMean>);
  row.native_types = "float bfloat16";
  row.sign = Sign::kOfInputs;
  row.on_integers = OnIntegers::kAverages;
  return row;
}
const OpRegistration mean_op(Mean());
OpRow Max() {
  OpRow row =
      OfNumbers("Max", kRealTypes, ErrorBound::kExact, ReduceReference<ReferenceReduction::kMax>,
                "_MklNativeMax", VectorReduce<VectorReduction::kMax>);
  row.sign = Sign::kOfInputs;
  return row;
}
const OpRegistration max_op(Max());
const OpRegistration min_op(OfNumbers("Min", kRealTypes, ErrorBound::kExact,
                                      ReduceReference<ReferenceReduction::kMin>, "_MklNativeMin",
                                      VectorReduce<VectorReduction::kMin>));
const OpRegistration prod_op(OfNumbers("Prod", kReducedTypes, ErrorBound::kProduct,
                                       ReduceReference<ReferenceReduction::kProduct>));
const OpRegistration euclidean_norm_op(OfNumbers("EuclideanNorm", kReducedTypes, ErrorBound::kSum,
                                                 ReduceReference<ReferenceReduction::kNorm>));
const OpRegistration all_op(OfBools("All", ReduceReference<ReferenceReduction::kAll>));
const OpRegistration any_op(OfBools("Any", ReduceReference<ReferenceReduction::kAny>));

}  // namespace
}  // namespace tenon
