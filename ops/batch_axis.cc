#include "ops/batch_axis.h"

#include <algorithm>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "graph/tensor.h"
#include "ops/op.h"

namespace tenon {
namespace batch_axis {
namespace {

int Count(const BatchAxisNode& n) { return static_cast<int>(n.inputs.size()); }
bool Is(const BatchAxisNode& n, int input, BatchAxis axis) {
  return input < Count(n) && n.inputs[static_cast<size_t>(input)] == axis;
}
const TensorSpec& In(const BatchAxisNode& n, int input) { return n.in[static_cast<size_t>(input)]; }
int Rank(const BatchAxisNode& n, int input) { return In(n, input).shape.rank(); }

// None of these inputs changes with the batch.
bool NoneFollows(const BatchAxisNode& n, int begin, int end) {
  for (int i = begin; i < end; ++i) {
    if (!Is(n, i, BatchAxis::kNone)) return false;
  }
  return true;
}

// Whether the output has the same rows as the input.
bool SameCount(const BatchAxisNode& n, int input = 0) {
  const Shape& out = n.out[0].shape;
  return out.rank() >= 1 && Rank(n, input) >= 1 && out.dim(0) == In(n, input).shape.dim(0);
}

// The same for every row, or rows that line up with the output's.
bool Broadcasts(const BatchAxisNode& n, int input) {
  if (Is(n, input, BatchAxis::kNone)) return true;
  return Is(n, input, BatchAxis::kFirst) && Rank(n, input) == n.out[0].shape.rank() &&
         SameCount(n, input);
}
bool AllBroadcast(const BatchAxisNode& n, int begin) {
  for (int i = begin; i < Count(n); ++i) {
    if (!Broadcasts(n, i)) return false;
  }
  return true;
}

// Memory passed on with another shape: row-major order keeps rows together.
bool Alias(const BatchAxisNode& n) {
  return Is(n, 0, BatchAxis::kFirst) &&
         std::none_of(n.inputs.begin() + 1, n.inputs.end(),
                      [](BatchAxis r) { return r == BatchAxis::kFirst; });
}

// Reads the integers of a small input; returns false if they are not known.
bool Values(const BatchAxisNode& n, int input, std::vector<int64_t>& values) {
  if (!Is(n, input, BatchAxis::kNone) || In(n, input).value == nullptr) return false;
  absl::StatusOr<std::vector<int64_t>> read = IntegerValues(*In(n, input).value);
  if (!read.ok()) return false;
  values = *std::move(read);
  return true;
}
// Whether none of the axes is axis 0; `rank` is that of the tensor to which they refer.
bool OtherAxes(const BatchAxisNode& n, int input, int rank) {
  std::vector<int64_t> axes;
  return Values(n, input, axes) && std::none_of(axes.begin(), axes.end(), [&](int64_t axis) {
           return axis == 0 || axis == -rank;
         });
}
bool OtherAxis(const BatchAxisNode& n, const char* attr, int rank) {
  const int64_t* axis = n.node.attr<int64_t>(attr);
  return axis != nullptr && *axis != 0 && *axis != -rank;
}
}  // namespace

bool FirstInput(const BatchAxisNode& n) {
  return Is(n, 0, BatchAxis::kFirst) && NoneFollows(n, 1, Count(n)) && SameCount(n);
}
bool WithinLastAxis(const BatchAxisNode& n) { return FirstInput(n) && Rank(n, 0) >= 2; }

bool Elementwise(const BatchAxisNode& n) { return AllBroadcast(n, 0); }

bool Contraction(const BatchAxisNode& n) {
  return Is(n, 0, BatchAxis::kFirst) && Is(n, 1, BatchAxis::kNone) && SameCount(n) &&
         AllBroadcast(n, 2);
}
bool MatMul(const BatchAxisNode& n) {
  const bool* transposed = n.node.attr<bool>("transpose_a");
  return (transposed == nullptr || !*transposed) && Contraction(n);
}
// The leading axis is a batch axis, not part of the matrices.
bool BatchMatMul(const BatchAxisNode& n) {
  for (int i = 0; i < 2; ++i) {
    if (Is(n, i, BatchAxis::kFirst) && Rank(n, i) < 3) return false;
  }
  return AllBroadcast(n, 0);
}
bool Einsum(const BatchAxisNode& n) {
  const std::string* equation = n.node.attr<std::string>("equation");
  if (equation == nullptr || absl::StrContains(*equation, ".")) return false;
  const std::string compact = absl::StrReplaceAll(*equation, {{" ", ""}});
  const std::vector<std::string> sides = absl::StrSplit(compact, "->");
  if (sides.size() != 2 || sides[1].empty()) return false;
  const std::vector<std::string> operands = absl::StrSplit(sides[0], ',');
  const char rows = sides[1][0];
  if (static_cast<int>(operands.size()) > Count(n)) return false;
  for (size_t i = 0; i < operands.size(); ++i) {
    const auto times = std::count(operands[i].begin(), operands[i].end(), rows);
    if (n.inputs[i] == BatchAxis::kNone ? times != 0 : times != 1 || operands[i][0] != rows) {
      return false;
    }
    if (n.inputs[i] == BatchAxis::kOther) return false;
  }
  return AllBroadcast(n, static_cast<int>(operands.size()));
}

bool Softmax(const BatchAxisNode& n) {
  return Is(n, 0, BatchAxis::kFirst) && Rank(n, 0) >= 2 && AllBroadcast(n, 1);
}
bool AddLayerNorm(const BatchAxisNode& n) {
  return Is(n, 0, BatchAxis::kFirst) && Is(n, 1, BatchAxis::kFirst) && Rank(n, 0) >= 2 &&
         AllBroadcast(n, 0);
}
bool BatchNorm(const BatchAxisNode& n) {
  const bool* training = n.node.attr<bool>("is_training");
  return training != nullptr && !*training && FirstInput(n);
}
// The rows are in the third input; the sizes in the first one, which come from shapes, agree with
// the output.
bool TransposedConvolution(const BatchAxisNode& n) {
  return !Is(n, 0, BatchAxis::kFirst) && Is(n, 1, BatchAxis::kNone) &&
         Is(n, 2, BatchAxis::kFirst) && SameCount(n, 2);
}

bool AlongOtherAxes(const BatchAxisNode& n) { return FirstInput(n) && OtherAxes(n, 1, Rank(n, 0)); }

bool Transpose(const BatchAxisNode& n) {
  std::vector<int64_t> order;
  return FirstInput(n) && Values(n, 1, order) && !order.empty() && order[0] == 0;
}
bool Concat(const BatchAxisNode& n) {
  const int last = Count(n) - 1;
  for (int i = 0; i < last; ++i) {
    if (!Is(n, i, BatchAxis::kFirst) || !SameCount(n, i)) return false;
  }
  return last > 0 && OtherAxes(n, last, Rank(n, 0));
}
bool Pack(const BatchAxisNode& n) {
  for (int i = 0; i < Count(n); ++i) {
    if (!Is(n, i, BatchAxis::kFirst) || !SameCount(n, i)) return false;
  }
  return Count(n) > 0 && OtherAxis(n, "axis", Rank(n, 0) + 1);
}
bool Unpack(const BatchAxisNode& n) {
  return !n.out.empty() && FirstInput(n) && OtherAxis(n, "axis", Rank(n, 0));
}
bool Split(const BatchAxisNode& n) {
  return !n.out.empty() && Is(n, 1, BatchAxis::kFirst) && SameCount(n, 1) &&
         OtherAxes(n, 0, Rank(n, 1));
}
bool SplitV(const BatchAxisNode& n) {
  return !n.out.empty() && FirstInput(n) && OtherAxes(n, 2, Rank(n, 0));
}
// Axis 0 is taken whole and in order.
bool StridedSlice(const BatchAxisNode& n) {
  std::vector<int64_t> begin, strides;
  const int64_t* begin_mask = n.node.attr<int64_t>("begin_mask");
  const int64_t* new_axis = n.node.attr<int64_t>("new_axis_mask");
  const int64_t* ellipsis = n.node.attr<int64_t>("ellipsis_mask");
  if (begin_mask == nullptr || new_axis == nullptr || ellipsis == nullptr) return false;
  if (!Is(n, 0, BatchAxis::kFirst) || !SameCount(n) || (*new_axis & 1) != 0) return false;
  if ((*ellipsis & 1) != 0 || !Values(n, 3, strides) || strides.empty() || strides[0] != 1) {
    return false;
  }
  return (*begin_mask & 1) != 0 || (Values(n, 1, begin) && !begin.empty() && begin[0] == 0);
}
bool Slice(const BatchAxisNode& n) {
  std::vector<int64_t> begin;
  return Is(n, 0, BatchAxis::kFirst) && SameCount(n) && Values(n, 1, begin) && !begin.empty() &&
         begin[0] == 0;
}
bool Tile(const BatchAxisNode& n) {
  std::vector<int64_t> multiples;
  return FirstInput(n) && Values(n, 1, multiples) && !multiples.empty() && multiples[0] == 1;
}
// Rows of indices into a table.
bool Gather(const BatchAxisNode& n) {
  const int64_t* batch_dims = n.node.attr<int64_t>("batch_dims");
  if (batch_dims != nullptr && *batch_dims != 0) return false;
  if (!Is(n, 0, BatchAxis::kNone) || !Is(n, 1, BatchAxis::kFirst) || !SameCount(n, 1)) return false;
  std::vector<int64_t> axis;
  return Count(n) == 2 || (Values(n, 2, axis) && axis.size() == 1 && axis[0] == 0);
}
bool OneHot(const BatchAxisNode& n) {
  return FirstInput(n) && OtherAxis(n, "axis", Rank(n, 0) + 1);
}
bool Quantize(const BatchAxisNode& n) {
  const int64_t* axis = n.node.attr<int64_t>("axis");
  return FirstInput(n) && (axis == nullptr || *axis != 0);
}
// One value for all elements; the shape may come from shapes.
bool Fill(const BatchAxisNode& n) {
  return !Is(n, 0, BatchAxis::kFirst) && Is(n, 1, BatchAxis::kNone);
}
bool BroadcastTo(const BatchAxisNode& n) {
  return !Is(n, 1, BatchAxis::kFirst) && Broadcasts(n, 0);
}

}  // namespace batch_axis

bool KeepsRowsApart(const OpRow& row, const BatchAxisNode& n) {
  if (row.stateful || n.out.empty()) return false;
  if (row.batch_axis != nullptr) return row.batch_axis(n);
  if (row.elementwise) return batch_axis::Elementwise(n);
  return row.alias && batch_axis::Alias(n);
}

}  // namespace tenon
