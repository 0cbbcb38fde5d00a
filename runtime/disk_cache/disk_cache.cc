#include "runtime/disk_cache/disk_cache.h"

#include <filesystem>

#include "absl/functional/function_ref.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "env/build_id.h"
#include "env/cpu.h"
#include "env/flags.h"
#include "env/status.h"
#include "graph/object.h"
#include "graph/rewriter.h"
#include "graph/text.h"
#include "kernels/state/variable.h"
#include "primitive_cache/isa.h"
#include "runtime/disk_cache/content_hash.h"
#include "runtime/plan/body.h"

namespace tenon {
namespace {

// The attribute that holds a node's value; null if it has none.
const char* ValueAttr(const Node& node) {
  if (node.op == "Const") return "value";
  return node.op == "VarHandleOp" ? kInitialValueAttr : nullptr;
}

// `visit` may change the node's value attribute through the rewriter.
using Visit = absl::FunctionRef<absl::Status(const std::string& function, const Node& node,
                                             const char* attr, Rewriter& rewriter)>;
absl::Status VisitValuesOf(Graph& graph, const std::string& function, Visit visit) {
  Rewriter rewriter(graph);
  for (NodeId id : graph.NodeIds()) {
    const Node& node = graph.node(id);
    const char* attr = ValueAttr(node);
    if (attr == nullptr || !node.attrs.contains(attr)) continue;
    TENON_RETURN_IF_ERROR(visit(function, node, attr, rewriter));
  }
  return absl::OkStatus();
}

absl::Status VisitValues(Graph& graph, Visit visit) {
  for (const auto& [name, function] : graph.functions()) {
    Graph body = *function;
    TENON_RETURN_IF_ERROR(VisitValuesOf(body, name, visit));
    graph.SetFunction(name, std::make_shared<const Graph>(std::move(body)));
  }
  return VisitValuesOf(graph, "", visit);
}

// Null if it is not in the model, or dead.
Constant* FindConstant(const ModelState& model, const std::string& function,
                       const std::string& name) {
  const ModelState* in = &model;
  if (!function.empty()) {
    const Body* body = model.bodies().Find(function);
    if (body == nullptr) return nullptr;
    in = &body->model();
  }
  const Node* node = in->graph().FindNode(name);
  return node == nullptr ? nullptr : in->constant(node->id);
}

absl::StatusOr<StoredConstant> Store(Constant& constant) {
  StoredConstant stored{constant.dtype(), constant.shape(), Tensor(), {}};
  TENON_ASSIGN_OR_RETURN(const auto forms, PackedForms(constant));
  bool gives_value = false;
  for (const std::shared_ptr<const PackedWeights>& form : forms) {
    const std::string description = form->layout().description();
    gives_value |= form->CanUnpack() && !description.empty();
    stored.forms.push_back({form->layout().key(), description, form->blob()});
  }
  if (gives_value && !constant.holds_plain()) return stored;
  const bool released = !constant.holds_plain();
  TENON_ASSIGN_OR_RETURN(stored.plain, constant.Plain());
  if (released) constant.ReleasePlain();
  return stored;
}

}  // namespace

absl::StatusOr<DiskCacheEntry> FindDiskCacheEntry(const std::string& folder,
                                                  const std::string& model_path,
                                                  const LoadOptions& load, const Flags& flags,
                                                  Precision precision, int threads) {
  TENON_ASSIGN_OR_RETURN(const std::string files, DescribeModelFiles(model_path, threads));
  DiskCacheEntry entry;
  entry.key =
      absl::StrCat("build ", BuildId(), "\ncpu ", CpuName(), "\n", OnednnIdentity(), "\nprecision ",
                   static_cast<int>(precision), "\nsignature ", load.signature, "\ntags ",
                   absl::StrJoin(load.tags, ","), "\nfetches ", absl::StrJoin(load.fetches, ","),
                   "\nfeeds ", absl::StrJoin(load.feeds, ","), "\nmore feeds ",
                   absl::StrJoin(load.more_feeds, ","), "\n", files);
  for (const FlagRow& row : FlagTable()) {
    if (row.running_only) continue;
    absl::StrAppend(&entry.key, row.name, "=", FlagText(row, flags), "\n");
  }
  entry.path = absl::StrCat(folder, "/", ContentHash(entry.key, 1), ".tenon");
  return entry;
}

absl::StatusOr<DiskCacheDraft> DiskCacheDraft::Create(const Graph& rewritten,
                                                      const ModelInterface& interface) {
  DiskCacheDraft draft;
  draft.interface_ = interface;
  Graph graph = rewritten;
  TENON_RETURN_IF_ERROR(VisitValues(
      graph,
      [&](const std::string& function, const Node& node, const char* attr,
          Rewriter& rewriter) -> absl::Status {
        const Tensor* value = node.attr<Tensor>(attr);
        if (value == nullptr || !value->valid()) return Internal(NodeLabel(node), ": no value");
        if (HoldsObjects(value->dtype())) {
          return Unimplemented(NodeLabel(node), " holds a value that cannot be written");
        }
        if (value->dtype() == DType::kString) return absl::OkStatus();  // stays in the text
        Slot slot{function, node.name, value->dtype(), value->shape(), Tensor()};
        // The session keeps small ones as well.
        if (node.op != "Const" || value->bytes() <= ModelState::kSmallBytes) slot.value = *value;
        rewriter.SetAttr(node.id, attr, static_cast<int64_t>(draft.slots_.size()));
        draft.slots_.push_back(std::move(slot));
        return absl::OkStatus();
      }));
  draft.graph_ = PrintGraph(graph);
  return draft;
}

absl::StatusOr<CacheContent> DiskCacheDraft::Finish(const ModelState& model) const {
  CacheContent content;
  content.graph = graph_;
  content.interface = interface_;
  for (const Slot& slot : slots_) {
    StoredConstant stored{slot.dtype, slot.shape, slot.value, {}};
    if (Constant* constant = FindConstant(model, slot.function, slot.node);
        constant != nullptr && constant->dtype() == slot.dtype) {
      TENON_ASSIGN_OR_RETURN(stored, Store(*constant));
      if (slot.value.valid()) stored.plain = slot.value;
    }
    content.constants.push_back(std::move(stored));
  }
  return content;
}

absl::Status WriteDiskCache(const DiskCacheEntry& entry, const DiskCacheDraft& draft,
                            const ModelState& model, int threads) {
  std::error_code error;
  std::filesystem::create_directories(std::filesystem::path(entry.path).parent_path(), error);
  TENON_ASSIGN_OR_RETURN(const CacheContent content, draft.Finish(model));
  return WriteCacheFile(entry.path, entry.key, content, threads);
}

absl::StatusOr<RestoredGraph> RestoreGraph(const CacheContent& content) {
  RestoredGraph restored;
  TENON_ASSIGN_OR_RETURN(restored.graph, ParseGraph(content.graph));
  TENON_RETURN_IF_ERROR(VisitValues(restored.graph,
                                    [&](const std::string& function, const Node& node,
                                        const char* attr, Rewriter& rewriter) -> absl::Status {
                                      const int64_t* index = node.attr<int64_t>(attr);
                                      if (index == nullptr) return absl::OkStatus();
                                      const size_t i = static_cast<size_t>(*index);
                                      if (i >= content.constants.size())
                                        return Internal(NodeLabel(node), ": no constant");
                                      const StoredConstant& stored = content.constants[i];
                                      Tensor value = stored.plain;
                                      if (!value.valid()) {
                                        value = Tensor::FromExternal(stored.dtype, stored.shape,
                                                                     nullptr, nullptr);
                                      }
                                      if (node.op == "Const")
                                        restored.weights.push_back({function, node.name, i});
                                      rewriter.SetAttr(node.id, attr, std::move(value));
                                      return absl::OkStatus();
                                    }));
  return restored;
}

absl::StatusOr<std::vector<std::shared_ptr<const PackedWeights>>> RestoreForms(
    const CacheContent& content, absl::Span<const RestoredGraph::Weight> weights,
    const ModelState& model, int threads) {
  std::vector<std::shared_ptr<const PackedWeights>> forms;
  for (const RestoredGraph::Weight& weight : weights) {
    Constant* constant = FindConstant(model, weight.function, weight.node);
    if (constant == nullptr) continue;
    const StoredConstant& stored = content.constants[weight.index];
    for (const StoredForm& form : stored.forms) {
      TENON_ASSIGN_OR_RETURN(
          auto added, AddPackedForm(*constant, form.key, form.description, form.bytes, threads));
      forms.push_back(std::move(added));
    }
    if (!stored.plain.valid() && !constant->ReleasePlain()) {
      return Internal("node '", weight.node, "' has neither a value nor a form that gives it");
    }
  }
  return forms;
}

}  // namespace tenon
