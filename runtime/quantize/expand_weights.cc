#include "runtime/quantize/expand_weights.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "env/status.h"
#include "runtime/quantize/scheme.h"

namespace tenon {
namespace {

bool AttrIs(const Node& n, const char* name) {
  const bool* value = n.attr<bool>(name);
  return value != nullptr && *value;
}

// A matrix of float weights that a layer reads.
struct Weights {
  Endpoint constant;
  bool transposed = false;
};

class Expander {
 public:
  Expander(RuleContext& context, const WeightsOptions& options, WeightsReport& report)
      : context_(context), options_(options), report_(report) {}

  absl::StatusOr<std::vector<SmallLayer>> Run() {
    TENON_ASSIGN_OR_RETURN(const std::vector<NodeId> order, context_.graph().TopologicalOrder());
    int64_t done = 0;
    for (NodeId id : order) {
      options_.Report("rounding", done++, static_cast<int64_t>(order.size()));
      const std::string op = context_.node(id).op;
      if (op == "MatMul" || op == "BatchMatMulV2") {
        TENON_RETURN_IF_ERROR(TakeProduct(id));
      } else if (op == "GatherV2" || op == "Gather") {
        TENON_RETURN_IF_ERROR(TakeEmbedding(id));
      }
    }
    return std::move(layers_);
  }

 private:
  struct Rounded {
    RoundingError error;
    Endpoint elements, scales, zeros;
    Endpoint matrix;  // expanded, if some product needed it
  };

  // Null if it is no matrix of floats, or is read in another way.
  const Tensor* Matrix(Endpoint e) const {
    const Tensor* t = context_.Constant(e);
    return t != nullptr && t->dtype() == DType::kFloat && t->shape().rank() == 2 ? t : nullptr;
  }

  // Why the weights cannot be rounded; empty: they can. A mask of infinities, or of the least
  // float, is none of weights.
  static std::string WhyExact(const Tensor& matrix) {
    const absl::Span<const float> w = matrix.flat<float>();
    if (!std::all_of(w.begin(), w.end(), [](float x) { return std::isfinite(x); })) {
      return "weights that are not finite";
    }
    constexpr float kLargest = 1e37f;
    const bool large =
        std::any_of(w.begin(), w.end(), [&](float x) { return std::abs(x) > kLargest; });
    return large ? absl::StrCat("weights above ", kLargest) : "";
  }

  // The layer's entry in the report; its `kept` is set if the layer stays as it is.
  size_t AddReport(NodeId id, const Tensor& matrix) {
    WeightsLayer layer;
    layer.name = context_.node(id).name;
    layer.op = context_.node(id).op;
    layer.shape = matrix.shape();
    if (std::find(options_.keep.begin(), options_.keep.end(), layer.name) != options_.keep.end()) {
      layer.kept = "as asked";
    } else if (matrix.num_elements() < options_.least_elements) {
      layer.kept = absl::StrCat("fewer than ", options_.least_elements, " weights");
    } else {
      layer.kept = WhyExact(matrix);
    }
    report_.layers.push_back(std::move(layer));
    return report_.layers.size() - 1;
  }

  absl::StatusOr<Rounded*> Round(const Weights& w) {
    const auto key = std::pair(w.constant.node, w.transposed);
    const auto found = rounded_.find(key);
    if (found != rounded_.end()) return &found->second;
    const std::string name = context_.node(w.constant).name;
    const Tensor matrix = *Matrix(w.constant);
    RoundingOptions rounding = options_.rounding;
    rounding.threads = context_.services.threads;
    auto weights = RoundWeights(matrix, w.transposed, rounding);
    if (!weights.ok()) return Annotate(weights.status(), name);
    Rounded rounded{weights->error, {}, {}, {}, {}};
    const auto add = [&](const char* hint, Tensor t) {
      report_.bytes_after += static_cast<int64_t>(t.bytes());
      return Const(name + hint, std::move(t));
    };
    report_.bytes_before += static_cast<int64_t>(matrix.bytes());
    rounded.elements = add("", weights->elements);
    if (weights->scales.has_value()) rounded.scales = add("/scales", *weights->scales);
    if (weights->zeros.has_value()) rounded.zeros = add("/zeros", *weights->zeros);
    return &rounded_.emplace(key, rounded).first->second;
  }

