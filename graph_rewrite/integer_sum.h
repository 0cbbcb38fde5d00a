// What an element of an integer tensor is as a sum: a constant and multiples of numbers that are
// only known when the graph runs, such as sizes. Graphs compute paddings and crops by such sums.
#ifndef TENON_GRAPH_REWRITE_INTEGER_SUM_H_
#define TENON_GRAPH_REWRITE_INTEGER_SUM_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "graph_rewrite/context.h"

namespace tenon {

// A number that is only known when the graph runs: the size of a tensor's axis, or an element, in
// row-major order, of an integer tensor.
struct IntegerTerm {
  enum Kind { kSize, kElement } kind = kElement;
  Endpoint tensor;
  int64_t index = 0;  // the axis, or the element
  int64_t times = 1;  // not 0

  bool SameNumber(const IntegerTerm& other) const {
    return kind == other.kind && tensor == other.tensor && index == other.index;
  }
};

struct IntegerSum {
  int64_t constant = 0;
  std::vector<IntegerTerm> terms;

  // Adds `times` times `other`. False on an overflow, or if the sum has too many terms.
  bool Add(const IntegerSum& other, int64_t times);
};

// Element `index` of the tensor at `e`, in row-major order. Nullopt if it cannot be said.
std::optional<IntegerSum> ElementSum(RuleContext& context, Endpoint e, int64_t index);
// The size of axis `axis` of the tensor at `e`.
IntegerSum SizeSum(RuleContext& context, Endpoint e, int axis);
// Whether `sum` is a multiple of `divisor`, which is positive, whatever the unknown numbers are.
bool IsMultipleOf(RuleContext& context, const IntegerSum& sum, int64_t divisor);
// Whether no unknown number can make `sum` negative.
bool IsNotNegative(RuleContext& context, const IntegerSum& sum);

}  // namespace tenon

#endif  // TENON_GRAPH_REWRITE_INTEGER_SUM_H_
