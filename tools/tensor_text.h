// Describes tensors in text, for people.
#ifndef TENON_TOOLS_TENSOR_TEXT_H_
#define TENON_TOOLS_TENSOR_TEXT_H_

#include <string>
#include <vector>

#include "graph/tensor.h"

namespace tenon {

// The elements as doubles; empty for strings and complex numbers.
std::vector<double> ToDoubles(const Tensor& t);

// "logits: float [1,1000]  min -3.2  max 8.1  mean 0.02  first: 0.1 0.2 …"; for a batch of class
// scores, also the five best classes of the first rows.
std::string DescribeTensor(const std::string& name, const Tensor& t);

}  // namespace tenon

#endif  // TENON_TOOLS_TENSOR_TEXT_H_
