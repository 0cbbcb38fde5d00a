// DepthToSpace, SpaceToDepth, BatchToSpace(ND), SpaceToBatch(ND): rearrange blocks of pixels into
// channels or batch entries. Each is one strided copy.
#include "kernels/layout/blocks.h"
#include "ops/op.h"

namespace tenon {
namespace {

absl::Status DepthToSpaceShape(ShapeContext& c) {
  TENON_RETURN_IF_ERROR(c.ExpectRank(0, 4));
  TENON_ASSIGN_OR_RETURN(const BlockLayout l, ReadBlockLayout(c.attrs()));
  Shape out = c.input(0).has_rank() ? c.input(0) : Shape::UnknownOfRank(4);
  const int64_t depth = out.dim(l.c);
  if (depth >= 0 && depth % (l.block * l.block) != 0) {
    return InvalidArgument(depth, " channels do not fill blocks of ", l.block, " by ", l.block);
  }
  for (int axis : {l.h, l.w}) {
    int64_t size = out.dim(axis);
    if (size >= 0 && __builtin_mul_overflow(size, l.block, &size)) {
      return InvalidArgument("a size of ", out.dim(axis), " in blocks of ", l.block);
    }
    out.set_dim(axis, size);
  }
  if (depth >= 0) out.set_dim(l.c, depth / (l.block * l.block));
  c.set_output(0, std::move(out));
  return absl::OkStatus();
}

absl::Status SpaceToDepthShape(ShapeContext& c) {
  TENON_RETURN_IF_ERROR(c.ExpectRank(0, 4));
  TENON_ASSIGN_OR_RETURN(const BlockLayout l, ReadBlockLayout(c.attrs()));
  Shape out = c.input(0).has_rank() ? c.input(0) : Shape::UnknownOfRank(4);
  for (int axis : {l.h, l.w}) {
    if (out.dim(axis) < 0) continue;
    if (out.dim(axis) % l.block != 0) {
      return InvalidArgument("a size of ", out.dim(axis), " is not a multiple of ", l.block);
    }
    out.set_dim(axis, out.dim(axis) / l.block);
  }
  int64_t depth = out.dim(l.c);
  if (depth >= 0 && __builtin_mul_overflow(depth, l.block * l.block, &depth)) {
    return InvalidArgument(out.dim(l.c), " channels times blocks of ", l.block, " by ", l.block);
  }
  out.set_dim(l.c, depth);
  c.set_output(0, std::move(out));
  return absl::OkStatus();
}

template <bool to_batch>
absl::Status BatchSpaceShape(ShapeContext& c) {
  const Shape& in = c.input(0);
  if (c.num_inputs() == 2) TENON_RETURN_IF_ERROR(c.ExpectRank(0, 4));
  TENON_ASSIGN_OR_RETURN(BlockArgs args, FindBlockArgs(c));
  if (args.square.valid()) args.sizes = &args.square;
  if (!in.has_rank()) return absl::OkStatus();
  if (!args.known()) {
    c.set_output(0, Shape::UnknownOfRank(in.rank()));
    return absl::OkStatus();
  }
  TENON_ASSIGN_OR_RETURN(const Blocks b, ReadBlocks(*args.sizes, *args.margins, in.rank()));
  Shape out = in;
  for (size_t i = 0; i < b.size.size(); ++i) {
    const int axis = static_cast<int>(i) + 1;
    const int64_t d = in.dim(axis);
    if (d < 0) continue;
    if (d > kLargestBlocks) return InvalidArgument("a dimension of ", d);
    if (to_batch) {
      const int64_t padded = d + b.before[i] + b.after[i];
      if (padded % b.size[i] != 0) {
        return InvalidArgument("a padded size of ", padded, " is not a multiple of ", b.size[i]);
      }
      out.set_dim(axis, padded / b.size[i]);
    } else {
      int64_t cropped = 0;
      if (__builtin_mul_overflow(d, b.size[i], &cropped)) {
        return InvalidArgument("a dimension of ", d, " in blocks of ", b.size[i]);
      }
      cropped -= b.before[i] + b.after[i];
      if (cropped < 0) return InvalidArgument("crops that leave nothing of dimension ", axis);
      out.set_dim(axis, cropped);
    }
  }
  if (in.dim(0) >= 0) {
    if (!to_batch && in.dim(0) % b.product != 0) {
      return InvalidArgument("a batch of ", in.dim(0), " is not a multiple of ", b.product);
    }
    int64_t batch = in.dim(0) / b.product;
    if (to_batch && __builtin_mul_overflow(in.dim(0), b.product, &batch)) {
      return InvalidArgument("a batch of ", in.dim(0), " times ", b.product);
    }
    out.set_dim(0, batch);
  }
  c.set_output(0, std::move(out));
  return absl::OkStatus();
}

const OpRegistration depth_to_space({
    .name = "DepthToSpace",
    .inputs = "input: T",
    .outputs = "output: T",
    .attrs = "T: type; block_size: int; data_format: string = NHWC",
    .shape = DepthToSpaceShape,
    .reference = DepthToSpaceKernel,
    .moves_elements = true,
    .batch_axis = batch_axis::FirstInput,
});

const OpRegistration space_to_depth({
    .name = "SpaceToDepth",
    .inputs = "input: T",
    .outputs = "output: T",
    .attrs = "T: type; block_size: int; data_format: string = NHWC",
    .shape = SpaceToDepthShape,
    .reference = SpaceToDepthKernel,
    .moves_elements = true,
    .batch_axis = batch_axis::FirstInput,
});

const OpRegistration space_to_batch_nd({
    .name = "SpaceToBatchND",
    .inputs = "input: T, block_shape: Tblock_shape, paddings: Tpaddings",
    .outputs = "output: T",
    .attrs = "T: type; Tblock_shape: type = int32; Tpaddings: type = int32",
    .types = "Tblock_shape: int32 int64; Tpaddings: int32 int64",
    .shape = BatchSpaceShape<true>,
    .reference = SpaceToBatchKernel,
    .moves_elements = true,
});

const OpRegistration batch_to_space_nd({
    .name = "BatchToSpaceND",
    .inputs = "input: T, block_shape: Tblock_shape, crops: Tcrops",
    .outputs = "output: T",
    .attrs = "T: type; Tblock_shape: type = int32; Tcrops: type = int32",
    .types = "Tblock_shape: int32 int64; Tcrops: int32 int64",
    .shape = BatchSpaceShape<false>,
    .reference = BatchToSpaceKernel,
    .moves_elements = true,
});

const OpRegistration space_to_batch({
    .name = "SpaceToBatch",
    .inputs = "input: T, paddings: Tpaddings",
    .outputs = "output: T",
    .attrs = "T: type; Tpaddings: type = int32; block_size: int",
    .types = "Tpaddings: int32 int64",
    .shape = BatchSpaceShape<true>,
    .reference = SpaceToBatchKernel,
});

const OpRegistration batch_to_space({
    .name = "BatchToSpace",
    .inputs = "input: T, crops: Tidx",
    .outputs = "output: T",
    .attrs = "T: type; block_size: int; Tidx: type = int32",
    .types = "Tidx: int32 int64",
    .shape = BatchSpaceShape<false>,
    .reference = BatchToSpaceKernel,
});

}  // namespace
}  // namespace tenon
