#include "kernels/layout/blocks.h"

#include <algorithm>
#include <vector>

#include "env/status.h"
#include "kernels/interface/axis.h"
#include "kernels/interface/late_kernel.h"
#include "kernels/interface/types.h"
#include "kernels/layout/strided_copy.h"

namespace tenon {
namespace {

// `deep` has block * block times the channels of `wide`. In both, the element at (n, h, w, bh, bw,
// c) is pixel (h * block + bh, w * block + bw), channel c, of `wide`.
absl::StatusOr<std::unique_ptr<Kernel>> Trade(PrepareContext& p, const Shape& deep,
                                              const Shape& wide, bool deep_to_wide) {
  TENON_ASSIGN_OR_RETURN(const BlockLayout l, ReadBlockLayout(p.attrs()));
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
  // The loop order is the destination's: channels innermost for NHWC, pixels for NCHW.
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

enum class Direction { kToBatch, kFromBatch };

// For every position k in a block, the pixels k, k + block ... are one strided copy between a batch
// entry and the image; pixels in the margin are left out.
absl::StatusOr<std::unique_ptr<Kernel>> BatchSpace(PrepareContext& p, Direction direction,
                                                   KernelFactory late) {
  const bool to_batch = direction == Direction::kToBatch;
  std::vector<int> parameters;
  for (int i = 1; i < p.num_inputs(); ++i) parameters.push_back(i);
  TENON_ASSIGN_OR_RETURN(BlockArgs args, FindBlockArgs(p));
  if (args.square.valid()) args.sizes = &args.square;
  if (!args.known()) return PrepareLate(p, late, parameters);
  for (int i : parameters) p.InputNotRead(i);
  TENON_ASSIGN_OR_RETURN(const Blocks b,
                         ReadBlocks(*args.sizes, *args.margins, p.input_shape(0).rank()));
  const Shape& image = to_batch ? p.input_shape(0) : p.output_shape(0);
  const Shape& batch = to_batch ? p.output_shape(0) : p.input_shape(0);
  const std::vector<int64_t> is = DenseStrides(image), bs = DenseStrides(batch);
  std::vector<StridedCopy> copies;
  // An empty output may have any number of blocks.
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
  return MakeKernel([copies, n, dtype, to_batch](RunContext& run) {
    if (to_batch) {
      VisitStorage(dtype, [&]<typename T>() { std::fill_n(run.output<T>(0), n, T()); });
    }
    for (const StridedCopy& copy : copies) copy.Run(dtype, run.input(0), run.output(0));
    return absl::OkStatus();
  });
}

}  // namespace

absl::StatusOr<BlockLayout> ReadBlockLayout(const AttrReader& attrs) {
  TENON_ASSIGN_OR_RETURN(const int64_t block, attrs.Int("block_size"));
  // Its square must fit as well.
  if (block < 2 || block > INT32_MAX) {
    return InvalidArgument("block_size must be an int32 of at least 2, but is ", block);
  }
  const std::string format = attrs.String("data_format", "NHWC");
  if (format == "NHWC") return BlockLayout{block, 1, 2, 3};
  if (format == "NCHW") return BlockLayout{block, 2, 3, 1};
  return Unimplemented("data_format ", format);
}

absl::StatusOr<std::unique_ptr<Kernel>> DepthToSpaceKernel(PrepareContext& p) {
  return Trade(p, p.input_shape(0), p.output_shape(0), /*deep_to_wide=*/true);
}

absl::StatusOr<std::unique_ptr<Kernel>> SpaceToDepthKernel(PrepareContext& p) {
  return Trade(p, p.output_shape(0), p.input_shape(0), /*deep_to_wide=*/false);
}

absl::StatusOr<Blocks> ReadBlocks(const Tensor& sizes, const Tensor& margins, int rank) {
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
        b.product > kLargestBlocks) {
      return InvalidArgument("a block size of ", b.size[i]);
    }
    for (const int64_t margin : {v[2 * i], v[2 * i + 1]}) {
      if (margin < 0 || margin > kLargestBlocks) {
        return InvalidArgument("paddings and crops must not be negative or huge, but one is ",
                               margin);
      }
    }
    b.before.push_back(v[2 * i]);
    b.after.push_back(v[2 * i + 1]);
  }
  return b;
}

absl::StatusOr<std::unique_ptr<Kernel>> SpaceToBatchKernel(PrepareContext& p) {
  return BatchSpace(p, Direction::kToBatch, SpaceToBatchKernel);
}

absl::StatusOr<std::unique_ptr<Kernel>> BatchToSpaceKernel(PrepareContext& p) {
  return BatchSpace(p, Direction::kFromBatch, BatchToSpaceKernel);
}

}  // namespace tenon
