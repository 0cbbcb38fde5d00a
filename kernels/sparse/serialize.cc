#include "kernels/sparse/serialize.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "env/status.h"
#include "graph/object.h"
#include "kernels/layout/copy.h"
#include "kernels/lists/tensor_list.h"
#include "kernels/sparse/coordinates.h"
#include "kernels/sparse/sparse_parts.h"
#include "kernels/strings/tensor_message.h"

namespace tenon {
namespace {

using SharedTensor = std::shared_ptr<const Tensor>;

// A variant that holds a tensor.
struct TensorObject final : Object {
  explicit TensorObject(SharedTensor t) : tensor(std::move(t)) {}
  SharedTensor tensor;
};

// Where serialized tensors are written: an array of strings or of variants.
struct Destination {
  DType form;
  void* memory;

  absl::Status Write(int64_t i, DType dtype, const Shape& shape, const void* data) const {
    if (form == DType::kString) {
      static_cast<std::string*>(memory)[i] =
          SerializeTensorMessage(dtype, shape, data, StringForm::kContent);
      return absl::OkStatus();
    }
    TENON_ASSIGN_OR_RETURN(SharedTensor kept, Keep(dtype, shape, data));
    static_cast<ObjectPtr*>(memory)[i] = std::make_shared<TensorObject>(std::move(kept));
    return absl::OkStatus();
  }
};

// The tensor in element `i` of input 0.
absl::StatusOr<SharedTensor> ReadPart(const RunContext& run, DType form, int64_t i) {
  if (form == DType::kString) {
    TENON_ASSIGN_OR_RETURN(const TensorMessage message,
                           TensorMessage::Read(run.input<std::string>(0)[i]));
    TENON_ASSIGN_OR_RETURN(Tensor t, Tensor::Allocate(message.dtype(), message.shape()));
    TENON_RETURN_IF_ERROR(message.Write(t.raw()));
    return std::make_shared<const Tensor>(std::move(t));
  }
  const auto* object = dynamic_cast<const TensorObject*>(run.input<ObjectPtr>(0)[i].get());
  if (object == nullptr) return InvalidArgument("a variant that does not hold a tensor");
  return object->tensor;
}

absl::StatusOr<SparseParts> ReadSparse(const RunContext& run, DType form, int64_t i, DType dtype) {
  SparseParts parts;
  TENON_ASSIGN_OR_RETURN(parts.indices, ReadPart(run, form, 3 * i));
  TENON_ASSIGN_OR_RETURN(parts.values, ReadPart(run, form, 3 * i + 1));
  TENON_ASSIGN_OR_RETURN(parts.shape, ReadPart(run, form, 3 * i + 2));
  TENON_RETURN_IF_ERROR(CheckParts(parts, dtype));
  return parts;
}

}  // namespace

absl::StatusOr<std::unique_ptr<Kernel>> SerializeSparseKernel(PrepareContext& p) {
  std::vector<TensorSpec> parts;
  for (int i = 0; i < 3; ++i) parts.push_back(InputSpec(p, i));
  return MakeKernel([parts, form = p.output_dtype(0)](RunContext& run) -> absl::Status {
    const Destination out{form, run.output(0)};
    for (int i = 0; i < 3; ++i) {
      const TensorSpec& part = parts[static_cast<size_t>(i)];
      TENON_RETURN_IF_ERROR(out.Write(i, part.dtype, part.shape, run.input(i)));
    }
    return absl::OkStatus();
  });
}

absl::StatusOr<std::unique_ptr<Kernel>> SerializeManySparseKernel(PrepareContext& p) {
  const DType dtype = p.input_dtype(1), form = p.output_dtype(0);
  const int64_t n = p.input_shape(0).dim(0), rank = p.input_shape(0).dim(1);
  const Shape planned = p.output_shape(0);
  return MakeKernel([=](RunContext& run) -> absl::Status {
    const Coordinates at{run.input<int64_t>(0), n, rank};
    const int64_t* shape = run.input<int64_t>(2);
    TENON_RETURN_IF_ERROR(CheckCoordinates(at, shape));
    TENON_RETURN_IF_ERROR(CheckOrder(at));
    TENON_ASSIGN_OR_RETURN(void* out, OutputOfShape(run, 0, planned, Shape({shape[0], 3})));
    const Destination to{form, out};
    return VisitSlices(
        at, run.input(1), dtype, shape[0], [&](const SparseSlice& slice) -> absl::Status {
          const int64_t i = 3 * slice.index, n = slice.indices_shape.dim(0);
          TENON_RETURN_IF_ERROR(to.Write(i, DType::kInt64, slice.indices_shape, slice.indices));
          TENON_RETURN_IF_ERROR(to.Write(i + 1, dtype, Shape({n}), slice.values));
          return to.Write(i + 2, DType::kInt64, Shape({rank - 1}), shape + 1);
        });
  });
}

absl::StatusOr<std::unique_ptr<Kernel>> DeserializeSparseKernel(PrepareContext& p) {
  const DType dtype = p.output_dtype(1), form = p.input_dtype(0);
  Shape outer;
  for (int d = 0; d + 1 < p.input_shape(0).rank(); ++d) outer.push_back(p.input_shape(0).dim(d));
  return MakeKernel([=](RunContext& run) -> absl::Status {
    std::vector<SparseParts> parts;
    for (int64_t i = 0; i < outer.num_elements(); ++i) {
      TENON_ASSIGN_OR_RETURN(SparseParts part, ReadSparse(run, form, i, dtype));
      parts.push_back(std::move(part));
    }
    if (parts.empty()) return InvalidArgument("there are no sparse tensors");
    return WriteStacked(run, parts, outer, dtype);
  });
}

}  // namespace tenon
