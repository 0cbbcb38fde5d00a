// One step of a GRU all of whose gates are results, and its gradient, in vector code.
#ifndef TENON_KERNELS_SEQUENCE_GRU_H_
#define TENON_KERNELS_SEQUENCE_GRU_H_

#include <memory>

#include "absl/status/statusor.h"
#include "kernels/interface/kernel.h"

namespace tenon {

// Inputs, and outputs r, u, c, h [batch, cell].
inline constexpr int kGruX = 0, kGruHPrev = 1, kGruWru = 2, kGruWc = 3, kGruBru = 4, kGruBc = 5;

// float. Unimplemented if something is empty.
absl::StatusOr<std::unique_ptr<Kernel>> GruVector(PrepareContext& p);

// Inputs: those of GruVector, then r, u, c and the gradient of h. Outputs: the gradients of x and
// h_prev, and those of the candidate and of both gates before their activations.
absl::StatusOr<std::unique_ptr<Kernel>> GruGradVector(PrepareContext& p);

}  // namespace tenon

#endif  // TENON_KERNELS_SEQUENCE_GRU_H_