  static void Describe(const Rounded& rounded, WeightsLayer& layer) {
    const RoundingError& e = rounded.error;
    layer.weight_largest = e.largest;
    layer.weight_error = e.squares == 0 ? 0 : std::sqrt(e.squares / e.of_exact);
  }

  absl::Status TakeProduct(NodeId id) {
    const Node n = context_.node(id);
    const Tensor* matrix = Matrix(n.inputs[1]);
    if (matrix == nullptr || context_.Constant(n.inputs[0]) != nullptr ||
        AttrIs(n, "transpose_a") || AttrIs(n, "adj_x")) {
      return absl::OkStatus();
    }
    const size_t layer = AddReport(id, *matrix);
    if (!report_.layers[layer].kept.empty()) return absl::OkStatus();
    const Weights w{n.inputs[1], AttrIs(n, "transpose_b") || AttrIs(n, "adj_y")};
    const Shape shape = matrix->shape();
    TENON_ASSIGN_OR_RETURN(Rounded* const rounded, Round(w));
    Describe(*rounded, report_.layers[layer]);
    if (rounded->matrix.node == kNoNode) {
      TENON_ASSIGN_OR_RETURN(rounded->matrix, ExpandMatrix(w, *rounded, shape));
    }
    Node copy = n;
    copy.id = kNoNode;
    copy.control_inputs.clear();
    copy.inputs[1] = rounded->matrix;
    layers_.push_back({layer, id, {context_.rw.AddNode(std::move(copy)), 0}});
    return absl::OkStatus();
  }

  // Rows of a table along axis 0: its rows are rounded, in groups, as for a product with its
  // transpose, which often reads the same table.
  absl::Status TakeEmbedding(NodeId id) {
    const Node n = context_.node(id);
    const Tensor* table = Matrix(n.inputs[0]);
    if (!options_.embeddings || table == nullptr || context_.Constant(n.inputs[1]) != nullptr) {
      return absl::OkStatus();
    }
    if (n.op == "GatherV2") {
      const Tensor* axis = context_.Constant(n.inputs[2]);
      const int64_t* batch_dims = n.attr<int64_t>("batch_dims");
      if (axis == nullptr || (batch_dims != nullptr && *batch_dims != 0)) return absl::OkStatus();
      TENON_ASSIGN_OR_RETURN(const std::vector<int64_t> axes, IntegerValues(*axis));
      if (axes.size() != 1 || axes[0] != 0) return absl::OkStatus();
    }
    const Shape shape = table->shape();
    const size_t layer = AddReport(id, *table);
    WeightsLayer& report = report_.layers[layer];
    const int rank = context_.shapes.rank(n.inputs[1]);
    if (report.kept.empty() && rank < 0) report.kept = "the rank of the indices is not known";
    const auto uses = context_.rw.uses(id);
    if (report.kept.empty() && std::any_of(uses.begin(), uses.end(), [&](const Use& use) {
          return !use.is_control() && NeedsExactValues(context_, use.reader);
        })) {
      report.kept = "its rows are read as exact numbers";
    }
    if (report.kept.empty() && shape[1] % GroupSize(shape[1], options_.rounding) != 0) {
      report.kept = "its rows are not whole groups";
    }
    if (!report.kept.empty()) return absl::OkStatus();
    TENON_ASSIGN_OR_RETURN(const Rounded* const rounded, Round({n.inputs[0], true}));
    Describe(*rounded, report_.layers[layer]);
    TENON_ASSIGN_OR_RETURN(const Endpoint rows, GatherRows(n, *rounded, rank, shape[1]));
    layers_.push_back({layer, id, rows});
    return absl::OkStatus();
  }

  // ---- nodes ----
  Endpoint Const(const std::string& name, Tensor value) {
    return {context_.AddConst(name + "/small", std::move(value)), 0};
  }
  absl::StatusOr<Endpoint> Add(const std::string& name, const char* op,
                               std::vector<Endpoint> inputs,
                               std::vector<std::pair<const char*, AttrValue>> attrs) {
    Node n;
    n.name = absl::StrCat(name, "/", op);
    n.op = op;
    n.inputs.assign(inputs.begin(), inputs.end());
    for (auto& [key, value] : attrs) n.attrs[key] = std::move(value);
    TENON_ASSIGN_OR_RETURN(const NodeId id, context_.AddNode(std::move(n)));
    return Endpoint{id, 0};
  }
  absl::StatusOr<Endpoint> ToFloat(const std::string& name, Endpoint e) {
    const DType from = context_.shapes.dtype(e);
    if (from == DType::kFloat) return e;
    return Add(name, "Cast", {e}, {{"SrcT", from}, {"DstT", DType::kFloat}});
  }

