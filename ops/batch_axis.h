// Which ops treat the rows of their inputs, the slices along axis 0, one by one: what such an op
// gives for a part of the rows is that part of what it gives for all of them.
#ifndef TENON_OPS_BATCH_AXIS_H_
#define TENON_OPS_BATCH_AXIS_H_

#include <string>
#include <vector>

#include "absl/types/span.h"
#include "graph/graph.h"
#include "graph/tensor.h"
#include "ops/op.h"

namespace tenon {

// How a tensor changes with the number of rows that are fed.
enum class Rows {
  kFree,   // not at all
  kRows,   // its axis 0 grows in proportion, and each part depends on the part of the same rows
  kOther,  // in another way: shapes, counts
};

struct RowsNode {
  const Node& node;
  const OpRow& row;
  absl::Span<const Rows> inputs;
  absl::Span<const TensorSpec> in;   // dtypes, shapes and known values
  absl::Span<const TensorSpec> out;  // dtypes and shapes
};

// Whether the outputs whose axis 0 grows in proportion are computed row by row. The caller has
// compared the outputs' shapes for two numbers of rows. Ops that nothing is known of: false.
bool KeepsRows(const RowsNode& n);

// The op's other outputs, the range of its quantized output, depend on the ranges that it is given
// and not on the data.
bool RangesFollowRanges(const OpRow& row);

// The ops with a rule of their own, for tests of the table.
std::vector<std::string> OpsWithRowRules();

}  // namespace tenon

#endif  // TENON_OPS_BATCH_AXIS_H_
