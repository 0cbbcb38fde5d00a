// Lengths of the sequences of a batch, as TensorFlow 1's recurrent layers take them: a loop stops
// after the longest sequence, and a sequence that has ended keeps its states and gives zeros.
#ifndef TENON_GRAPH_REWRITE_SEQUENCE_LENGTHS_H_
#define TENON_GRAPH_REWRITE_SEQUENCE_LENGTHS_H_

#include <string>

#include "absl/status/statusor.h"
#include "graph_rewrite/context.h"
#include "graph_rewrite/dims.h"

namespace tenon {

// Whether the op compares two numbers by which is larger, as the number of a step with a length.
bool ComparesBySize(absl::string_view op);

// Whether a number of steps, min(`steps`, n), is known to reach the end of every sequence: n is at
// least the largest of `lengths`. A default `bound` is the constant `value`.
bool ReachesAllLengths(RuleContext& context, Endpoint bound, int64_t value, const Dimension& steps,
                       Endpoint lengths);

// Adds nodes that take the first `steps` (a scalar of int32) of a sequence with the steps along
// `axis`.
absl::StatusOr<Endpoint> AddFirstSteps(RuleContext& context, const std::string& name,
                                       const std::string& device, Endpoint sequence, int axis,
                                       Endpoint steps);

// Whether two tensors are products of what AddFirstSteps gives, for as many steps: the numbers are
// computed alike from the same lengths.
bool HaveSameFirstSteps(RuleContext& context, Endpoint a, Endpoint b);

// Adds nodes that compute a mask [batch, steps]: whether a step is below the length of its row.
// `sequence` has the steps along `axis`. The nodes' names begin with `name`.
absl::StatusOr<Endpoint> AddLengthMask(RuleContext& context, const std::string& name,
                                       const std::string& device, Endpoint lengths,
                                       Endpoint sequence, int axis);

}  // namespace tenon

#endif  // TENON_GRAPH_REWRITE_SEQUENCE_LENGTHS_H_
