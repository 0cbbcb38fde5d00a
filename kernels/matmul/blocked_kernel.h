// A kernel for many rows and packed weights whose sums are too long for one accumulator.
#ifndef TENON_KERNELS_MATMUL_BLOCKED_KERNEL_H_
#define TENON_KERNELS_MATMUL_BLOCKED_KERNEL_H_

#include <cstdint>
#include <memory>

#include "absl/status/statusor.h"
#include "kernels/contraction/fused_ops.h"
#include "kernels/contraction/tile_chain.h"
#include "kernels/interface/kernel.h"
#include "primitive_cache/weight_panels.h"

namespace tenon {

struct PanelSums {
  int64_t m = 0, n = 0, k = 0;
  WeightPanels panels;
  int threads = 1;
  int input = 0;         // a
  size_t panels_at = 0;  // bytes of the packed weights before the panels
};

// How the output is cut into tasks: blocks of `rows` rows by `column_parts` ranges of strips, which
// are `strip` columns.
struct PartSizes {
  int64_t rows = 0, column_parts = 0, strip = 0;
};
// Task i's part, with no rows if those before it have them all.
OutputPart PartOfTask(const PanelSums& product, const PartSizes& sizes, int64_t task);

// The rows of a, [m, k], where the input is no such matrix.
class RowSource {
 public:
  virtual ~RowSource() = default;
  // to[i * to_row + j] = a[row + i, term + j] for i < rows and j < terms.
  virtual void Copy(const float* input, int64_t row, int64_t rows, int64_t term, int64_t terms,
                    float* to, int64_t to_row) const = 0;
  // Whether the results of row i are row OutputRow(i) of the output, not row i.
  virtual bool Scatters() const { return false; }
  virtual int64_t OutputRow(int64_t row) const { return row; }
};

// The rows of a are those of product.input, which is dense, or come from `rows`; the weights, input
// 1, are packed into `layout`. The output is dense. Requests scratch. Unimplemented if there are no
// loops for the panels.
absl::StatusOr<std::unique_ptr<Kernel>> BlockedKernel(
    PrepareContext& p, const PanelSums& product, std::shared_ptr<const PackedLayout> layout,
    const FusedOps& fused, std::unique_ptr<const RowSource> rows = nullptr);

}  // namespace tenon

#endif  // TENON_KERNELS_MATMUL_BLOCKED_KERNEL_H_
