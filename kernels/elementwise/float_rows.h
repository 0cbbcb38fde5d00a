// A kernel over rows of float or bfloat16 whose vector code computes in float: ranges of rows run
// in parallel, and rows of bfloat16 are widened into scratch memory.
#ifndef TENON_KERNELS_ELEMENTWISE_FLOAT_ROWS_H_
#define TENON_KERNELS_ELEMENTWISE_FLOAT_ROWS_H_

#include <cstdint>
#include <string>

#include "absl/strings/str_cat.h"
#include "kernels/elementwise/elementwise.h"
#include "kernels/interface/kernel.h"
#include "kernels/interface/parallel.h"

namespace tenon {

class FloatRowsKernel : public Kernel {
 public:
  // To request in Prepare.
  size_t ScratchBytes() const {
    if (!bfloat16_) return 0;
    const int ranges = ParallelRanges(threads_, rows_, grain_);
    return static_cast<size_t>(ranges * floats_) * sizeof(float);
  }

  absl::Status Run(RunContext& context) const final {
    ParallelForRanges(threads_, rows_, grain_, [&](int range, int64_t begin, int64_t end) {
      if (bfloat16_) {
        RunBfloat16(context, static_cast<float*>(context.scratch()) + range * floats_, begin, end);
      } else {
        RunFloat(context, begin, end);
      }
    });
    return absl::OkStatus();
  }

  std::string Implementation() const final { return absl::StrCat("vector:", VectorTargetName()); }

 protected:
  // `row_ns`: the cost of a row. `floats`: the scratch of a range of rows of bfloat16.
  FloatRowsKernel(int64_t rows, double row_ns, DType dtype, int64_t floats, int threads)
      : rows_(rows),
        floats_(floats),
        grain_(ParallelGrain(row_ns)),
        bfloat16_(dtype == DType::kBfloat16),
        threads_(threads) {}

 private:
  virtual void RunFloat(const RunContext& context, int64_t begin, int64_t end) const = 0;
  virtual void RunBfloat16(const RunContext& context, float* scratch, int64_t begin,
                           int64_t end) const = 0;

  const int64_t rows_, floats_, grain_;
  const bool bfloat16_;
  const int threads_;
};

}  // namespace tenon

#endif  // TENON_KERNELS_ELEMENTWISE_FLOAT_ROWS_H_
