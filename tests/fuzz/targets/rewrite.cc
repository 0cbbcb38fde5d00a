// Graphs drawn node by node from the op table, each kept only if it computes something, then run
// rewritten and unrewritten.
#include <map>
#include <set>

#include "env/flags.h"
#include "ops/evaluate.h"
#include "tests/fuzz/targets/draw.h"
#include "tests/fuzz/targets/rewrite_check.h"
#include "tests/fuzz/targets/target.h"
#include "tests/support/settings.h"

namespace tenon {
namespace {

constexpr size_t kMostNodes = 24;
constexpr int kMostDrawn = 32;
constexpr int64_t kMostElements = 1 << 16;

struct Value {
  Endpoint at;
  Tensor tensor;
};

class GraphDrawing {
 public:
  explicit GraphDrawing(ByteReader& bytes) : bytes_(bytes), base_(DrawShape(bytes)) {
    services_.flags = &*options_.flags;
  }

  void Draw() {
    for (int i = 0; i < kMostDrawn && !bytes_.empty() && graph_.num_nodes() < kMostNodes; ++i) {
      DrawNode();
    }
    // Results that nothing reads, and some that are read.
    for (const Value& value : values_) {
      const bool read = read_.contains({value.at.node, value.at.port});
      if (read && bytes_.Byte() < 224) continue;
      graph_.AddOutput({absl::StrCat("out", graph_.outputs().size()), value.at});
    }
  }

  const Graph& graph() const { return graph_; }
  const std::map<std::string, Tensor>& feeds() const { return feeds_; }

 private:
  // Often an op that rules are about.
  const OpInfo& ChooseOp() {
    static const auto* const likely = [] {
      auto* const ops = new std::vector<const OpInfo*>;
      for (const OpInfo* op : AllOps()) {
        const OpRow& row = op->row;
        if (row.native != nullptr || row.elementwise || row.moves_elements) ops->push_back(op);
      }
      return ops;
    }();
    const bool any = bytes_.Byte() >= 224;
    const OpInfo* op = &DrawOp(bytes_);
    if (any) return *op;
    // The next one that is likely, by name.
    const auto by_name = [](const OpInfo* a, const OpInfo* b) {
      return absl::string_view(a->row.name) < absl::string_view(b->row.name);
    };
    const auto at = std::lower_bound(likely->begin(), likely->end(), op, by_name);
    return at == likely->end() ? *likely->front() : **at;
  }

  void DrawNode() {
    const OpInfo& op = ChooseOp();
    if (op.row.internal || op.row.stateful || op.row.control_flow != ControlFlow::kNone) return;
    std::vector<Value> inputs;
    const auto input = [&](DType dtype) {
      Value value = ChooseValue(dtype);
      if (value.tensor.valid()) inputs.push_back(value);
      return value.tensor;
    };
    std::optional<OpCall> call = DrawCall(bytes_, op, Magnitudes::kSmall, input);
    if (!call.has_value() || call->node.op == "Const") return;
    const auto outputs = Evaluate(call->node, call->inputs, services_);
    if (!outputs.ok()) return;
    for (const Tensor& t : *outputs) {
      if (t.num_elements() > kMostElements || SizeOf(t.dtype()) == 0) return;
    }
    for (const Value& value : inputs) {
      call->node.inputs.push_back(Place(value));
      read_.insert({call->node.inputs.back().node, call->node.inputs.back().port});
    }
    call->node.name = graph_.UniqueName("n");
    const auto id = graph_.AddNode(std::move(call->node));
    for (size_t i = 0; i < outputs->size(); ++i) {
      values_.push_back({{*id, static_cast<int>(i)}, (*outputs)[i]});
    }
  }

  // A result of this dtype, mostly a late one, or a new tensor that has no place yet.
  Value ChooseValue(DType dtype) {
    std::vector<const Value*> fitting;
    for (const Value& value : values_) {
      if (value.tensor.dtype() == dtype) fitting.push_back(&value);
    }
    const uint8_t how = bytes_.Byte();
    if (!fitting.empty() && how < 160) {
      const size_t back = how < 96 ? 0 : bytes_.Below(fitting.size());
      return *fitting[fitting.size() - 1 - back];
    }
    Shape shape = how < 200 ? base_ : DrawShape(bytes_);
    if (how >= 192 && !fitting.empty()) {  // of the last axis, as biases are
      const Shape& last = fitting.back()->tensor.shape();
      if (last.rank() > 0 && how % 2 == 0) shape = Shape({last.dim(last.rank() - 1)});
    }
    Value value{{kNoNode, how % 3 == 0 ? 1 : 0},
                DrawTensor(bytes_, dtype, shape, Magnitudes::kSmall)};
    return value;
  }

  // Adds a new tensor to the graph: port 1 as a Placeholder, port 0 as a Const.
  Endpoint Place(const Value& value) {
    if (value.at.node != kNoNode) return value.at;
    Node node;
    node.name = graph_.UniqueName(value.at.port == 1 ? "in" : "c");
    node.attrs["dtype"] = value.tensor.dtype();
    const bool fed = value.at.port == 1 && value.tensor.dtype() != DType::kString;
    node.op = fed ? "Placeholder" : "Const";
    if (fed) {
      node.attrs["shape"] = value.tensor.shape();
      feeds_[node.name] = value.tensor;
    } else {
      node.attrs["value"] = value.tensor;
    }
    const auto id = graph_.AddNode(std::move(node));
    values_.push_back({{*id, 0}, value.tensor});
    read_.insert({*id, 0});
    return {*id, 0};
  }

  ByteReader& bytes_;
  const Shape base_;
  const SessionOptions options_ = DefaultOptions(/*threads=*/1);
  Services services_;
  Graph graph_;
  std::map<std::string, Tensor> feeds_;
  std::vector<Value> values_;
  std::set<std::pair<NodeId, int>> read_;
};

int FuzzRewrite(const uint8_t* data, size_t size) {
  ByteReader bytes(data, size);
  GraphDrawing drawing(bytes);
  drawing.Draw();
  if (drawing.graph().outputs().empty()) return -1;
  CheckRewrite(drawing.graph(), drawing.feeds());
  return 0;
}

const FuzzTarget kTarget("rewrite", FuzzRewrite);

}  // namespace
}  // namespace tenon
