// ResourceScatter{Update,Add,Sub,Mul,Div,Min,Max}: rows of a variable, by index.
#include <algorithm>

#include "env/status.h"
#include "kernels/interface/types.h"
#include "kernels/state/update.h"
#include "ops/op.h"

namespace tenon {
namespace {

constexpr auto kUpdate = [](auto, auto update) { return update; };
constexpr auto kAdd = [](auto v, auto update) { return WrapAdd(v, update); };
constexpr auto kSub = [](auto v, auto update) { return WrapSub(v, update); };
constexpr auto kMul = [](auto v, auto update) { return WrapMul(v, update); };
constexpr auto kMin = [](auto v, auto update) { return update < v ? update : v; };
constexpr auto kMax = [](auto v, auto update) { return v < update ? update : v; };
// Integers: division by zero is an error, found before; the one overflow wraps.
constexpr auto kDiv = [](auto v, auto update) {
  using T = decltype(v);
  if constexpr (std::is_signed_v<T> && std::is_integral_v<T>) {
    if (update == T(-1)) return WrapSub(T(0), v);
  }
  return static_cast<T>(v / update);
};

// Updates are a scalar, or of shape indices.shape + variable.shape[1:].
absl::Status ScatterShape(ShapeContext& c) {
  const Shape& indices = c.input(1);
  const Shape& updates = c.input(2);
  if (!indices.has_rank() || !updates.has_rank() || updates.rank() == 0) return absl::OkStatus();
  bool prefix = updates.rank() >= indices.rank();
  for (int d = 0; prefix && d < indices.rank(); ++d) {
    prefix = indices.dim(d) < 0 || updates.dim(d) < 0 || indices.dim(d) == updates.dim(d);
  }
  if (prefix) return absl::OkStatus();
  return InvalidArgument("updates of shape ", updates.ToString(),
                         " must begin with the indices' shape ", indices.ToString());
}

struct ScatterDims {
  Shape indices, updates;
  DType index_dtype;

  int64_t Index(const void* data, int64_t i) const {
    return index_dtype == DType::kInt32 ? static_cast<const int32_t*>(data)[i]
                                        : static_cast<const int64_t*>(data)[i];
  }
  // Elements of one row of the variable, or an error.
  absl::StatusOr<int64_t> Check(const Tensor& variable, const void* data) const {
    const Shape& shape = variable.shape();
    if (shape.rank() < 1) return InvalidArgument("the variable must have at least one dimension");
    int64_t row = 1;
    for (int d = 1; d < shape.rank(); ++d) row *= shape.dim(d);
    if (updates.rank() > 0) {
      Shape wanted = indices;
      for (int d = 1; d < shape.rank(); ++d) wanted.push_back(shape.dim(d));
      if (wanted != updates) {
        return InvalidArgument("updates must have shape ", wanted.ToString(), ", but have ",
                               updates.ToString());
      }
    }
    for (int64_t i = 0; i < indices.num_elements(); ++i) {
      const int64_t index = Index(data, i);
      if (index < 0 || index >= shape.dim(0)) {
        return InvalidArgument("indices[", i, "] = ", index, " is not in [0, ", shape.dim(0), ")");
      }
    }
    return row;
  }
};

template <auto kFunction, bool kDivides, typename Types>
absl::StatusOr<std::unique_ptr<Kernel>> Scatter(PrepareContext& p) {
  const ScatterDims dims{p.input_shape(1), p.input_shape(2), p.input_dtype(1)};
  const DType dtype = p.input_dtype(2);
  return DispatchType(Types{}, dtype, [&]<typename T>() {
    return UpdateKernel(
        dtype, {0}, [dims](RunContext& run, absl::Span<Tensor* const> variables) -> absl::Status {
          const void* indices = run.input(1);
          const T* updates = run.input<T>(2);
          TENON_ASSIGN_OR_RETURN(const int64_t row, dims.Check(*variables[0], indices));
          if constexpr (kDivides && std::is_integral_v<T>) {
            const T* end = updates + dims.updates.num_elements();
            if (std::find(updates, end, T(0)) != end) {
              return InvalidArgument("integer division by zero");
            }
          }
          const bool scalar = dims.updates.rank() == 0;
          for (int64_t i = 0; i < dims.indices.num_elements(); ++i) {
            T* v = variables[0]->data<T>() + dims.Index(indices, i) * row;
            const T* u = scalar ? updates : updates + i * row;
            for (int64_t j = 0; j < row; ++j) v[j] = kFunction(v[j], T(u[scalar ? 0 : j]));
          }
          return absl::OkStatus();
        });
  });
}

OpRow Row(const char* name, KernelFactory kernel) {
  return {
      .name = name,
      .inputs = "resource: resource, indices: Tindices, updates: dtype",
      .attrs = "dtype: type; Tindices: type; use_locking: bool = true",
      .types = "Tindices: int32 int64",
      .shape = ScatterShape,
      .reference = kernel,
      .stateful = true,
  };
}

const OpRegistration update(Row("ResourceScatterUpdate", Scatter<kUpdate, false, AllTypes>));
const OpRegistration add(Row("ResourceScatterAdd", Scatter<kAdd, false, Numbers>));
const OpRegistration sub(Row("ResourceScatterSub", Scatter<kSub, false, Numbers>));
const OpRegistration mul(Row("ResourceScatterMul", Scatter<kMul, false, Numbers>));
const OpRegistration div(Row("ResourceScatterDiv", Scatter<kDiv, true, Numbers>));
const OpRegistration min(Row("ResourceScatterMin", Scatter<kMin, false, RealNumbers>));
const OpRegistration max(Row("ResourceScatterMax", Scatter<kMax, false, RealNumbers>));

}  // namespace
}  // namespace tenon
