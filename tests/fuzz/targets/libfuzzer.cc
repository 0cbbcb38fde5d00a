// The entry points that libFuzzer's main calls. The environment variable TENON_FUZZ_TARGET names
// the target; without it, the program lists all.
#include <cstdio>
#include <cstdlib>
#include <new>

#include "tests/fuzz/targets/target.h"

namespace {

const tenon::FuzzTarget* target = nullptr;

}  // namespace

// AddressSanitizer's own operator new ends the program where others throw. What malloc refuses here
// is set by max_allocation_size_mb (tests/fuzz/search.py).
void* operator new(size_t bytes) {
  if (void* const p = std::malloc(bytes); p != nullptr) return p;
  throw std::bad_alloc();
}
void* operator new[](size_t bytes) { return operator new(bytes); }
void* operator new(size_t bytes, const std::nothrow_t&) noexcept { return std::malloc(bytes); }
void* operator new[](size_t bytes, const std::nothrow_t&) noexcept { return std::malloc(bytes); }
void operator delete(void* p) noexcept { std::free(p); }
void operator delete[](void* p) noexcept { std::free(p); }
void operator delete(void* p, size_t) noexcept { std::free(p); }
void operator delete[](void* p, size_t) noexcept { std::free(p); }

extern "C" int LLVMFuzzerInitialize(int*, char***) {
  const char* name = std::getenv("TENON_FUZZ_TARGET");
  if (name != nullptr) target = tenon::FindFuzzTarget(name);
  if (target != nullptr) return 0;
  for (const tenon::FuzzTarget* t : tenon::AllFuzzTargets()) std::puts(t->name);
  std::exit(name == nullptr ? 0 : 1);
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  return target->run(data, size);
}
