// Shuffles rows: RandomShuffle and StatelessShuffle.
#ifndef TENON_KERNELS_RANDOM_SHUFFLE_H_
#define TENON_KERNELS_RANDOM_SHUFFLE_H_

#include <cstdint>

#include "kernels/interface/kernel.h"
#include "kernels/random/philox.h"

namespace tenon {

// The rows of input 0 along its first dimension.
struct ShuffledRows {
  DType dtype = DType::kInvalid;
  int64_t rows = 1;
  int64_t width = 1;

  static ShuffledRows Of(const PrepareContext& p);
  // Shuffles input 0 into output 0. `generator` gives a number for each row but the last.
  void Run(RunContext& run, const Philox& generator) const;
};

}  // namespace tenon

#endif  // TENON_KERNELS_RANDOM_SHUFFLE_H_
