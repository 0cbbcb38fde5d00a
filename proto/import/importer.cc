#include "proto/import/importer.h"

#include <algorithm>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/strip.h"
#include "env/status.h"
#include "ops/op.h"
#include "proto/import/body_import.h"
#include "proto/import/call_module.h"
#include "proto/import/for_loop.h"
#include "proto/import/implementations.h"
#include "proto/import/map_defun.h"
#include "proto/messages/attr_proto.h"
#include "proto/messages/tenon_graph.pb.h"

namespace tenon {
namespace {

// Before this version, a Placeholder of unknown shape was written as a scalar.
constexpr int kScalarPlaceholdersSince = 24;

// How many times a model's nodes are imported, on average, and how many nodes any model may have.
constexpr size_t kMaxUses = 64;
constexpr size_t kMinMaxNodes = 1 << 16;

absl::Status IndexNodes(google::protobuf::RepeatedPtrField<tf::NodeDef>& defs, BodyIndex& index) {
  index.nodes.reserve(static_cast<size_t>(defs.size()));
  index.by_name.reserve(static_cast<size_t>(defs.size()));
  for (tf::NodeDef& def : defs) {
    if (def.name().empty()) return InvalidArgument("a node (", def.op(), ") has no name");
    const int next = static_cast<int>(index.nodes.size());
    if (!index.by_name.emplace(def.name(), next).second) {
      return InvalidArgument("two nodes are named '", def.name(), "'");
    }
    index.nodes.push_back(&def);
  }
  return absl::OkStatus();
}

Node MakePlaceholder(std::string name, DType dtype, Shape shape) {
  Node node;
  node.name = std::move(name);
  node.op = "Placeholder";
  node.attrs["dtype"] = dtype;
  node.attrs["shape"] = std::move(shape);
  return node;
}

// The dtype of output `port` of a node that becomes a Placeholder; invalid if it cannot be
// determined.
DType OutputDType(const tf::NodeDef& def, const AttrMap& attrs, int port) {
  Node node;
  node.name = def.name();
  node.op = def.op();
  node.attrs = attrs;
  if (const OpLookup known = FindOp(node.op); known && CompleteAttrs(*known.info, node).ok()) {
    const absl::StatusOr<std::vector<DType>> dtypes = OutputDTypes(*known.info, node);
    if (dtypes.ok() && static_cast<size_t>(port) < dtypes->size()) {
      return (*dtypes)[static_cast<size_t>(port)];
    }
  }
  for (const char* key : {"dtype", "T"}) {
    if (const DType* dtype = node.attr<DType>(key)) return *dtype;
  }
  return DType::kInvalid;
}

absl::Status SplitTensorName(const std::string& tensor, std::string& node, int& port) {
  const size_t colon = tensor.rfind(':');
  node = tensor.substr(0, colon);
  port = 0;
  if (colon == std::string::npos) return absl::OkStatus();
  const std::string digits = tensor.substr(colon + 1);
  if (digits.empty() || digits.size() > 5) return InvalidArgument("'", tensor, "' is not a tensor");
  for (char c : digits) {
    if (c < '0' || c > '9') return InvalidArgument("'", tensor, "' is not a tensor");
    port = port * 10 + (c - '0');
  }
  return absl::OkStatus();
}

}  // namespace

bool IsPlaceholder(const tf::NodeDef& def) {
  return def.op() == "Placeholder" || def.op() == "PlaceholderV2";
}

Shape FedShape(const tf::GraphDef& graph, const tf::NodeDef& def, const AttrMap& attrs,
               const Shape& signature) {
  const bool placeholder = IsPlaceholder(def) || def.op() == "PlaceholderWithDefault";
  auto it = attrs.find("shape");
  if (!placeholder || it == attrs.end()) return signature;
  const Shape* stated = it->second.get_if<Shape>();
  const bool old =
      def.op() != "PlaceholderV2" && graph.versions().producer() < kScalarPlaceholdersSince;
  if (stated == nullptr || !stated->has_rank() || (old && stated->rank() == 0)) return signature;
  const absl::StatusOr<Shape> merged = MergeShapes(*stated, signature);
  return merged.ok() ? *merged : *stated;
}

bool NeedsNoOrder(absl::string_view op) {
  switch (FactsOf(op).import_role) {
    case ImportRole::kValue:
    case ImportRole::kHandle:
    case ImportRole::kReference:
    case ImportRole::kReads:
    case ImportRole::kHint:
    case ImportRole::kRestores:
      return true;
    default:
      return false;
  }
}

bool HasSideEffects(absl::string_view op) {
  const OpLookup known = FindOp(op);
  if (!known) return !absl::StartsWith(op, "Stateless");
  const ImportRole role = known.info->row.import_role;
  return known.info->row.stateful && role != ImportRole::kHandle && role != ImportRole::kHint &&
         role != ImportRole::kRestores;
}

absl::StatusOr<std::unique_ptr<Importer>> Importer::Create(tf::GraphDef& graph) {
  std::unique_ptr<Importer> importer(new Importer(graph));
  TENON_RETURN_IF_ERROR(IndexNodes(*graph.mutable_node(), importer->top_));
  size_t nodes = importer->top_.nodes.size();
  for (tf::FunctionDef& function : *graph.mutable_library()->mutable_function()) {
    nodes += static_cast<size_t>(function.node_def_size());
    const std::string& name = function.signature().name();
    auto body = std::make_unique<BodyIndex>();
    body->function = &function;
    if (!importer->functions_.emplace(name, std::move(body)).second) {
      return InvalidArgument("two functions are named '", name, "'");
    }
  }
  importer->for_cpus_ = CpuImplementations(graph.library());
  importer->max_nodes_ = std::max(kMinMaxNodes, kMaxUses * nodes);
  importer->calls_left_ = importer->max_nodes_;
  return importer;
}

absl::StatusOr<const BodyIndex*> Importer::Function(const std::string& name) {
  const auto for_cpus = for_cpus_.find(name);
  auto it = functions_.find(for_cpus == for_cpus_.end() ? name : for_cpus->second);
  if (it == functions_.end()) {
    return InvalidArgument("calls function '", name, "', which the model does not have");
  }
  BodyIndex& body = *it->second;
  if (body.nodes.empty()) {
    absl::Status status = IndexNodes(*body.function->mutable_node_def(), body);
    if (!status.ok()) return Annotate(status, absl::StrCat("function '", name, "'"));
  }
  return &body;
}

Importer::~Importer() = default;

std::string Importer::FreshName(const std::string& name) const {
  std::string fresh = name;
  for (int i = 1; functions_.contains(fresh); ++i) fresh = absl::StrCat(name, "_", i);
  return fresh;
}

absl::Status Importer::AddFunctions(std::vector<std::unique_ptr<tf::FunctionDef>> written) {
  for (std::unique_ptr<tf::FunctionDef>& function : written) {
    auto body = std::make_unique<BodyIndex>();
    body->function = function.get();
    const std::string& name = function->signature().name();
    if (!functions_.emplace(name, std::move(body)).second) {
      return InvalidArgument("two functions are named '", name, "'");
    }
    written_functions_.push_back(std::move(function));
  }
  return absl::OkStatus();
}

absl::StatusOr<FuncRef> Importer::CallModule(const tf::NodeDef* def, const Node& node) {
  FuncRef main;
  if (auto it = modules_.find(def); it != modules_.end()) {
    main.name = it->second;
    return main;
  }
  main.name = FreshName(absl::StrCat(node.name, "/main"));
  TENON_ASSIGN_OR_RETURN(ModuleFunctions made, LowerCallModule(node, main.name));
  TENON_RETURN_IF_ERROR(AddFunctions(std::move(made.functions)));
  modules_[def] = main.name;
  return main;
}

absl::StatusOr<FuncRef> Importer::CallLoop(const Node& node) {
  const bool map = node.op == "MapDefun";
  FuncRef loop;
  loop.name = FreshName(absl::StrCat(node.name, map ? "/map" : "/for"));
  TENON_ASSIGN_OR_RETURN(auto written,
                         map ? LowerMapDefun(node, loop.name) : LowerFor(node, loop.name));
  TENON_RETURN_IF_ERROR(AddFunctions(std::move(written)));
  return loop;
}

absl::StatusOr<FuncRef> Importer::GradientOf(const FuncRef& function) const {
  for (const tf::GradientDef& gradient : graph_.library().gradient()) {
    if (gradient.function_name() != function.name) continue;
    FuncRef found = function;
    found.name = gradient.gradient_func();
    return found;
  }
  return Unimplemented("the model has no gradient of function '", function.name, "'");
}

absl::StatusOr<Tensor> Importer::DefaultOf(const std::string& tensor) {
  std::string name;
  int port;
  TENON_RETURN_IF_ERROR(SplitTensorName(tensor, name, port));
  const auto op_of = [&](absl::string_view node, absl::string_view op) -> tf::NodeDef* {
    auto found = top_.by_name.find(node);
    if (found == top_.by_name.end()) return nullptr;
    tf::NodeDef* def = top_.nodes[static_cast<size_t>(found->second)];
    return def->op() == op ? def : nullptr;
  };
  const tf::NodeDef* input = op_of(name, "PlaceholderWithDefault");
  if (input == nullptr || input->input_size() == 0) return Tensor();
  tf::NodeDef* value = op_of(absl::StripSuffix(input->input(0), ":0"), "Const");
  if (value == nullptr) return Tensor();
  absl::StatusOr<AttrMap> attrs = AttrsFromProto(*value->mutable_attr(), tensors_, nullptr);
  if (!attrs.ok()) return Annotate(attrs.status(), NodeLabel(value->name(), value->op()));
  const auto found = attrs->find("value");
  const Tensor* t = found == attrs->end() ? nullptr : found->second.get_if<Tensor>();
  return t == nullptr ? Tensor() : *t;
}

absl::StatusOr<Draft> Importer::ImportGraph(absl::Span<const Feed> feeds,
                                            absl::Span<const Fetch> fetches,
                                            absl::Span<const std::string> targets) {
  Draft draft(max_nodes_);
  BodyImport body(*this, top_, draft);
  for (const Feed& feed : feeds) {
    std::string name;
    int port;
    TENON_RETURN_IF_ERROR(SplitTensorName(feed.tensor, name, port));
    auto found = top_.by_name.find(name);
    if (found == top_.by_name.end()) {
      return InvalidArgument("input '", feed.name, "': there is no tensor '", feed.tensor, "'");
    }
    if (auto it = body.feeds.find({name, port}); it != body.feeds.end()) {
      draft.inputs.push_back({feed.name, it->second.node});
      continue;
    }
    tf::NodeDef& def = *top_.nodes[static_cast<size_t>(found->second)];
    absl::StatusOr<AttrMap> attrs = AttrsFromProto(*def.mutable_attr(), tensors_, nullptr);
    if (!attrs.ok()) return Annotate(attrs.status(), NodeLabel(name, def.op()));
    DType dtype = OutputDType(def, *attrs, port);
    if (dtype == DType::kInvalid) dtype = feed.dtype;
    if (dtype == DType::kInvalid) {
      return InvalidArgument("input '", feed.name, "': cannot determine the dtype of '",
                             feed.tensor, "'");
    }
    Shape shape = FedShape(graph_, def, *attrs, feed.shape);
    Node node =
        MakePlaceholder(port == 0 ? name : absl::StrCat(name, "_", port), dtype, std::move(shape));
    TENON_ASSIGN_OR_RETURN(const NodeId id, draft.Add(std::move(node), /*effect=*/false));
    body.feeds[{name, port}] = Endpoint{id, 0};
    draft.inputs.push_back({feed.name, id});
  }
  for (const Fetch& fetch : fetches) {
    absl::StatusOr<Endpoint> source = body.Import(fetch.tensor);
    if (!source.ok()) {
      return Annotate(source.status(), absl::StrCat("output '", fetch.name, "'"));
    }
    draft.outputs.push_back({fetch.name, *source});
  }
  for (const std::string& target : targets) {
    TENON_ASSIGN_OR_RETURN(const BodyImport::Controls controls, body.ImportControl(target));
    draft.targets.insert(draft.targets.end(), controls.begin(), controls.end());
  }
  return draft;
}

absl::StatusOr<Draft> Importer::ImportFunction(const FuncRef& function,
                                               absl::Span<const Node* const> captured) {
  TENON_ASSIGN_OR_RETURN(const BodyIndex* index, Function(function.name));
  const tf::FunctionDef& def = *index->function;
  Draft draft(max_nodes_);
  BodyImport body(*this, *index, draft);
  body.calls = {function.name};
  if (function.attrs != nullptr) body.attrs = *function.attrs;

  std::vector<Endpoint> inputs;
  for (const auto& arg : def.signature().input_arg()) {
    TENON_ASSIGN_OR_RETURN(const int n,
                           ArgTensors(arg.number_attr(), arg.type_list_attr(), body.attrs));
    std::vector<DType> dtypes(static_cast<size_t>(n), static_cast<DType>(arg.type()));
    auto attr = body.attrs.find(arg.type_attr().empty() ? arg.type_list_attr() : arg.type_attr());
    if (attr != body.attrs.end()) {
      if (const DType* one = attr->second.get_if<DType>()) dtypes.assign(dtypes.size(), *one);
      if (const auto* list = attr->second.get_if<std::vector<DType>>()) dtypes = *list;
    }
    for (size_t i = 0; i < dtypes.size(); ++i) {
      const size_t position = inputs.size();
      const bool capture = position < captured.size() && captured[position] != nullptr;
      Node node =
          capture ? *captured[position] : MakePlaceholder(arg.name(), dtypes[i], Shape::Unknown());
      node.control_inputs.clear();
      TENON_ASSIGN_OR_RETURN(const NodeId id, draft.Add(std::move(node), /*effect=*/false));
      inputs.push_back({id, 0});
      draft.inputs.push_back({draft.node(id).name, id});
    }
  }
  TENON_RETURN_IF_ERROR(body.Bind(inputs));
  TENON_ASSIGN_OR_RETURN(const std::vector<Endpoint> returns, body.ImportReturns());
  TENON_ASSIGN_OR_RETURN(const BodyImport::Controls controls, body.ImportSideEffects());
  draft.targets.assign(controls.begin(), controls.end());
  std::vector<std::string> names;
  for (const auto& arg : def.signature().output_arg()) {
    TENON_ASSIGN_OR_RETURN(const int n,
                           ArgTensors(arg.number_attr(), arg.type_list_attr(), body.attrs));
    names.insert(names.end(), static_cast<size_t>(n), arg.name());
  }
  for (size_t i = 0; i < returns.size(); ++i) draft.outputs.push_back({names[i], returns[i]});
  return draft;
}

}  // namespace tenon
