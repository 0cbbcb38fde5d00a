// Access to the elements of small floating tensors of any dtype: constants that rules read or
// create.
#ifndef TENON_GRAPH_REWRITE_ELEMENTS_H_
#define TENON_GRAPH_REWRITE_ELEMENTS_H_

#include <cstdint>

#include "graph/tensor.h"

namespace tenon {

// One element as a double. `t` must be floating.
double FloatElement(const Tensor& t, int64_t i);
void SetFloatElement(Tensor& t, int64_t i, double value);
// Whether all elements equal `value`, within a relative 1e-6 or the dtype's rounding.
bool IsFilledWith(const Tensor& t, double value);

}  // namespace tenon

#endif  // TENON_GRAPH_REWRITE_ELEMENTS_H_
