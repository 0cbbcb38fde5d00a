#include "proto/import/tables.h"

#include <algorithm>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "env/status.h"
#include "graph/attr.h"
#include "kernels/state/mutable_table.h"
#include "ops/op.h"
#include "proto/import/constant_value.h"
#include "proto/import/table_content.h"
#include "proto/import/table_text.h"
#include "proto/import/variables.h"
#include "proto/messages/tenon_graph.pb.h"

namespace tenon {
namespace {

bool FillsFromTensors(absl::string_view op) {
  // The last has no row: import alone meets it.
  return FactsOf(op).import_role == ImportRole::kFillsTable || op == "LookupTableImport";
}
bool FillsFromText(absl::string_view op) {
  return FactsOf(op).import_role == ImportRole::kFillsTableFromText;
}

// A mutable table, which need not be initialized: it starts empty.
bool IsMutableTable(const Node& node) {
  return FactsOf(node.op).import_role == ImportRole::kMutableTable;
}

NodeId TableOf(const Draft& draft, Endpoint e) {
  while (draft.node(e.node).op == "Identity" && !draft.node(e.node).inputs.empty()) {
    e = draft.node(e.node).inputs[0];
  }
  return IsTable(draft.node(e.node)) ? e.node : kNoNode;
}

absl::StatusOr<Tensor> Flat(const Tensor& t) { return t.Reshaped(Shape({t.num_elements()})); }

bool ChangesTable(absl::string_view op) {
  return FillsFromTensors(op) || op == "LookupTableInsertV2" || op == "LookupTableRemoveV2";
}

// The shape of the values, if the table's node states one.
absl::StatusOr<Shape> ValueShapeOf(const Node& table) {
  const Shape* shape = table.attr<Shape>("value_shape");
  const bool of_tensors = absl::StrContains(table.op, "OfTensors");
  if (of_tensors && (shape == nullptr || !shape->has_rank() || shape->rank() != 1)) {
    return InvalidArgument(NodeLabel(table), ": value_shape must be a vector's");
  }
  if (shape == nullptr || !shape->has_rank()) return Shape();
  TENON_RETURN_IF_ERROR(Annotate(shape->CheckedElements().status(), NodeLabel(table)));
  return *shape;
}

// Whether keys are scalars, as far as the node tells: a dense table's may be vectors.
bool HasScalarKeys(const Draft& draft, const Node& table) {
  if (table.inputs.empty()) return true;
  const Tensor* empty =
      draft.node(draft.SkipIdentities(table.inputs[0]).node).attr<Tensor>("value");
  return empty == nullptr || empty->shape().rank() == 0;
}

// The session makes the table from this node alone, so one kind is enough for all.
absl::Status Keep(Node& table, const std::string& name, const TableStore::Content& content) {
  if (!FindOp(table.op).info->signature.outputs.empty() &&
      FindOp(table.op).info->signature.outputs[0].dtype != DType::kResource) {
    return Unimplemented("the table '", name, "' of TensorFlow 1 changes at run time");
  }
  Shape value_shape = content.values.shape();
  value_shape.erase(0);
  TENON_RETURN_IF_ERROR(
      MakeMutableTable(content.keys.dtype(), content.values.dtype(), value_shape).status());
  table.op = "MutableHashTableV2";
  table.inputs.clear();
  table.attrs.clear();
  table.attrs["key_dtype"] = content.keys.dtype();
  table.attrs["value_dtype"] = content.values.dtype();
  table.attrs["shared_name"] = name;
  if (value_shape.rank() != 0) table.attrs[kValueShapeAttr] = value_shape;
  if (content.keys.num_elements() != 0) {
    table.attrs[kInitialKeysAttr] = content.keys;
    table.attrs[kInitialValuesAttr] = content.values;
  }
  return absl::OkStatus();
}

absl::StatusOr<Endpoint> AddConst(Draft& draft, const std::string& name, Tensor value) {
  Node node;
  node.name = name;
  node.op = "Const";
  node.attrs["dtype"] = value.dtype();
  node.attrs["value"] = std::move(value);
  TENON_ASSIGN_OR_RETURN(const NodeId id, draft.Add(std::move(node), /*effect=*/false));
  return Endpoint{id, 0};
}

}  // namespace

bool IsTable(const Node& node) {
  return FactsOf(node.op).import_role == ImportRole::kTable || IsMutableTable(node);
}

absl::StatusOr<const TableStore::Content*> TableStore::Find(const Node& table) {
  if (!loaded_) {
    loaded_ = true;
    status_ = Load();
  }
  TENON_RETURN_IF_ERROR(status_);
  auto it = contents_.find(VariableName(table));
  const DType* keys = table.attr<DType>("key_dtype");
  const DType* values = table.attr<DType>("value_dtype");
  if (it == contents_.end() && IsMutableTable(table) && keys != nullptr && values != nullptr) {
    TENON_ASSIGN_OR_RETURN(Shape shape, ValueShapeOf(table));
    shape.insert(0, 0);
    Content empty;
    TENON_ASSIGN_OR_RETURN(empty.keys, Tensor::Allocate(*keys, Shape({0})));
    TENON_ASSIGN_OR_RETURN(empty.values, Tensor::Allocate(*values, shape));
    it = contents_.emplace(VariableName(table), std::move(empty)).first;
  }
  if (it == contents_.end()) {
    return absl::FailedPreconditionError(
        absl::StrCat("the table '", VariableName(table), "' is not initialized in the model"));
  }
  if (keys == nullptr || values == nullptr || *keys != it->second.keys.dtype() ||
      *values != it->second.values.dtype()) {
    return InvalidArgument("the table '", VariableName(table), "' gets ",
                           Name(it->second.keys.dtype()), " keys and ",
                           Name(it->second.values.dtype()), " values, which are not its dtypes");
  }
  return &it->second;
}

absl::Status TableStore::Load() {
  std::vector<std::string> targets = init_targets_;
  if (targets.empty()) {
    for (const tf::NodeDef* def : importer_.top().nodes) {
      if (FillsFromTensors(def->op()) || FillsFromText(def->op())) targets.push_back(def->name());
    }
  }
  TENON_RETURN_IF_ERROR(Fill(targets));
  if (store_ == nullptr || store_->restore_node().empty()) return absl::OkStatus();
  for (const tf::NodeDef* def : importer_.top().nodes) {
    if (FactsOf(def->op()).import_role == ImportRole::kMutableTable) {
      return Fill({store_->restore_node()});
    }
  }
  return absl::OkStatus();
}

absl::Status TableStore::Fill(const std::vector<std::string>& targets) {
  TENON_ASSIGN_OR_RETURN(const Draft draft, importer_.ImportGraph({}, {}, targets));
  for (NodeId id = 0; id < draft.end_id(); ++id) {
    const Node& n = draft.node(id);
    if (!FillsFromTensors(n.op) && !FillsFromText(n.op)) continue;
    if (absl::Status s = Initialize(draft, n); !s.ok()) return Annotate(s, NodeLabel(n));
  }
  return absl::OkStatus();
}

absl::Status TableStore::Initialize(const Draft& draft, const Node& n) {
  if (n.inputs.size() != (FillsFromText(n.op) ? 2u : 3u)) {
    return InvalidArgument("has ", n.inputs.size(), " inputs");
  }
  const NodeId id = TableOf(draft, n.inputs[0]);
  if (id == kNoNode) return absl::OkStatus();  // of a kind that FreezeTables leaves alone
  const Node& table = draft.node(id);
  Content content;
  TENON_ASSIGN_OR_RETURN(const Tensor second, ValueOf(draft, n.inputs[1]));
  if (FillsFromText(n.op)) {
    if (second.dtype() != DType::kString || second.num_elements() != 1) {
      return InvalidArgument("the file's name must be a string");
    }
    TableText text;
    text.path = second.data<std::string>()[0];
    // A model is data from anywhere: it must not choose which files of this machine are read.
    if (std::none_of(assets_.begin(), assets_.end(),
                     [&](const auto& asset) { return asset.second == text.path; })) {
      return absl::PermissionDeniedError(
          absl::StrCat("reads '", text.path, "', which is not an asset of the model"));
    }
    const AttrReader attrs(n);
    text.key_index = attrs.Int("key_index", TableText::kWholeLine);
    text.value_index = attrs.Int("value_index", TableText::kLineNumber);
    text.vocab_size = attrs.Int("vocab_size", -1);
    text.offset = attrs.Int("offset", 0);
    if (const auto* d = n.attr<std::string>("delimiter"); d != nullptr && d->size() == 1) {
      text.delimiter = (*d)[0];
    }
    const DType* keys = table.attr<DType>("key_dtype");
    const DType* values = table.attr<DType>("value_dtype");
    if (keys == nullptr || values == nullptr) return InvalidArgument("the table has no dtypes");
    TENON_ASSIGN_OR_RETURN(std::tie(content.keys, content.values),
                           ReadTableText(text, *keys, *values));
  } else {
    TENON_ASSIGN_OR_RETURN(content.keys, Flat(second));
    TENON_ASSIGN_OR_RETURN(const Tensor values, ValueOf(draft, n.inputs[2]));
    TENON_ASSIGN_OR_RETURN(Shape shape, ValueShapeOf(table));
    if (shape.rank() == 0) {
      TENON_ASSIGN_OR_RETURN(content.values, Flat(values));
    } else {
      shape.insert(0, content.keys.num_elements());
      if (values.shape() != shape) {
        return InvalidArgument("the table gets values of shape ", values.shape().ToString(),
                               ", not ", shape.ToString());
      }
      content.values = values;
    }
  }
  std::vector<Tensor> marks;
  for (const Endpoint& input : table.inputs) {
    TENON_ASSIGN_OR_RETURN(Tensor mark, ValueOf(draft, input));
    marks.push_back(std::move(mark));
  }
  TENON_RETURN_IF_ERROR(CleanTableContent(marks, content));
  contents_[VariableName(table)] = std::move(content);
  return absl::OkStatus();
}

void SimplifyTables(Draft& draft) {
  for (NodeId id = 0; id < draft.end_id(); ++id) {
    Node& n = draft.node(id);
    if (absl::string_view named = n.op; IsTable(n) && absl::ConsumePrefix(&named, "Anonymous")) {
      n.op = absl::StrCat(named, "V2");
      n.attrs["shared_name"] = n.name;
    }
    if (n.op != "MutableDenseHashTableV2") continue;
    const Shape* value_shape = n.attr<Shape>("value_shape");
    if (!HasScalarKeys(draft, n)) continue;
    const int rank = value_shape == nullptr ? 0 : value_shape->rank();
    if (rank > 1) continue;
    n.op = rank == 1 ? "MutableHashTableOfTensorsV2" : "MutableHashTableV2";
    n.inputs.clear();
    if (rank == 0) n.attrs.erase("value_shape");
    n.attrs.erase("initial_num_buckets");
    n.attrs.erase("max_load_factor");
  }
}

void CollectChangedTables(const Draft& draft, HashSet<std::string>& changed) {
  const std::vector<bool> live = draft.Live();
  for (NodeId id = 0; id < draft.end_id(); ++id) {
    const Node& n = draft.node(id);
    if (!live[static_cast<size_t>(id)] || n.inputs.empty() || !ChangesTable(n.op)) continue;
    const NodeId table = TableOf(draft, n.inputs[0]);
    if (table != kNoNode && IsMutableTable(draft.node(table))) {
      changed.insert(VariableName(draft.node(table)));
    }
  }
}

absl::Status FreezeTables(Draft& draft, TableStore& store, const HashSet<std::string>& changed) {
  const std::vector<bool> live = draft.Live();
  HashMap<Endpoint, Endpoint> forward;
  // One pair of constants per table.
  HashMap<std::string, std::pair<Endpoint, Endpoint>> constants;
  for (size_t i = 0; i < live.size(); ++i) {
    const NodeId id = static_cast<NodeId>(i);
    if (!live[i]) continue;
    const bool wordpieces = draft.node(id).op == "WordpieceTokenizeWithOffsets";
    const size_t handle = wordpieces ? 1 : 0;
    if (!wordpieces && !absl::StartsWith(draft.node(id).op, "LookupTable")) continue;
    if (draft.node(id).inputs.size() <= handle) continue;
    const NodeId table = TableOf(draft, draft.node(id).inputs[handle]);
    if (table == kNoNode) continue;
    if (!HasScalarKeys(draft, draft.node(table))) {
      return Unimplemented(NodeLabel(draft.node(table)), ": keys that are no scalars");
    }
    const absl::StatusOr<const TableStore::Content*> content = store.Find(draft.node(table));
    if (!content.ok()) return Annotate(content.status(), NodeLabel(draft.node(id)));
    const std::string name = VariableName(draft.node(table));
    const bool scalars = (*content)->values.shape().rank() == 1;
    draft.node(id).attrs.erase(kValueShapeAttr);
    if (changed.contains(name) || !scalars) {
      if (wordpieces) {
        return Unimplemented(NodeLabel(draft.node(id)), ": its vocabulary changes at run time");
      }
      TENON_RETURN_IF_ERROR(
          Annotate(Keep(draft.node(table), name, **content), NodeLabel(draft.node(id))));
      draft.node(id).inputs[handle] = {table, 0};
      if (const Shape* shape = draft.node(table).attr<Shape>(kValueShapeAttr)) {
        draft.node(id).attrs[kValueShapeAttr] = *shape;
      }
      continue;
    }
    auto it = constants.find(name);
    if (it == constants.end()) {
      TENON_ASSIGN_OR_RETURN(const Endpoint keys,
                             AddConst(draft, name + "/keys", (*content)->keys));
      TENON_ASSIGN_OR_RETURN(const Endpoint values,
                             AddConst(draft, name + "/values", (*content)->values));
      it = constants.emplace(name, std::make_pair(keys, values)).first;
    }
    const auto [keys, values] = it->second;
    Node& n = draft.node(id);
    if (wordpieces) {
      if ((*content)->keys.dtype() != DType::kString ||
          (*content)->values.dtype() != DType::kInt64) {
        return InvalidArgument(NodeLabel(n), ": the vocabulary must map strings to int64");
      }
      n.op = "_WordpieceTokenize";
      n.inputs = {n.inputs[0], keys, values};
    } else if (absl::StartsWith(n.op, "LookupTableFind")) {
      if (n.inputs.size() != 3) return InvalidArgument(NodeLabel(n), ": takes 3 inputs");
      n.op = "_TableFind";
      n.inputs = {n.inputs[1], n.inputs[2], keys, values};
    } else if (absl::StartsWith(n.op, "LookupTableSize")) {
      n.op = "Const";
      n.inputs.clear();
      n.attrs.clear();
      n.attrs["dtype"] = DType::kInt64;
      n.attrs["value"] = Tensor::Scalar<int64_t>((*content)->keys.num_elements());
    } else if (absl::StartsWith(n.op, "LookupTableExport")) {
      forward[{id, 0}] = keys;
      forward[{id, 1}] = values;
      n.op = "NoOp";  // other nodes may still wait for it
      n.inputs.clear();
      n.attrs.clear();
    } else {
      return Unimplemented(NodeLabel(n), ": changes a table at run time");
    }
  }
  draft.Forward(forward);
  return absl::OkStatus();
}

}  // namespace tenon
