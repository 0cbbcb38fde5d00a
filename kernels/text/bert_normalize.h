// The text normalization of BERT by a prebuilt table: case, accents, control characters.
#ifndef TENON_KERNELS_TEXT_BERT_NORMALIZE_H_
#define TENON_KERNELS_TEXT_BERT_NORMALIZE_H_

#include <memory>

#include "absl/status/statusor.h"
#include "kernels/interface/kernel.h"

namespace tenon {

// Texts (input 0, [n]) and the model (input 1, a FlatBuffer) to normalized texts. If `get_offsets`,
// output 1 has, for each of their bytes and their ends, the offset in the original, and output 2
// its row splits; otherwise output 1 is empty.
absl::StatusOr<std::unique_ptr<Kernel>> BertNormalizeKernel(PrepareContext& p);

}  // namespace tenon

#endif  // TENON_KERNELS_TEXT_BERT_NORMALIZE_H_
