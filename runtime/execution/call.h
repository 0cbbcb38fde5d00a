// Runs the functions that control flow calls.
#ifndef TENON_RUNTIME_EXECUTION_CALL_H_
#define TENON_RUNTIME_EXECUTION_CALL_H_

#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "graph/tensor.h"
#include "runtime/execution/kernel_cache.h"
#include "runtime/plan/call_form.h"

namespace tenon {

// The results may share memory with the inputs, with constants and with variables.
absl::StatusOr<std::vector<Tensor>> RunCall(const CallForm& form, absl::Span<const Tensor> inputs,
                                            const Services& services, KernelCache& cache);

}  // namespace tenon

#endif  // TENON_RUNTIME_EXECUTION_CALL_H_
