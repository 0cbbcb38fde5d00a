#include "kernels/random/philox.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>

#include "env/round_up.h"
#include "kernels/interface/parallel.h"
#include "kernels/interface/types.h"
#include "kernels/random/philox_simd.h"
#include "kernels/random/unit_numbers.h"

namespace tenon {
namespace {

// Truncated normals reject samples, so each group of them has its own part of the sequence.
constexpr int64_t kReservedSamples = 256;

template <typename T>
void TruncatedBlock(PhiloxStream stream, T* out) {
  using C = std::conditional_t<std::is_same_v<T, double>, double, float>;
  for (int filled = 0; filled < kPerBlock<T>;) {
    std::array<C, 2> pair;
    const uint32_t a = stream.Next(), b = stream.Next();
    if constexpr (std::is_same_v<T, double>) {
      const uint32_t c = stream.Next(), d = stream.Next();
      pair = BoxMuller(UnitDouble(a, b), UnitDouble(c, d));
    } else {
      pair = BoxMuller(UnitFloat(a), UnitFloat(b));
    }
    for (C v : pair) {
      if (std::abs(v) < C(2) && filled < kPerBlock<T>) out[filled++] = static_cast<T>(v);
    }
  }
}

Philox After(Philox generator, uint64_t blocks) {
  generator.Skip(blocks);
  return generator;
}

// Numbers are made in chunks of so many blocks, which stay in the innermost cache.
constexpr int64_t kChunkBlocks = 256;
constexpr size_t kChunkWords = 4 * kChunkBlocks;

// Blocks first, first + step ... of the generator; of the last vector some more.
void FillWords(const PhiloxCode& code, const Philox& generator, uint64_t first, uint64_t step,
               int64_t blocks, uint32_t* words) {
  const Philox start = After(generator, first);
  const uint64_t n = RoundUp(static_cast<size_t>(blocks), kBlocksTogether);
  if (start.low_counter() + n * step >= start.low_counter()) {
    code.words({start.low_counter(), start.high_counter(), step, {start.key()[0], start.key()[1]}},
               n, words);
    return;
  }
  for (int64_t i = 0; i < blocks; ++i) {
    const Philox::Block x = After(start, static_cast<uint64_t>(i) * step).Next();
    std::copy(x.begin(), x.end(), words + 4 * i);
  }
  std::fill_n(words + 4 * blocks, 4 * (n - static_cast<uint64_t>(blocks)), 0);
}

// make(first block, number of blocks, numbers) for chunks of the numbers that belong to n elements,
// `ns` each. It makes all numbers of these blocks.
template <typename T, typename F>
void ForChunks(T* out, int64_t n, double ns, int threads, const F& make) {
  constexpr int64_t kPerChunk = kChunkBlocks * kPerBlock<T>;
  const int64_t chunks = (n + kPerChunk - 1) / kPerChunk;
  ParallelFor(threads, chunks, ParallelGrain(ns * kPerChunk), [&](int64_t begin, int64_t end) {
    alignas(64) T numbers[kPerChunk];
    for (int64_t chunk = begin; chunk < end; ++chunk) {
      const int64_t left = std::min(kPerChunk, n - chunk * kPerChunk);
      make(static_cast<uint64_t>(chunk * kChunkBlocks), (left + kPerBlock<T> - 1) / kPerBlock<T>,
           numbers);
      std::copy_n(numbers, left, out + chunk * kPerChunk);
    }
  });
}

template <typename T, typename F>
void ForBlocks(const uint32_t* words, int64_t blocks, T* out, const F& make) {
  for (int64_t i = 0; i < blocks; ++i) make(words + 4 * i, out + i * kPerBlock<T>);
}

// Normal floats as vector code makes them, rounded to T.
template <typename T>
void NormalChunk(const PhiloxCode& code, const uint32_t* words, int64_t blocks, T* out) {
  if constexpr (std::is_same_v<T, double>) {
    ForBlocks(words, blocks, out, NormalBlock<T>);
  } else {
    alignas(64) float normal[kChunkWords];
    code.normal(words, 4 * RoundUp(static_cast<size_t>(blocks), kBlocksTogether), normal);
    std::transform(normal, normal + 4 * blocks, out, [](float v) { return static_cast<T>(v); });
  }
}

// Groups [first, first + groups): of the numbers of a group's first two blocks, those within 2.
// Where there are too few, or the vector code's rounding errors could decide, a group is made anew.
template <typename T>
void TruncatedChunk(const PhiloxCode& code, const Philox& generator, uint64_t first, int64_t groups,
                    T* out) {
  constexpr uint64_t kReserved = kPerBlock<T> * kReservedSamples / 4;
  const auto own = [&](int64_t group) {
    return PhiloxStream(After(generator, (first + static_cast<uint64_t>(group)) * kReserved));
  };
  if constexpr (std::is_same_v<T, double>) {
    for (int64_t g = 0; g < groups; ++g) TruncatedBlock(own(g), out + g * kPerBlock<T>);
  } else {
    constexpr float kMargin = 1e-5f;
    alignas(64) uint32_t words[kChunkWords];
    alignas(64) float numbers[2][kChunkWords];
    for (uint64_t block = 0; block < 2; ++block) {
      FillWords(code, generator, first * kReserved + block, kReserved, groups, words);
      NormalChunk(code, words, groups, numbers[block]);
    }
    for (int64_t g = 0; g < groups; ++g, out += 4) {
      const float* const v = numbers[0] + 4 * g;
      const float most = std::max({std::abs(v[0]), std::abs(v[1]), std::abs(v[2]), std::abs(v[3])});
      if (most < 2 - kMargin) {
        for (int i = 0; i < 4; ++i) out[i] = static_cast<T>(v[i]);
        continue;
      }
      int filled = 0;
      bool near = false;
      for (int i = 0; i < 8 && filled < 4; ++i) {
        const float x = numbers[i / 4][4 * g + i % 4], size = std::abs(x);
        near = near || std::abs(size - 2) < kMargin;
        if (size < 2) out[filled++] = static_cast<T>(x);
      }
      if (filled < 4 || near) TruncatedBlock(own(g), out);
    }
  }
}

// x % n of 32-bit numbers by two multiplications (Lemire, Kaser and Kurz, "Faster remainder by
// direct computation").
class Remainder {
 public:
  explicit Remainder(uint32_t n) : n_(n), reciprocal_(~uint64_t{0} / n + 1) {}
  uint32_t operator()(uint32_t x) const {
    __extension__ using Wide = unsigned __int128;
    return static_cast<uint32_t>((static_cast<Wide>(reciprocal_ * x) * n_) >> 64);
  }

