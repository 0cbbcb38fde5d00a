#include "kernels/interface/kernel.h"

namespace tenon {

PrepareContext::PrepareContext(const Node& node, absl::Span<const TensorSpec> inputs,
                               absl::Span<Constant* const> constants,
                               absl::Span<const TensorSpec> outputs, const Services& services,
                               InferOutputsFn infer_outputs)
    : attrs_(node),
      inputs_(inputs),
      constants_(constants),
      outputs_(outputs),
      services_(services),
      infer_outputs_(infer_outputs) {}

PrepareContext::~PrepareContext() = default;

const Tensor* PrepareContext::value(int i) {
  const Tensor* v = inputs_[static_cast<size_t>(i)].value;
  if (v != nullptr) value_inputs_.push_back(i);
  return v;
}

void PrepareContext::AllowInPlace(int input, int output) { in_place_.push_back({input, output}); }

void PrepareContext::InputNotRead(int i) { unread_.push_back(i); }

}  // namespace tenon
