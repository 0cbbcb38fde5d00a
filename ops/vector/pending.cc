// Kernels that are declared and not written yet: the standard kernels run.
#include "env/status.h"
#include "ops/vector/vector_kernels.h"

namespace tenon {

absl::StatusOr<std::unique_ptr<Kernel>> VectorReduce(PrepareContext&) {
  return Unimplemented("no vector kernel yet");
}
absl::StatusOr<std::unique_ptr<Kernel>> VectorConcat(PrepareContext&) {
  return Unimplemented("no vector kernel yet");
}
absl::StatusOr<std::unique_ptr<Kernel>> VectorTranspose(PrepareContext&) {
  return Unimplemented("no vector kernel yet");
}

}  // namespace tenon
