// Eager: one op at a time, now. The same rows, renames, kernels and kernel cache as in graphs.
//
//   TENON_ASSIGN_OR_RETURN(auto eager, Eager::Create({}));
//   TENON_ASSIGN_OR_RETURN(std::vector<Tensor> y, eager->Execute("Relu", {x}));
#ifndef TENON_RUNTIME_EAGER_H_
#define TENON_RUNTIME_EAGER_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "graph/attr.h"
#include "graph/tensor.h"
#include "runtime/kernel_cache.h"
#include "runtime/session.h"

namespace tenon {

class Eager {
 public:
  static absl::StatusOr<std::unique_ptr<Eager>> Create(const SessionOptions& options);
  ~Eager();
  Eager(const Eager&) = delete;
  Eager& operator=(const Eager&) = delete;

  // Runs a standard op; with the gate on, by its accelerated kernel where the row has one for the
  // dtype. Type and number attributes that the inputs decide, and defaults, may be left out.
  // Private ops are NotFound: they are not for users. Thread-safe.
  absl::StatusOr<std::vector<Tensor>> Execute(const std::string& op,
                                              absl::Span<const Tensor> inputs, AttrMap attrs = {});

  KernelCacheStats kernel_stats() const;

 private:
  struct State;
  Eager();
  std::unique_ptr<State> state_;
};

}  // namespace tenon

#endif  // TENON_RUNTIME_EAGER_H_
