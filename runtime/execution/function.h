// The interface of a function that control flow calls (runtime/plan/body.h implements it).
#ifndef TENON_RUNTIME_EXECUTION_FUNCTION_H_
#define TENON_RUNTIME_EXECUTION_FUNCTION_H_

#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "graph/tensor.h"
#include "kernels/interface/kernel.h"

namespace tenon {

class KernelCache;

class Function {
 public:
  virtual ~Function() = default;
  // The results may share memory with the arguments, with constants and with variables.
  virtual absl::StatusOr<std::vector<Tensor>> Call(absl::Span<const Tensor> arguments,
                                                   const Services& services,
                                                   KernelCache& cache) = 0;
};

}  // namespace tenon

#endif  // TENON_RUNTIME_EXECUTION_FUNCTION_H_
