#include "tf_plugin/bound_session.h"

#include <algorithm>
#include <utility>

#include "env/containers.h"
#include "env/status.h"

namespace tenon::plugin {
namespace {

constexpr int kMaxDoublings = 10;
// TensorFlow's own ops run between two runs, and our threads sleep; waking one takes tens of
// microseconds.
constexpr SmallRuns kSmallRuns = {.flops = 9e6, .bytes = int64_t{4} << 20};

bool Same(const BoundSession::Weight& weight, const std::vector<TensorPtr>& inputs) {
  const TF_Tensor* const now = inputs[static_cast<size_t>(weight.input)].get();
  return TF_TensorData(now) == weight.memory && ShapeOf(now) == weight.shape;
}

bool Same(const BoundSession& bound, const std::vector<TensorPtr>& inputs) {
  return std::all_of(bound.weights.begin(), bound.weights.end(),
                     [&](const BoundSession::Weight& weight) { return Same(weight, inputs); });
}

// The graph with constants in the place of inputs, and shapes for others.
absl::StatusOr<Graph> WithConstants(const Graph& graph, const HashMap<NodeId, Tensor>& values,
                                    const HashMap<NodeId, Shape>& shapes) {
  Graph out;
  HashMap<NodeId, NodeId> ids;
  TENON_ASSIGN_OR_RETURN(const std::vector<NodeId> order, graph.TopologicalOrder());
  for (const NodeId id : order) {
    Node copy = graph.node(id);
    if (const auto value = values.find(id); value != values.end()) {
      copy.op = "Const";
      copy.attrs.clear();
      copy.attrs["dtype"] = value->second.dtype();
      copy.attrs["value"] = value->second;
    }
    if (const auto shape = shapes.find(id); shape != shapes.end())
      copy.attrs["shape"] = shape->second;
    for (Endpoint& e : copy.inputs) e.node = ids.at(e.node);
    for (NodeId& c : copy.control_inputs) c = ids.at(c);
    TENON_ASSIGN_OR_RETURN(ids[id], out.AddNode(std::move(copy)));
  }
  for (const GraphInput& input : graph.inputs()) {
    if (!values.contains(input.node)) out.AddInput({input.name, ids.at(input.node)});
  }
  for (const GraphOutput& output : graph.outputs()) {
    out.AddOutput({output.name, {ids.at(output.source.node), output.source.port}});
  }
  out.SetFunctions(graph.functions());
  return out;
}

}  // namespace

absl::StatusOr<std::shared_ptr<BoundSession>> BoundSessions::Make(std::vector<TensorPtr>& inputs,
                                                                  int threads, bool bind) {
  auto made = std::make_shared<BoundSession>();
  made->threads = threads;
  HashMap<NodeId, Tensor> values;
  for (const int i : stable_) {
    TensorPtr& handle = inputs[static_cast<size_t>(i)];
    Tensor tensor = ViewOf(handle.get());
    if (!bind || tensor.bytes() == 0) continue;
    auto owner = process_.constants().Keep(std::move(handle), static_cast<int64_t>(tensor.bytes()));
    if (owner == nullptr) continue;
    values[graph_.inputs()[static_cast<size_t>(i)].node] =
        Tensor::FromExternal(tensor.dtype(), tensor.shape(), tensor.raw(), owner);
    made->weights.push_back({i, tensor.raw(), tensor.shape(), std::move(owner)});
  }
  HashMap<NodeId, Shape> shapes;
  for (size_t i = 0; i < inputs.size(); ++i) {
    const NodeId node = graph_.inputs()[i].node;
    if (values.contains(node)) continue;
    made->fed.push_back(static_cast<int>(i));
    shapes[node] = ShapeFor(i, ViewOf(inputs[i].get()));
  }
  TENON_ASSIGN_OR_RETURN(Graph graph, WithConstants(graph_, values, shapes));
  SessionOptions options;
  options.flags = process_.flags();
  options.flags->dump_dir.clear();  // the graph pass has written it
  options.flags->plugin_path.clear();
  options.threads = threads;
  options.small_runs = kSmallRuns;
  TENON_ASSIGN_OR_RETURN(made->session, Session::Create(std::move(graph), options));
  return made;
}

Shape BoundSessions::StatedShape(size_t input) const {
  const auto* const stated = graph_.node(graph_.inputs()[input].node).attr<Shape>("shape");
  return stated == nullptr ? Shape::Unknown() : *stated;
}

Shape BoundSessions::ShapeFor(size_t input, const Tensor& tensor) const {
  const Shape stated = StatedShape(input);
  const int rank = tensor.shape().rank();
  const Fixed fixed = fixed_[input];
  if (fixed == Fixed::kNone || rank < 2 || !IsFloating(tensor.dtype())) return stated;
  if (stated.has_rank() && stated.rank() != rank) return stated;
  std::vector<int64_t> dims(static_cast<size_t>(rank), -1);
  if (stated.has_rank()) dims.assign(stated.dims().begin(), stated.dims().end());
  for (int d = fixed == Fixed::kLast ? rank - 1 : 1; d < rank; ++d) {
    int64_t& dim = dims[static_cast<size_t>(d)];
    if (dim < 0) dim = tensor.shape().dim(d);
  }
  return Shape(dims);
}

void BoundSessions::CheckShapes(const std::vector<TensorPtr>& inputs) {
  for (std::shared_ptr<BoundSession>* const made : {&bound_, &free_}) {
    bool fits = true;
    for (size_t i = 0; *made != nullptr && i < (*made)->fed.size(); ++i) {
      const auto input = static_cast<size_t>((*made)->fed[i]);
      const Shape& wanted = (*made)->session->inputs()[i].shape;
      const Shape now = ShapeOf(inputs[input].get());
      // What TensorFlow knew the run refuses.
      if (wanted.CompatibleWith(now) || wanted == StatedShape(input)) continue;
      const int rank = wanted.rank();
      const bool same_width = now.rank() == rank && now.dim(rank - 1) == wanted.dim(rank - 1);
      fixed_[input] = std::min(fixed_[input], same_width ? Fixed::kLast : Fixed::kNone);
      fits = false;
    }
    if (!fits) made->reset();
  }
}

bool BoundSessions::LeaveOut(const std::vector<TensorPtr>& inputs) {
  std::vector<int> differ;
  for (const BoundSession::Weight& weight : bound_->weights) {
    if (!Same(weight, inputs)) differ.push_back(weight.input);
  }
  if (differ.empty() || differ.size() == bound_->weights.size()) return false;
  std::erase_if(stable_,
                [&](int i) { return std::find(differ.begin(), differ.end(), i) != differ.end(); });
  return true;
}

absl::StatusOr<std::shared_ptr<BoundSession>> BoundSessions::For(std::vector<TensorPtr>& inputs,
                                                                 int threads) {
  MutexLock lock(&mutex_);
  CheckShapes(inputs);
  if (bound_ != nullptr && bound_->threads != threads) bound_.reset();
  if (bound_ != nullptr) {
    ++calls_of_bound_;
    if (Same(*bound_, inputs)) {
      if (calls_of_bound_ >> changes_ > 0) changes_ = 0;  // they have stayed long enough
      return bound_;
    }
    if (calls_of_bound_ > 1 || !LeaveOut(inputs)) {
      changes_ = std::min(changes_ + 2, kMaxDoublings);
      calls_to_wait_ = int64_t{1} << changes_;
    }
    bound_.reset();
  }
  if (calls_to_wait_ > 0) {
    --calls_to_wait_;
    if (free_ == nullptr || free_->threads != threads) {
      TENON_ASSIGN_OR_RETURN(free_, Make(inputs, threads, /*bind=*/false));
    }
    return free_;
  }
  TENON_ASSIGN_OR_RETURN(bound_, Make(inputs, threads, /*bind=*/true));
  calls_of_bound_ = 0;
  return bound_;
}

}  // namespace tenon::plugin
