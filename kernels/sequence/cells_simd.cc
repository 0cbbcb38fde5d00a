// The loops behind FindCellCode, compiled for each instruction set.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/sequence/cells_simd.cc"
#include "kernels/sequence/cells_simd.h"

#include "hwy/foreach_target.h"  // must come before highway.h
#include "hwy/highway.h"
#include "kernels/simd/part-inl.h"

HWY_BEFORE_NAMESPACE();
namespace tenon {
namespace HWY_NAMESPACE {

// f(part, row, unit) for all rows and units, in vectors.
template <class F>
HWY_INLINE void ForUnits(const CellPart& p, F f) {
  for (size_t row = 0; row < p.rows; ++row) {
    ForParts(p.end - p.begin, [&](auto part, size_t at) HWY_ATTR { f(part, row, p.begin + at); });
  }
}

// The sum before a gate's activation, at a column of the products.
template <class Part>
HWY_INLINE Vf GateSum(Part part, const float* from_x, const float* from_h, const float* bias,
                      size_t row, size_t columns, size_t column) {
  const size_t at = row * columns + column;
  return hn::Add(hn::Add(part.Load(from_x + at), part.Load(from_h + at)), part.Load(bias + column));
}

void ComputeLstmGates(const LstmGates& g) {
  const size_t cell = g.part.cell;
  const bool peephole = g.wci != nullptr;
  ForUnits(g.part, [&](auto part, size_t row, size_t unit) HWY_ATTR {
    const size_t at = row * cell + unit;
    auto sum = [&](size_t place) HWY_ATTR {
      return GateSum(part, g.from_x, g.from_h, g.bias, row, 4 * cell, place * cell + unit);
    };
    const Vf before = part.Load(g.cs_prev + at);
    Vf input = sum(g.input), forget = hn::Add(sum(g.forget), Const(g.forget_bias));
    Vf output = sum(g.output);
    if (peephole) {
      input = hn::MulAdd(before, part.Load(g.wci + unit), input);
      forget = hn::MulAdd(before, part.Load(g.wcf + unit), forget);
    }
    const Vf i = Sigmoid(input), f = Sigmoid(forget), ci = Tanh(sum(g.candidate));
    Vf cs = hn::MulAdd(f, before, hn::Mul(i, ci));
    if (g.cell_clip > 0) {
      cs = KeepNaN(cs, hn::Min(hn::Max(cs, Const(-g.cell_clip)), Const(g.cell_clip)));
    }
    if (peephole) output = hn::MulAdd(cs, part.Load(g.wco + unit), output);
    const Vf co = Tanh(cs), o = Sigmoid(output);
    part.Store(i, g.i + at);
    part.Store(cs, g.cs + at);
    part.Store(f, g.f + at);
    part.Store(o, g.o + at);
    part.Store(ci, g.ci + at);
    part.Store(co, g.co + at);
    part.Store(hn::Mul(o, co), g.h + at);
  });
}

void ComputeGruGates(const GruGates& g) {
  const size_t cell = g.part.cell;
  ForUnits(g.part, [&](auto part, size_t row, size_t unit) HWY_ATTR {
    const size_t at = row * cell + unit;
    auto gate = [&](size_t column) HWY_ATTR {
      return Sigmoid(GateSum(part, g.from_x, g.from_h, g.bias, row, 2 * cell, column));
    };
    const Vf r = gate(unit);
    part.Store(r, g.r + at);
    part.Store(gate(cell + unit), g.u + at);
    part.Store(hn::Mul(part.Load(g.h_prev + at), r), g.reset_h + at);
  });
}

void ComputeGruState(const GruState& s) {
  const size_t cell = s.part.cell;
  ForUnits(s.part, [&](auto part, size_t row, size_t unit) HWY_ATTR {
    const size_t at = row * cell + unit;
    const Vf c = Tanh(GateSum(part, s.from_x, s.from_h, s.bias, row, cell, unit));
    const Vf u = part.Load(s.u + at);
    part.Store(c, s.c + at);
    part.Store(hn::MulAdd(u, part.Load(s.h_prev + at), hn::Mul(hn::Sub(Const(1.0f), u), c)),
               s.h + at);
  });
}

CellCode GetCellCode() { return {&ComputeLstmGates, &ComputeGruGates, &ComputeGruState}; }

}  // namespace HWY_NAMESPACE
}  // namespace tenon
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tenon {

HWY_EXPORT(GetCellCode);

CellCode FindCellCode() { return HWY_DYNAMIC_DISPATCH(GetCellCode)(); }

}  // namespace tenon
#endif