 private:
  const uint64_t n_, reciprocal_;
};

// A number below n, at least 1, of those that `draw` returns.
template <typename U, typename Draw>
U Below(U n, const Draw& draw) {
  if ((n & (n - 1)) == 0) return draw() & (n - 1);
  const U rejected = std::numeric_limits<U>::max() % n + 1;  // the lowest ones
  U x = draw();
  while (x < rejected) x = draw();
  return x % n;
}

}  // namespace

Philox Philox::Of(uint64_t counter_low, uint64_t counter_high, uint64_t key) {
  const auto low = [](uint64_t v) { return static_cast<uint32_t>(v); };
  const auto high = [](uint64_t v) { return static_cast<uint32_t>(v >> 32); };
  return Philox({low(counter_low), high(counter_low), low(counter_high), high(counter_high)},
                {low(key), high(key)});
}

Philox Philox::FromSeeds(uint64_t seed, uint64_t seed2) { return Of(0, seed2, seed); }

Philox Philox::Unpredictable() {
  std::random_device device;
  const auto draw = [&device] { return device() | uint64_t{device()} << 32; };
  const uint64_t seed = draw();
  return FromSeeds(seed, draw());
}

uint32_t PhiloxStream::Next() {
  if (used_ == 4) {
    block_ = generator_.Next();
    used_ = 0;
  }
  return block_[static_cast<size_t>(used_++)];
}

uint64_t PhiloxStream::Next64() {
  const uint32_t low = Next();
  return low | uint64_t{Next()} << 32;
}

float PhiloxStream::NextFloat() { return UnitFloat(Next()); }

uint32_t PhiloxStream::NextBelow(uint32_t n) {
  return Below(n, [this] { return Next(); });
}
uint64_t PhiloxStream::NextBelow(uint64_t n) {
  return Below(n, [this] { return Next64(); });
}

double PhiloxStream::NextDouble() {
  const uint32_t a = Next(), b = Next();
  return UnitDouble(a, b);
}

void FillRandom(Distribution distribution, DType dtype, const Philox& generator, void* out,
                int64_t n, int threads) {
  VisitTypes(Floats{}, dtype, [&]<typename T>() {
    const PhiloxCode code = FindPhiloxCode();
    T* const to = static_cast<T*>(out);
    const bool truncated = distribution == Distribution::kTruncatedNormal;
    const double ns = distribution == Distribution::kUniform ? 0.5 : sizeof(T) == 8 ? 20 : 2;
    ForChunks(to, n, ns, threads, [&](uint64_t first, int64_t blocks, T* numbers) {
      if (truncated) return TruncatedChunk(code, generator, first, blocks, numbers);
      alignas(64) uint32_t words[kChunkWords];
      FillWords(code, generator, first, 1, blocks, words);
      if (distribution == Distribution::kNormal) {
        NormalChunk(code, words, blocks, numbers);
      } else if constexpr (std::is_same_v<T, float>) {
        code.uniform(words, 4 * RoundUp(static_cast<size_t>(blocks), kBlocksTogether), numbers);
      } else {
        ForBlocks(words, blocks, numbers, UniformBlock<T>);
      }
    });
  });
}

void FillRandomInts(DType dtype, const Philox& generator, uint64_t low, uint64_t range, void* out,
                    int64_t n, int threads) {
  const PhiloxCode code = FindPhiloxCode();
  VisitTypes(TypeList<uint32_t, uint64_t>{}, SizeOf(dtype) == 8 ? DType::kUint64 : DType::kUint32,
             [&]<typename T>() {
               ForChunks(static_cast<T*>(out), n, sizeof(T) == 8 ? 3 : 1, threads,
                         [&](uint64_t first, int64_t blocks, T* numbers) {
                           alignas(64) uint32_t words[kChunkWords];
                           FillWords(code, generator, first, 1, blocks, words);
                           std::memcpy(numbers, words, static_cast<size_t>(blocks) * 16);
                           if (range == 0) return;
                           const T base = static_cast<T>(low), size = static_cast<T>(range);
                           const int64_t count = blocks * kPerBlock<T>;
                           if constexpr (sizeof(T) == 4) {
                             const Remainder remainder(size);
                             for (int64_t i = 0; i < count; ++i) {
                               numbers[i] = base + remainder(numbers[i]);
                             }
                           } else {
                             for (int64_t i = 0; i < count; ++i) {
                               numbers[i] = base + numbers[i] % size;
                             }
                           }
                         });
             });
}

}  // namespace tenon
