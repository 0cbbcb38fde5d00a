#include "runtime/plan/map_loop.h"

#include <algorithm>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "env/containers.h"
#include "graph_rewrite/loop_invariants.h"
#include "ops/op.h"

namespace tenon {
namespace {

// The op's name in TensorFlow: a rewritten graph has native ones.
absl::string_view OpOf(const Node& n) {
  const OpLookup op = FindOp(n.op);
  return op ? absl::string_view(op.info->row.name) : absl::string_view(n.op);
}

bool DecodesImage(const Node& n) {
  // op names: each takes 50 us or more.
  static const auto* const kOps = new HashSet<absl::string_view>(
      {"DecodeJpeg", "DecodeAndCropJpeg", "DecodePng", "DecodeImage", "DecodeWebP", "DecodeGif"});
  return kOps->contains(OpOf(n));
}

// Whether calls in any order, and at once, are alike.
bool IsPure(const Graph& graph) {
  const std::vector<NodeId> ids = graph.NodeIds();
  return std::all_of(ids.begin(), ids.end(), [&](NodeId id) {
    const Node& n = graph.node(id);
    const OpLookup op = FindOp(n.op);
    return op && !op.info->row.stateful && n.control_inputs.empty() &&
           FactsOf(n.op).control_flow == ControlFlow::kNone;
  });
}

bool IsOne(const ModelState& model, const Endpoint& source) {
  Constant* const constant = model.constant(source.node);
  if (constant == nullptr || constant->shape() != Shape()) return false;
  const absl::StatusOr<Tensor> value = constant->Plain();
  return value.ok() && value->dtype() == DType::kInt32 && *value->data<int32_t>() == 1;
}

class Recognizer {
 public:
  Recognizer(const ModelState& condition, const ModelState& body)
      : model_(body), condition_(condition.graph()), body_(body.graph()) {}

  std::optional<MapLoop> Run() {
    const size_t n = body_.inputs().size();
    if (body_.outputs().size() != n || condition_.inputs().size() != n) return std::nullopt;
    const std::vector<bool> invariant = InvariantArguments(body_);
    for (size_t i = 0; i < n; ++i) {
      if (!invariant[i] && IsCounter(i)) loop_.counters.push_back(i);
    }
    for (size_t i = 0; i < n; ++i) {
      const bool counts = std::count(loop_.counters.begin(), loop_.counters.end(), i) > 0;
      if (!invariant[i] && !counts && !AddList(i)) return std::nullopt;
    }
    if (loop_.lists.empty()) return std::nullopt;
    return loop_;
  }

 private:
  Endpoint Argument(size_t i) const { return {body_.inputs()[i].node, 0}; }
  const Node& Result(size_t i) const { return body_.node(body_.outputs()[i].source.node); }

  static int Readers(const Graph& graph, NodeId id) {
    int readers = 0;
    for (const NodeId reader : graph.NodeIds()) {
      for (const Endpoint& e : graph.node(reader).inputs) readers += e.node == id;
    }
    for (const GraphOutput& output : graph.outputs()) readers += output.source.node == id;
    return readers;
  }

  bool IsCounter(size_t i) const {
    const Node& n = Result(i);
    if (OpOf(n) != "AddV2" && OpOf(n) != "Add") return false;
    const auto* dtype = body_.node(Argument(i).node).attr<DType>("dtype");
    const auto* shape = body_.node(Argument(i).node).attr<Shape>("shape");
    if (dtype == nullptr || *dtype != DType::kInt32 || shape == nullptr || *shape != Shape()) {
      return false;
    }
    return (n.inputs[0] == Argument(i) && IsOne(model_, n.inputs[1])) ||
           (n.inputs[1] == Argument(i) && IsOne(model_, n.inputs[0]));
  }

  bool AddList(size_t i) {
    const Node& n = Result(i);
    if (OpOf(n) != "TensorListSetItem" || n.inputs[0] != Argument(i)) return false;
    const bool* grows = n.attr<bool>("resize_if_index_out_of_bounds");
    if (grows != nullptr && *grows) return false;
    if (Readers(body_, Argument(i).node) != 1 || Readers(body_, n.id) != 1 ||
        Readers(condition_, condition_.inputs()[i].node) != 0) {
      return false;
    }
    for (const size_t counter : loop_.counters) {
      if (n.inputs[1] != Argument(counter)) continue;
      loop_.lists.push_back({i, counter});
      return true;
    }
    return false;
  }

  const ModelState& model_;
  const Graph& condition_;
  const Graph& body_;
  MapLoop loop_;
};

}  // namespace

std::optional<MapLoop> MapLoopOf(const ModelState& condition, const ModelState& body) {
  const std::vector<NodeId> ids = body.graph().NodeIds();
  const bool decodes = std::any_of(ids.begin(), ids.end(),
                                   [&](NodeId id) { return DecodesImage(body.graph().node(id)); });
  if (!decodes || !IsPure(condition.graph()) || !IsPure(body.graph())) return std::nullopt;
  return Recognizer(condition, body).Run();
}

}  // namespace tenon