  // (elements - zeros) * scales; `axis` is that within a group.
  absl::StatusOr<Endpoint> Expand(const std::string& name, const Rounded& c, int axis) {
    Endpoint e = c.elements;
    const bool nibbles = options_.rounding.format == WeightFormat::kInt4;
    if (nibbles) {
      const AttrValue u8 = DType::kUint8;
      const Endpoint mask = Const(name, Tensor::Scalar<uint8_t>(15));
      const Endpoint shift = Const(name, Tensor::Scalar<uint8_t>(4));
      TENON_ASSIGN_OR_RETURN(const Endpoint low, Add(name, "BitwiseAnd", {e, mask}, {{"T", u8}}));
      TENON_ASSIGN_OR_RETURN(const Endpoint high, Add(name, "RightShift", {e, shift}, {{"T", u8}}));
      const Endpoint at = Const(name, Tensor::Scalar<int32_t>(axis));
      TENON_ASSIGN_OR_RETURN(e, Add(name, "ConcatV2", {low, high, at},
                                    {{"T", u8}, {"N", int64_t{2}}, {"Tidx", DType::kInt32}}));
    }
    TENON_ASSIGN_OR_RETURN(e, ToFloat(name, e));
    const AttrValue f32 = DType::kFloat;
    if (c.zeros.node != kNoNode) {
      TENON_ASSIGN_OR_RETURN(const Endpoint zeros, ToFloat(name, c.zeros));
      TENON_ASSIGN_OR_RETURN(e, Add(name, "Sub", {e, zeros}, {{"T", f32}}));
    } else if (nibbles) {
      TENON_ASSIGN_OR_RETURN(
          e, Add(name, "Sub", {e, Const(name, Tensor::Scalar(8.0f))}, {{"T", f32}}));
    }
    if (c.scales.node == kNoNode) return e;
    TENON_ASSIGN_OR_RETURN(const Endpoint scales, ToFloat(name, c.scales));
    return Add(name, "Mul", {e, scales}, {{"T", f32}});
  }

  absl::StatusOr<Endpoint> ExpandMatrix(const Weights& w, const Rounded& rounded,
                                        const Shape& shape) {
    const std::string name = context_.node(w.constant).name + "/expanded";
    TENON_ASSIGN_OR_RETURN(Endpoint e, Expand(name, rounded, w.transposed ? 2 : 1));
    const Shape stored = context_.shapes.shape(e);
    if (stored.rank() == 2) return e;
    Shape whole = shape;  // with the rows that fill up the last group
    whole.set_dim(w.transposed ? 1 : 0,
                  w.transposed ? stored[1] * stored[2] : stored[0] * stored[1]);
    const auto vector = [&](const Shape& s) {
      return Const(
          name, Tensor::Vector<int32_t>({static_cast<int32_t>(s[0]), static_cast<int32_t>(s[1])}));
    };
    const AttrValue f32 = DType::kFloat, i32 = DType::kInt32;
    TENON_ASSIGN_OR_RETURN(e,
                           Add(name, "Reshape", {e, vector(whole)}, {{"T", f32}, {"Tshape", i32}}));
    if (whole == shape) return e;
    return Add(name, "Slice", {e, vector(Shape({0, 0})), vector(shape)},
               {{"T", f32}, {"Index", i32}});
  }

