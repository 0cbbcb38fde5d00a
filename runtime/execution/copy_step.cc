#include "runtime/execution/copy_step.h"

#include <utility>

#include "env/status.h"
#include "runtime/execution/execution.h"

namespace tenon {

absl::Status CopyStep::Run(Execution& run) const {
  TENON_ASSIGN_OR_RETURN(const Tensor part, run.View(inputs()[0]));
  TENON_ASSIGN_OR_RETURN(Tensor copy, part.Clone());
  run.Bring(outputs()[0], std::move(copy));
  return absl::OkStatus();
}

}  // namespace tenon
