// Rearranges blocks of pixels into channels or batch entries. Each is one strided copy, or one per
// position in a block; any dtype.
#ifndef TENON_KERNELS_LAYOUT_BLOCKS_H_
#define TENON_KERNELS_LAYOUT_BLOCKS_H_

#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "kernels/interface/kernel.h"

namespace tenon {

// The block size and the axes of height, width and channels.
struct BlockLayout {
  int64_t block;
  int h, w, c;  // axes
};

// Reads block_size and data_format. InvalidArgument for a size below 2, Unimplemented for formats
// other than NHWC and NCHW.
absl::StatusOr<BlockLayout> ReadBlockLayout(const AttrReader& attrs);

// [n, h, w, block * block * c] to [n, h * block, w * block, c], or the same for NCHW.
absl::StatusOr<std::unique_ptr<Kernel>> DepthToSpaceKernel(PrepareContext& p);

// The inverse of DepthToSpaceKernel.
absl::StatusOr<std::unique_ptr<Kernel>> SpaceToDepthKernel(PrepareContext& p);

// Block sizes, and the padding or cropping before and after each blocked dimension.
struct Blocks {
  std::vector<int64_t> size;
  std::vector<int64_t> before;
  std::vector<int64_t> after;
  int64_t product = 1;
};

// No tensor has blocks or margins beyond this; below, their sums do not overflow.
inline constexpr int64_t kLargestBlocks = int64_t{1} << 40;

// For a tensor with that rank, from the values of both inputs. InvalidArgument if they do not
// match.
absl::StatusOr<Blocks> ReadBlocks(const Tensor& sizes, const Tensor& margins, int rank);

// The block sizes and margins: inputs, or an attribute that means square blocks of two dimensions.
// Null: not known.
struct BlockArgs {
  Tensor square;
  const Tensor* sizes = nullptr;
  const Tensor* margins = nullptr;
  bool known() const { return sizes != nullptr && margins != nullptr; }
};

// Reads the inputs of a ShapeContext or PrepareContext.
template <typename Context>
absl::StatusOr<BlockArgs> FindBlockArgs(Context& c) {
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

// Every position in a block becomes separate batch entries; paddings are the last input. Block
// sizes are input 1 or an attribute.
absl::StatusOr<std::unique_ptr<Kernel>> SpaceToBatchKernel(PrepareContext& p);
// The inverse; crops are the last input.
absl::StatusOr<std::unique_ptr<Kernel>> BatchToSpaceKernel(PrepareContext& p);

}  // namespace tenon

#endif  // TENON_KERNELS_LAYOUT_BLOCKS_H_
