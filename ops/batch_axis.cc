#include "ops/batch_axis.h"

#include <algorithm>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/strings/match.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"

namespace tenon {
namespace {

using Rule = bool (*)(const RowsNode&);

int Count(const RowsNode& n) { return static_cast<int>(n.inputs.size()); }
bool Is(const RowsNode& n, int input, Rows rows) {
  return input < Count(n) && n.inputs[static_cast<size_t>(input)] == rows;
}
const TensorSpec& In(const RowsNode& n, int input) { return n.in[static_cast<size_t>(input)]; }
int Rank(const RowsNode& n, int input) { return In(n, input).shape.rank(); }

bool AllFree(const RowsNode& n, int begin, int end) {
  for (int i = begin; i < end; ++i) {
    if (!Is(n, i, Rows::kFree)) return false;
  }
  return true;
}

// The output has the same rows as the input.
bool SameCount(const RowsNode& n, int input = 0) {
  const Shape& out = n.out[0].shape;
  return out.rank() >= 1 && Rank(n, input) >= 1 && out.dim(0) == In(n, input).shape.dim(0);
}

// Free, or rows that line up with the output's.
bool Broadcasts(const RowsNode& n, int input) {
  if (Is(n, input, Rows::kFree)) return true;
  return Is(n, input, Rows::kRows) && Rank(n, input) == n.out[0].shape.rank() &&
         SameCount(n, input);
}
bool AllBroadcast(const RowsNode& n, int begin) {
  for (int i = begin; i < Count(n); ++i) {
    if (!Broadcasts(n, i)) return false;
  }
  return true;
}

// Input 0 row by row; all others are the same for every row.
bool FirstInput(const RowsNode& n) {
  return Is(n, 0, Rows::kRows) && AllFree(n, 1, Count(n)) && SameCount(n);
}
// As that, mixing elements within the last axis, which must not be the rows.
bool WithinLastAxis(const RowsNode& n) { return FirstInput(n) && Rank(n, 0) >= 2; }

bool Elementwise(const RowsNode& n) { return AllBroadcast(n, 0); }

// Memory passed on under another shape: row-major order keeps rows together.
bool Alias(const RowsNode& n) {
  return Is(n, 0, Rows::kRows) && std::none_of(n.inputs.begin() + 1, n.inputs.end(),
                                               [](Rows r) { return r == Rows::kRows; });
}

// data, weights, then operands of the fused chain.
bool Contraction(const RowsNode& n) {
  return Is(n, 0, Rows::kRows) && Is(n, 1, Rows::kFree) && SameCount(n) && AllBroadcast(n, 2);
}
bool MatMul(const RowsNode& n) {
  const bool* transposed = n.node.attr<bool>("transpose_a");
  return (transposed == nullptr || !*transposed) && Contraction(n);
}
// The leading axis is a batch axis, not part of the matrices.
bool BatchMatMul(const RowsNode& n) {
  for (int i = 0; i < 2; ++i) {
    if (Is(n, i, Rows::kRows) && Rank(n, i) < 3) return false;
  }
  return AllBroadcast(n, 0);
}
bool Einsum(const RowsNode& n) {
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
    if (n.inputs[i] == Rows::kFree ? times != 0 : times != 1 || operands[i][0] != rows) {
      return false;
    }
    if (n.inputs[i] == Rows::kOther) return false;
  }
  return AllBroadcast(n, static_cast<int>(operands.size()));
}

bool Softmax(const RowsNode& n) {
  return Is(n, 0, Rows::kRows) && Rank(n, 0) >= 2 && AllBroadcast(n, 1);
}
bool AddLayerNorm(const RowsNode& n) {
  return Is(n, 0, Rows::kRows) && Is(n, 1, Rows::kRows) && Rank(n, 0) >= 2 && AllBroadcast(n, 0);
}
bool BatchNorm(const RowsNode& n) {
  const bool* training = n.node.attr<bool>("is_training");
  return training != nullptr && !*training && FirstInput(n);
}
// The rows come third; the sizes that come first, from shapes, say the same as the output.
bool TransposedConvolution(const RowsNode& n) {
  return !Is(n, 0, Rows::kRows) && Is(n, 1, Rows::kFree) && Is(n, 2, Rows::kRows) &&
         SameCount(n, 2);
}

// The integers of a small input; false where they are not known.
bool Values(const RowsNode& n, int input, std::vector<int64_t>& values) {
  if (!Is(n, input, Rows::kFree) || In(n, input).value == nullptr) return false;
  absl::StatusOr<std::vector<int64_t>> read = IntegerValues(*In(n, input).value);
  if (!read.ok()) return false;
  values = *std::move(read);
  return true;
}
// None of the axes is the rows'; `rank` is that of the tensor they belong to.
bool OtherAxes(const RowsNode& n, int input, int rank) {
  std::vector<int64_t> axes;
  return Values(n, input, axes) && std::none_of(axes.begin(), axes.end(), [&](int64_t axis) {
           return axis == 0 || axis == -rank;
         });
}
bool OtherAxis(const RowsNode& n, const char* attr, int rank) {
  const int64_t* axis = n.node.attr<int64_t>(attr);
  return axis != nullptr && *axis != 0 && *axis != -rank;
}
bool AlongOtherAxes(const RowsNode& n) { return FirstInput(n) && OtherAxes(n, 1, Rank(n, 0)); }

bool Transpose(const RowsNode& n) {
  std::vector<int64_t> order;
  return FirstInput(n) && Values(n, 1, order) && !order.empty() && order[0] == 0;
}
bool Concat(const RowsNode& n) {
  const int last = Count(n) - 1;
  for (int i = 0; i < last; ++i) {
    if (!Is(n, i, Rows::kRows) || !SameCount(n, i)) return false;
  }
  return last > 0 && OtherAxes(n, last, Rank(n, 0));
}
bool Pack(const RowsNode& n) {
  for (int i = 0; i < Count(n); ++i) {
    if (!Is(n, i, Rows::kRows) || !SameCount(n, i)) return false;
  }
  return Count(n) > 0 && OtherAxis(n, "axis", Rank(n, 0) + 1);
}
bool Unpack(const RowsNode& n) {
  return !n.out.empty() && FirstInput(n) && OtherAxis(n, "axis", Rank(n, 0));
}
bool Split(const RowsNode& n) {
  return !n.out.empty() && Is(n, 1, Rows::kRows) && SameCount(n, 1) && OtherAxes(n, 0, Rank(n, 1));
}
bool SplitV(const RowsNode& n) {
  return !n.out.empty() && FirstInput(n) && OtherAxes(n, 2, Rank(n, 0));
}
// Axis 0 is taken whole and in order.
bool StridedSlice(const RowsNode& n) {
  std::vector<int64_t> begin, strides;
  const int64_t* begin_mask = n.node.attr<int64_t>("begin_mask");
  const int64_t* new_axis = n.node.attr<int64_t>("new_axis_mask");
  const int64_t* ellipsis = n.node.attr<int64_t>("ellipsis_mask");
  if (begin_mask == nullptr || new_axis == nullptr || ellipsis == nullptr) return false;
  if (!Is(n, 0, Rows::kRows) || !SameCount(n) || (*new_axis & 1) != 0) return false;
  if ((*ellipsis & 1) != 0 || !Values(n, 3, strides) || strides.empty() || strides[0] != 1) {
    return false;
  }
  return (*begin_mask & 1) != 0 || (Values(n, 1, begin) && !begin.empty() && begin[0] == 0);
}
bool Slice(const RowsNode& n) {
  std::vector<int64_t> begin;
  return Is(n, 0, Rows::kRows) && SameCount(n) && Values(n, 1, begin) && !begin.empty() &&
         begin[0] == 0;
}
bool Tile(const RowsNode& n) {
  std::vector<int64_t> multiples;
  return FirstInput(n) && Values(n, 1, multiples) && !multiples.empty() && multiples[0] == 1;
}
// Rows of indices into a table.
bool Gather(const RowsNode& n) {
  const int64_t* batch_dims = n.node.attr<int64_t>("batch_dims");
  if (batch_dims != nullptr && *batch_dims != 0) return false;
  if (!Is(n, 0, Rows::kFree) || !Is(n, 1, Rows::kRows) || !SameCount(n, 1)) return false;
  std::vector<int64_t> axis;
  return Count(n) == 2 || (Values(n, 2, axis) && axis.size() == 1 && axis[0] == 0);
}
bool OneHot(const RowsNode& n) { return FirstInput(n) && OtherAxis(n, "axis", Rank(n, 0) + 1); }
bool Quantize(const RowsNode& n) {
  const int64_t* axis = n.node.attr<int64_t>("axis");
  return FirstInput(n) && (axis == nullptr || *axis != 0);
}
// The same value everywhere; the shape may come from shapes.
bool Fill(const RowsNode& n) { return !Is(n, 0, Rows::kRows) && Is(n, 1, Rows::kFree); }
bool BroadcastTo(const RowsNode& n) { return !Is(n, 1, Rows::kRows) && Broadcasts(n, 0); }

const absl::flat_hash_map<std::string, Rule>& Rules() {
  static const auto* const rules = new absl::flat_hash_map<std::string, Rule>({
      {"Conv2D", Contraction},
      {"_FusedConv2D", Contraction},
      {"_PadWithFusedConv2D", Contraction},
      {"DepthwiseConv2dNative", Contraction},
      {"_FusedDepthwiseConv2dNative", Contraction},
      {"Conv3D", Contraction},
      {"_FusedConv3D", Contraction},
      {"Conv2DBackpropInput", TransposedConvolution},
      {"Conv3DBackpropInputV2", TransposedConvolution},
      {"MatMul", MatMul},
      {"_FusedMatMul", MatMul},
      {"BatchMatMul", BatchMatMul},
      {"BatchMatMulV2", BatchMatMul},
      {"BatchMatMulV3", BatchMatMul},
      {"_FusedBatchMatMulV2", BatchMatMul},
      {"Einsum", Einsum},
      {"_FusedEinsum", Einsum},
      {"_FusedElementwise", Elementwise},
      {"_FusedSoftmax", Softmax},
      {"Softmax", Softmax},
      {"LogSoftmax", Softmax},
      {"_LayerNorm", WithinLastAxis},
      {"_AddLayerNorm", AddLayerNorm},
      {"FusedBatchNorm", BatchNorm},
      {"FusedBatchNormV2", BatchNorm},
      {"FusedBatchNormV3", BatchNorm},
      {"BiasAdd", FirstInput},
      {"BiasAddV1", FirstInput},
      {"LRN", FirstInput},
      {"AvgPool", FirstInput},
      {"AvgPool3D", FirstInput},
      {"MaxPool", FirstInput},
      {"MaxPoolV2", FirstInput},
      {"MaxPool3D", FirstInput},
      {"Pad", FirstInput},
      {"PadV2", FirstInput},
      {"MirrorPad", FirstInput},
      {"ResizeBilinear", FirstInput},
      {"ResizeBicubic", FirstInput},
      {"ResizeNearestNeighbor", FirstInput},
      {"ResizeArea", FirstInput},
      {"DepthToSpace", FirstInput},
      {"SpaceToDepth", FirstInput},
      {"TopKV2", WithinLastAxis},
      {"Mean", AlongOtherAxes},
      {"Sum", AlongOtherAxes},
      {"Max", AlongOtherAxes},
      {"Min", AlongOtherAxes},
      {"Prod", AlongOtherAxes},
      {"All", AlongOtherAxes},
      {"Any", AlongOtherAxes},
      {"ArgMax", AlongOtherAxes},
      {"ArgMin", AlongOtherAxes},
      {"Cumsum", AlongOtherAxes},
      {"Cumprod", AlongOtherAxes},
      {"ReverseV2", AlongOtherAxes},
      {"Transpose", Transpose},
      {"ConcatV2", Concat},
      {"Pack", Pack},
      {"Unpack", Unpack},
      {"Split", Split},
      {"SplitV", SplitV},
      {"StridedSlice", StridedSlice},
      {"Slice", Slice},
      {"Tile", Tile},
      {"Gather", Gather},
      {"GatherV2", Gather},
      {"OneHot", OneHot},
      {"Fill", Fill},
      {"BroadcastTo", BroadcastTo},
      {"QuantizeV2", Quantize},
      {"Dequantize", Quantize},
      {"_FusedQuantizedConv2D", Contraction},
      {"_FusedQuantizedDepthwiseConv2D", Contraction},
      {"_QuantizedMatMul", MatMul},
  });
  return *rules;
}

}  // namespace

bool KeepsRows(const RowsNode& n) {
  if (n.row.stateful || n.out.empty()) return false;
  const auto it = Rules().find(n.row.name);
  if (it != Rules().end()) return it->second(n);
  if (n.row.elementwise) return Elementwise(n);
  return n.row.alias && Alias(n);
}

bool RangesFollowRanges(const OpRow& row) {
  static const auto* const ops =
      new absl::flat_hash_set<std::string>({"QuantizeV2", "_FusedQuantizedConv2D",
                                            "_FusedQuantizedDepthwiseConv2D", "_QuantizedMatMul"});
  return ops->contains(row.name);
}

std::vector<std::string> OpsWithRowRules() {
  std::vector<std::string> names;
  for (const auto& [name, rule] : Rules()) names.push_back(name);
  return names;
}

}  // namespace tenon
