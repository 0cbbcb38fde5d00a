// Batch-axis functions: whether an op treats the rows of its inputs, the slices along axis 0, one
// by one, so that what it gives for a part of the rows is that part of what it gives for all of
// them. A row of the op table names the one that fits, as in `.batch_axis =
// batch_axis::Contraction`.
#ifndef TENON_OPS_BATCH_AXIS_H_
#define TENON_OPS_BATCH_AXIS_H_

#include "absl/types/span.h"
#include "graph/graph.h"
#include "graph/tensor_spec.h"

namespace tenon {

struct OpRow;

// How a tensor changes with the batch size.
enum class BatchAxis {
  kNone,   // not at all
  kFirst,  // its axis 0 grows in proportion, and each part depends on the part of the same rows
  kOther,  // in another way: shapes, counts
};

struct BatchAxisNode {
  const Node& node;
  absl::Span<const BatchAxis> inputs;
  absl::Span<const TensorSpec> in;   // dtypes, shapes and known values
  absl::Span<const TensorSpec> out;  // dtypes and shapes; at least one
};

// True where the outputs whose axis 0 grows in proportion are computed row by row. The caller has
// compared the outputs' shapes for two batch sizes.
using BatchAxisFn = bool (*)(const BatchAxisNode&);

// What the row's function says. Without one, elementwise ops and those that pass memory on keep
// rows apart, and of others nothing is known: false.
bool KeepsRowsApart(const OpRow& row, const BatchAxisNode& n);

namespace batch_axis {

// Elements of the result depend on the operands' elements at the same place, up to broadcasting.
bool Elementwise(const BatchAxisNode& n);
// Input 0 row by row; all other inputs are the same for every row.
bool FirstInput(const BatchAxisNode& n);
// The same, for ops that mix elements within the last axis, which must not be the rows.
bool WithinLastAxis(const BatchAxisNode& n);
// As that, along the axes that the values of input 1 name, none of them the rows'.
bool AlongOtherAxes(const BatchAxisNode& n);

// Data, weights that are the same for every row, then operands of the fused chain.
bool Contraction(const BatchAxisNode& n);
bool MatMul(const BatchAxisNode& n);
bool BatchMatMul(const BatchAxisNode& n);
bool Einsum(const BatchAxisNode& n);
// Sizes, weights, data.
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
