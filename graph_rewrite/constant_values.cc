#include "graph_rewrite/constant_values.h"

#include <algorithm>
#include <utility>

#include "env/status.h"
#include "graph/object.h"
#include "graph_rewrite/contraction.h"
#include "graph_rewrite/dims.h"
#include "ops/evaluate.h"
#include "ops/op.h"

namespace tenon {
namespace {

constexpr size_t kAlwaysBytes = size_t{64} << 10;  // results up to this size may grow freely
constexpr size_t kMaxGrowth = 4;                   // larger ones by this factor
// Of temporary results: of each, and of all that are in memory at the same time.
constexpr size_t kMostTemporaryBytes = size_t{64} << 20, kMostHeldBytes = size_t{256} << 20;
constexpr int kMostTemporaryDepth = 32;
constexpr size_t kMostSources = 64;  // constants below a temporary result

// The bytes of all outputs, if these are known before the op runs.
std::optional<size_t> OutputBytes(RuleContext& context, NodeId id, size_t outputs) {
  size_t bytes = 0;
  for (size_t port = 0; port < outputs; ++port) {
    const Endpoint e{id, static_cast<int>(port)};
    const auto n = context.shapes.shape(e).CheckedElements();
    if (!n.ok() || *n > (int64_t{1} << 40)) return std::nullopt;
    bytes += static_cast<size_t>(*n) * SizeOf(context.shapes.dtype(e));
  }
  return bytes;
}

// 8-bit weights of a contraction with dequantized data: FuseQuantizedRegion may use them as they
// are (and FoldDequantized folds the remaining ones).
bool IsQuantizedWeight(RuleContext& context, const Node& n) {
  if (n.op != "Dequantize") return false;
  for (const Use& use : context.rw.uses(n.id)) {
    if (use.slot != 1) continue;
    const Node& reader = context.node(use.reader);
    if (!IsContraction(reader.op)) continue;
    const Node* data = &context.node(reader.inputs[0]);
    if (data->op == "Pad" || data->op == "PadV2") data = &context.node(data->inputs[0]);
    if (data->op == "Dequantize") return true;
  }
  return false;
}

// What a node gives of the shape of its input, or a single dimension of it; empty if that is not
// known, or the node gives something else.
std::vector<Tensor> FactOfShape(RuleContext& context, const Node& n) {
  // Only the shape of the input counts. op names: what each gives of it is spelled out.
  if (n.op == "Shape" || n.op == "Size" || n.op == "Rank") {
    const Shape& s = context.shapes.shape(n.inputs[0]);
    std::vector<int64_t> values;
    if (n.op == "Rank" && s.has_rank()) {
      values = {s.rank()};
    } else if (n.op == "Shape" && s.IsComplete()) {
      values.assign(s.dims().begin(), s.dims().end());
    } else if (n.op == "Size" && s.IsComplete()) {
      values = {s.num_elements()};
    } else {
      return {};
    }
    const DType* out = n.attr<DType>("out_type");
    const Shape shape = n.op == "Shape" ? Shape({s.rank()}) : Shape();
    if (out != nullptr && *out == DType::kInt64) return {Tensor::From<int64_t>(shape, values)};
    return {Tensor::From<int32_t>(shape, std::vector<int32_t>(values.begin(), values.end()))};
  }
  // A dimension that is known of a shape that is not.
  if (n.op == "StridedSlice" && context.shapes.rank({n.id, 0}) == 0 &&
      IsInteger(context.shapes.dtype({n.id, 0}))) {
    const int64_t size = ScalarDimension(context, {n.id, 0}).value;
    if (size >= 0 && context.shapes.dtype({n.id, 0}) == DType::kInt32) {
      return {Tensor::Scalar<int32_t>(static_cast<int32_t>(size))};
    }
    if (size >= 0 && context.shapes.dtype({n.id, 0}) == DType::kInt64) {
      return {Tensor::Scalar<int64_t>(size)};
    }
  }
  return {};
}

}  // namespace

std::vector<Tensor> ConstantValues::Of(NodeId id) {
  const Node& n = context_.node(id);
  const OpLookup op = FindOp(n.op);
  if (!op || op.info->row.stateful || n.op == "Const" || n.op == "Placeholder") return {};
  if (IsQuantizedWeight(context_, n)) return {};
  if (auto values = FactOfShape(context_, n); !values.empty()) return values;
  if (n.inputs.empty() || op.info->row.reference == nullptr) return {};
  Temporary result;
  if (!AddSources(n, result)) return {};
  auto dtypes = OutputDTypes(*op.info, n);
  if (!dtypes.ok() || std::any_of(dtypes->begin(), dtypes->end(), HoldsObjects)) return {};

  size_t source_bytes = 0, input_bytes = 0;
  for (const NodeId constant : result.constants) {
    source_bytes += context_.Constant({constant, 0})->bytes();
  }
  for (const Endpoint& e : n.inputs) {
    if (const Tensor* t = context_.Constant(e)) input_bytes += t->bytes();
  }
  source_bytes = std::max(source_bytes, input_bytes);  // an input may be there several times
  const std::optional<size_t> bytes = OutputBytes(context_, id, dtypes->size());
  // Results whose size is known only after running are no larger than their inputs for the usual
  // ops (Where, Unique); larger ones are not folded.
  if (!bytes.has_value()) {
    return source_bytes > kAlwaysBytes ? std::vector<Tensor>() : Compute(n);
  }
  if (*bytes > kAlwaysBytes && *bytes > kMaxGrowth * source_bytes) {
    result.bytes = *bytes;
    HoldLater(id, std::move(result));
    return {};
  }
  return Compute(n);
}

bool ConstantValues::AddSources(const Node& node, Temporary& to) const {
  for (const Endpoint& e : node.inputs) {
    if (context_.Constant(e) != nullptr) {
      to.constants.push_back(e.node);
      continue;
    }
    const auto found = temporaries_.find(e.node);
    if (found == temporaries_.end()) return false;
    const Temporary& below = found->second;
    to.constants.insert(to.constants.end(), below.constants.begin(), below.constants.end());
    to.depth = std::max(to.depth, below.depth);
  }
  std::sort(to.constants.begin(), to.constants.end());
  to.constants.erase(std::unique(to.constants.begin(), to.constants.end()), to.constants.end());
  return true;
}

void ConstantValues::HoldLater(NodeId id, Temporary result) {
  ++result.depth;
  if (result.bytes <= kMostTemporaryBytes && result.depth <= kMostTemporaryDepth &&
      result.constants.size() <= kMostSources) {
    temporaries_[id] = std::move(result);
  }
}

std::vector<Tensor> ConstantValues::Compute(const Node& node) {
  std::vector<Tensor> inputs;
  for (const Endpoint& e : node.inputs) {
    std::optional<Tensor> value = Value(e);
    if (!value.has_value()) return {};
    inputs.push_back(*std::move(value));
  }
  auto values = Evaluate(node, inputs, context_.services);
  return values.ok() ? *std::move(values) : std::vector<Tensor>();
}

std::optional<Tensor> ConstantValues::Value(Endpoint e) {
  if (const Tensor* t = context_.Constant(e)) return *t;
  Temporary& temporary = temporaries_.at(e.node);
  if (temporary.values.empty()) {
    if (held_bytes_ + temporary.bytes > kMostHeldBytes) return std::nullopt;
    temporary.values = Compute(context_.node(e));
    if (temporary.values.empty()) return std::nullopt;
    held_bytes_ += temporary.bytes;
  }
  return temporary.values[static_cast<size_t>(e.port)];
}

}  // namespace tenon
