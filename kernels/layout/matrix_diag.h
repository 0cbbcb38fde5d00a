// Makes matrices from diagonals, extracts diagonals, and replaces them. Any dtype and batch
// dimensions.
#ifndef TENON_KERNELS_LAYOUT_MATRIX_DIAG_H_
#define TENON_KERNELS_LAYOUT_MATRIX_DIAG_H_

#include <memory>

#include "absl/status/statusor.h"
#include "kernels/interface/kernel.h"
#include "kernels/layout/diagonals.h"

namespace tenon {

// Whether the values of inputs first .. last are known.
template <typename Context>
bool ValuesKnown(Context& c, int first, int last) {
  for (int i = first; i <= last; ++i) {
    if (c.value(i) == nullptr) return false;
  }
  return true;
}

// Diagonals to matrices. Input 1 selects them (default: the main one), 2 and 3 are the numbers of
// rows and columns, 4 is the value elsewhere.
absl::StatusOr<std::unique_ptr<Kernel>> MatrixDiagKernel(PrepareContext& p);

// The diagonals of matrices: input 1 selects them (default: the main one), 2 pads short ones.
absl::StatusOr<std::unique_ptr<Kernel>> MatrixDiagPartKernel(PrepareContext& p);

// Matrices (input 0) with the diagonals in input 1; input 2 selects them (default: the main one).
absl::StatusOr<std::unique_ptr<Kernel>> MatrixSetDiagKernel(PrepareContext& p);

}  // namespace tenon

#endif  // TENON_KERNELS_LAYOUT_MATRIX_DIAG_H_
