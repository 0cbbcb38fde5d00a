// Summaries for TensorBoard: serialized tf.compat.v1.Summary messages. Each kernel gives a scalar.
#ifndef TENON_KERNELS_STRINGS_SUMMARY_H_
#define TENON_KERNELS_STRINGS_SUMMARY_H_

#include <memory>

#include "absl/status/statusor.h"
#include "kernels/interface/kernel.h"

namespace tenon {

// A value for each tag; inputs of one shape.
absl::StatusOr<std::unique_ptr<Kernel>> ScalarSummaryKernel(PrepareContext& p);
// How many of all values (input 1) lie between powers of 1.1, of both signs. InvalidArgument for
// values that are not finite.
absl::StatusOr<std::unique_ptr<Kernel>> HistogramSummaryKernel(PrepareContext& p);
// Inputs: a tag, any tensor, and a serialized SummaryMetadata.
absl::StatusOr<std::unique_ptr<Kernel>> TensorSummaryKernel(PrepareContext& p);
// The values of all inputs' summaries. InvalidArgument if two have one tag.
absl::StatusOr<std::unique_ptr<Kernel>> MergeSummaryKernel(PrepareContext& p);

}  // namespace tenon

#endif  // TENON_KERNELS_STRINGS_SUMMARY_H_
