// Memory for the sweep that tells whether a kernel reads or writes what is not its own.
#ifndef TENON_TESTS_SWEEP_MEMORY_H_
#define TENON_TESTS_SWEEP_MEMORY_H_

#include <cstddef>
#include <memory>

#include "absl/status/statusor.h"
#include "graph/tensor.h"

namespace tenon::sweep {

// Fills what malloc and its kin give, and what is freed, with bytes of 0xff: NaN in every floating
// dtype, so that a product with memory that nobody wrote shows even where its weight is 0. Since
// oneDNN allocates through them as well, this reaches its buffers. On from the first call.
void PoisonAllocations();

// A block with 64-byte aligned bytes between two guards. All is 0xff at first.
class Guarded {
 public:
  explicit Guarded(size_t bytes);
  void* data() const { return block_.get() + kGuard; }
  // Nothing was written before or behind the bytes.
  bool Intact() const;

 private:
  static constexpr size_t kGuard = 1024;
  struct Free {
    void operator()(char* p) const;
  };
  size_t bytes_;
  std::unique_ptr<char, Free> block_;
};

// A tensor in guarded memory. Its elements are NaN until they are written.
struct GuardedTensor {
  std::shared_ptr<Guarded> memory;
  Tensor tensor;
};
GuardedTensor AllocateGuarded(DType dtype, const Shape& shape);

}  // namespace tenon::sweep

#endif  // TENON_TESTS_SWEEP_MEMORY_H_
