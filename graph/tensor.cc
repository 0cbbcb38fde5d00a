#include "graph/tensor.h"

#include <sys/mman.h>

#include <cstdlib>
#include <new>

#include "env/memory_account.h"
#include "env/status.h"
#include "graph/buffer_cache.h"
#include "graph/object.h"

namespace tenon {
namespace {

constexpr size_t kAlignment = 64;
// Large tensors (weights) use huge pages: their first touch costs a third, and contractions have
// fewer TLB misses.
constexpr size_t kHugePage = size_t{2} << 20;
constexpr size_t kHugeBytes = 2 * kHugePage;
// malloc serves blocks up to about this size from a per-thread cache, but aligned allocation never
// does: aligning by hand makes small tensors, and so small eager calls, much cheaper.
constexpr size_t kSmallBytes = 896;

std::shared_ptr<const void> AllocateSmall(size_t rounded) {
  void* block = std::malloc(rounded + kAlignment);
  if (block == nullptr) return nullptr;
  size_t space = rounded + kAlignment;
  void* p = block;
  std::align(kAlignment, rounded, p, space);
  return std::shared_ptr<const void>(p, [block](const void*) { std::free(block); });
}

// `n` constructed elements in `p`, destroyed and freed together.
template <typename T>
std::shared_ptr<const void> Constructed(void* p, int64_t n) {
  auto* elements = static_cast<T*>(p);
  for (int64_t i = 0; i < n; ++i) new (elements + i) T();
  return std::shared_ptr<const void>(p, [elements, n](const void*) {
    for (int64_t i = 0; i < n; ++i) elements[i].~T();
    std::free(elements);
  });
}

size_t AllocatedSize(DType dtype) {
  return HoldsObjects(dtype) ? sizeof(ObjectPtr) : SizeOf(dtype);
}

std::shared_ptr<const void> AllocateBuffer(DType dtype, int64_t n, size_t bytes) {
  const size_t rounded = (bytes + kAlignment) / kAlignment * kAlignment;  // at least one line
  const bool plain = dtype != DType::kString && !HoldsObjects(dtype);
  if (rounded <= kSmallBytes && plain) return AllocateSmall(rounded);
  const bool huge = rounded >= kHugeBytes && plain;
  void* p = nullptr;
  const bool kept = plain && rounded >= BufferCache::kSmallest && rounded <= BufferCache::kLargest;
  if (kept) p = BufferCache::Global().Take(rounded);
  if (p == nullptr) {
    const size_t alignment = huge ? kHugePage : kAlignment;
    if (posix_memalign(&p, alignment, rounded) != 0) {
      BufferCache::Global().Clear();
      if (posix_memalign(&p, alignment, rounded) != 0) return nullptr;
    }
    if (huge) madvise(p, rounded / kHugePage * kHugePage, MADV_HUGEPAGE);  // a hint: may fail
  }
  if (dtype == DType::kString) return Constructed<std::string>(p, n);
  if (HoldsObjects(dtype)) return Constructed<ObjectPtr>(p, n);
  if (kept) {
    return std::shared_ptr<const void>(
        p, [rounded](const void* q) { BufferCache::Global().Give(const_cast<void*>(q), rounded); });
  }
  return std::shared_ptr<const void>(p, [](const void* q) { std::free(const_cast<void*>(q)); });
}

}  // namespace

absl::StatusOr<Tensor> Tensor::Allocate(DType dtype, const Shape& shape) {
  TENON_ASSIGN_OR_RETURN(const int64_t n, shape.CheckedElements());
  const size_t size = AllocatedSize(dtype);
  if (size == 0) return InvalidArgument("dtype ", Name(dtype), " has no elements in memory");
  int64_t bytes;
  if (__builtin_mul_overflow(n, static_cast<int64_t>(size), &bytes) || bytes > (int64_t{1} << 46)) {
    return absl::ResourceExhaustedError(
        absl::StrCat("a ", Name(dtype), " tensor of shape ", shape.ToString(), " is too large"));
  }
  Tensor t;
  if (MemoryCharge::AnyAccount()) {
    absl::StatusOr<MemoryCharge> charge = MemoryCharge::Of(static_cast<size_t>(bytes));
    if (!charge.ok()) {
      return Annotate(charge.status(),
                      absl::StrCat("a ", Name(dtype), " tensor of shape ", shape.ToString()));
    }
    t.buffer_ = (*std::move(charge)).Attach(AllocateBuffer(dtype, n, static_cast<size_t>(bytes)));
  } else {
    t.buffer_ = AllocateBuffer(dtype, n, static_cast<size_t>(bytes));
  }
  if (t.buffer_ == nullptr) {
    return absl::ResourceExhaustedError(
        absl::StrCat("no memory for a ", Name(dtype), " tensor of shape ", shape.ToString()));
  }
  t.dtype_ = dtype;
  t.shape_ = shape;
  t.num_elements_ = n;
  t.data_ = const_cast<void*>(t.buffer_.get());
  t.owned_ = true;
  return t;
}

Tensor Tensor::FromExternal(DType dtype, const Shape& shape, void* data,
                            std::shared_ptr<const void> owner) {
  Tensor t;
  t.dtype_ = dtype;
  t.shape_ = shape;
  t.num_elements_ = shape.num_elements();
  t.data_ = data;
  t.buffer_ = std::move(owner);
  return t;
}

bool Tensor::OwnsAlone() const {
  if (!owned_ || buffer_.use_count() != 1) return false;
  // The count alone is read without ordering; taking and dropping a reference orders the last
  // reader's reads before the next writes.
  const auto reference = buffer_;
  return true;
}

absl::StatusOr<Tensor> Tensor::Reshaped(const Shape& shape) const {
  TENON_ASSIGN_OR_RETURN(const int64_t n, shape.CheckedElements());
  if (n != num_elements_) {
    return InvalidArgument("cannot view shape ", shape_.ToString(), " as ", shape.ToString());
  }
  Tensor t = *this;
  t.shape_ = shape;
  return t;
}

absl::StatusOr<Tensor> Tensor::Clone() const {
  TENON_ASSIGN_OR_RETURN(Tensor t, Allocate(dtype_, shape_));
  if (dtype_ == DType::kString) {
    for (int64_t i = 0; i < num_elements_; ++i) t.data<std::string>()[i] = data<std::string>()[i];
  } else if (HoldsObjects(dtype_)) {
    for (int64_t i = 0; i < num_elements_; ++i) t.data<ObjectPtr>()[i] = data<ObjectPtr>()[i];
  } else if (bytes() > 0) {
    std::memcpy(t.data_, data_, bytes());
  }
  return t;
}

bool Identical(const Tensor& a, const Tensor& b) {
  if (a.dtype() != b.dtype() || a.shape() != b.shape()) return false;
  if (a.SharesBufferWith(b)) return true;
  if (a.dtype() == DType::kString) return a.flat<std::string>() == b.flat<std::string>();
  if (HoldsObjects(a.dtype())) return a.flat<ObjectPtr>() == b.flat<ObjectPtr>();
  return a.bytes() == 0 || std::memcmp(a.raw(), b.raw(), a.bytes()) == 0;
}

absl::StatusOr<std::vector<int64_t>> IntegerValues(const Tensor& t) {
  std::vector<int64_t> out;
  out.reserve(static_cast<size_t>(t.num_elements()));
  if (t.dtype() == DType::kInt32) {
    for (int32_t v : t.flat<int32_t>()) out.push_back(v);
  } else if (t.dtype() == DType::kInt64) {
    for (int64_t v : t.flat<int64_t>()) out.push_back(v);
  } else {
    return InvalidArgument("expected int32 or int64 values, got ", Name(t.dtype()));
  }
  return out;
}

}  // namespace tenon
