#include "kernels/random/philox.h"

#include <Eigen/Core>
#include <cmath>
#include <cstring>
#include <random>

#include "kernels/interface/types.h"

namespace tenon {
namespace {

constexpr int kRounds = 10;
constexpr uint32_t kMultiplier[2] = {0xD2511F53, 0xCD9E8D57};
constexpr uint32_t kWeyl[2] = {0x9E3779B9, 0xBB67AE85};
// Truncated normals reject samples, so each output has its own part of the sequence.
constexpr int64_t kReservedSamples = 256;

// Random bits as the fraction of a number in [1, 2), minus 1.
float UnitFloat(uint32_t bits) {
  const uint32_t word = (127u << 23) | (bits & 0x7FFFFF);
  float v;
  std::memcpy(&v, &word, sizeof v);
  return v - 1.0f;
}
double UnitDouble(uint32_t low, uint32_t high) {
  const uint64_t fraction = (static_cast<uint64_t>(low & 0xFFFFF) << 32) | high;
  const uint64_t word = (uint64_t{1023} << 52) | fraction;
  double v;
  std::memcpy(&v, &word, sizeof v);
  return v - 1.0;
}
half UnitHalf(uint32_t bits) {
  const uint16_t word = static_cast<uint16_t>((15u << 10) | (bits & 0x3FF));
  return static_cast<half>(static_cast<float>(Eigen::numext::bit_cast<half>(word)) - 1.0f);
}
bfloat16 UnitBfloat16(uint32_t bits) {
  const uint16_t word = static_cast<uint16_t>((127u << 7) | (bits & 0x7F));
  return static_cast<bfloat16>(static_cast<float>(Eigen::numext::bit_cast<bfloat16>(word)) - 1.0f);
}

// Two normal numbers from two uniform ones (Box-Muller).
template <typename T>
void BoxMuller(T radius, T angle, T out[2]) {
  const T u = std::max(radius, T(1e-7));
  const T v = T(2 * 3.14159265358979323846) * angle;
  const T scale = std::sqrt(T(-2) * std::log(u));
  out[0] = std::sin(v) * scale;
  out[1] = std::cos(v) * scale;
}

template <typename T>
constexpr int kPerBlock = sizeof(T) == 8 ? 2 : 4;

template <typename T>
void UniformBlock(const Philox::Block& x, T* out) {
  for (int i = 0; i < kPerBlock<T>; ++i) {
    const size_t k = static_cast<size_t>(i);
    if constexpr (std::is_same_v<T, double>) {
      out[i] = UnitDouble(x[2 * k], x[2 * k + 1]);
    } else if constexpr (std::is_same_v<T, float>) {
      out[i] = UnitFloat(x[k]);
    } else if constexpr (std::is_same_v<T, half>) {
      out[i] = UnitHalf(x[k]);
    } else {
      out[i] = UnitBfloat16(x[k]);
    }
  }
}

template <typename T>
void NormalBlock(const Philox::Block& x, T* out) {
  if constexpr (std::is_same_v<T, double>) {
    BoxMuller(UnitDouble(x[0], x[1]), UnitDouble(x[2], x[3]), out);
  } else {
    for (size_t i = 0; i < 4; i += 2) {
      float pair[2];
      BoxMuller(UnitFloat(x[i]), UnitFloat(x[i + 1]), pair);
      out[i] = static_cast<T>(pair[0]);
      out[i + 1] = static_cast<T>(pair[1]);
    }
  }
}

template <typename T>
void TruncatedBlock(PhiloxStream& stream, T* out) {
  using C = std::conditional_t<std::is_same_v<T, double>, double, float>;
  for (int filled = 0; filled < kPerBlock<T>;) {
    C pair[2];
    const uint32_t a = stream.Next(), b = stream.Next();
    if constexpr (std::is_same_v<T, double>) {
      const uint32_t c = stream.Next(), d = stream.Next();
      BoxMuller(UnitDouble(a, b), UnitDouble(c, d), pair);
    } else {
      BoxMuller(UnitFloat(a), UnitFloat(b), pair);
    }
    for (C v : pair) {
      if (std::abs(v) < C(2) && filled < kPerBlock<T>) out[filled++] = static_cast<T>(v);
    }
  }
}

// A number below n, at least 1, of those that `draw` returns.
template <typename U, typename Draw>
U Below(U n, const Draw& draw) {
  if ((n & (n - 1)) == 0) return draw() & (n - 1);
  const U rejected = std::numeric_limits<U>::max() % n + 1;  // the lowest ones
  U x = draw();
  while (x < rejected) x = draw();
  return x % n;
}

// make(group, out) writes kPerBlock<T> elements; the last group may be partial.
template <typename T, typename F>
void FillGroups(T* out, int64_t n, F&& make) {
  constexpr int64_t kGroup = kPerBlock<T>;
  T last[kGroup];
  for (int64_t i = 0; i < n; i += kGroup) {
    if (i + kGroup <= n) {
      make(i / kGroup, out + i);
    } else {
      make(i / kGroup, last);
      std::copy_n(last, n - i, out + i);
    }
  }
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

Philox::Block Philox::Next() {
  Block x = counter_;
  Key key = key_;
  for (int round = 0; round < kRounds; ++round) {
    const uint64_t a = uint64_t{kMultiplier[0]} * x[0], b = uint64_t{kMultiplier[1]} * x[2];
    x = {static_cast<uint32_t>(b >> 32) ^ x[1] ^ key[0], static_cast<uint32_t>(b),
         static_cast<uint32_t>(a >> 32) ^ x[3] ^ key[1], static_cast<uint32_t>(a)};
    key = {key[0] + kWeyl[0], key[1] + kWeyl[1]};
  }
  Skip(1);
  return x;
}

void Philox::Skip(uint64_t blocks) {
  const uint64_t low = counter_[0] | uint64_t{counter_[1]} << 32;
  const uint64_t sum = low + blocks;
  counter_[0] = static_cast<uint32_t>(sum);
  counter_[1] = static_cast<uint32_t>(sum >> 32);
  if (sum < low && ++counter_[2] == 0) ++counter_[3];
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
                int64_t n) {
  VisitTypes(Floats{}, dtype, [&]<typename T>() {
    Philox next = generator;
    T* to = static_cast<T*>(out);
    switch (distribution) {
      case Distribution::kUniform:
        return FillGroups(to, n, [&](int64_t, T* o) { UniformBlock(next.Next(), o); });
      case Distribution::kNormal:
        return FillGroups(to, n, [&](int64_t, T* o) { NormalBlock(next.Next(), o); });
      case Distribution::kTruncatedNormal:
        return FillGroups(to, n, [&](int64_t group, T* o) {
          Philox own = generator;
          own.Skip(static_cast<uint64_t>(group * kPerBlock<T> * kReservedSamples / 4));
          PhiloxStream stream(own);
          TruncatedBlock(stream, o);
        });
    }
  });
}

void FillRandomInts(DType dtype, const Philox& generator, uint64_t low, uint64_t range, void* out,
                    int64_t n) {
  Philox next = generator;
  VisitTypes(TypeList<uint32_t, uint64_t>{}, SizeOf(dtype) == 8 ? DType::kUint64 : DType::kUint32,
             [&]<typename T>() {
               FillGroups(static_cast<T*>(out), n, [&](int64_t, T* o) {
                 const Philox::Block x = next.Next();
                 for (size_t i = 0; i < kPerBlock<T>; ++i) {
                   T bits = static_cast<T>(x[i]);
                   if constexpr (sizeof(T) == 8) bits = x[2 * i] | uint64_t{x[2 * i + 1]} << 32;
                   o[i] = range == 0
                              ? bits
                              : static_cast<T>(static_cast<T>(low) + bits % static_cast<T>(range));
                 }
               });
             });
}

}  // namespace tenon
