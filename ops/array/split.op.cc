// Split (into equal parts) and SplitV (into parts of given sizes).
#include "kernels/interface/axis.h"
#include "kernels/interface/late_kernel.h"
#include "kernels/layout/join.h"
#include "ops/op.h"

namespace tenon {
namespace {

absl::Status SetRank(ShapeContext& c, int rank) {
  for (int i = 0; i < c.num_outputs(); ++i) c.set_output(i, Shape::UnknownOfRank(rank));
  return absl::OkStatus();
}

absl::Status SplitShape(ShapeContext& c) {
  const Shape& in = c.input(1);
  if (c.num_outputs() < 1) return InvalidArgument("cannot split into no parts");
  if (!in.has_rank()) return absl::OkStatus();
  if (c.value(0) == nullptr) return SetRank(c, in.rank());
  TENON_ASSIGN_OR_RETURN(const int64_t value, ScalarInteger(*c.value(0), "split_dim"));
  TENON_ASSIGN_OR_RETURN(const int axis, NormalizeAxis(value, in.rank()));
  if (in.dim(axis) >= 0 && in.dim(axis) % c.num_outputs() != 0) {
    return InvalidArgument("cannot split axis ", axis, " of ", in.ToString(), " into ",
                           c.num_outputs(), " equal parts");
  }
  Shape out = in;
  if (in.dim(axis) >= 0) out.set_dim(axis, in.dim(axis) / c.num_outputs());
  for (int i = 0; i < c.num_outputs(); ++i) c.set_output(i, out);
  return absl::OkStatus();
}

// The sizes, with a -1 replaced such that they add up to `total` (-1: unknown).
absl::StatusOr<std::vector<int64_t>> PartSizes(const Tensor& t, int64_t total, int parts) {
  if (t.shape().rank() != 1 || t.num_elements() != parts) {
    return InvalidArgument("size_splits must be a vector of ", parts, ", but has shape ",
                           t.shape().ToString());
  }
  TENON_ASSIGN_OR_RETURN(std::vector<int64_t> sizes, IntegersOf(t));
  int64_t sum = 0;
  int64_t* inferred = nullptr;
  for (int64_t& s : sizes) {
    if (s == -1) {
      if (inferred != nullptr) return InvalidArgument("only one size of a split may be -1");
      inferred = &s;
    } else if (s < 0) {
      return InvalidArgument("a part of size ", s);
    } else if (__builtin_add_overflow(sum, s, &sum)) {
      return InvalidArgument("the sizes of a split are too large");
    }
  }
  if (total < 0) return sizes;
  if (inferred != nullptr ? sum > total : sum != total) {
    return InvalidArgument("sizes that add up to ", sum, " do not split a dimension of ", total);
  }
  if (inferred != nullptr) *inferred = total - sum;
  return sizes;
}

absl::Status SplitVShape(ShapeContext& c) {
  const Shape& in = c.input(0);
  if (c.num_outputs() < 1) return InvalidArgument("cannot split into no parts");
  if (!in.has_rank()) return absl::OkStatus();
  if (c.value(2) == nullptr) return SetRank(c, in.rank());
  TENON_ASSIGN_OR_RETURN(const int64_t value, ScalarInteger(*c.value(2), "split_dim"));
  TENON_ASSIGN_OR_RETURN(const int axis, NormalizeAxis(value, in.rank()));
  std::vector<int64_t> sizes(static_cast<size_t>(c.num_outputs()), -1);
  if (c.value(1) != nullptr) {
    TENON_ASSIGN_OR_RETURN(sizes, PartSizes(*c.value(1), in.dim(axis), c.num_outputs()));
  }
  for (int i = 0; i < c.num_outputs(); ++i) {
    Shape out = in;
    out.set_dim(axis, sizes[static_cast<size_t>(i)]);
    c.set_output(i, std::move(out));
  }
  return absl::OkStatus();
}

template <int axis_input, int value_input>
absl::StatusOr<std::unique_ptr<Kernel>> MakeSplit(PrepareContext& p) {
  const Shape& in = p.input_shape(value_input);
  TENON_ASSIGN_OR_RETURN(const int64_t value, ScalarInteger(*p.value(axis_input), "split_dim"));
  TENON_ASSIGN_OR_RETURN(const int axis, NormalizeAxis(value, in.rank()));
  Join join;
  join.dtype = p.input_dtype(value_input);
  join.outer = Product(in, 0, axis);
  for (int i = 0; i < p.num_outputs(); ++i) {
    join.chunks.push_back(Product(p.output_shape(i), axis, in.rank()));
  }
  return SplitKernel(std::move(join), value_input, p.services().threads);
}

absl::StatusOr<std::unique_ptr<Kernel>> Split(PrepareContext& p) {
  if (p.value(0) == nullptr) return PrepareLate(p, Split, {0});
  p.InputNotRead(0);
  return MakeSplit<0, 1>(p);
}

absl::StatusOr<std::unique_ptr<Kernel>> SplitV(PrepareContext& p) {
  if (p.value(1) == nullptr || p.value(2) == nullptr) return PrepareLate(p, SplitV, {1, 2});
  p.InputNotRead(1);
  p.InputNotRead(2);
  return MakeSplit<2, 0>(p);
}

const OpRegistration split({
    .name = "Split",
    .inputs = "split_dim: int32, value: T",
    .outputs = "output: num_split * T",
    .attrs = "num_split: int; T: type",
    .shape = SplitShape,
    .reference = Split,
    .moves_elements = true,
    .batch_axis = batch_axis::Split,
});

const OpRegistration split_v({
    .name = "SplitV",
    .inputs = "value: T, size_splits: Tlen, split_dim: int32",
    .outputs = "output: num_split * T",
    .attrs = "num_split: int; T: type; Tlen: type = int64",
    .types = "Tlen: int8 int32 int64",
    .shape = SplitVShape,
    .reference = SplitV,
    .moves_elements = true,
    .batch_axis = batch_axis::SplitV,
});

}  // namespace
}  // namespace tenon
