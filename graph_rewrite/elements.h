// Reads constants and attributes, and the elements of small constants that rules create.
#ifndef TENON_GRAPH_REWRITE_ELEMENTS_H_
#define TENON_GRAPH_REWRITE_ELEMENTS_H_

#include <cstdint>
#include <vector>

#include "absl/strings/string_view.h"
#include "graph/graph.h"
#include "graph/tensor.h"

namespace tenon {

class RuleContext;

// All elements of the constant of int32 or int64 at `e`; empty if `e` is none.
std::vector<int64_t> ConstantIntegers(const RuleContext& context, Endpoint e);
// Whether the node has the boolean attribute and it is true.
bool IsTrue(const Node& n, absl::string_view attr);
// Whether `axis` is a constant that names the last of `rank` dimensions.
bool IsLast(const RuleContext& context, Endpoint axis, int rank);

// One element as a double. `t` must be floating.
double FloatElement(const Tensor& t, int64_t i);
void SetFloatElement(Tensor& t, int64_t i, double value);
// Whether all elements equal `value`, within a relative 1e-6 or the dtype's rounding.
bool IsFilledWith(const Tensor& t, double value);

}  // namespace tenon

#endif  // TENON_GRAPH_REWRITE_ELEMENTS_H_
