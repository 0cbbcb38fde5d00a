// DepthToSpace, SpaceToDepth, BatchToSpace(ND), SpaceToBatch(ND): blocks of pixels traded for
// channels or for batch entries. Each is one strided copy.
#include "kernels/interface/axis.h"
#include "kernels/interface/late_kernel.h"
#include "kernels/interface/types.h"
#include "kernels/layout/strided_copy.h"
#include "ops/op.h"

namespace tenon {
namespace {

struct Layout {
  int64_t block;
  int h, w, c;  // axes
};

absl::StatusOr<Layout> LayoutOf(const AttrReader& attrs) {
  TENON_ASSIGN_OR_RETURN(const int64_t block, attrs.Int("block_size"));
  // Its square is a number too.
  if (block < 2 || block > INT32_MAX) {
    return InvalidArgument("block_size must be an int32 of at least 2, but is ", block);
  }
  const std::string format = attrs.String("data_format", "NHWC");
  if (format == "NHWC") return Layout{block, 1, 2, 3};
  if (format == "NCHW") return Layout{block, 2, 3, 1};
  return Unimplemented("data_format ", format);
}

absl::Status DepthToSpaceShape(ShapeContext& c) {
  TENON_RETURN_IF_ERROR(c.ExpectRank(0, 4));
  TENON_ASSIGN_OR_RETURN(const Layout l, LayoutOf(c.attrs()));
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
  TENON_ASSIGN_OR_RETURN(const Layout l, LayoutOf(c.attrs()));
  Shape out = c.input(0).has_rank() ? c.input(0) : Shape::UnknownOfRank(4);
  for (int axis : {l.h, l.w}) {
    if (out.dim(axis) < 0) continue;
    if (out.dim(axis) % l.block != 0) {
      return InvalidArgument("a size of ", out.dim(axis), " is no multiple of ", l.block);
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

// `deep` has block * block times the channels of `wide`. In both, the element at (n, h, w, bh, bw,
// c) is pixel (h * block + bh, w * block + bw), channel c, of the wide one.
absl::StatusOr<std::unique_ptr<Kernel>> Trade(PrepareContext& p, const Shape& deep,
                                              const Shape& wide, bool deep_to_wide) {
  TENON_ASSIGN_OR_RETURN(const Layout l, LayoutOf(p.attrs()));
  const std::vector<int64_t> ds = DenseStrides(deep), ws = DenseStrides(wide);
  auto at = [](const std::vector<int64_t>& v, int i) { return v[static_cast<size_t>(i)]; };
  const int64_t channels = wide.dim(l.c);
  const int64_t dims[] = {deep.dim(0), deep.dim(l.h), deep.dim(l.w), l.block, l.block, channels};
  const int64_t of_deep[] = {at(ds, 0),
                             at(ds, l.h),
                             at(ds, l.w),
                             l.block * channels * at(ds, l.c),
                             channels * at(ds, l.c),
                             at(ds, l.c)};
  const int64_t of_wide[] = {at(ws, 0),   l.block * at(ws, l.h), l.block * at(ws, l.w),
                             at(ws, l.h), at(ws, l.w),           at(ws, l.c)};
  // The loop order of the destination: channels inmost for NHWC, pixels for NCHW.
  const int nhwc[] = {0, 1, 3, 2, 4, 5}, nchw[] = {0, 5, 1, 3, 2, 4};
  std::vector<int64_t> d, src, dst;
  for (int i : l.c == 3 ? nhwc : nchw) {
    d.push_back(dims[i]);
    src.push_back(deep_to_wide ? of_deep[i] : of_wide[i]);
    dst.push_back(deep_to_wide ? of_wide[i] : of_deep[i]);
  }
  const StridedCopy copy(d, src, dst);
  const DType dtype = p.input_dtype(0);
  return MakeKernel([copy, dtype](RunContext& run) {
    copy.Run(dtype, run.input(0), run.output(0));
    return absl::OkStatus();
  });
}

absl::StatusOr<std::unique_ptr<Kernel>> DepthToSpace(PrepareContext& p) {
  return Trade(p, p.input_shape(0), p.output_shape(0), true);
}
absl::StatusOr<std::unique_ptr<Kernel>> SpaceToDepth(PrepareContext& p) {
  return Trade(p, p.output_shape(0), p.input_shape(0), false);
}

// Block sizes, and for each blocked dimension what is padded or cropped before and after.
struct Blocks {
  std::vector<int64_t> size;
  std::vector<int64_t> before;
  std::vector<int64_t> after;
  int64_t product = 1;
};

// Blocks and margins beyond have no tensors; below, sums of them do not overflow.
constexpr int64_t kMost = int64_t{1} << 40;

absl::StatusOr<Blocks> BlocksOf(const Tensor& sizes, const Tensor& margins, int rank) {
  if (sizes.shape().rank() != 1) return InvalidArgument("block_shape must be a vector");
  Blocks b;
  TENON_ASSIGN_OR_RETURN(b.size, IntegersOf(sizes));
  const int64_t m = std::ssize(b.size);
  if (margins.shape() != Shape({m, 2})) {
    return InvalidArgument("paddings or crops must have shape [", m, ",2], but have ",
                           margins.shape().ToString());
  }
  if (rank < 1 + m) return InvalidArgument("input of rank ", rank, " for ", m, " blocks");
  TENON_ASSIGN_OR_RETURN(const std::vector<int64_t> v, IntegersOf(margins));
  for (size_t i = 0; i < b.size.size(); ++i) {
    if (b.size[i] < 1 || __builtin_mul_overflow(b.product, b.size[i], &b.product) ||
        b.product > kMost) {
      return InvalidArgument("a block size of ", b.size[i]);
    }
    for (const int64_t margin : {v[2 * i], v[2 * i + 1]}) {
      if (margin < 0 || margin > kMost) {
        return InvalidArgument("paddings and crops must not be negative or huge, but one is ",
                               margin);
      }
    }
    b.before.push_back(v[2 * i]);
    b.after.push_back(v[2 * i + 1]);
  }
  return b;
}

// The ops without ND: square blocks of two dimensions, from an attribute. Null margins or sizes:
// not known.
struct BlockArgs {
  Tensor square;
  const Tensor* sizes = nullptr;
  const Tensor* margins = nullptr;
  bool known() const { return sizes != nullptr && margins != nullptr; }
};

template <typename Context>
absl::StatusOr<BlockArgs> BlockArgsOf(Context& c) {
  BlockArgs args;
  args.margins = c.value(c.num_inputs() - 1);
  if (c.num_inputs() > 2) {
    args.sizes = c.value(1);
    return args;
  }
  TENON_ASSIGN_OR_RETURN(const int64_t size, c.attrs().Int("block_size"));
  if (size < 2) return InvalidArgument("block_size must be at least 2, but is ", size);
  args.square = Tensor::Vector<int64_t>({size, size});
  return args;
}

template <bool to_batch>
absl::Status BatchSpaceShape(ShapeContext& c) {
  const Shape& in = c.input(0);
  if (c.num_inputs() == 2) TENON_RETURN_IF_ERROR(c.ExpectRank(0, 4));
  TENON_ASSIGN_OR_RETURN(BlockArgs args, BlockArgsOf(c));
  if (args.square.valid()) args.sizes = &args.square;
  if (!in.has_rank()) return absl::OkStatus();
  if (!args.known()) {
    c.set_output(0, Shape::UnknownOfRank(in.rank()));
    return absl::OkStatus();
  }
  TENON_ASSIGN_OR_RETURN(const Blocks b, BlocksOf(*args.sizes, *args.margins, in.rank()));
  Shape out = in;
  for (size_t i = 0; i < b.size.size(); ++i) {
    const int axis = static_cast<int>(i) + 1;
    const int64_t d = in.dim(axis);
    if (d < 0) continue;
    if (d > kMost) return InvalidArgument("a dimension of ", d);
    if (to_batch) {
      const int64_t padded = d + b.before[i] + b.after[i];
      if (padded % b.size[i] != 0) {
        return InvalidArgument("a padded size of ", padded, " is no multiple of ", b.size[i]);
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
      return InvalidArgument("a batch of ", in.dim(0), " is no multiple of ", b.product);
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

// For every position k in a block, the pixels k, k + block ... are one strided copy between a batch
// entry and the image; what falls into the margin is left out.
template <bool to_batch>
absl::StatusOr<std::unique_ptr<Kernel>> BatchSpace(PrepareContext& p) {
  std::vector<int> parameters;
  for (int i = 1; i < p.num_inputs(); ++i) parameters.push_back(i);
  TENON_ASSIGN_OR_RETURN(BlockArgs args, BlockArgsOf(p));
  if (args.square.valid()) args.sizes = &args.square;
  if (!args.known()) return PrepareLate(p, BatchSpace<to_batch>, parameters);
  for (int i : parameters) p.InputNotRead(i);
  TENON_ASSIGN_OR_RETURN(const Blocks b,
                         BlocksOf(*args.sizes, *args.margins, p.input_shape(0).rank()));
  const Shape& image = to_batch ? p.input_shape(0) : p.output_shape(0);
  const Shape& batch = to_batch ? p.output_shape(0) : p.input_shape(0);
  const std::vector<int64_t> is = DenseStrides(image), bs = DenseStrides(batch);
  std::vector<StridedCopy> copies;
  // Of an empty output there may be any number of blocks.
  const int64_t blocks = p.output_shape(0).num_elements() == 0 ? 0 : b.product;
  for (int64_t k = 0; k < blocks; ++k) {
    std::vector<int64_t> dims(image.dims().begin(), image.dims().end());
    std::vector<int64_t> of_image = is, of_batch = bs;
    int64_t image_offset = 0;
    int64_t batch_offset = k * image.dim(0) * bs[0];
    int64_t rest = k;
    for (size_t i = b.size.size(); i > 0; --i) {
      const int64_t block = b.size[i - 1];
      const int64_t in_block = rest % block;
      rest /= block;
      // Row r of the batch entry is image row r * block + in_block - before.
      const int64_t shift = in_block - b.before[i - 1];
      const int64_t first = shift >= 0 ? 0 : (-shift + block - 1) / block;
      const int64_t size = image.dims()[i];
      const int64_t end = size - shift <= 0 ? 0 : (size - shift + block - 1) / block;
      dims[i] = std::max<int64_t>(0, std::min(end, batch.dims()[i]) - first);
      image_offset += (first * block + shift) * is[i];
      batch_offset += first * bs[i];
      of_image[i] = is[i] * block;
    }
    if (to_batch) {
      copies.emplace_back(dims, of_image, of_batch, image_offset, batch_offset);
    } else {
      copies.emplace_back(dims, of_batch, of_image, batch_offset, image_offset);
    }
  }
  const int64_t n = p.output_shape(0).num_elements();
  const DType dtype = p.input_dtype(0);
  return MakeKernel([copies, n, dtype](RunContext& run) {
    if (to_batch) {
      VisitStorage(dtype, [&]<typename T>() { std::fill_n(run.output<T>(0), n, T()); });
    }
    for (const StridedCopy& copy : copies) copy.Run(dtype, run.input(0), run.output(0));
    return absl::OkStatus();
  });
}

const OpRegistration depth_to_space({
    .name = "DepthToSpace",
    .inputs = "input: T",
    .outputs = "output: T",
    .attrs = "T: type; block_size: int; data_format: string = NHWC",
    .shape = DepthToSpaceShape,
    .reference = DepthToSpace,
});

const OpRegistration space_to_depth({
    .name = "SpaceToDepth",
    .inputs = "input: T",
    .outputs = "output: T",
    .attrs = "T: type; block_size: int; data_format: string = NHWC",
    .shape = SpaceToDepthShape,
    .reference = SpaceToDepth,
});

const OpRegistration space_to_batch_nd({
    .name = "SpaceToBatchND",
    .inputs = "input: T, block_shape: Tblock_shape, paddings: Tpaddings",
    .outputs = "output: T",
    .attrs = "T: type; Tblock_shape: type = int32; Tpaddings: type = int32",
    .types = "Tblock_shape: int32 int64; Tpaddings: int32 int64",
    .shape = BatchSpaceShape<true>,
    .reference = BatchSpace<true>,
});

const OpRegistration batch_to_space_nd({
    .name = "BatchToSpaceND",
    .inputs = "input: T, block_shape: Tblock_shape, crops: Tcrops",
    .outputs = "output: T",
    .attrs = "T: type; Tblock_shape: type = int32; Tcrops: type = int32",
    .types = "Tblock_shape: int32 int64; Tcrops: int32 int64",
    .shape = BatchSpaceShape<false>,
    .reference = BatchSpace<false>,
});

const OpRegistration space_to_batch({
    .name = "SpaceToBatch",
    .inputs = "input: T, paddings: Tpaddings",
    .outputs = "output: T",
    .attrs = "T: type; Tpaddings: type = int32; block_size: int",
    .types = "Tpaddings: int32 int64",
    .shape = BatchSpaceShape<true>,
    .reference = BatchSpace<true>,
});

const OpRegistration batch_to_space({
    .name = "BatchToSpace",
    .inputs = "input: T, crops: Tidx",
    .outputs = "output: T",
    .attrs = "T: type; block_size: int; Tidx: type = int32",
    .types = "Tidx: int32 int64",
    .shape = BatchSpaceShape<false>,
    .reference = BatchSpace<false>,
});

}  // namespace
}  // namespace tenon
