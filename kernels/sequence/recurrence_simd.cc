// The loops behind FindRecurrentStep, compiled for each instruction set.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/sequence/recurrence_simd.cc"
#include "kernels/sequence/recurrence_simd.h"

#include <algorithm>

#include "hwy/foreach_target.h"  // must come before highway.h
#include "hwy/highway.h"
#include "kernels/simd/part-inl.h"

HWY_BEFORE_NAMESPACE();
namespace tenon {
namespace HWY_NAMESPACE {

// Rows whose sums, for four gates, fit the registers.
constexpr size_t kMostRows = HWY_TARGET <= HWY_AVX3 ? 6 : 3;
// Rows that share a part of the weights while it is in the first-level cache.
constexpr size_t kTileRows = 24;

#if HWY_TARGET <= HWY_AVX2
// Masked lanes are not accessed on these targets.
struct MaskedPart {
  explicit MaskedPart(size_t count) : mask(hn::FirstN(FloatTag(), count)) {}
  HWY_INLINE Vf Load(const float* from) const { return hn::MaskedLoad(mask, FloatTag(), from); }
  HWY_INLINE void Store(Vf v, float* to) const { hn::BlendedStore(v, mask, FloatTag(), to); }
  hn::Mask<FloatTag> mask;
};
#else
using MaskedPart = RestPart;
#endif

HWY_INLINE Vf Activate(const GateActivations& a, size_t gate, Vf x) {
  switch (a.of[gate]) {
    case GateActivation::kSigmoid:
      return Sigmoid(x);
    case GateActivation::kTanh:
      return Tanh(x);
    case GateActivation::kRelu:
      return hn::IfThenZeroElse(hn::Lt(x, hn::Zero(FloatTag())), x);
    case GateActivation::kHardSigmoid: {
      const Vf y = hn::Add(hn::Mul(x, Const(a.alpha)), Const(a.beta));
      return KeepNaN(x, hn::Min(hn::Max(y, hn::Zero(FloatTag())), Const(1.0f)));
    }
    case GateActivation::kLinear:
      break;
  }
  return x;
}

// Within -limit..limit, if there is one.
HWY_INLINE Vf Clip(Vf x, float limit) {
  if (limit == 0) return x;
  return KeepNaN(x, hn::Min(hn::Max(x, Const(-limit)), Const(limit)));
}

// Several sums per result keep the adders busy where there are few results. With AVX-512, groups of
// three rows and more have the same number, so that their bits do not depend on how threads share
// the rows.
constexpr size_t PartsOf(size_t gates, size_t rows) {
  if (HWY_TARGET <= HWY_AVX3 && rows >= 3) return gates == 1 ? 2 : 1;
  const size_t results = rows * gates;
  return results >= 8 ? 1 : results >= 4 ? 2 : results >= 2 ? 4 : 8;
}

// sums[rows, gates, lanes] (+)= a[rows, k] * panel[k, gates, lanes].
template <size_t gates, size_t rows>
HWY_INLINE void AddTerms(const float* HWY_RESTRICT panel, const float* HWY_RESTRICT a, size_t a_row,
                         size_t k, bool first, float* HWY_RESTRICT sums) {
  constexpr size_t kParts = PartsOf(gates, rows);
  const size_t lanes = hn::Lanes(FloatTag());
  Vf sum[kParts * rows * gates];
#pragma GCC unroll 32
  for (size_t i = 0; i < kParts * rows * gates; ++i) sum[i] = hn::Zero(FloatTag());
  size_t at = 0;
  for (; at + kParts <= k; at += kParts) {
#pragma GCC unroll 8
    for (size_t part = 0; part < kParts; ++part) {
      Vf factor[rows];
#pragma GCC unroll 8
      for (size_t r = 0; r < rows; ++r) {
        factor[r] = hn::Set(FloatTag(), a[r * a_row + at + part]);
      }
#pragma GCC unroll 4
      for (size_t g = 0; g < gates; ++g) {
        const Vf w = hn::Load(FloatTag(), panel + ((at + part) * gates + g) * lanes);
#pragma GCC unroll 8
        for (size_t r = 0; r < rows; ++r) {
          Vf& s = sum[(part * rows + r) * gates + g];
          s = hn::MulAdd(factor[r], w, s);
        }
      }
    }
  }
  for (; at < k; ++at) {
#pragma GCC unroll 8
    for (size_t r = 0; r < rows; ++r) {
      const Vf factor = hn::Set(FloatTag(), a[r * a_row + at]);
#pragma GCC unroll 4
      for (size_t g = 0; g < gates; ++g) {
        const Vf w = hn::Load(FloatTag(), panel + (at * gates + g) * lanes);
        sum[r * gates + g] = hn::MulAdd(factor, w, sum[r * gates + g]);
      }
    }
  }
#pragma GCC unroll 32
  for (size_t i = 0; i < rows * gates; ++i) {
    Vf total = sum[i];
#pragma GCC unroll 8
    for (size_t part = 1; part < kParts; ++part) {
      total = hn::Add(total, sum[part * rows * gates + i]);
    }
    if (!first) total = hn::Add(hn::Load(FloatTag(), sums + i * lanes), total);
    hn::Store(total, FloatTag(), sums + i * lanes);
  }
}

template <size_t gates>
HWY_INLINE void AddTermsOf(size_t rows, const float* panel, const float* a, size_t a_row, size_t k,
                           bool first, float* sums) {
  switch (rows) {
    case 1:
      return AddTerms<gates, 1>(panel, a, a_row, k, first, sums);
    case 2:
      return AddTerms<gates, 2>(panel, a, a_row, k, first, sums);
    case 3:
      return AddTerms<gates, 3>(panel, a, a_row, k, first, sums);
#if HWY_TARGET <= HWY_AVX3
    case 4:
      return AddTerms<gates, 4>(panel, a, a_row, k, first, sums);
    case 5:
      return AddTerms<gates, 5>(panel, a, a_row, k, first, sums);
    case 6:
      return AddTerms<gates, 6>(panel, a, a_row, k, first, sums);
#endif
    default:
      return;
  }
}

// The part of `n` that comes next if it is shared evenly among the fewest parts of at most `most`.
constexpr size_t EvenPart(size_t n, size_t most) {
  const size_t parts = (n + most - 1) / most;
  return (n + parts - 1) / parts;
}

// Terms that one accumulator sums: the rounding error of a long sum is that of a short one, and
// weights of so many terms stay in the first-level cache while all rows of a tile use them.
constexpr size_t kSumTerms = 128;

// sums[rows, gates, lanes] = a[rows, k] * panel[k, gates, lanes], for a tile of rows.
template <size_t gates>
HWY_INLINE void Product(size_t rows, const float* panel, const float* a, size_t a_row, size_t k,
                        float* sums) {
  const size_t lanes = hn::Lanes(FloatTag());
  size_t at = 0;
  do {
    const size_t terms = std::min(kSumTerms, k - at);
    for (size_t row = 0; row < rows;) {
      const size_t n = EvenPart(rows - row, kMostRows);
      AddTermsOf<gates>(n, panel + at * gates * lanes, a + row * a_row + at, a_row, terms, at == 0,
                        sums + row * gates * lanes);
      row += n;
    }
    at += terms;
  } while (at < k);
}

// The new state of a row, and the step's result, both subject to the mask.
template <class Part>
HWY_INLINE void Finish(const RecurrentStep& s, Part part, size_t row, size_t unit, Vf h) {
  const size_t at = row * s.width + unit;
  Vf y = h;
  if (s.mask != nullptr && s.mask[row * s.mask_row] == 0) {
    h = part.Load(s.h + at);
    y = s.zero_masked || s.y_before == nullptr ? hn::Zero(FloatTag())
                                               : part.Load(s.y_before + row * s.y_row + unit);
  }
  part.Store(h, s.h_next + at);
  part.Store(y, s.y + row * s.y_row + unit);
}

template <class Part>
HWY_INLINE void LstmGates(const RecurrentStep& s, Part part, size_t row, size_t unit,
                          const float* sums) {
  const size_t lanes = hn::Lanes(FloatTag());
  const float* x = s.x + row * s.x_row + unit;
  auto gate = [&](size_t g) HWY_ATTR {
    return hn::Add(hn::Load(FloatTag(), sums + g * lanes), part.Load(x + g * s.units));
  };
  float* const state = s.c + row * s.units + unit;
  const Vf before = part.Load(state);
  Vf input = gate(0), forget = gate(1), output = gate(3);
  if (s.peephole != nullptr) {
    input = hn::MulAdd(before, part.Load(s.peephole + unit), input);
    forget = hn::MulAdd(before, part.Load(s.peephole + s.units + unit), forget);
  }
  input = Activate(s.activations, 0, input);
  forget = Activate(s.activations, 1, forget);
  const Vf cell = Activate(s.activations, 2, gate(2));
  const Vf after = Clip(hn::MulAdd(forget, before, hn::Mul(input, cell)), s.cell_clip);
  if (s.peephole != nullptr) {
    output = hn::MulAdd(after, part.Load(s.peephole + 2 * s.units + unit), output);
  }
  output = Activate(s.activations, 3, output);
  if (s.mask == nullptr || s.mask[row * s.mask_row] != 0) part.Store(after, state);
  const Vf h = hn::Mul(output, Activate(s.activations, 4, after));
  if (s.projection != nullptr) {
    part.Store(h, s.unprojected + row * s.units + unit);
  } else {
    Finish(s, part, row, unit, h);
  }
}

// update * h + (1 - update) * candidate
HWY_INLINE Vf GruBlend(Vf update, Vf h, Vf candidate) {
  return hn::MulAdd(update, h, hn::Mul(hn::Sub(Const(1.0f), update), candidate));
}

template <class Part>
HWY_INLINE void GruGates(const RecurrentStep& s, Part part, size_t row, size_t unit,
                         const float* sums) {
  const size_t lanes = hn::Lanes(FloatTag());
  const float* x = s.x + row * s.x_row + unit;
  auto sum = [&](size_t g) HWY_ATTR { return hn::Load(FloatTag(), sums + g * lanes); };
  auto input = [&](size_t g) HWY_ATTR { return part.Load(x + g * s.units); };
  const Vf update = Activate(s.activations, 0, hn::Add(sum(0), input(0)));
  const Vf reset = Activate(s.activations, 1, hn::Add(sum(1), input(1)));
  Vf product = sum(2);
  if (s.bias != nullptr) product = hn::Add(product, part.Load(s.bias + unit));
  const Vf candidate = Activate(s.activations, 2, hn::MulAdd(reset, product, input(2)));
  const Vf h = part.Load(s.h + row * s.units + unit);
  Finish(s, part, row, unit, GruBlend(update, h, candidate));
}

template <class Part>
HWY_INLINE void GruFirstGates(const RecurrentStep& s, Part part, size_t row, size_t unit,
                              const float* sums) {
  const size_t lanes = hn::Lanes(FloatTag());
  const float* x = s.x + row * s.x_row + unit;
  const size_t at = row * s.units + unit;
  auto gate = [&](size_t g) HWY_ATTR {
    return Activate(s.activations, g,
                    hn::Add(hn::Load(FloatTag(), sums + g * lanes), part.Load(x + g * s.units)));
  };
  part.Store(gate(0), s.update + at);
  part.Store(hn::Mul(gate(1), part.Load(s.h + at)), s.reset_h + at);
}

template <class Part>
HWY_INLINE void GruLastGate(const RecurrentStep& s, Part part, size_t row, size_t unit,
                            const float* sums) {
  const size_t at = row * s.units + unit;
  const Vf x = part.Load(s.x + row * s.x_row + 2 * s.units + unit);
  const Vf candidate = Activate(s.activations, 2, hn::Add(hn::Load(FloatTag(), sums), x));
  Finish(s, part, row, unit, GruBlend(part.Load(s.update + at), part.Load(s.h + at), candidate));
}

template <class Part>
HWY_INLINE void SimpleGate(const RecurrentStep& s, Part part, size_t row, size_t unit,
                           const float* sums) {
  const Vf x = part.Load(s.x + row * s.x_row + unit);
  Finish(s, part, row, unit, Activate(s.activations, 0, hn::Add(hn::Load(FloatTag(), sums), x)));
}

template <class Part>
HWY_INLINE void ProjectedState(const RecurrentStep& s, Part part, size_t row, size_t unit,
                               const float* sums) {
  Finish(s, part, row, unit, Clip(hn::Load(FloatTag(), sums), s.projection_clip));
}

struct Operand {
  const float* values;  // [rows, width]
  size_t width;
};

// For all rows and blocks of `columns`: the product of `a`, then `finish`(part, row, column, sums).
template <size_t gates, class F>
HWY_INLINE void Blocks(const RecurrentStep& s, const float* weights, Operand a, size_t columns,
                       F finish) {
  const size_t lanes = hn::Lanes(FloatTag());
  HWY_ALIGN float sums[kTileRows * gates * hn::MaxLanes(FloatTag())];
  for (size_t i = s.first_block; i < s.end_block; ++i) {
    const size_t block = s.backward ? s.end_block - 1 - (i - s.first_block) : i;
    const float* panel = weights + block * a.width * gates * lanes;
    const size_t unit = block * lanes;
    for (size_t row = 0; row < s.rows;) {
      const size_t rows = EvenPart(s.rows - row, kTileRows);
      Product<gates>(rows, panel, a.values + row * a.width, a.width, a.width, sums);
      for (size_t r = 0; r < rows; ++r, ++row) {
        const float* own = sums + r * gates * lanes;
        if (unit + lanes <= columns) {
          finish(WholePart(), row, unit, own);
        } else {
          finish(MaskedPart{columns - unit}, row, unit, own);
        }
      }
    }
  }
}

void Step(const RecurrentStep& s, int phase) {
  const size_t lanes = hn::Lanes(FloatTag());
  const Operand h = {s.h, s.width};
  switch (s.cell) {
    case RecurrentCell::kLstm:
      if (phase == 1) {
        return Blocks<1>(s, s.projection, {s.unprojected, s.units}, s.width,
                         [&](auto part, size_t row, size_t unit, const float* sums)
                             HWY_ATTR { ProjectedState(s, part, row, unit, sums); });
      }
      return Blocks<4>(s, s.weights, h, s.units,
                       [&](auto part, size_t row, size_t unit, const float* sums)
                           HWY_ATTR { LstmGates(s, part, row, unit, sums); });
    case RecurrentCell::kGru:
      return Blocks<3>(s, s.weights, h, s.units,
                       [&](auto part, size_t row, size_t unit, const float* sums)
                           HWY_ATTR { GruGates(s, part, row, unit, sums); });
    case RecurrentCell::kGruResetBefore: {
      if (phase == 0) {
        return Blocks<2>(s, s.weights, h, s.units,
                         [&](auto part, size_t row, size_t unit, const float* sums)
                             HWY_ATTR { GruFirstGates(s, part, row, unit, sums); });
      }
      const size_t blocks = (s.units + lanes - 1) / lanes;
      return Blocks<1>(s, s.weights + blocks * s.units * 2 * lanes, {s.reset_h, s.units}, s.units,
                       [&](auto part, size_t row, size_t unit, const float* sums)
                           HWY_ATTR { GruLastGate(s, part, row, unit, sums); });
    }
    case RecurrentCell::kSimple:
      return Blocks<1>(s, s.weights, h, s.units,
                       [&](auto part, size_t row, size_t unit, const float* sums)
                           HWY_ATTR { SimpleGate(s, part, row, unit, sums); });
  }
}

RecurrentCode Code() { return {hn::Lanes(FloatTag()), &Step}; }

}  // namespace HWY_NAMESPACE
}  // namespace tenon
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tenon {
namespace {

// Gates [first, first + count) of `all`.
float* PackGates(size_t width, size_t units, size_t lanes, size_t all, size_t first, size_t count,
                 const float* w, float* to) {
  for (size_t unit = 0; unit < units; unit += lanes) {
    const size_t n = std::min(lanes, units - unit);
    for (size_t k = 0; k < width; ++k) {
      for (size_t g = first; g < first + count; ++g) {
        std::copy_n(w + (k * all + g) * units + unit, n, to);
        std::fill_n(to + n, lanes - n, 0.0f);
        to += lanes;
      }
    }
  }
  return to;
}

}  // namespace

HWY_EXPORT(Code);

RecurrentCode FindRecurrentStep() { return HWY_DYNAMIC_DISPATCH(Code)(); }

size_t PackedRecurrentFloats(RecurrentCell cell, size_t width, size_t units, size_t lanes) {
  return (units + lanes - 1) / lanes * lanes * width * NumGates(cell);
}

void PackRecurrent(RecurrentCell cell, size_t width, size_t units, size_t lanes, const float* w,
                   float* packed) {
  const size_t gates = NumGates(cell);
  const size_t together = cell == RecurrentCell::kGruResetBefore ? 2 : gates;
  packed = PackGates(width, units, lanes, gates, 0, together, w, packed);
  PackGates(width, units, lanes, gates, together, gates - together, w, packed);
}

}  // namespace tenon
#endif
