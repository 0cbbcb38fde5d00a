// Reshape, Squeeze, ExpandDims, EnsureShape: the same elements with other shapes.
#include <algorithm>

#include "kernels/interface/axis.h"
#include "kernels/interface/late_kernel.h"
#include "kernels/layout/copy.h"
#include "ops/op.h"

namespace tenon {
namespace {

absl::Status ReshapeShape(ShapeContext& c) {
  const Shape& in = c.input(0);
  const Tensor* sizes = c.value(1);
  const bool flat = c.input(1).has_rank() && c.input(1).rank() == 0;  // a scalar, as in old graphs
  if (sizes == nullptr && flat) {
    c.set_output(0, Shape({-1}));  // as long as the scalar says: it may not fit
    return absl::OkStatus();
  }
  if (sizes == nullptr) {
    TENON_RETURN_IF_ERROR(c.ExpectRank(1, 1));
    if (c.input(1).has_rank() && c.input(1).dim(0) >= 0) {
      if (c.input(1).dim(0) > 254) return InvalidArgument("a shape of more than 254 dimensions");
      if (c.input(1).dim(0) == 0 && in.IsComplete() && in.num_elements() != 1) {
        return InvalidArgument("cannot reshape ", in.ToString(), " to a scalar");
      }
      c.set_output(0, Shape::UnknownOfRank(static_cast<int>(c.input(1).dim(0))));
    }
    return absl::OkStatus();
  }
  Tensor vector;
  if (flat) {
    TENON_ASSIGN_OR_RETURN(vector, sizes->Reshaped(Shape({1})));
    sizes = &vector;
  }
  TENON_ASSIGN_OR_RETURN(Shape out, ShapeOfValue(*sizes, MinusOne::kUnknown));
  int inferred = -1;
  int64_t known = 1, nonzero = 1;  // the product of the sizes, and of those that are not 0
  for (int i = 0; i < out.rank(); ++i) {
    if (out.dim(i) >= 0) {
      known *= out.dim(i) != 0;
      if (out.dim(i) != 0 && __builtin_mul_overflow(nonzero, out.dim(i), &nonzero)) {
        return InvalidArgument("shape ", out.ToString(), " is too large");
      }
    } else if (inferred >= 0) {
      return InvalidArgument("only one dimension of a new shape may be -1");
    } else {
      inferred = i;
    }
  }
  known *= nonzero;
  if (in.IsComplete()) {
    const int64_t n = in.num_elements();
    if (inferred >= 0 ? (known == 0 ? n != 0 : n % known != 0) : n != known) {
      return InvalidArgument("cannot reshape ", in.ToString(), " to ", out.ToString());
    }
    if (inferred >= 0) {
      // Any size fits where both are empty; TensorFlow leaves out the sizes of 0, and rounds down.
      int64_t elements = 1;
      for (int64_t d : in.dims()) {
        if ((d != 0 || known != 0) && __builtin_mul_overflow(elements, d, &elements)) {
          return InvalidArgument("shape ", in.ToString(), " is too large");
        }
      }
      out.set_dim(inferred, elements / nonzero);
    }
  } else if (inferred >= 0 && known > 0 && in.has_rank()) {
    // A tensor without elements, whatever the unknown dimensions are.
    if (std::find(in.dims().begin(), in.dims().end(), 0) != in.dims().end()) {
      out.set_dim(inferred, 0);
    }
  }
  c.set_output(0, std::move(out));
  return absl::OkStatus();
}

absl::StatusOr<std::unique_ptr<Kernel>> ReshapeReference(PrepareContext& p) {
  if (!p.output_shape(0).IsComplete()) return PrepareLate(p, ReshapeReference, {1});
  return CopyKernel(p);
}

absl::Status SqueezeShape(ShapeContext& c) {
  const Shape& in = c.input(0);
  TENON_ASSIGN_OR_RETURN(const std::vector<int64_t> axes, c.attrs().Ints("squeeze_dims"));
  if (!in.has_rank()) return absl::OkStatus();
  std::vector<bool> chosen(static_cast<size_t>(in.rank()), false);
  for (int64_t axis : axes) {
    TENON_ASSIGN_OR_RETURN(const int k, NormalizeAxis(axis, in.rank()));
    chosen[static_cast<size_t>(k)] = true;
  }
  Shape out;
  for (int i = 0; i < in.rank(); ++i) {
    const int64_t d = in.dim(i);
    if (axes.empty()) {
      if (d < 0)
        return absl::OkStatus();  // the rank is unknown, because this dimension may or may not be 1
      if (d != 1) out.push_back(d);
    } else if (!chosen[static_cast<size_t>(i)]) {
      out.push_back(d);
    } else if (d >= 0 && d != 1) {
      return InvalidArgument("cannot squeeze dimension ", i, " of ", in.ToString());
    }
  }
  c.set_output(0, std::move(out));
  return absl::OkStatus();
}

absl::Status ExpandDimsShape(ShapeContext& c) {
  const Tensor* dim = c.value(1);
  const Shape& in = c.input(0);
  if (!in.has_rank()) return absl::OkStatus();
  if (dim == nullptr) {
    c.set_output(0, Shape::UnknownOfRank(in.rank() + 1));
    return absl::OkStatus();
  }
  TENON_ASSIGN_OR_RETURN(const int64_t value, ScalarInteger(*dim, "dim"));
  TENON_ASSIGN_OR_RETURN(const int axis, NormalizeAxis(value, in.rank() + 1));
  Shape out = in;
  out.insert(axis, 1);
  c.set_output(0, std::move(out));
  return absl::OkStatus();
}

absl::StatusOr<std::unique_ptr<Kernel>> ExpandDimsReference(PrepareContext& p) {
  if (!p.output_shape(0).IsComplete()) return PrepareLate(p, ExpandDimsReference, {1});
  return CopyKernel(p);
}

absl::Status EnsureShapeShape(ShapeContext& c) {
  TENON_ASSIGN_OR_RETURN(const Shape wanted, c.attrs().ShapeOf("shape"));
  if (!c.input(0).CompatibleWith(wanted)) {
    return InvalidArgument("shape ", c.input(0).ToString(), " is not compatible with ",
                           wanted.ToString());
  }
  TENON_ASSIGN_OR_RETURN(Shape out, MergeShapes(c.input(0), wanted));
  c.set_output(0, std::move(out));
  return absl::OkStatus();
}

const OpRegistration reshape({
    .name = "Reshape",
    .inputs = "tensor: T, shape: Tshape",
    .outputs = "output: T",
    .attrs = "T: type; Tshape: type = int32",
    .types = "Tshape: int32 int64",
    .shape = ReshapeShape,
    .reference = ReshapeReference,
    .alias = true,
    .moves_elements = true,
    .sign = Sign::kOfInputs,
    .on_integers = OnIntegers::kRearranges,
});

const OpRegistration squeeze({
    .name = "Squeeze",
    .inputs = "input: T",
    .outputs = "output: T",
    .attrs = "T: type; squeeze_dims: list(int) = []",
    .shape = SqueezeShape,
    .reference = CopyKernel,
    .alias = true,
    .moves_elements = true,
    .sign = Sign::kOfInputs,
    .on_integers = OnIntegers::kRearranges,
});

const OpRegistration expand_dims({
    .name = "ExpandDims",
    .inputs = "input: T, dim: Tdim",
    .outputs = "output: T",
    .attrs = "T: type; Tdim: type = int32",
    .types = "Tdim: int32 int64",
    .shape = ExpandDimsShape,
    .reference = ExpandDimsReference,
    .alias = true,
    .moves_elements = true,
    .sign = Sign::kOfInputs,
    .on_integers = OnIntegers::kRearranges,
});

const OpRegistration ensure_shape({
    .name = "EnsureShape",
    .inputs = "input: T",
    .outputs = "output: T",
    .attrs = "shape: shape; T: type",
    .shape = EnsureShapeShape,
    .reference = CopyKernel,
    .alias = true,
});

}  // namespace
}  // namespace tenon
