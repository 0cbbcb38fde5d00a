#include "tests/sweep/memory.h"

#include <malloc.h>

#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <cstring>

// glibc's own names of the functions replaced here.
extern "C" {
void* __libc_malloc(size_t);
void* __libc_memalign(size_t, size_t);
void __libc_free(void*);
}

namespace {

constexpr int kPoison = 0xff;
std::atomic<bool> poison{false};

void* Poisoned(void* p) {
  if (p != nullptr && poison.load(std::memory_order_relaxed)) {
    std::memset(p, kPoison, malloc_usable_size(p));
  }
  return p;
}

}  // namespace

// The program's definitions also serve the libraries that it links, if they are visible.
#pragma GCC visibility push(default)
extern "C" {
void* malloc(size_t n) { return Poisoned(__libc_malloc(n)); }
void* memalign(size_t alignment, size_t n) { return Poisoned(__libc_memalign(alignment, n)); }
void* aligned_alloc(size_t alignment, size_t n) { return memalign(alignment, n); }
int posix_memalign(void** p, size_t alignment, size_t n) {
  *p = memalign(alignment, n);
  return *p == nullptr ? ENOMEM : 0;
}
void free(void* p) {
  Poisoned(p);
  __libc_free(p);
}
}
#pragma GCC visibility pop

namespace tenon::sweep {

void PoisonAllocations() { poison = true; }

Guarded::Guarded(size_t bytes)
    : bytes_(bytes), block_(static_cast<char*>(memalign(64, bytes + 2 * kGuard))) {
  std::memset(block_.get(), kPoison, bytes + 2 * kGuard);
}

void Guarded::Free::operator()(char* p) const { free(p); }

bool Guarded::Intact() const {
  for (size_t i = 0; i < kGuard; ++i) {
    const auto untouched = [](char c) { return static_cast<unsigned char>(c) == kPoison; };
    if (!untouched(block_.get()[i]) || !untouched(block_.get()[kGuard + bytes_ + i])) return false;
  }
  return true;
}

GuardedTensor AllocateGuarded(DType dtype, const Shape& shape) {
  const size_t bytes = static_cast<size_t>(shape.num_elements()) * SizeOf(dtype);
  auto memory = std::make_shared<Guarded>(bytes);
  return {memory, Tensor::FromExternal(dtype, shape, memory->data(), memory)};
}

}  // namespace tenon::sweep
