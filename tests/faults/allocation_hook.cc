#include "tests/faults/allocation_hook.h"

#include <execinfo.h>
#include <link.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <limits>

// glibc's own functions.
extern "C" {
void* __libc_malloc(size_t bytes);
void* __libc_calloc(size_t n, size_t bytes);
void* __libc_realloc(void* block, size_t bytes);
void* __libc_memalign(size_t alignment, size_t bytes);
void __libc_free(void* block);
}

namespace tenon::faults {
namespace {

constexpr int64_t kNever = std::numeric_limits<int64_t>::max();

std::atomic<bool> counting = false;
std::atomic<int64_t> counted = 0;
std::atomic<int64_t> first_failing = kNever;
std::atomic<int64_t> last_failing = kNever;
std::atomic<int64_t> live = 0;

std::atomic<bool> refused_leaky = false;

struct Range {
  uintptr_t begin = 0, end = 0;
  bool Has(uintptr_t at) const { return at >= begin && at < end; }
};
// The code of libraries.
Range gomp, loader, onednn, leveldb;

int FindLibraries(dl_phdr_info* info, size_t, void*) {
  const auto is = [info](const char* name) {
    return std::strstr(info->dlpi_name, name) != nullptr;
  };
  Range* const range = is("libgomp")      ? &gomp
                       : is("ld-linux")   ? &loader
                       : is("libdnnl")    ? &onednn
                       : is("libleveldb") ? &leveldb
                                          : nullptr;
  if (range == nullptr) return 0;
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    const ElfW(Phdr)& part = info->dlpi_phdr[i];
    if (part.p_type != PT_LOAD || (part.p_flags & PF_X) == 0) continue;
    const uintptr_t begin = info->dlpi_addr + part.p_vaddr;
    *range = {begin, begin + part.p_memsz};
  }
  return 0;
}

// Whether a library that leaks without memory is among the callers.
bool CalledByLeaky() {
  void* frames[32];
  const int n = backtrace(frames, 32);
  for (int i = 0; i < n; ++i) {
    const auto at = reinterpret_cast<uintptr_t>(frames[i]);
    if (onednn.Has(at) || leveldb.Has(at)) return true;
  }
  return false;
}

bool MustFail(const void* caller) {
  if (!counting.load(std::memory_order_relaxed)) return false;
  const auto at = reinterpret_cast<uintptr_t>(caller);
  if (gomp.Has(at) || loader.Has(at)) return false;
  const int64_t n = counted.fetch_add(1) + 1;
  return n >= first_failing.load() && n <= last_failing.load();
}

void* Counted(void* block) {
  if (block != nullptr) live.fetch_add(1, std::memory_order_relaxed);
  return block;
}

}  // namespace

AllocationFault::AllocationFault(int64_t n, Failing failing) {
  dl_iterate_phdr(FindLibraries, nullptr);
  CalledByLeaky();  // the first backtrace allocates
  refused_leaky = false;
  counted = 0;
  first_failing = n;
  last_failing = failing == Failing::kOne ? n : kNever;
  counting = true;
}

int64_t AllocationFault::End() {
  counting = false;
  return counted;
}

int64_t LiveBlocks() { return live; }

bool RefusedLeaky() { return refused_leaky; }

namespace {

// Never inlined: a debugger stops here.
[[gnu::noinline]] void* Refuse() {
  if (CalledByLeaky()) refused_leaky = true;
  errno = ENOMEM;
  return nullptr;
}

}  // namespace
}  // namespace tenon::faults

#define TENON_CALLER __builtin_return_address(0)

extern "C" {

using tenon::faults::Counted;
using tenon::faults::MustFail;
using tenon::faults::Refuse;

void* malloc(size_t bytes) noexcept {
  return MustFail(TENON_CALLER) ? Refuse() : Counted(__libc_malloc(bytes));
}
void* calloc(size_t n, size_t bytes) noexcept {
  return MustFail(TENON_CALLER) ? Refuse() : Counted(__libc_calloc(n, bytes));
}
void* realloc(void* block, size_t bytes) noexcept {
  if (MustFail(TENON_CALLER)) return Refuse();
  void* const moved = __libc_realloc(block, bytes);
  if (block == nullptr) return Counted(moved);
  if (moved == nullptr && bytes == 0) tenon::faults::live.fetch_sub(1, std::memory_order_relaxed);
  return moved;
}
void free(void* block) noexcept {
  if (block != nullptr) tenon::faults::live.fetch_sub(1, std::memory_order_relaxed);
  __libc_free(block);
}
void* memalign(size_t alignment, size_t bytes) noexcept {
  return MustFail(TENON_CALLER) ? Refuse() : Counted(__libc_memalign(alignment, bytes));
}
void* aligned_alloc(size_t alignment, size_t bytes) noexcept {
  return MustFail(TENON_CALLER) ? Refuse() : Counted(__libc_memalign(alignment, bytes));
}
int posix_memalign(void** block, size_t alignment, size_t bytes) noexcept {
  if (MustFail(TENON_CALLER)) return Refuse(), ENOMEM;
  *block = Counted(__libc_memalign(alignment, bytes));
  return *block == nullptr ? ENOMEM : 0;
}

void* mmap(void* at, size_t bytes, int protection, int flags, int fd, off_t offset) noexcept {
  if (MustFail(TENON_CALLER)) return Refuse(), MAP_FAILED;
  return reinterpret_cast<void*>(syscall(SYS_mmap, at, bytes, protection, flags, fd, offset));
}
void* mmap64(void* at, size_t bytes, int protection, int flags, int fd, off_t offset) noexcept {
  if (MustFail(TENON_CALLER)) return Refuse(), MAP_FAILED;
  return reinterpret_cast<void*>(syscall(SYS_mmap, at, bytes, protection, flags, fd, offset));
}

}  // extern "C"
