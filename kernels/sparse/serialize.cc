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

struct SparseParts {
  SharedTensor indices, values, shape;
};

absl::StatusOr<SparseParts> ReadSparse(const RunContext& run, DType form, int64_t i, DType dtype) {
  SparseParts parts;
  TENON_ASSIGN_OR_RETURN(parts.indices, ReadPart(run, form, 3 * i));
  TENON_ASSIGN_OR_RETURN(parts.values, ReadPart(run, form, 3 * i + 1));
  TENON_ASSIGN_OR_RETURN(parts.shape, ReadPart(run, form, 3 * i + 2));
  if (parts.indices->dtype() != DType::kInt64 || parts.shape->dtype() != DType::kInt64) {
    return InvalidArgument("indices and shape must be int64, not ", Name(parts.indices->dtype()),
                           " and ", Name(parts.shape->dtype()));
  }
  if (parts.values->dtype() != dtype) {
    return InvalidArgument("the values are ", Name(parts.values->dtype()), ", not ", Name(dtype));
  }
  const Shape &indices = parts.indices->shape(), &values = parts.values->shape(),
              &shape = parts.shape->shape();
  if (values.rank() != 1 || shape.rank() != 1 || indices != Shape({values.dim(0), shape.dim(0)})) {
    return InvalidArgument("indices of shape ", indices.ToString(), " for values of shape ",
                           values.ToString(), " and a shape of shape ", shape.ToString());
  }
  return parts;
}

absl::Status CheckOrder(const Coordinates& at) {
  for (int64_t i = 1; i < at.n; ++i) {
    const int order = CompareCoordinates(at[i - 1], at[i], at.rank);
    if (order == 0) return InvalidArgument("indices[", i, "] is repeated");
    if (order > 0) return InvalidArgument("indices[", i, "] is out of order");
  }
  return absl::OkStatus();
}

// Each slice along dimension 0, without that dimension.
absl::Status WriteSlices(const RunContext& run, const Coordinates& at, const int64_t* shape,
                         DType dtype, const Destination& out) {
  const int64_t rank = at.rank - 1;
  std::vector<int64_t> indices;
  int64_t begin = 0;
  for (int64_t slice = 0; slice < shape[0]; ++slice) {
    indices.clear();
    int64_t end = begin;
    for (; end < at.n && at[end][0] == slice; ++end) {
      indices.insert(indices.end(), at[end] + 1, at[end] + at.rank);
    }
    const int64_t n = end - begin;
    const void* values = ElementAddress(const_cast<void*>(run.input(1)), dtype, begin);
    TENON_RETURN_IF_ERROR(out.Write(3 * slice, DType::kInt64, Shape({n, rank}), indices.data()));
    TENON_RETURN_IF_ERROR(out.Write(3 * slice + 1, dtype, Shape({n}), values));
    TENON_RETURN_IF_ERROR(out.Write(3 * slice + 2, DType::kInt64, Shape({rank}), shape + 1));
    begin = end;
  }
  return absl::OkStatus();
}

// Writes `parts`, stacked along the dimensions of `outer`, to the outputs.
absl::Status WriteStacked(RunContext& run, const std::vector<SparseParts>& parts,
                          const Shape& outer, DType dtype) {
  const int64_t inner = parts[0].shape->num_elements(), rank = outer.rank() + inner;
  std::vector<int64_t> shape(outer.dims().begin(), outer.dims().end());
  shape.resize(static_cast<size_t>(rank));
  int64_t n = 0;
  for (const SparseParts& part : parts) {
    if (part.shape->num_elements() != inner) {
      return InvalidArgument("sparse tensors of ranks ", inner, " and ",
                             part.shape->num_elements());
    }
    n += part.values->num_elements();
    const int64_t* sizes = part.shape->data<int64_t>();
    for (int64_t d = 0; d < inner; ++d) {
      int64_t& size = shape[static_cast<size_t>(outer.rank() + d)];
      if (sizes[d] < 0 && outer.rank() > 0) return InvalidArgument("a shape with ", sizes[d]);
      size = &part == &parts[0] ? sizes[d] : std::max(size, sizes[d]);
    }
  }
  TENON_ASSIGN_OR_RETURN(void* indices, run.AllocateOutput(0, Shape({n, rank})));
  TENON_ASSIGN_OR_RETURN(void* values, run.AllocateOutput(1, Shape({n})));
  TENON_ASSIGN_OR_RETURN(void* sizes, run.AllocateOutput(2, Shape({rank})));
  std::copy(shape.begin(), shape.end(), static_cast<int64_t*>(sizes));
  auto* to = static_cast<int64_t*>(indices);
  int64_t at = 0;
  for (size_t i = 0; i < parts.size(); ++i) {
    const SparseParts& part = parts[i];
    const int64_t count = part.values->num_elements();
    const int64_t* from = part.indices->data<int64_t>();
    for (int64_t row = 0; row < count; ++row, from += inner, to += rank) {
      int64_t place = static_cast<int64_t>(i);
      for (int d = outer.rank() - 1; d >= 0; --d) {
        to[d] = place % outer.dim(d);
        place /= outer.dim(d);
      }
      std::copy_n(from, inner, to + outer.rank());
    }
    WriteItem(part.values, dtype, count, ElementAddress(values, dtype, at));
    at += count;
  }
  return absl::OkStatus();
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
    return WriteSlices(run, at, shape, dtype, {form, out});
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
