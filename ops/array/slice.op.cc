// Slice: a block with given begin and size; a size of -1 means the rest.
#include "kernels/interface/axis.h"
#include "kernels/interface/late_kernel.h"
#include "kernels/layout/strided_copy.h"
#include "ops/op.h"

namespace tenon {
namespace {

struct Block {
  std::vector<int64_t> begin;
  Shape size;
};

absl::StatusOr<Block> MakeBlock(const Shape& in, const Tensor& begin, const Tensor& size) {
  const Shape vector({in.rank()});
  if (begin.shape() != vector || size.shape() != vector) {
    return InvalidArgument("begin and size must be vectors of ", in.rank(), ", but have shapes ",
                           begin.shape().ToString(), " and ", size.shape().ToString());
  }
  Block block;
  TENON_ASSIGN_OR_RETURN(block.begin, IntegersOf(begin));
  TENON_ASSIGN_OR_RETURN(const std::vector<int64_t> sizes, IntegersOf(size));
  for (int i = 0; i < in.rank(); ++i) {
    const int64_t b = block.begin[static_cast<size_t>(i)];
    int64_t s = sizes[static_cast<size_t>(i)];
    const int64_t d = in.dim(i);
    if (b < 0 || (d >= 0 && b > d)) {
      return InvalidArgument("begin[", i, "] is ", b, ", which is not in [0, ", d, "]");
    }
    if (s < -1 || (s >= 0 && d >= 0 && s > d - b)) {
      return InvalidArgument("size[", i, "] is ", s, " from ", b, " on, but the dimension is ", d);
    }
    if (s == -1) s = d < 0 ? -1 : d - b;
    block.size.push_back(s);
  }
  return block;
}

absl::Status SliceShape(ShapeContext& c) {
  TENON_RETURN_IF_ERROR(c.ExpectRank(1, 1));
  TENON_RETURN_IF_ERROR(c.ExpectRank(2, 1));
  const Shape& in = c.input(0);
  if (!in.has_rank()) {
    if (c.input(1).has_rank() && c.input(1).dim(0) >= 0) {
      c.set_output(0, Shape::UnknownOfRank(static_cast<int>(c.input(1).dim(0))));
    }
    return absl::OkStatus();
  }
  if (c.value(1) != nullptr && c.value(2) != nullptr) {
    TENON_ASSIGN_OR_RETURN(Block block, MakeBlock(in, *c.value(1), *c.value(2)));
    c.set_output(0, std::move(block.size));
    return absl::OkStatus();
  }
  Shape out = Shape::UnknownOfRank(in.rank());
  if (c.value(2) != nullptr) {
    TENON_ASSIGN_OR_RETURN(Shape sizes, ShapeOfValue(*c.value(2), MinusOne::kUnknown));
    if (sizes.rank() == out.rank()) out = std::move(sizes);
  }
  c.set_output(0, std::move(out));
  return absl::OkStatus();
}

StridedCopy CopyOf(const Block& block, const Shape& in) {
  const std::vector<int64_t> src = DenseStrides(in);
  int64_t offset = 0;
  for (size_t i = 0; i < src.size(); ++i) offset += block.begin[i] * src[i];
  return StridedCopy(block.size.dims(), src, DenseStrides(block.size), offset);
}

// A block of known size whose place the run tells: a loop's counter, for example.
absl::StatusOr<std::unique_ptr<Kernel>> MovingSlice(const PrepareContext& p) {
  return MakeKernel(
      [in = p.input_shape(0), out = p.output_shape(0), dtype = p.input_dtype(0),
       index = p.input_dtype(1), begin = p.input_shape(1),
       size = p.input_shape(2)](RunContext& run) -> absl::Status {
        const auto at = [&](int i, const Shape& shape) {
          return Tensor::FromExternal(index, shape, const_cast<void*>(run.input(i)), nullptr);
        };
        TENON_ASSIGN_OR_RETURN(const Block block, MakeBlock(in, at(1, begin), at(2, size)));
        if (block.size != out) {
          return Internal("a slice of shape ", block.size.ToString(), " was planned as ",
                          out.ToString());
        }
        CopyOf(block, in).Run(dtype, run.input(0), run.output(0));
        return absl::OkStatus();
      },
      "reference:moving");
}

absl::StatusOr<std::unique_ptr<Kernel>> Slice(PrepareContext& p) {
  const Tensor* begin = p.value(1);
  const Tensor* size = p.value(2);
  if (begin == nullptr || size == nullptr) {
    if (p.output_shape(0).IsComplete()) return MovingSlice(p);
    return PrepareLate(p, Slice, {1, 2});
  }
  p.InputNotRead(1);
  p.InputNotRead(2);
  const Shape& in = p.input_shape(0);
  TENON_ASSIGN_OR_RETURN(const Block block, MakeBlock(in, *begin, *size));
  const StridedCopy copy = CopyOf(block, in);
  const DType dtype = p.input_dtype(0);
  const int threads = p.services().threads;
  return MakeKernel([copy, dtype, threads](RunContext& run) {
    copy.Run(threads, dtype, run.input(0), run.output(0));
    return absl::OkStatus();
  });
}

const OpRegistration slice({
    .name = "Slice",
    .inputs = "input: T, begin: Index, size: Index",
    .outputs = "output: T",
    .attrs = "T: type; Index: type",
    .types = "Index: int32 int64",
    .shape = SliceShape,
    .reference = Slice,
    .alias_if_same_size = true,
    .moves_elements = true,
    .batch_axis = batch_axis::Slice,
    .on_integers = OnIntegers::kSelects,
});

}  // namespace
}  // namespace tenon
