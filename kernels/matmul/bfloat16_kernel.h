// Kernels of bfloat16 on matrix tiles (bfloat16_tiles.h): products with constant weights, and what
// they share with the convolutions that read windows.
#ifndef TENON_KERNELS_MATMUL_BFLOAT16_KERNEL_H_
#define TENON_KERNELS_MATMUL_BFLOAT16_KERNEL_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "kernels/contraction/fused_ops.h"
#include "kernels/contraction/packed_weights.h"
#include "kernels/contraction/register_chain.h"
#include "kernels/interface/kernel.h"
#include "kernels/matmul/bfloat16_tiles.h"

namespace tenon {

// A fused chain of which nothing is left for another pass.
struct Bfloat16Chain {
  RegisterChain first;
  Bfloat16Last last = Bfloat16Last::kNothing;

  // Pointers are to the whole addend.
  Bfloat16Finish Finish(RunContext& r) const;
};
std::optional<Bfloat16Chain> PlanBfloat16Chain(const PrepareContext& p, const FusedOps& fused);

// The rows of a product: lines of `per_line` rows, and what they read.
struct Bfloat16Work {
  size_t images = 1, lines = 0, per_line = 0;  // of an image
  size_t line_bytes = 0, more_bytes = 0;       // n lines read n * line_bytes + more_bytes
  bool copied = false;                         // a task copies what it reads

  size_t bytes(size_t of) const { return of * line_bytes + more_bytes; }
};

// The part of the rows and columns that a task computes.
struct Bfloat16Part {
  size_t lines = 1, strips = 1;
  size_t line_parts = 0, strip_parts = 0;  // of an image
};
Bfloat16Part ChooseBfloat16Part(const Bfloat16Work& work, const Bfloat16Strips& weights,
                                int threads);
// Of a second-level cache, what the rows that a task reads may take.
inline constexpr size_t kMostRowBytes = 768 * 1024;

// Those of input 1, which is constant and then not read any more.
absl::StatusOr<std::shared_ptr<const PackedWeights>> PackBfloat16Weights(
    PrepareContext& p, const Bfloat16Strips& strips, int threads);

// Computes the parts of a result by tasks, each on tiles.
class Bfloat16TaskKernel : public Kernel {
 public:
  absl::Status Run(RunContext& r) const final;
  std::string Implementation() const final { return "bfloat16 tiles"; }
  size_t scratch_bytes() const { return static_cast<size_t>(threads_) * TaskBytes(); }

 protected:
  Bfloat16TaskKernel(const Bfloat16Work& work, const Bfloat16Strips& strips,
                     std::shared_ptr<const PackedWeights> weights, const Bfloat16Chain& chain,
                     int threads);

  // The weights, strips, result and finish of the task; its rows are still to be set.
  Bfloat16Product ProductOf(RunContext& r, size_t task) const;
  // The scratch memory of a thread.
  virtual size_t TaskBytes() const = 0;
  virtual void Compute(RunContext& r, size_t task, char* scratch) const = 0;

  const Bfloat16Work work_;
  const Bfloat16Strips strips_;
  const Bfloat16Part part_;

 private:
  int64_t NumTasks() const {
    return static_cast<int64_t>(work_.images * part_.line_parts * part_.strip_parts);
  }

  const int threads_;
  const std::shared_ptr<const PackedWeights> weights_;
  const Bfloat16Chain chain_;
};

// out[rows, columns] = chain(a[rows, terms] * w[terms, columns]), where a is input 0 and w input 1.
struct Bfloat16Dense {
  size_t rows = 0, terms = 0, columns = 0;
  bool transposed = false;  // w is [columns, terms] in memory
  // Where rows of a begin (elements), if they do not follow each other.
  std::vector<size_t> places;

  double flops() const {
    return 2.0 * static_cast<double>(rows) * static_cast<double>(terms) *
           static_cast<double>(columns);
  }
};
// Unimplemented if the CPU has no tiles, or for other dtypes, weights that are not constant, and
// other chains.
absl::StatusOr<std::unique_ptr<Kernel>> Bfloat16DenseKernel(PrepareContext& p,
                                                            Bfloat16Dense product,
                                                            const FusedOps& fused);

}  // namespace tenon

#endif  // TENON_KERNELS_MATMUL_BFLOAT16_KERNEL_H_