  absl::StatusOr<Endpoint> GatherRows(const Node& gather, Rounded rows, int rank, int64_t columns) {
    const std::string name = gather.name;
    const Endpoint indices = gather.inputs[1];
    const AttrValue index_type = context_.shapes.dtype(indices), i32 = DType::kInt32;
    for (Endpoint* e : {&rows.elements, &rows.scales, &rows.zeros}) {
      if (e->node == kNoNode) continue;
      const AttrValue type = context_.shapes.dtype(*e);
      const Endpoint axis = Const(name, Tensor::Scalar<int32_t>(0));
      TENON_ASSIGN_OR_RETURN(*e,
                             Add(name, "GatherV2", {*e, indices, axis},
                                 {{"Tparams", type}, {"Tindices", index_type}, {"Taxis", i32}}));
    }
    TENON_ASSIGN_OR_RETURN(const Endpoint e, Expand(name, rows, rank + 1));
    if (rows.scales.node == kNoNode) return e;
    // [indices..., groups, group] becomes [indices..., columns].
    const Endpoint last = Const(name, Tensor::Vector<int32_t>({static_cast<int32_t>(columns)}));
    TENON_ASSIGN_OR_RETURN(const Endpoint front,
                           Add(name, "Shape", {indices}, {{"T", index_type}, {"out_type", i32}}));
    const Endpoint axis = Const(name, Tensor::Scalar<int32_t>(0));
    TENON_ASSIGN_OR_RETURN(
        const Endpoint shape,
        Add(name, "ConcatV2", {front, last, axis}, {{"T", i32}, {"N", int64_t{2}}, {"Tidx", i32}}));
    return Add(name, "Reshape", {e, shape}, {{"T", DType::kFloat}, {"Tshape", i32}});
  }

  RuleContext& context_;
  const WeightsOptions& options_;
  WeightsReport& report_;
  std::map<std::pair<NodeId, bool>, Rounded> rounded_;
  std::vector<SmallLayer> layers_;
};

}  // namespace

absl::StatusOr<std::vector<SmallLayer>> AddSmallLayers(RuleContext& context,
                                                       const WeightsOptions& options,
                                                       WeightsReport& report) {
  return Expander(context, options, report).Run();
}

void UseSmallLayers(RuleContext& context, const std::vector<SmallLayer>& layers) {
  for (const SmallLayer& layer : layers) {
    const auto inputs = context.node(layer.node).inputs;
    // Control edges into the layer stay with what replaces it.
    const auto controls = context.node(layer.node).control_inputs;
    if (!controls.empty()) context.rw.SetControlInputs(layer.result.node, controls);
    context.rw.ReplaceNode(layer.node, layer.result);
    for (const Endpoint& e : inputs) {
      if (context.graph().Has(e.node)) context.RemoveIfDead(e.node);
    }
  }
}

absl::Status AddMeasures(RuleContext& context, const SmallLayer& layer,
                         std::vector<GraphOutput>& outputs) {
  const std::string name = absl::StrCat(context.node(layer.node).name, "/measure");
  const auto add = [&](const char* op, std::vector<Endpoint> inputs) -> absl::StatusOr<Endpoint> {
    Node n;
    n.name = name;
    n.op = op;
    n.inputs.assign(inputs.begin(), inputs.end());
    n.attrs["T"] = DType::kFloat;
    TENON_ASSIGN_OR_RETURN(const NodeId id, context.AddNode(std::move(n)));
    return Endpoint{id, 0};
  };
  const auto reduce = [&](const char* op, Endpoint e) -> absl::StatusOr<Endpoint> {
    const Endpoint flat{context.AddConst(name, Tensor::Vector<int32_t>({-1})), 0};
    TENON_ASSIGN_OR_RETURN(const Endpoint row, add("Reshape", {e, flat}));
    const Endpoint axis{context.AddConst(name, Tensor::Scalar<int32_t>(0)), 0};
    return add(op, {row, axis});
  };
  const Endpoint exact{layer.node, 0};
  TENON_ASSIGN_OR_RETURN(const Endpoint d, add("Sub", {exact, layer.result}));
  TENON_ASSIGN_OR_RETURN(const Endpoint d2, add("Square", {d}));
  TENON_ASSIGN_OR_RETURN(const Endpoint y2, add("Square", {exact}));
  TENON_ASSIGN_OR_RETURN(const Endpoint size, add("Abs", {d}));
  const std::string key = absl::StrCat("layer ", layer.layer, " ");
  TENON_ASSIGN_OR_RETURN(const Endpoint difference, reduce("Sum", d2));
  TENON_ASSIGN_OR_RETURN(const Endpoint squares, reduce("Sum", y2));
  TENON_ASSIGN_OR_RETURN(const Endpoint largest, reduce("Max", size));
  outputs.push_back({key + "difference", difference});
  outputs.push_back({key + "squares", squares});
  outputs.push_back({key + "largest", largest});
  return absl::OkStatus();
}

}  // namespace tenon
