// Elements of small floating tensors, whatever their dtype: constants that rules look at and make.
#ifndef TENON_GRAPH_REWRITE_ELEMENTS_H_
#define TENON_GRAPH_REWRITE_ELEMENTS_H_

#include <cstdint>

#include "graph/tensor.h"

namespace tenon {

// One element as a double. `t` must be floating.
double FloatElement(const Tensor& t, int64_t i);
void SetFloatElement(Tensor& t, int64_t i, double value);
// All elements are `value`, to a relative 1e-6 or as the dtype rounds it.
bool IsFilledWith(const Tensor& t, double value);

}  // namespace tenon

#endif  // TENON_GRAPH_REWRITE_ELEMENTS_H_
