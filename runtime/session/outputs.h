// A session's outputs: their shapes as far as they are known without a run, and the memory that
// callers give for them.
#ifndef TENON_RUNTIME_SESSION_OUTPUTS_H_
#define TENON_RUNTIME_SESSION_OUTPUTS_H_

#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "graph/tensor.h"
#include "runtime/plan/model_state.h"
#include "runtime/session/session.h"

namespace tenon {

// By output; what does not follow from the inputs' shapes is unknown.
std::vector<Shape> InferOutputShapes(const std::shared_ptr<const ModelState>& model,
                                     absl::Span<const TensorInfo> inputs, const Services& services);

// Tensors of the caller that receive outputs.
class CallersOutputs {
 public:
  // `given`: by output, invalid where the caller gives none. InvalidArgument, naming the output, if
  // there are too many, or one has another dtype, shares memory with another, or is a view of
  // strings.
  static absl::StatusOr<CallersOutputs> Create(absl::Span<const Tensor> inputs,
                                               absl::Span<const TensorInfo> outputs,
                                               absl::Span<const Tensor> given);
  // Those that a run may write to: they share no memory with its inputs.
  absl::Span<const Tensor> in_place() const { return in_place_; }
  // Copies the results that are not there yet, and puts the caller's tensors in their place.
  // InvalidArgument, naming the output, if a shape differs; then nothing is copied.
  absl::Status Fill(std::vector<Tensor>& results) const;

 private:
  absl::Span<const TensorInfo> outputs_;
  absl::Span<const Tensor> given_;
  std::vector<Tensor> in_place_;
};

}  // namespace tenon

#endif  // TENON_RUNTIME_SESSION_OUTPUTS_H_
