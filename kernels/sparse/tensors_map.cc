#include "kernels/sparse/tensors_map.h"

#include <utility>
#include <vector>

#include "env/status.h"
#include "kernels/lists/tensor_list.h"
#include "kernels/state/shared_state.h"

namespace tenon {
namespace {

// op names: the ops' rows are in a higher layer.
const SharedKind sparse_tensors_kind("sparse tensors", NewState<SparseTensorsMap>,
                                     {"AddSparseToTensorsMap", "AddManySparseToTensorsMap",
                                      "TakeManySparseFromTensorsMap"});

// As in TensorFlow, even a sparse shape has a number of elements that an int64 can hold.
absl::Status CheckedShape(absl::Span<const int64_t> sizes) {
  return Shape(sizes).CheckedElements().status();
}

}  // namespace

int64_t SparseTensorsMap::Add(SparseParts parts) {
  MutexLock lock(&mutex_);
  parts_.emplace(next_, std::move(parts));
  return next_++;
}

absl::StatusOr<SparseParts> SparseTensorsMap::Take(int64_t handle) {
  MutexLock lock(&mutex_);
  const auto it = parts_.find(handle);
  if (it == parts_.end()) return InvalidArgument("there is no sparse tensor with handle ", handle);
  SparseParts parts = std::move(it->second);
  parts_.erase(it);
  return parts;
}

absl::StatusOr<std::unique_ptr<Kernel>> AddSparseToMapKernel(PrepareContext& p) {
  return MakeKernel([map = SharedStateOf<SparseTensorsMap>(p.attrs()), dtype = p.input_dtype(1),
                     specs = std::vector{InputSpec(p, 0), InputSpec(p, 1), InputSpec(p, 2)}](
                        RunContext& run) -> absl::Status {
    TENON_ASSIGN_OR_RETURN(auto kept, KeepInputs(run, specs));
    SparseParts parts{kept[0], kept[1], kept[2]};
    TENON_RETURN_IF_ERROR(CheckParts(parts, dtype));
    TENON_RETURN_IF_ERROR(CheckedShape(parts.shape->flat<int64_t>()));
    *run.output<int64_t>(0) = map->Add(std::move(parts));
    return absl::OkStatus();
  });
}

absl::StatusOr<std::unique_ptr<Kernel>> AddManySparseToMapKernel(PrepareContext& p) {
  const DType dtype = p.input_dtype(1);
  const int64_t n = p.input_shape(0).dim(0), rank = p.input_shape(0).dim(1);
  const Shape planned = p.output_shape(0);
  return MakeKernel(
      [=, map = SharedStateOf<SparseTensorsMap>(p.attrs())](RunContext& run) -> absl::Status {
        const Coordinates at{run.input<int64_t>(0), n, rank};
        const int64_t* const shape = run.input<int64_t>(2);
        TENON_RETURN_IF_ERROR(CheckedShape(absl::MakeConstSpan(shape, static_cast<size_t>(rank))));
        TENON_RETURN_IF_ERROR(CheckCoordinates(at, shape));
        TENON_RETURN_IF_ERROR(CheckOrder(at));
        TENON_ASSIGN_OR_RETURN(void* const out, OutputOfShape(run, 0, planned, Shape({shape[0]})));
        auto* const handles = static_cast<int64_t*>(out);
        TENON_ASSIGN_OR_RETURN(const auto inner, Keep(DType::kInt64, Shape({rank - 1}), shape + 1));
        TENON_ASSIGN_OR_RETURN(const auto no_indices,
                               Keep(DType::kInt64, Shape({0, rank - 1}), nullptr));
        TENON_ASSIGN_OR_RETURN(const auto no_values, Keep(dtype, Shape({0}), nullptr));
        // As in TensorFlow, empty slices get their handles last.
        for (const bool empty : {false, true}) {
          TENON_RETURN_IF_ERROR(VisitSlices(
              at, run.input(1), dtype, shape[0], [&](const SparseSlice& slice) -> absl::Status {
                const int64_t count = slice.indices_shape.dim(0);
                if ((count == 0) != empty) return absl::OkStatus();
                SparseParts parts{no_indices, no_values, inner};
                if (!empty) {
                  TENON_ASSIGN_OR_RETURN(parts.indices,
                                         Keep(DType::kInt64, slice.indices_shape, slice.indices));
                  TENON_ASSIGN_OR_RETURN(parts.values, Keep(dtype, Shape({count}), slice.values));
                }
                handles[slice.index] = map->Add(std::move(parts));
                return absl::OkStatus();
              }));
        }
        return absl::OkStatus();
      });
}

absl::StatusOr<std::unique_ptr<Kernel>> TakeManySparseFromMapKernel(PrepareContext& p) {
  return MakeKernel([map = SharedStateOf<SparseTensorsMap>(p.attrs()), dtype = p.output_dtype(1),
                     n = p.input_shape(0).dim(0)](RunContext& run) -> absl::Status {
    if (n == 0) return InvalidArgument("there are no handles");
    std::vector<SparseParts> all;
    for (int64_t i = 0; i < n; ++i) {
      TENON_ASSIGN_OR_RETURN(SparseParts parts, map->Take(run.input<int64_t>(0)[i]));
      TENON_RETURN_IF_ERROR(CheckParts(parts, dtype));
      all.push_back(std::move(parts));
    }
    return WriteStacked(run, all, Shape({n}), dtype);
  });
}

}  // namespace tenon
