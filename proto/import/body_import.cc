#include "proto/import/body_import.h"

#include <algorithm>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_split.h"
#include "env/status.h"
#include "ops/op.h"
#include "proto/import/expand.h"
#include "proto/messages/attr_proto.h"
#include "proto/messages/tenon_graph.pb.h"

namespace tenon {
namespace {

constexpr size_t kMaxCallDepth = 64;
constexpr int kMaxPort = 1 << 16;

void Join(BodyImport::Controls& into, const BodyImport::Controls& more) {
  for (NodeId id : more) {
    if (std::find(into.begin(), into.end(), id) == into.end()) into.push_back(id);
  }
}

bool ParsePort(absl::string_view text, int& port) {
  return absl::SimpleAtoi(text, &port) && port >= 0 && port < kMaxPort;
}

}  // namespace

absl::StatusOr<int> ArgTensors(const std::string& number_attr, const std::string& type_list_attr,
                               const AttrMap& attrs) {
  if (!number_attr.empty()) {
    auto it = attrs.find(number_attr);
    const int64_t* n = it == attrs.end() ? nullptr : it->second.get_if<int64_t>();
    if (n == nullptr || *n < 0 || *n > kMaxPort) {
      return InvalidArgument("attribute '", number_attr, "' is missing or wrong");
    }
    return static_cast<int>(*n);
  }
  if (!type_list_attr.empty()) {
    auto it = attrs.find(type_list_attr);
    if (it != attrs.end()) {
      if (const auto* list = it->second.get_if<std::vector<DType>>()) {
        return static_cast<int>(list->size());
      }
      const auto* empty = it->second.get_if<std::vector<int64_t>>();
      if (empty != nullptr && empty->empty()) return 0;
    }
    return InvalidArgument("attribute '", type_list_attr, "' is missing or wrong");
  }
  return 1;
}

BodyImport::BodyImport(Importer& importer, const BodyIndex& body, Draft& draft)
    : importer_(importer),
      body_(body),
      draft_(draft),
      states_(body.nodes.size(), State::kNew),
      values_(body.nodes.size()) {}

std::string BodyImport::Where(int index) const {
  const tf::NodeDef& def = *body_.nodes[static_cast<size_t>(index)];
  return NodeLabel(absl::StrCat(prefix, def.name()), def.op());
}

absl::StatusOr<BodyImport::Reference> BodyImport::Parse(const std::string& text) const {
  Reference r;
  if (!text.empty() && text[0] == '^') {
    r.control = true;
    r.name = text.substr(1);
    return r;
  }
  const std::vector<std::string> parts = absl::StrSplit(text, ':');
  r.name = parts[0];
  bool good = !r.name.empty() && parts.size() <= 3;
  if (good && parts.size() == 2) {
    if (!ParsePort(parts[1], r.port)) {
      r.arg = parts[1];
      good = body_.function != nullptr && !r.arg.empty();
    }
  } else if (good && parts.size() == 3) {
    r.arg = parts[1];
    good = body_.function != nullptr && ParsePort(parts[2], r.port);
  }
  if (!good) return InvalidArgument("'", text, "' is not an input");
  return r;
}

const std::vector<Endpoint>* BodyImport::FindArg(const std::string& name) const {
  auto it = args.find(name);
  return it == args.end() ? nullptr : &it->second;
}

absl::StatusOr<int> BodyImport::Find(const std::string& node) const {
  auto it = body_.by_name.find(node);
  if (it == body_.by_name.end()) return InvalidArgument("there is no node '", node, "'");
  return it->second;
}

// Requires that the reference's node has been visited.
absl::StatusOr<Endpoint> BodyImport::Resolve(const Reference& r) {
  if (auto fed = feeds.find({r.name, r.port}); fed != feeds.end()) return fed->second;
  if (const std::vector<Endpoint>* arg = FindArg(r.name)) {
    if (static_cast<size_t>(r.port) >= arg->size()) {
      return InvalidArgument("argument '", r.name, "' has no tensor ", r.port);
    }
    return (*arg)[static_cast<size_t>(r.port)];
  }
  TENON_ASSIGN_OR_RETURN(const int index, Find(r.name));
  const Value& value = values_[static_cast<size_t>(index)];
  int port = r.port;
  if (!r.arg.empty() && value.num_outputs >= 0) {
    int first = 0;
    auto it = value.output_args.begin();
    for (; it != value.output_args.end() && it->first != r.arg; ++it) first += it->second;
    if (it == value.output_args.end() || port >= it->second) {
      return InvalidArgument(Where(index), " has no output '", r.arg, ":", port, "'");
    }
    port += first;
  }
  if (value.num_outputs >= 0 && port >= value.num_outputs) {
    return InvalidArgument(Where(index), " has no output ", port);
  }
  if (value.inlined) return value.outputs[static_cast<size_t>(port)];
  return Endpoint{value.node, port};
}

absl::StatusOr<Endpoint> BodyImport::Import(const std::string& text) {
  TENON_ASSIGN_OR_RETURN(const Reference r, Parse(text));
  if (r.control) return InvalidArgument("'", text, "' is not a tensor");
  if (!feeds.contains({r.name, r.port}) && FindArg(r.name) == nullptr) {
    TENON_ASSIGN_OR_RETURN(const int index, Find(r.name));
    TENON_RETURN_IF_ERROR(Visit(index));
  }
  return Resolve(r);
}

absl::StatusOr<BodyImport::Controls> BodyImport::ImportControl(const std::string& node) {
  TENON_ASSIGN_OR_RETURN(const int index, Find(node));
  TENON_RETURN_IF_ERROR(Visit(index));
  return values_[static_cast<size_t>(index)].controls;
}

absl::Status BodyImport::Visit(int root) {
  TENON_RETURN_IF_ERROR(VisitOne(root));
  while (!back_edges_.empty()) {
    const BackEdge edge = back_edges_.back();
    back_edges_.pop_back();
    TENON_RETURN_IF_ERROR(VisitOne(edge.source));
    draft_.node(edge.merge).inputs[edge.input] = {values_[static_cast<size_t>(edge.source)].node,
                                                  0};
  }
  return absl::OkStatus();
}

bool BodyImport::IsBackEdge(int node, int input) const {
  const tf::NodeDef& def = *body_.nodes[static_cast<size_t>(node)];
  if (def.op() != "Merge" || input == 0) return false;
  const absl::StatusOr<Reference> r = Parse(def.input(input));
  if (!r.ok() || r->control || feeds.contains({r->name, r->port})) return false;
  const absl::StatusOr<int> source = Find(r->name);
  return source.ok() && body_.nodes[static_cast<size_t>(*source)]->op() == "NextIteration";
}

// Depth first, without recursion: graphs are deep.
absl::Status BodyImport::VisitOne(int root) {
  std::vector<std::pair<int, int>> stack;  // node, its next input
  auto open = [&](int index) {
    states_[static_cast<size_t>(index)] = State::kOpen;
    stack.emplace_back(index, 0);
  };
  if (states_[static_cast<size_t>(root)] == State::kNew) open(root);
  while (!stack.empty()) {
    const int index = stack.back().first;
    const tf::NodeDef& def = *body_.nodes[static_cast<size_t>(index)];
    if (stack.back().second == def.input_size()) {
      TENON_RETURN_IF_ERROR(Emit(index));
      states_[static_cast<size_t>(index)] = State::kDone;
      stack.pop_back();
      continue;
    }
    const int next = stack.back().second++;
    if (IsBackEdge(index, next)) continue;
    absl::StatusOr<Reference> r = Parse(def.input(next));
    if (!r.ok()) return Annotate(r.status(), Where(index));
    if (!r->control && (feeds.contains({r->name, r->port}) || FindArg(r->name) != nullptr)) {
      continue;
    }
    if (r->control && FindArg(r->name) != nullptr) continue;
    const absl::StatusOr<int> input = Find(r->name);
    if (!input.ok()) return Annotate(input.status(), Where(index));
    switch (states_[static_cast<size_t>(*input)]) {
      case State::kNew:
        open(*input);
        break;
      case State::kDone:
        break;
      case State::kOpen:
        return InvalidArgument(Where(index), " is on a cycle");
    }
  }
  return absl::OkStatus();
}

absl::Status BodyImport::Emit(int index) {
  tf::NodeDef& def = *body_.nodes[static_cast<size_t>(index)];
  Value& value = values_[static_cast<size_t>(index)];
  auto emit = [&]() -> absl::Status {
    if (def.op().empty()) return InvalidArgument("has no op");
    Node node;
    node.name = prefix + def.name();
    node.op = def.op();
    node.device = def.device();
    bool after_control = false;
    std::vector<BackEdge> back_edges;
    for (int i = 0; i < def.input_size(); ++i) {
      const std::string& text = def.input(i);
      if (IsBackEdge(index, i) && !node.inputs.empty()) {
        TENON_ASSIGN_OR_RETURN(const Reference r, Parse(text));
        TENON_ASSIGN_OR_RETURN(const int source, Find(r.name));
        back_edges.push_back({kNoNode, node.inputs.size(), source});
        node.inputs.push_back(node.inputs[0]);  // a placeholder until then
        continue;
      }
      TENON_ASSIGN_OR_RETURN(const Reference r, Parse(text));
      if (r.control) {
        after_control = true;
        if (FindArg(r.name) != nullptr) continue;
        TENON_ASSIGN_OR_RETURN(const int input, Find(r.name));
        for (NodeId id : values_[static_cast<size_t>(input)].controls) {
          if (std::find(node.control_inputs.begin(), node.control_inputs.end(), id) ==
              node.control_inputs.end()) {
            node.control_inputs.push_back(id);
          }
        }
        continue;
      }
      if (after_control) return InvalidArgument("input '", text, "' comes after a control input");
      TENON_ASSIGN_OR_RETURN(const Endpoint e, Resolve(r));
      node.inputs.push_back(e);
    }
    if (node.op == "NoOp" ||
        node.op == "ControlTrigger") {  // replaced by the nodes that it waits for
      value.inlined = true;
      value.num_outputs = 0;
      value.controls.assign(node.control_inputs.begin(), node.control_inputs.end());
      return absl::OkStatus();
    }
    TENON_ASSIGN_OR_RETURN(node.attrs,
                           AttrsFromProto(*def.mutable_attr(), importer_.tensors(), &attrs));
    if (importer_.HasFunction(node.op)) {
      FuncRef function;
      function.name = node.op;
      function.attrs = std::make_shared<const AttrMap>(node.attrs);
      return EmitCall(node, function, /*by_name=*/true, value);
    }
    // op names: those that call the function in their attribute f, with all inputs.
    if (node.op == "PartitionedCall" || node.op == "StatefulPartitionedCall" ||
        node.op == "BatchFunction") {
      const FuncRef* function = node.attr<FuncRef>("f");
      if (function == nullptr) return InvalidArgument("attribute 'f' is missing");
      return EmitCall(node, *function, /*by_name=*/false, value);
    }
    if (node.op == "XlaCallModule") {
      TENON_ASSIGN_OR_RETURN(const FuncRef function, importer_.CallModule(&def, node));
      return EmitCall(node, function, /*by_name=*/false, value);
    }
    if (node.op == "For" || node.op == "MapDefun") {
      TENON_ASSIGN_OR_RETURN(const FuncRef function, importer_.CallLoop(node));
      return EmitCall(node, function, /*by_name=*/false, value);
    }
    if (node.op == "SymbolicGradient") {
      const FuncRef* function = node.attr<FuncRef>("f");
      if (function == nullptr) return InvalidArgument("attribute 'f' is missing");
      TENON_ASSIGN_OR_RETURN(const FuncRef gradient, importer_.GradientOf(*function));
      return EmitCall(node, gradient, /*by_name=*/false, value);
    }
    TENON_RETURN_IF_ERROR(EmitNode(std::move(node), value));
    for (BackEdge& edge : back_edges) {
      edge.merge = value.node;
      back_edges_.push_back(edge);
    }
    return absl::OkStatus();
  };
  absl::Status status = emit();
  // An error inside a called function already has its node's name.
  if (absl::StartsWith(status.message(), "node '")) return status;
  return Annotate(status, Where(index));
}

namespace {

// Readers of a constant go by the node's dtype.
absl::Status CheckConstant(const Node& node) {
  const Tensor* value = node.attr<Tensor>("value");
  const DType* dtype = node.attr<DType>("dtype");
  if (node.op != "Const" || value == nullptr || dtype == nullptr || value->dtype() == *dtype) {
    return absl::OkStatus();
  }
  return InvalidArgument("the value is ", Name(value->dtype()), ", but dtype says ", Name(*dtype));
}

}  // namespace

absl::Status BodyImport::EmitNode(Node node, Value& value) {
  TENON_RETURN_IF_ERROR(CheckConstant(node));
  if (node.op == "PlaceholderWithDefault") {  // not fed
    node.op = "Identity";
    if (const DType* dtype = node.attr<DType>("dtype")) node.attrs["T"] = DType(*dtype);
    node.attrs.erase("dtype");
    node.attrs.erase("shape");
  }
  bool effect = HasSideEffects(node.op);
  if (effect) {
    for (NodeId id : entry) {
      if (std::find(node.control_inputs.begin(), node.control_inputs.end(), id) ==
          node.control_inputs.end()) {
        node.control_inputs.push_back(id);
      }
    }
  }
  effect = effect || !node.control_inputs.empty();
  for (const Endpoint& e : node.inputs) effect = effect || draft_.effect(e.node);

  if (const OpLookup known = FindOp(node.op)) {
    TENON_RETURN_IF_ERROR(CompleteAttrs(*known.info, node));
    TENON_RETURN_IF_ERROR(CheckInputCount(*known.info, node));
    TENON_ASSIGN_OR_RETURN(value.output_args, OutputArgs(*known.info, node));
    value.num_outputs = 0;
    for (const auto& [name, count] : value.output_args) value.num_outputs += count;
    const auto add = [&](Node part) -> absl::StatusOr<Endpoint> {
      TENON_RETURN_IF_ERROR(CompleteAttrs(*FindOp(part.op).info, part));
      TENON_ASSIGN_OR_RETURN(const NodeId id, draft_.Add(std::move(part), effect));
      return Endpoint{id, 0};
    };
    TENON_ASSIGN_OR_RETURN(node, Expand(std::move(node), add));
    TENON_RETURN_IF_ERROR(CompleteAttrs(*FindOp(node.op).info, node));
  }
  TENON_ASSIGN_OR_RETURN(value.node, draft_.Add(std::move(node), effect));
  if (effect) value.controls.push_back(value.node);
  return absl::OkStatus();
}

absl::Status BodyImport::EmitCall(const Node& node, const FuncRef& function, bool by_name,
                                  Value& value) {
  TENON_ASSIGN_OR_RETURN(const BodyIndex* body, importer_.Function(function.name));
  if (std::find(calls.begin(), calls.end(), function.name) != calls.end()) {
    return Unimplemented("function '", function.name, "' calls itself");
  }
  if (importer_.calls_left_-- == 0) {
    return absl::ResourceExhaustedError("with its functions inlined the graph has too many calls");
  }
  if (calls.size() >= kMaxCallDepth) return Unimplemented("calls are nested too deeply");

  BodyImport callee(importer_, *body, draft_);
  callee.prefix = absl::StrCat(node.name, "/");
  if (function.attrs != nullptr) callee.attrs = *function.attrs;
  callee.calls = calls;
  callee.calls.push_back(function.name);
  callee.entry = entry;
  Join(callee.entry, Controls(node.control_inputs.begin(), node.control_inputs.end()));
  TENON_RETURN_IF_ERROR(callee.Bind(node.inputs));
  TENON_ASSIGN_OR_RETURN(value.outputs, callee.ImportReturns());
  TENON_ASSIGN_OR_RETURN(value.controls, callee.ImportSideEffects());
  // A call runs all effects of its function, even if nobody reads its results.
  draft_.targets.insert(draft_.targets.end(), value.controls.begin(), value.controls.end());
  Join(value.controls, Controls(node.control_inputs.begin(), node.control_inputs.end()));
  value.inlined = true;
  value.num_outputs = static_cast<int>(value.outputs.size());
  if (!by_name) {
    const OpLookup call = FindOp(node.op);
    if (!call) return Internal("no row for ", node.op);
    TENON_ASSIGN_OR_RETURN(value.output_args, OutputArgs(*call.info, node));
    return absl::OkStatus();
  }
  for (const auto& arg : body->function->signature().output_arg()) {
    TENON_ASSIGN_OR_RETURN(const int n,
                           ArgTensors(arg.number_attr(), arg.type_list_attr(), callee.attrs));
    value.output_args.emplace_back(arg.name(), n);
  }
  return absl::OkStatus();
}

absl::Status BodyImport::Bind(absl::Span<const Endpoint> inputs) {
  size_t next = 0;
  for (const auto& arg : body_.function->signature().input_arg()) {
    TENON_ASSIGN_OR_RETURN(const int n, ArgTensors(arg.number_attr(), arg.type_list_attr(), attrs));
    std::vector<Endpoint>& bound = args[arg.name()];
    if (!bound.empty()) return InvalidArgument("two arguments are named '", arg.name(), "'");
    for (int i = 0; i < n && next < inputs.size(); ++i) bound.push_back(inputs[next++]);
    if (static_cast<int>(bound.size()) < n) {
      return InvalidArgument("gives ", inputs.size(), " inputs; too few for function '",
                             body_.function->signature().name(), "'");
    }
  }
  if (next != inputs.size()) {
    return InvalidArgument("gives ", inputs.size(), " inputs; function '",
                           body_.function->signature().name(), "' takes ", next);
  }
  return absl::OkStatus();
}

absl::StatusOr<std::vector<Endpoint>> BodyImport::ImportReturns() {
  std::vector<Endpoint> returns;
  const tf::FunctionDef& function = *body_.function;
  for (const auto& arg : function.signature().output_arg()) {
    const std::string* text = nullptr;
    for (const auto& entry : function.ret()) {
      if (entry.key() == arg.name()) text = &entry.value();
    }
    if (text == nullptr) {
      return InvalidArgument("function '", function.signature().name(), "' does not say what '",
                             arg.name(), "' returns");
    }
    TENON_ASSIGN_OR_RETURN(const int n, ArgTensors(arg.number_attr(), arg.type_list_attr(), attrs));
    TENON_ASSIGN_OR_RETURN(Reference r, Parse(*text));
    for (int i = 0; i < n; ++i) {
      if (FindArg(r.name) == nullptr) {
        TENON_ASSIGN_OR_RETURN(const int index, Find(r.name));
        TENON_RETURN_IF_ERROR(Visit(index));
      }
      TENON_ASSIGN_OR_RETURN(const Endpoint e, Resolve(r));
      returns.push_back(e);
      ++r.port;
    }
  }
  return returns;
}

absl::StatusOr<BodyImport::Controls> BodyImport::ImportSideEffects() {
  Controls controls;
  const tf::FunctionDef& function = *body_.function;
  for (const auto& entry : function.control_ret()) {
    TENON_ASSIGN_OR_RETURN(const Controls more, ImportControl(entry.value()));
    Join(controls, more);
  }
  if (function.control_ret_size() > 0) return controls;
  for (const tf::NodeDef* def : body_.nodes) {  // older files do not list them
    const OpLookup known = FindOp(def->op());
    if (!known || !known.info->row.stateful || NeedsNoOrder(def->op())) continue;
    TENON_ASSIGN_OR_RETURN(const Controls more, ImportControl(def->name()));
    Join(controls, more);
  }
  return controls;
}

}  // namespace tenon
