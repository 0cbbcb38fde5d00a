#include "kernels/state/scatter.h"

#include <algorithm>

#include "env/status.h"
#include "kernels/interface/types.h"
#include "kernels/layout/addressing.h"
#include "kernels/layout/copy.h"
#include "kernels/state/update.h"

namespace tenon {
namespace {

struct ScatterDims {
  Shape indices, updates;
  DType index_dtype;

  int64_t Index(const void* data, int64_t i) const {
    return index_dtype == DType::kInt32 ? static_cast<const int32_t*>(data)[i]
                                        : static_cast<const int64_t*>(data)[i];
  }
  // The number of elements per row of the variable, or an error.
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

bool HasZero(DType dtype, const void* data, int64_t n) {
  bool found = false;
  VisitTypes(Ints{}, dtype, [&]<typename T>() {
    const T* v = static_cast<const T*>(data);
    found = std::find(v, v + n, T(0)) != v + n;
  });
  return found;
}

absl::Status Scatter(RunContext& run, const Addressing& a, DType index_type, DType dtype,
                     ScatterFn scatter, ScatterUpdates kind, Tensor& variable) {
  return ForEachOffsets(a, index_type, run.input(1), [&](int64_t first, auto offsets) {
    const int64_t begin = kind == ScatterUpdates::kScalar ? 0 : first * a.slice;
    scatter(variable.raw(), ElementAddress(run.input(2), dtype, begin), offsets, a.slice, kind);
  });
}

}  // namespace

absl::StatusOr<std::unique_ptr<Kernel>> VariableScatterKernel(PrepareContext& p,
                                                              ScatterFunction function) {
  const ScatterDims dims{p.input_shape(1), p.input_shape(2), p.input_dtype(1)};
  const DType dtype = p.input_dtype(2);
  const ScatterFn scatter = FindScatter(function, dtype);
  const bool copied_only = dtype == DType::kBool || dtype == DType::kString;
  if (scatter == nullptr || (copied_only && function != ScatterFunction::kUpdate)) {
    return NoKernelFor(dtype);
  }
  const bool divides = function == ScatterFunction::kDiv;
  return UpdateKernel(
      dtype, {0}, [=](RunContext& run, absl::Span<Tensor* const> variables) -> absl::Status {
        Addressing a{variables[0]->shape(), 1, dims.indices.num_elements()};
        TENON_ASSIGN_OR_RETURN(a.slice, dims.Check(*variables[0], run.input(1)));
        if (divides && HasZero(dtype, run.input(2), dims.updates.num_elements())) {
          return InvalidArgument("integer division by zero");
        }
        const bool scalar = dims.updates.rank() == 0;
        return Scatter(run, a, dims.index_dtype, dtype, scatter,
                       scalar ? ScatterUpdates::kScalar : ScatterUpdates::kSlices, *variables[0]);
      });
}

absl::StatusOr<std::unique_ptr<Kernel>> VariableScatterNdKernel(PrepareContext& p,
                                                                ScatterFunction function) {
  const DType index_type = p.input_dtype(1), dtype = p.input_dtype(2);
  const ScatterFn scatter = FindScatter(function, dtype);
  if (scatter == nullptr || (dtype == DType::kString && function != ScatterFunction::kUpdate)) {
    return NoKernelFor(dtype);
  }
  TENON_ASSIGN_OR_RETURN(const bool ignore_bad, IgnoresBadIndices(p.attrs()));
  const Shape indices = p.input_shape(1), updates = p.input_shape(2);
  return UpdateKernel(
      dtype, {0}, [=](RunContext& run, absl::Span<Tensor* const> variables) -> absl::Status {
        const Shape& shape = variables[0]->shape();
        if (shape.rank() < 1) {
          return InvalidArgument("the variable must have at least one dimension");
        }
        TENON_RETURN_IF_ERROR(CheckUpdates(shape, indices, updates));
        TENON_ASSIGN_OR_RETURN(const Addressing a, MakeAddressing(ignore_bad, shape, indices));
        // Changes nothing until all indices have been checked.
        TENON_RETURN_IF_ERROR(ForEachOffsets(a, index_type, run.input(1), [](int64_t, auto) {}));
        return Scatter(run, a, index_type, dtype, scatter, ScatterUpdates::kSlices, *variables[0]);
      });
}

}  // namespace tenon
