// The loops behind FindPhiloxCode, compiled for each instruction set.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/random/philox_simd.cc"
#include "kernels/random/philox_simd.h"

#include "hwy/foreach_target.h"  // must come before highway.h
#include "hwy/highway.h"
#include "kernels/random/philox.h"
#include "kernels/simd/math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace tenon {
namespace HWY_NAMESPACE {

using WideTag = hn::ScalableTag<uint64_t>;
using WordTag = hn::Repartition<uint32_t, WideTag>;
using Vw = hn::Vec<WideTag>;

// The product of the low halves of 64-bit lanes.
HWY_INLINE Vw MulLow(Vw a, Vw b) {
  const WordTag d;
  return hn::MulEven(hn::BitCast(d, a), hn::BitCast(d, b));
}

// Each lane holds 32 bits of one block; what is above them is ignored. Lanes of a vector are in an
// order in which joining the lower and the upper halves of pairs of vectors gives blocks in
// sequence: the even lanes come first.
void FillWords(const PhiloxBlocks& from, size_t blocks, uint32_t* words) {
  const WideTag d;
  const size_t lanes = hn::Lanes(d);
  HWY_ALIGN uint64_t order[hn::MaxLanes(d)];
  for (size_t i = 0; i < lanes; ++i) order[i] = (i / 2 + i % 2 * lanes / 2) * from.step;
  const Vw first = hn::Add(hn::Set(d, from.low), hn::Load(d, order));
  const Vw high = hn::Set(d, from.high), high_top = hn::ShiftRight<32>(high);
  const Vw m0 = hn::Set(d, 0xD2511F53), m1 = hn::Set(d, 0xCD9E8D57);
  const Vw low_half = hn::Set(d, 0xFFFFFFFF);
  for (size_t b = 0; b < blocks; b += lanes) {
    const Vw low = hn::Add(first, hn::Set(d, b * from.step));
    Vw x0 = low, x1 = hn::ShiftRight<32>(low), x2 = high, x3 = high_top;
    uint32_t k0 = from.key[0], k1 = from.key[1];
    for (int round = 0; round < Philox::kRounds; ++round) {
      const Vw p = MulLow(m0, x0), q = MulLow(m1, x2);
      x0 = hn::Xor(hn::Xor(hn::ShiftRight<32>(q), x1), hn::Set(d, k0));
      x1 = q;
      x2 = hn::Xor(hn::Xor(hn::ShiftRight<32>(p), x3), hn::Set(d, k1));
      x3 = p;
      k0 += Philox::kWeyl[0];
      k1 += Philox::kWeyl[1];
    }
    const Vw left = hn::Or(hn::And(x0, low_half), hn::ShiftLeft<32>(x1));
    const Vw right = hn::Or(hn::And(x2, low_half), hn::ShiftLeft<32>(x3));
    uint64_t* const to = reinterpret_cast<uint64_t*>(words + 4 * b);
    hn::StoreU(hn::InterleaveLower(d, left, right), d, to);
    hn::StoreU(hn::InterleaveUpper(d, left, right), d, to + lanes);
  }
}

using BitsTag = hn::RebindToUnsigned<FloatTag>;

HWY_INLINE Vf Unit(hn::Vec<BitsTag> bits) {
  const BitsTag d;
  const auto word = hn::Or(hn::And(bits, hn::Set(d, 0x7FFFFF)), hn::Set(d, uint32_t{127} << 23));
  return hn::Sub(hn::BitCast(FloatTag(), word), Const(1.0f));
}

void Uniform(const uint32_t* words, size_t n, float* out) {
  const size_t lanes = hn::Lanes(FloatTag());
  for (size_t i = 0; i < n; i += lanes) {
    hn::StoreU(Unit(hn::LoadU(BitsTag(), words + i)), FloatTag(), out + i);
  }
}

void Normal(const uint32_t* words, size_t n, float* out) {
  const FloatTag d;
  const size_t lanes = hn::Lanes(d);
  for (size_t i = 0; i < n; i += 2 * lanes) {
    hn::Vec<BitsTag> radius, angle;
    hn::LoadInterleaved2(BitsTag(), words + i, radius, angle);
    const Vf u = hn::Max(Unit(radius), Const(1e-7f));
    const Vf v = hn::Mul(Const(static_cast<float>(2 * 3.14159265358979323846)), Unit(angle));
    const Vf log = LogOfNormal(u, hn::Zero(d));
    const Vf scale = hn::Sqrt(hn::Mul(Const(-2.0f), log));
#if HWY_TARGET <= HWY_AVX2
    const Vf sine = SineOrCosine<false>::Reduced(v), cosine = SineOrCosine<true>::Reduced(v);
#else
    const Vf sine = Sin(v), cosine = Cos(v);
#endif
    hn::StoreInterleaved2(hn::Mul(sine, scale), hn::Mul(cosine, scale), d, out + i);
  }
}

PhiloxCode GetPhiloxCode() { return {&FillWords, &Uniform, &Normal}; }

}  // namespace HWY_NAMESPACE
}  // namespace tenon
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tenon {

HWY_EXPORT(GetPhiloxCode);

PhiloxCode FindPhiloxCode() { return HWY_DYNAMIC_DISPATCH(GetPhiloxCode)(); }

}  // namespace tenon
#endif
