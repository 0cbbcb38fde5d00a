// Tile, BroadcastTo, BroadcastArgs: repeat a tensor. TileGrad: sums the repetitions.
#include "kernels/interface/axis.h"
#include "kernels/interface/late_kernel.h"
#include "kernels/interface/types.h"
#include "kernels/layout/strided_copy.h"
#include "kernels/reduction/reference.h"
#include "ops/op.h"

namespace tenon {
namespace {

absl::StatusOr<std::vector<int64_t>> Multiples(const Tensor& t, int rank) {
  if (t.shape() != Shape({rank})) {
    return InvalidArgument("multiples must be a vector of ", rank, ", but have shape ",
                           t.shape().ToString());
  }
  TENON_ASSIGN_OR_RETURN(std::vector<int64_t> multiples, IntegersOf(t));
  for (int64_t m : multiples) {
    if (m < 0) return InvalidArgument("multiples must not be negative, but one is ", m);
  }
  return multiples;
}

// Each dimension as `size` gives it of the input's, which may be unknown (-1), and the multiple.
absl::Status ShapeByMultiples(ShapeContext& c,
                              absl::StatusOr<int64_t> (*size)(int axis, int64_t dim,
                                                              int64_t multiple)) {
  TENON_RETURN_IF_ERROR(c.ExpectRank(1, 1));
  const Shape& in = c.input(0);
  if (!in.has_rank()) return absl::OkStatus();
  if (c.value(1) == nullptr) {
    c.set_output(0, Shape::UnknownOfRank(in.rank()));
    return absl::OkStatus();
  }
  TENON_ASSIGN_OR_RETURN(const std::vector<int64_t> multiples, Multiples(*c.value(1), in.rank()));
  Shape out;
  for (int i = 0; i < in.rank(); ++i) {
    TENON_ASSIGN_OR_RETURN(const int64_t d, size(i, in.dim(i), multiples[static_cast<size_t>(i)]));
    out.push_back(d);
  }
  c.set_output(0, std::move(out));
  return absl::OkStatus();
}

absl::Status TileShape(ShapeContext& c) {
  return ShapeByMultiples(c, [](int, int64_t d, int64_t m) -> absl::StatusOr<int64_t> {
    if (d >= 0 && __builtin_mul_overflow(d, m, &d)) {
      return InvalidArgument("multiples that are too large");
    }
    return d;
  });
}

absl::StatusOr<std::unique_ptr<Kernel>> CopyWith(PrepareContext& p, const StridedCopy& copy) {
  const DType dtype = p.input_dtype(0);
  const int threads = p.services().threads;
  return MakeKernel([copy, dtype, threads](RunContext& run) {
    copy.Run(threads, dtype, run.input(0), run.output(0));
    return absl::OkStatus();
  });
}

absl::StatusOr<std::unique_ptr<Kernel>> Tile(PrepareContext& p) {
  const Tensor* value = p.value(1);
  if (value == nullptr) return PrepareLate(p, Tile, {1});
  p.InputNotRead(1);
  const Shape& in = p.input_shape(0);
  TENON_ASSIGN_OR_RETURN(const std::vector<int64_t> multiples, Multiples(*value, in.rank()));
  // Each dimension becomes two: the repetitions (source stride 0) and the elements.
  const std::vector<int64_t> in_strides = DenseStrides(in);
  const std::vector<int64_t> out_strides = DenseStrides(p.output_shape(0));
  std::vector<int64_t> dims, src, dst;
  for (size_t i = 0; i < multiples.size(); ++i) {
    const int64_t d = in.dims()[i];
    dims.insert(dims.end(), {multiples[i], d});
    src.insert(src.end(), {0, in_strides[i]});
    dst.insert(dst.end(), {d * out_strides[i], out_strides[i]});
  }
  return CopyWith(p, StridedCopy(dims, src, dst));
}

absl::Status TileGradShape(ShapeContext& c) {
  return ShapeByMultiples(c, [](int axis, int64_t d, int64_t m) -> absl::StatusOr<int64_t> {
    if (m == 0) return InvalidArgument("multiples must be positive");
    if (d >= 0 && d % m != 0) {
      return InvalidArgument("dimension ", axis, " of ", d, " is not a multiple of ", m);
    }
    return d >= 0 ? d / m : -1;
  });
}

absl::StatusOr<std::unique_ptr<Kernel>> TileGrad(PrepareContext& p) {
  const Tensor* value = p.value(1);
  if (value == nullptr) return PrepareLate(p, TileGrad, {1});
  p.InputNotRead(1);
  const Shape& out = p.output_shape(0);
  TENON_ASSIGN_OR_RETURN(const std::vector<int64_t> multiples, Multiples(*value, out.rank()));
  // As in Tile, each dimension becomes two. The repetitions are summed.
  Shape split;
  std::vector<int32_t> axes;
  for (int i = 0; i < out.rank(); ++i) {
    axes.push_back(split.rank());
    split.push_back(multiples[static_cast<size_t>(i)]);
    split.push_back(out.dim(i));
  }
  TENON_ASSIGN_OR_RETURN(const ReductionSpace space,
                         ReductionSpace::Make(split, Tensor::Vector(std::move(axes))));
  return SumOver(p, space);
}

absl::Status BroadcastToShape(ShapeContext& c) {
  TENON_RETURN_IF_ERROR(c.ExpectRank(1, 1));
  if (c.value(1) == nullptr) {
    if (c.input(1).has_rank() && c.input(1).dim(0) >= 0) {
      c.set_output(0, Shape::UnknownOfRank(static_cast<int>(c.input(1).dim(0))));
    }
    return absl::OkStatus();
  }
  TENON_ASSIGN_OR_RETURN(Shape out, ShapeOfValue(*c.value(1), MinusOne::kUnknown));
  const Shape& in = c.input(0);
  if (in.has_rank()) {
    if (in.rank() > out.rank()) {
      return InvalidArgument("cannot broadcast ", in.ToString(), " to ", out.ToString());
    }
    for (int i = 0; i < in.rank(); ++i) {
      const int o = out.rank() - in.rank() + i;
      if (out.dim(o) < 0 && in.dim(i) > 1) out.set_dim(o, in.dim(i));
      if (in.dim(i) >= 0 && in.dim(i) != 1 && in.dim(i) != out.dim(o)) {
        return InvalidArgument("cannot broadcast ", in.ToString(), " to ", out.ToString());
      }
    }
    if (in.IsComplete() && !out.IsComplete()) {
      return InvalidArgument("cannot broadcast ", in.ToString(), " to ", out.ToString());
    }
  }
  c.set_output(0, std::move(out));
  return absl::OkStatus();
}

absl::StatusOr<std::unique_ptr<Kernel>> BroadcastTo(PrepareContext& p) {
  if (!p.output_shape(0).IsComplete()) return PrepareLate(p, BroadcastTo, {1});
  p.InputNotRead(1);
  const Shape& in = p.input_shape(0);
  const Shape& out = p.output_shape(0);
  const std::vector<int64_t> dense = DenseStrides(in);
  std::vector<int64_t> src(static_cast<size_t>(out.rank()), 0);
  for (int i = 0; i < in.rank(); ++i) {
    if (in.dim(i) == 1) continue;
    src[static_cast<size_t>(out.rank() - in.rank() + i)] = dense[static_cast<size_t>(i)];
  }
  return CopyWith(p, StridedCopy(out.dims(), src, DenseStrides(out)));
}

absl::Status BroadcastArgsShape(ShapeContext& c) {
  TENON_RETURN_IF_ERROR(c.ExpectRank(0, 1));
  TENON_RETURN_IF_ERROR(c.ExpectRank(1, 1));
  int64_t n = -1;
  if (c.input(0).has_rank() && c.input(1).has_rank() && c.input(0).dim(0) >= 0 &&
      c.input(1).dim(0) >= 0) {
    n = std::max(c.input(0).dim(0), c.input(1).dim(0));
  }
  c.set_output(0, Shape({n}));
  return absl::OkStatus();
}

// Sizes are numbers like others here: -1 is not an unknown one.
absl::StatusOr<std::unique_ptr<Kernel>> BroadcastArgs(PrepareContext& p) {
  const int64_t na = p.input_shape(0).dim(0), nb = p.input_shape(1).dim(0);
  return DispatchType(TypeList<int32_t, int64_t>{}, p.input_dtype(0), [&]<typename T>() {
    return MakeKernel([na, nb](RunContext& run) -> absl::Status {
      const T* a = run.input<T>(0) + na;  // from the end
      const T* b = run.input<T>(1) + nb;
      T* out = run.output<T>(0) + std::max(na, nb);
      for (int64_t i = 1; i <= std::max(na, nb); ++i) {
        const T x = i <= na ? a[-i] : T(1), y = i <= nb ? b[-i] : T(1);
        if (x != y && x != 1 && y != 1) {
          return InvalidArgument("sizes ", x, " and ", y, " do not broadcast");
        }
        out[-i] = x == 1 ? y : x;
      }
      return absl::OkStatus();
    });
  });
}

const OpRegistration tile({
    .name = "Tile",
    .inputs = "input: T, multiples: Tmultiples",
    .outputs = "output: T",
    .attrs = "T: type; Tmultiples: type = int32",
    .types = "Tmultiples: int32 int64",
    .shape = TileShape,
    .reference = Tile,
    .alias_if_same_size = true,
    .moves_elements = true,
    .batch_axis = batch_axis::Tile,
});

const OpRegistration tile_grad({
    .name = "TileGrad",
    .inputs = "input: T, multiples: int32",
    .outputs = "output: T",
    .attrs = "T: type",
    .types = "T: float double int16 int32 int64 half bfloat16 complex64 complex128",
    .shape = TileGradShape,
    .reference = TileGrad,
    .error_bound = ErrorBound::kSum,
});

const OpRegistration broadcast_to({
    .name = "BroadcastTo",
    .inputs = "input: T, shape: Tidx",
    .outputs = "output: T",
    .attrs = "T: type; Tidx: type = int32",
    .types = "Tidx: int32 int64",
    .shape = BroadcastToShape,
    .reference = BroadcastTo,
    .alias_if_same_size = true,
    .moves_elements = true,
    .batch_axis = batch_axis::BroadcastTo,
});

const OpRegistration broadcast_args({
    .name = "BroadcastArgs",
    .inputs = "s0: T, s1: T",
    .outputs = "r0: T",
    .attrs = "T: type = int32",
    .types = "T: int32 int64",
    .shape = BroadcastArgsShape,
    .reference = BroadcastArgs,
});

}  // namespace
}  // namespace tenon
