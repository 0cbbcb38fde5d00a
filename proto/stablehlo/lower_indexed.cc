// Gathers, scatters and sorts.
#include <algorithm>
#include <numeric>

#include "env/status.h"
#include "proto/stablehlo/dimension_numbers.h"
#include "proto/stablehlo/lowering.h"

namespace tenon::stablehlo {
namespace {

// Indices as TensorFlow's ops take them.
absl::StatusOr<Ref> Indices(Body& body, const Ref& indices) {
  if (indices.dtype == DType::kInt32 || indices.dtype == DType::kInt64) return indices;
  const bool wide = indices.dtype == DType::kUint32 || indices.dtype == DType::kUint64;
  return body.Cast(indices, wide ? DType::kInt64 : DType::kInt32);
}

// Optional list: ops of older versions have no batching dimensions.
absl::StatusOr<std::vector<int64_t>> ListIfAny(const Op& op, absl::string_view key) {
  if (op.attr(key) == nullptr) return std::vector<int64_t>();
  return IntegersOf(op, key);
}

struct Gathered {
  std::vector<int64_t> offset, collapsed, index_map, operand_batch, indices_batch;
  int64_t index_vector = 0;
};

absl::StatusOr<Gathered> NumbersOf(const Op& op) {
  Gathered g;
  TENON_ASSIGN_OR_RETURN(g.offset, IntegersOf(op, "offset_dims"));
  TENON_ASSIGN_OR_RETURN(g.collapsed, IntegersOf(op, "collapsed_slice_dims"));
  TENON_ASSIGN_OR_RETURN(g.index_map, IntegersOf(op, "start_index_map"));
  TENON_ASSIGN_OR_RETURN(g.operand_batch, ListIfAny(op, "operand_batching_dims"));
  TENON_ASSIGN_OR_RETURN(g.indices_batch, ListIfAny(op, "start_indices_batching_dims"));
  TENON_ASSIGN_OR_RETURN(g.index_vector, IntegerOf(op, "index_vector_dim"));
  return g;
}

// The axis if the gather takes whole slices along one axis, in GatherV2's order; else -1.
int64_t TakenAxis(const Gathered& g, const Value& x, const Value& indices,
                  const std::vector<int64_t>& slice) {
  if (g.index_map.size() != 1 || g.collapsed != g.index_map || !g.operand_batch.empty()) return -1;
  const int64_t axis = g.index_map[0];
  if (axis < 0 || axis >= x.rank() || static_cast<int>(slice.size()) != x.rank()) return -1;
  for (int d = 0; d < x.rank(); ++d) {
    if (d == axis ? slice[static_cast<size_t>(d)] != 1
                  : slice[static_cast<size_t>(d)] != x.shape.dim(d)) {
      return -1;
    }
  }
  if (x.shape.dim(static_cast<int>(axis)) < 1) return -1;
  const bool vectors = indices.rank() > 0 && g.index_vector == indices.rank() - 1;
  if (vectors ? indices.shape.dim(indices.rank() - 1) != 1 : g.index_vector != indices.rank()) {
    return -1;
  }
  const int64_t batch = indices.rank() - (vectors ? 1 : 0);
  std::vector<int64_t> offset;
  for (int64_t d = 0; d < x.rank() - 1; ++d) offset.push_back(d < axis ? d : d + batch);
  return offset == g.offset ? axis : -1;
}

// XLA moves indices into the range, where TensorFlow's kernel has an error.
absl::Status Take(Body& body, const Op& op, const Value& x, Value indices, int64_t axis,
                  bool vectors) {
  if (vectors) {
    Shape rows = indices.shape;
    rows.erase(rows.rank() - 1);
    Value view;
    if (ReshapedView(indices, rows, view)) {
      indices = std::move(view);
    } else {
      TENON_ASSIGN_OR_RETURN(const Ref whole, body.Full(indices));
      TENON_ASSIGN_OR_RETURN(Ref squeezed,
                             body.Node("Squeeze", {whole},
                                       {{"T", indices.dtype},
                                        {"squeeze_dims", std::vector<int64_t>{indices.rank() - 1}}},
                                       indices.dtype));
      indices = Whole(std::move(squeezed), rows);
    }
  }
  TENON_ASSIGN_OR_RETURN(Ref places, body.Full(indices));
  TENON_ASSIGN_OR_RETURN(places, Indices(body, places));
  const double last = static_cast<double>(x.shape.dim(static_cast<int>(axis)) - 1);
  TENON_ASSIGN_OR_RETURN(const Ref zero, body.Constant(ScalarOf(places.dtype, 0)));
  TENON_ASSIGN_OR_RETURN(const Ref limit, body.Constant(ScalarOf(places.dtype, last)));
  TENON_ASSIGN_OR_RETURN(places, body.Unary("Maximum", {places, zero}));
  TENON_ASSIGN_OR_RETURN(places, body.Unary("Minimum", {places, limit}));
  TENON_ASSIGN_OR_RETURN(const Ref whole, body.Full(x));
  TENON_ASSIGN_OR_RETURN(const Ref at,
                         body.Constant(Tensor::Scalar<int32_t>(static_cast<int32_t>(axis))));
  return body.DefineNode(
      op, "GatherV2", {whole, places, at},
      {{"Tparams", x.dtype}, {"Tindices", places.dtype}, {"Taxis", DType::kInt32}});
}

// gather, and dynamic_gather, whose operand 2 has the sizes of the slices.
absl::Status Gather(Body& body, const Op& op) {
  TENON_ASSIGN_OR_RETURN(const Value x, body.Operand(op, 0));
  TENON_ASSIGN_OR_RETURN(const Value indices, body.Operand(op, 1));
  TENON_ASSIGN_OR_RETURN(const Gathered g, NumbersOf(op));
  Ref sizes;
  if (op.name == "dynamic_gather") {
    TENON_ASSIGN_OR_RETURN(sizes, body.FullOperand(op, 2));
  } else {
    TENON_ASSIGN_OR_RETURN(const std::vector<int64_t> slice, IntegersOf(op, "slice_sizes"));
    const int64_t axis = TakenAxis(g, x, indices, slice);
    if (axis >= 0) {
      return Take(body, op, x, indices, axis, g.index_vector == indices.rank() - 1);
    }
    TENON_ASSIGN_OR_RETURN(sizes, body.Integers(slice));
  }
  TENON_ASSIGN_OR_RETURN(const Ref whole, body.Full(x));
  TENON_ASSIGN_OR_RETURN(Ref places, body.Full(indices));
  TENON_ASSIGN_OR_RETURN(places, Indices(body, places));
  const bool wide = places.dtype == DType::kInt64 || sizes.dtype == DType::kInt64;
  TENON_ASSIGN_OR_RETURN(places, body.Cast(places, wide ? DType::kInt64 : DType::kInt32));
  TENON_ASSIGN_OR_RETURN(sizes, body.Cast(sizes, places.dtype));
  TENON_ASSIGN_OR_RETURN(const int64_t sorted, IntegerOf(op, "indices_are_sorted"));
  const std::string numbers = DimensionNumbers({{1, g.offset},
                                                {2, g.collapsed},
                                                {3, g.index_map},
                                                {4, {g.index_vector}},
                                                {5, g.operand_batch},
                                                {6, g.indices_batch}});
  return body.DefineNode(op, "XlaGather", {whole, places, sizes},
                         {{"T", x.dtype},
                          {"Tindices", places.dtype},
                          {"dimension_numbers", numbers},
                          {"indices_are_sorted", sorted != 0}});
}

absl::Status Scatter(Body& body, const Op& op) {
  if (op.operands.size() != 3) return Unimplemented("of several tensors at once");
  TENON_ASSIGN_OR_RETURN(const Ref x, body.FullOperand(op, 0));
  TENON_ASSIGN_OR_RETURN(Ref indices, body.FullOperand(op, 1));
  TENON_ASSIGN_OR_RETURN(const Ref updates, body.FullOperand(op, 2));
  TENON_ASSIGN_OR_RETURN(indices, Indices(body, indices));
  TENON_ASSIGN_OR_RETURN(const std::vector<int64_t> window, IntegersOf(op, "update_window_dims"));
  TENON_ASSIGN_OR_RETURN(const std::vector<int64_t> inserted,
                         IntegersOf(op, "inserted_window_dims"));
  TENON_ASSIGN_OR_RETURN(const std::vector<int64_t> map,
                         IntegersOf(op, "scatter_dims_to_operand_dims"));
  TENON_ASSIGN_OR_RETURN(const std::vector<int64_t> batch, ListIfAny(op, "input_batching_dims"));
  TENON_ASSIGN_OR_RETURN(const std::vector<int64_t> indices_batch,
                         ListIfAny(op, "scatter_indices_batching_dims"));
  TENON_ASSIGN_OR_RETURN(const int64_t vector_dim, IntegerOf(op, "index_vector_dim"));
  TENON_ASSIGN_OR_RETURN(const int64_t sorted, IntegerOf(op, "indices_are_sorted"));
  TENON_ASSIGN_OR_RETURN(const Block* block, RegionOf(op, 0));
  TENON_ASSIGN_OR_RETURN(FuncRef update, ScalarFunction(body, *block, "update"));
  const std::string numbers = DimensionNumbers(
      {{1, window}, {2, inserted}, {3, map}, {4, {vector_dim}}, {5, batch}, {6, indices_batch}});
  return body.DefineNode(op, "XlaScatter", {x, indices, updates},
                         {{"T", x.dtype},
                          {"Tindices", indices.dtype},
                          {"update_computation", std::move(update)},
                          {"dimension_numbers", numbers},
                          {"indices_are_sorted", sorted != 0}});
}

absl::Status Sort(Body& body, const Op& op) {
  TENON_ASSIGN_OR_RETURN(const int64_t dim, IntegerOf(op, "dimension"));
  TENON_ASSIGN_OR_RETURN(const int64_t stable, IntegerOf(op, "is_stable"));
  TENON_ASSIGN_OR_RETURN(const Block* block, RegionOf(op, 0));
  if (op.operands.empty() || op.results.size() != op.operands.size()) {
    return InvalidArgument("of no tensor");
  }
  std::vector<Ref> inputs;
  std::vector<DType> dtypes;
  for (size_t i = 0; i < op.operands.size(); ++i) {
    TENON_ASSIGN_OR_RETURN(Ref x, body.FullOperand(op, i));
    dtypes.push_back(x.dtype);
    inputs.push_back(std::move(x));
  }
  if (dim < -255 || dim > 255) return InvalidArgument("along dimension ", dim);
  TENON_ASSIGN_OR_RETURN(Ref axis,
                         body.Constant(Tensor::Scalar<int32_t>(static_cast<int32_t>(dim))));
  inputs.push_back(std::move(axis));
  TENON_ASSIGN_OR_RETURN(FuncRef before, ScalarFunction(body, *block, "comparator"));
  TENON_ASSIGN_OR_RETURN(
      const std::vector<Ref> sorted,
      body.Nodes("XlaVariadicSort", inputs,
                 {{"T", dtypes}, {"comparator", std::move(before)}, {"is_stable", stable != 0}},
                 dtypes));
  return DefineTensors(body, op, sorted);
}

constexpr Lowering kIndexed[] = {
    {"dynamic_gather", Gather},
    {"gather", Gather},
    {"scatter", Scatter},
    {"sort", Sort},
};

}  // namespace

absl::Span<const Lowering> IndexedLowerings() { return kIndexed; }

}  // namespace tenon::stablehlo
