// TensorScatterUpdate, TensorScatterAdd, TensorScatterSub, TensorScatterMin, TensorScatterMax and
// ScatterNdNonAliasingAdd: a copy of a tensor with slices replaced or combined, in the order of the
// updates.
#include <algorithm>

#include "kernels/interface/types.h"
#include "kernels/layout/addressing.h"
#include "kernels/layout/copy.h"
#include "ops/op.h"

namespace tenon {
namespace {

absl::Status TensorScatterShape(ShapeContext& c) {
  const Shape& whole = c.input(0);
  if (whole.has_rank()) {
    if (whole.rank() < 1) return InvalidArgument("tensor must have at least one dimension");
    TENON_RETURN_IF_ERROR(CheckUpdates(whole, c.input(1), c.input(2)));
  }
  c.set_output(0, whole);
  return absl::OkStatus();
}

// Calls update(position in the tensor, position in the updates) for each slice.
template <typename F>
absl::Status ForEachSlice(const Addressing& a, DType index_type, const void* indices, F&& update) {
  absl::Status status;
  VisitTypes(TypeList<int16_t, uint16_t, int32_t, int64_t>{}, index_type, [&]<typename I>() {
    const I* index = static_cast<const I*>(indices);
    for (int64_t i = 0; i < a.count; ++i, index += a.depth) {
      const int64_t offset = a.Offset(index);
      if (offset >= 0) {
        update(offset, i * a.slice);
      } else if (!a.ignore_bad) {
        status = BadIndex(i, a.whole);
        return;
      }
    }
  });
  return status;
}

absl::StatusOr<std::unique_ptr<Kernel>> Update(PrepareContext& p) {
  TENON_ASSIGN_OR_RETURN(const Addressing a,
                         MakeAddressing(p.attrs(), p.input_shape(0), p.input_shape(1)));
  const DType dtype = p.input_dtype(0), index_type = p.input_dtype(1);
  const int64_t n = p.input_shape(0).num_elements();
  return MakeKernel([=](RunContext& run) {
    CopyElements(dtype, run.input(0), run.output(0), n);
    absl::Status status;
    VisitStorage(dtype, [&]<typename T>() {
      status = ForEachSlice(a, index_type, run.input(1), [&](int64_t to, int64_t from) {
        std::copy_n(run.input<T>(2) + from, a.slice, run.output<T>(0) + to);
      });
    });
    return status;
  });
}

struct Adding {
  template <typename T>
  T operator()(const T& a, const T& b) const {
    return Accumulate<T>(a, b);
  }
};
struct Subtracting {
  template <typename T>
  T operator()(const T& a, const T& b) const {
    return static_cast<T>(WrapSub(ToCompute(a), ToCompute(b)));
  }
};
struct Lesser {
  template <typename T>
  T operator()(const T& a, const T& b) const {
    return std::min(a, b);
  }
};
struct Greater {
  template <typename T>
  T operator()(const T& a, const T& b) const {
    return std::max(a, b);
  }
};

template <typename Combine, typename Types>
absl::StatusOr<std::unique_ptr<Kernel>> Combined(PrepareContext& p) {
  TENON_ASSIGN_OR_RETURN(const Addressing a,
                         MakeAddressing(p.attrs(), p.input_shape(0), p.input_shape(1)));
  const DType dtype = p.input_dtype(0), index_type = p.input_dtype(1);
  const int64_t n = p.input_shape(0).num_elements();
  return DispatchType(Types{}, dtype, [&]<typename T>() {
    return MakeKernel([=](RunContext& run) {
      CopyElements(dtype, run.input(0), run.output(0), n);
      return ForEachSlice(a, index_type, run.input(1), [&](int64_t to, int64_t from) {
        T* out = run.output<T>(0) + to;
        const T* updates = run.input<T>(2) + from;
        for (int64_t k = 0; k < a.slice; ++k) out[k] = Combine()(out[k], updates[k]);
      });
    });
  });
}

OpRow Row(const char* name, const char* inputs, const char* types, KernelFactory reference) {
  return {
      .name = name,
      .inputs = inputs,
      .outputs = "output: T",
      .attrs = "T: type; Tindices: type; bad_indices_policy: string = ",
      .types = types,
      .shape = TensorScatterShape,
      .reference = reference,
  };
}
constexpr char kInputs[] = "tensor: T, indices: Tindices, updates: T";
constexpr char kIndexTypes[] = "Tindices: int32 int64";

const OpRegistration update_op(Row("TensorScatterUpdate", kInputs,
                                   "Tindices: int16 int32 int64 uint16", Update));
const OpRegistration add_op(Row("TensorScatterAdd", kInputs, kIndexTypes,
                                Combined<Adding, NumbersAndBool>));
const OpRegistration sub_op(Row("TensorScatterSub", kInputs, kIndexTypes,
                                Combined<Subtracting, Numbers>));
const OpRegistration min_op(Row("TensorScatterMin", kInputs, kIndexTypes,
                                Combined<Lesser, RealNumbers>));
const OpRegistration max_op(Row("TensorScatterMax", kInputs, kIndexTypes,
                                Combined<Greater, RealNumbers>));
const OpRegistration non_aliasing_add_op(
    Row("ScatterNdNonAliasingAdd", "input: T, indices: Tindices, updates: T",
        "T: float double int32 uint8 int16 int8 complex64 int64 bfloat16 uint16 complex128 half "
        "uint32 uint64 bool; Tindices: int32 int64",
        Combined<Adding, NumbersAndBool>));

}  // namespace
}  // namespace tenon
