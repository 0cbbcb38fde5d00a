// Parts of vectors: nothing past the end is read or written, whatever the number of elements.
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstring>
#include <vector>

#include "kernels/pooling/pool_simd.h"

namespace tenon {
namespace {

// Memory whose last byte is followed by a page that may not be accessed.
class GuardedPage {
 public:
  GuardedPage()
      : size_(static_cast<size_t>(sysconf(_SC_PAGESIZE))),
        data_(
            mmap(nullptr, 2 * size_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)) {
    mprotect(static_cast<char*>(data_) + size_, size_, PROT_NONE);
  }
  GuardedPage(const GuardedPage&) = delete;
  ~GuardedPage() { munmap(data_, 2 * size_); }

  // The last n elements.
  template <typename T>
  T* Last(size_t n) const {
    return reinterpret_cast<T*>(static_cast<char*>(data_) + size_ - n * sizeof(T));
  }

 private:
  const size_t size_;
  void* const data_;
};

template <typename T>
T ElementOf(int value);
template <>
float ElementOf(int value) {
  return static_cast<float>(value);
}
template <>
uint16_t ElementOf(int value) {  // bfloat16
  const auto f = static_cast<float>(value);
  uint32_t bits;
  std::memcpy(&bits, &f, sizeof bits);
  return static_cast<uint16_t>(bits >> 16);
}

// The larger of two pixels, and which it is; the pixel before the output stays as it is.
template <typename T>
void ExpectMaximaStayInside(PoolElement element) {
  const PoolLoops loops = FindPoolLoops(element);
  const GuardedPage in, out, places;
  for (size_t channels = 1; channels <= 40; ++channels) {
    SCOPED_TRACE(channels);
    T* const x = in.Last<T>(2 * channels);
    for (size_t c = 0; c < channels; ++c) {
      x[c] = ElementOf<T>(static_cast<int>(c));
      x[channels + c] = ElementOf<T>(c % 3 == 0 ? 100 : -1);
    }
    const PoolTap taps[] = {{0, 4, 0}, {static_cast<int64_t>(channels), 7, 0}};
    const uint32_t begin[] = {0, 2};
    PoolRow row;
    row.taps = taps;
    row.begin = begin;
    row.positions = 1;
    row.channels = channels;
    row.x = x;
    row.out = out.Last<T>(channels);
    row.out_places = places.Last<uint8_t>(channels);
    T* const before = out.Last<T>(channels + 1);
    *before = ElementOf<T>(5);
    loops.maximum(row);
    for (size_t c = 0; c < channels; ++c) {
      const bool second = c % 3 == 0;
      EXPECT_EQ(out.Last<T>(channels)[c], ElementOf<T>(second ? 100 : static_cast<int>(c)));
      EXPECT_EQ(places.Last<uint8_t>(channels)[c], second ? 7 : 4);
    }
    EXPECT_EQ(*before, ElementOf<T>(5));
  }
}

TEST(Tail, PartsOfFloatsStayInside) { ExpectMaximaStayInside<float>(PoolElement::kFloat); }
TEST(Tail, PartsOfBfloat16StayInside) { ExpectMaximaStayInside<uint16_t>(PoolElement::kBfloat16); }

}  // namespace
}  // namespace tenon
