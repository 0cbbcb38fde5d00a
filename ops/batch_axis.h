// Batch-axis functions tell whether an op processes the rows of its inputs (slices along axis 0)
// independently, so that running it on some of the rows gives those rows of the full result. An op
// row names the function for its op, as in `.batch_axis = batch_axis::Contraction`.
#ifndef TENON_OPS_BATCH_AXIS_H_
#define TENON_OPS_BATCH_AXIS_H_

#include <cstdint>

#include "absl/types/span.h"
#include "graph/graph.h"
#include "graph/tensor_spec.h"

namespace tenon {

struct OpRow;

// How a tensor changes with the batch size.
enum class BatchAxis {
  kNone,   // not at all
  kFirst,  // axis 0 is proportional to it, and each row depends only on the same rows
  kOther,  // differently: shapes, counts
};

struct BatchAxisNode {
  const Node& node;
  absl::Span<const BatchAxis> inputs;
  absl::Span<const TensorSpec> in;   // dtypes, shapes and known values
  absl::Span<const TensorSpec> out;  // dtypes and shapes; at least one
};

// Whether the outputs whose axis 0 is proportional to the batch size are computed row by row. The
// caller has compared the outputs' shapes for two batch sizes.
using BatchAxisFn = bool (*)(const BatchAxisNode&);

// How often one run reads its constant inputs from memory, given the dtypes and shapes of its
// inputs.
using WeightReadsFn = int64_t (*)(const Node& node, absl::Span<const TensorSpec> in);

// The result of the op row's function. Without a function: true for elementwise ops and aliases,
// false for others, about which nothing is known.
bool KeepsRowsApart(const OpRow& row, const BatchAxisNode& n);

namespace batch_axis {

// Each element of the result depends only on the operands' elements at the same position, up to
// broadcasting.
bool Elementwise(const BatchAxisNode& n);
// Input 0 row by row; all other inputs are the same for every row.
bool FirstInput(const BatchAxisNode& n);
// The same, for ops that mix elements within the last axis, which must not be the rows.
bool WithinLastAxis(const BatchAxisNode& n);
// The same, for ops that mix elements along the axes listed in input 1, which must not include the
// rows.
bool AlongOtherAxes(const BatchAxisNode& n);

// Inputs: data, weights that are the same for every row, operands of the fused chain.
bool Contraction(const BatchAxisNode& n);
bool MatMul(const BatchAxisNode& n);
bool BatchMatMul(const BatchAxisNode& n);
bool Einsum(const BatchAxisNode& n);
// Inputs: sizes, weights, data.
bool TransposedConvolution(const BatchAxisNode& n);

bool Softmax(const BatchAxisNode& n);
bool AddLayerNorm(const BatchAxisNode& n);
bool BatchNorm(const BatchAxisNode& n);
bool Quantize(const BatchAxisNode& n);

bool Transpose(const BatchAxisNode& n);
bool Concat(const BatchAxisNode& n);
bool Pack(const BatchAxisNode& n);
bool Unpack(const BatchAxisNode& n);
bool Split(const BatchAxisNode& n);
bool SplitV(const BatchAxisNode& n);
bool StridedSlice(const BatchAxisNode& n);
bool Slice(const BatchAxisNode& n);
bool Tile(const BatchAxisNode& n);
bool Gather(const BatchAxisNode& n);
bool OneHot(const BatchAxisNode& n);
bool Fill(const BatchAxisNode& n);
bool BroadcastTo(const BatchAxisNode& n);

}  // namespace batch_axis
}  // namespace tenon

#endif  // TENON_OPS_BATCH_AXIS_H_
