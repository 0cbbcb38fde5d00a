// Tags that say how tokens lie in spans of a text: (B)egin, (I)nside and (E)nd of a span, (S) all
// of it, (O)utside; with the type of the span, as in "B-place".
#ifndef TENON_KERNELS_TEXT_BOISE_H_
#define TENON_KERNELS_TEXT_BOISE_H_

#include <memory>

#include "absl/status/statusor.h"
#include "kernels/interface/kernel.h"

namespace tenon {

// Inputs: first and last bytes of tokens (int32), of spans (int32), the types of the spans, the row
// splits (int64) of these five, and whether a token that begins before its span or ends after it is
// outside (a bool). Spans are in order. Output: a tag per token.
absl::StatusOr<std::unique_ptr<Kernel>> SpansToTagsKernel(PrepareContext& p);

// Inputs: first and last bytes of tokens (int32), tags, and the row splits of these three. Outputs:
// the spans' first and last bytes, types, and row splits.
absl::StatusOr<std::unique_ptr<Kernel>> TagsToSpansKernel(PrepareContext& p);

}  // namespace tenon

#endif  // TENON_KERNELS_TEXT_BOISE_H_
