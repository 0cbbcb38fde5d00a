// Guarded memory for the sweep: detects kernels that read or write outside their tensors.
#ifndef TENON_TESTS_SWEEP_MEMORY_H_
#define TENON_TESTS_SWEEP_MEMORY_H_

#include <cstddef>
#include <memory>

#include "absl/status/statusor.h"
#include "graph/tensor.h"

namespace tenon::sweep {

// Fills memory from malloc and related functions, and freed memory, with bytes of 0xff: NaN in
// every floating-point dtype, so that a product with unwritten memory shows even if its weight is
// 0. oneDNN allocates through them as well, so this covers its buffers. On from the first call.
void PoisonAllocations();

// A block of 64-byte aligned bytes between two guards. All bytes are 0xff at first.
class Guarded {
 public:
  explicit Guarded(size_t bytes);
  void* data() const { return block_.get() + kGuard; }
  // Whether nothing was written before or after the bytes.
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
