// The products of a cell's inputs and states with the weights of its gates, which threads share by
// units: each computes those of its units.
#ifndef TENON_KERNELS_SEQUENCE_GATE_PRODUCTS_H_
#define TENON_KERNELS_SEQUENCE_GATE_PRODUCTS_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "kernels/matmul/small_product_simd.h"

namespace tenon {

struct UnitRange {
  size_t begin = 0, end = 0;
};

// The units of one member of a team: whole vectors, except for the last.
inline UnitRange UnitsOfMember(size_t cell, int member, int size) {
  constexpr size_t kTogether = 16;
  const size_t blocks = (cell + kTogether - 1) / kTogether;
  const auto at = [&](int i) {
    return std::min(cell, blocks * static_cast<size_t>(i) / static_cast<size_t>(size) * kTogether);
  };
  return {at(member), at(member + 1)};
}

// Threads for steps of so many multiply-adds: `threads`, or one if a wait at the end of each step
// would take longer than it saves.
inline int ThreadsOfSteps(double multiply_adds, int threads) {
  constexpr double kWorthBarrier = 3e4;  // per thread
  return multiply_adds >= kWorthBarrier * threads ? threads : 1;
}

struct GateWeights {
  size_t terms = 0, gates = 0, cell = 0;
  const float* w = nullptr;  // [terms, gates * cell]
};

// out[rows, gates * cell] = a[rows, terms] * w, in the columns of these units. No size is 0.
inline void MultiplyGates(SmallProductFn multiply, const GateWeights& g, size_t rows,
                          const float* a, UnitRange units, float* out) {
  SmallProduct p;
  p.m = rows;
  p.n = units.end - units.begin;
  p.k = p.a_row = g.terms;
  p.a_column = 1;
  p.b_row = p.out_row = g.gates * g.cell;
  if (p.n == g.cell) {
    p.n = p.b_row;
    return multiply(p, a, g.w, out);
  }
  for (size_t gate = 0; gate < g.gates && p.n > 0; ++gate) {
    const size_t column = gate * g.cell + units.begin;
    multiply(p, a, g.w + column, out + column);
  }
}

}  // namespace tenon

#endif  // TENON_KERNELS_SEQUENCE_GATE_PRODUCTS_H_
