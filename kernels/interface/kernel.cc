#include "kernels/interface/kernel.h"

namespace tenon {

const Tensor* PrepareContext::value(int i) {
  const Tensor* v = inputs_[static_cast<size_t>(i)].value;
  if (v != nullptr) value_inputs_.push_back(i);
  return v;
}

}  // namespace tenon
