// Draws random problems for the sweep. Each is a line as described in tests/numerics/README.md,
// with type and count attributes written out:
//
//   p: Conv2DBackpropFilter(f32[1,6,8,3], i32[4]=const:(1,1,3,8), f32[1,3,4,8]) T=f32 …
//
// so that a failing line can be run again, shortened by hand, and kept as a case.
#ifndef TENON_TESTS_SWEEP_DRAW_H_
#define TENON_TESTS_SWEEP_DRAW_H_

#include <cstdint>
#include <initializer_list>
#include <random>
#include <string>
#include <vector>

#include "absl/types/span.h"

namespace tenon::sweep {

// Seeded draws: the same seed gives the same problems on every machine.
class Dice {
 public:
  explicit Dice(uint64_t seed) : random_(seed) {}

  int64_t Int(int64_t low, int64_t high) {  // both ends included
    return low + static_cast<int64_t>(random_() % static_cast<uint64_t>(high - low + 1));
  }
  bool OneIn(int64_t n) { return Int(1, n) == 1; }
  template <typename T>
  T Pick(std::initializer_list<T> values) {
    return values.begin()[Int(0, static_cast<int64_t>(values.size()) - 1)];
  }

 private:
  std::mt19937_64 random_;
};

struct Family {
  const char* name;
  std::string (*draw)(Dice&);
};

// Convolutions and their gradients, products, pools, quantized contractions, elementwise ops,
// reductions and softmax.
absl::Span<const Family> Families();
// Attention, normalization, recurrences and Fourier transforms.
absl::Span<const Family> SequenceFamilies();

}  // namespace tenon::sweep

#endif  // TENON_TESTS_SWEEP_DRAW_H_
