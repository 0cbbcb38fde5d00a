// Loads SavedModels: the MetaGraph by tags, the signature by name, variables from the bundle next
// to it.
#include <google/protobuf/arena.h>

#include <algorithm>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "env/containers.h"
#include "env/status.h"
#include "proto/import/composite.h"
#include "proto/import/load.h"
#include "proto/messages/tenon_graph.pb.h"
#include "proto/messages/tenon_saved_model.pb.h"

namespace tenon {
namespace {

constexpr char kDefaultSignature[] = "serving_default";
constexpr char kInitSignature[] = "__saved_model_init_op";
// The collection in which TensorFlow 1 lists a model's assets.
constexpr char kAssetsCollection[] = "saved_model_assets";

std::vector<std::string> TagsOf(const tf::MetaGraphDef& graph) {
  std::vector<std::string> tags(graph.meta_info_def().tags().begin(),
                                graph.meta_info_def().tags().end());
  std::sort(tags.begin(), tags.end());
  return tags;
}

absl::StatusOr<tf::MetaGraphDef*> ChooseMetaGraph(tf::SavedModel& model,
                                                  const LoadOptions& options) {
  if (model.meta_graphs_size() == 0) return InvalidArgument("not a SavedModel: it has no graph");
  std::vector<std::string> wanted = options.tags;
  if (wanted.empty()) wanted = {"serve"};
  std::sort(wanted.begin(), wanted.end());
  std::vector<std::string> available;
  for (tf::MetaGraphDef& graph : *model.mutable_meta_graphs()) {
    const std::vector<std::string> tags = TagsOf(graph);
    if (tags == wanted) return &graph;
    available.push_back(absl::StrCat("{", absl::StrJoin(tags, ","), "}"));
  }
  if (options.tags.empty() && model.meta_graphs_size() == 1) return model.mutable_meta_graphs(0);
  return NotFound("no graph with tags {", absl::StrJoin(wanted, ","),
                  "}; there are: ", absl::StrJoin(available, " "));
}

using Signature = tf::MetaGraphDef::SignatureEntry;

absl::StatusOr<const Signature*> ChooseSignature(const tf::MetaGraphDef& graph,
                                                 const std::string& wanted,
                                                 std::vector<std::string>& names) {
  const Signature* found = nullptr;
  const Signature* only = nullptr;
  for (const Signature& entry : graph.signature_def()) {
    if (entry.key() == (wanted.empty() ? kDefaultSignature : wanted)) found = &entry;
    if (entry.key() == kInitSignature) continue;
    names.push_back(entry.key());
    only = &entry;
  }
  std::sort(names.begin(), names.end());
  if (found == nullptr && wanted.empty() && names.size() == 1) found = only;
  if (found != nullptr) return found;
  return NotFound("no signature '", wanted.empty() ? kDefaultSignature : wanted, "'; there ",
                  names.empty() ? "is none" : "are: ", absl::StrJoin(names, ", "));
}

using TensorEntries = google::protobuf::RepeatedPtrField<tf::SignatureDef::TensorEntry>;

// Sorted by key, so that the order does not depend on the writer.
absl::StatusOr<std::vector<const tf::SignatureDef::TensorEntry*>> Sorted(
    const TensorEntries& entries, absl::string_view what) {
  std::vector<const tf::SignatureDef::TensorEntry*> sorted;
  for (const auto& entry : entries) {
    if (!entry.value().has_name()) {
      return Unimplemented(what, " '", entry.key(), "' has no tensor");
    }
    sorted.push_back(&entry);
  }
  std::sort(sorted.begin(), sorted.end(),
            [](const auto* a, const auto* b) { return a->key() < b->key(); });
  for (size_t i = 1; i < sorted.size(); ++i) {
    if (sorted[i]->key() == sorted[i - 1]->key()) {
      return InvalidArgument("the signature has two ", what, "s '", sorted[i]->key(), "'");
    }
  }
  return sorted;
}

absl::Status ReadFeeds(const tf::SignatureDef& signature, const LoadOptions& options,
                       std::vector<Feed>& feeds) {
  if (!options.feeds.empty()) {
    for (const std::string& tensor : options.feeds) {
      Feed feed{tensor, tensor};
      for (const auto& entry : signature.inputs()) {
        if (entry.key() == tensor) feed.tensor = entry.value().name();
      }
      feeds.push_back(std::move(feed));
    }
    return absl::OkStatus();
  }
  TENON_ASSIGN_OR_RETURN(const auto inputs, Sorted(signature.inputs(), "input"));
  for (const auto* entry : inputs) {
    Feed feed{entry->value().name(), entry->key()};
    if (const auto dtype = DTypeFromProto(entry->value().dtype()); dtype.ok()) feed.dtype = *dtype;
    if (entry->value().has_tensor_shape()) {
      TENON_ASSIGN_OR_RETURN(feed.shape, ShapeFromProto(entry->value().tensor_shape()));
    }
    feeds.push_back(std::move(feed));
  }
  return absl::OkStatus();
}

absl::StatusOr<Shape> StatedShape(const tf::TensorInfo& info) {
  return info.has_tensor_shape() ? ShapeFromProto(info.tensor_shape()) : Shape::Unknown();
}

// `shapes`: as the signature states them.
absl::Status ReadFetches(const tf::SignatureDef& signature, const LoadOptions& options,
                         std::vector<Fetch>& fetches, std::vector<Shape>& shapes) {
  if (!options.fetches.empty()) {
    for (const std::string& wanted : options.fetches) {
      Fetch fetch{wanted, wanted};
      Shape shape = Shape::Unknown();
      for (const auto& entry : signature.outputs()) {
        if (entry.key() != wanted) continue;
        fetch.tensor = entry.value().name();
        TENON_ASSIGN_OR_RETURN(shape, StatedShape(entry.value()));
      }
      fetches.push_back(std::move(fetch));
      shapes.push_back(std::move(shape));
    }
    return absl::OkStatus();
  }
  TENON_ASSIGN_OR_RETURN(const auto outputs, Sorted(signature.outputs(), "output"));
  for (const auto* entry : outputs) {
    fetches.push_back({entry->value().name(), entry->key()});
    TENON_ASSIGN_OR_RETURN(Shape shape, StatedShape(entry->value()));
    shapes.push_back(std::move(shape));
  }
  if (fetches.empty()) return InvalidArgument("the signature has no outputs");
  return absl::OkStatus();
}

// The node that TensorFlow runs once after loading, if the model has one.
std::vector<std::string> InitTargets(const tf::MetaGraphDef& graph) {
  std::vector<std::string> targets;
  for (const Signature& entry : graph.signature_def()) {
    if (entry.key() != kInitSignature) continue;
    for (const auto& output : entry.value().outputs()) {
      const std::string& tensor = output.value().name();
      targets.push_back(tensor.substr(0, tensor.find(':')));
    }
  }
  return targets;
}

// The same of any version: TensorFlow 1 lists them in collections.
std::vector<std::string> Initializers(const tf::MetaGraphDef& graph) {
  std::vector<std::string> nodes = InitTargets(graph);
  for (const auto& collection : graph.collection_def()) {
    if (collection.key() != "saved_model_main_op" && collection.key() != "legacy_init_op") continue;
    for (const auto& name : collection.value().node_list().value()) nodes.push_back(name);
  }
  return nodes;
}

// Whether a path stays in the folder to which it is relative.
bool StaysInside(absl::string_view path) {
  if (path.empty() || path[0] == '/' || absl::StrContains(path, '\0')) return false;
  const std::vector<absl::string_view> parts = absl::StrSplit(path, '/');
  return std::find(parts.begin(), parts.end(), "..") == parts.end();
}

// The file of each asset, by the name of the node that represents its path.
absl::StatusOr<AssetFiles> Assets(const std::string& directory, const tf::MetaGraphDef& graph) {
  AssetFiles assets;
  const auto add = [&](const tf::MetaGraphDef::AssetFileDef& asset) {
    if (!StaysInside(asset.filename())) {
      return InvalidArgument("the asset '", asset.filename(), "' is not in the model's folder");
    }
    const std::string& tensor = asset.tensor_info().name();
    assets[tensor.substr(0, tensor.find(':'))] =
        absl::StrCat(directory, "/assets/", asset.filename());
    return absl::OkStatus();
  };
  if (directory.empty() && graph.asset_file_def_size() > 0) {
    return absl::FailedPreconditionError("the model has assets: load it from its folder");
  }
  for (const auto& asset : graph.asset_file_def()) TENON_RETURN_IF_ERROR(add(asset));
  google::protobuf::Arena arena;
  for (const auto& collection : graph.collection_def()) {
    if (collection.key() != kAssetsCollection) continue;
    for (const auto& any : collection.value().any_list().value()) {
      auto& asset = *google::protobuf::Arena::CreateMessage<tf::MetaGraphDef::AssetFileDef>(&arena);
      if (!asset.ParseFromString(any.value())) {
        return InvalidArgument("collection '", kAssetsCollection, "' is damaged");
      }
      TENON_RETURN_IF_ERROR(add(asset));
    }
  }
  return assets;
}

absl::Status Load(const std::string& directory, tf::SavedModel& saved, const LoadOptions& options,
                  Model& model) {
  TENON_ASSIGN_OR_RETURN(tf::MetaGraphDef * graph, ChooseMetaGraph(saved, options));
  ExpandComposites(*graph);
  model.tags = TagsOf(*graph);
  TENON_ASSIGN_OR_RETURN(const Signature* signature,
                         ChooseSignature(*graph, options.signature, model.signatures));
  model.signature = signature->key();
  std::vector<Feed> feeds;
  std::vector<Fetch> fetches;
  TENON_RETURN_IF_ERROR(ReadFeeds(signature->value(), options, feeds));
  AddMoreFeeds(options, feeds);
  TENON_RETURN_IF_ERROR(
      ReadFetches(signature->value(), options, fetches, model.interface.output_shapes));

  TENON_ASSIGN_OR_RETURN(const std::unique_ptr<Importer> importer,
                         Importer::Create(*graph->mutable_graph_def()));
  VariableStore store(
      directory.empty() ? "" : absl::StrCat(directory, "/variables/variables"),
      graph->saver_def().restore_op_name(), *importer,
      {.verify_checksums = options.verify_checksums, .map_files = options.map_files});
  TENON_ASSIGN_OR_RETURN(Draft draft, importer->ImportGraph(feeds, fetches, {}));
  TENON_RETURN_IF_ERROR(AddDefaults(*importer, feeds, model));
  TENON_ASSIGN_OR_RETURN(auto assets, Assets(directory, *graph));
  store.SetInitializers(Initializers(*graph), assets);
  TableStore tables(*importer, InitTargets(*graph), std::move(assets), &store);
  return FinishModel(std::move(draft), *importer, &store, tables, options, model);
}

absl::Status DescribeTensors(const TensorEntries& entries, std::vector<SignatureTensor>& tensors) {
  for (const auto& entry : entries) {
    SignatureTensor tensor;
    tensor.name = entry.key();
    tensor.tensor = entry.value().name();
    if (const auto dtype = DTypeFromProto(entry.value().dtype()); dtype.ok()) tensor.dtype = *dtype;
    TENON_ASSIGN_OR_RETURN(tensor.shape, StatedShape(entry.value()));
    tensors.push_back(std::move(tensor));
  }
  std::sort(tensors.begin(), tensors.end(),
            [](const auto& a, const auto& b) { return a.name < b.name; });
  return absl::OkStatus();
}

absl::Status Describe(tf::SavedModel& saved, const LoadOptions& options, ModelInfo& info) {
  TENON_ASSIGN_OR_RETURN(tf::MetaGraphDef * graph, ChooseMetaGraph(saved, options));
  ExpandComposites(*graph);
  TENON_ASSIGN_OR_RETURN(const std::unique_ptr<Importer> importer,
                         Importer::Create(*graph->mutable_graph_def()));
  info.tags = TagsOf(*graph);
  for (const Signature& entry : graph->signature_def()) {
    if (entry.key() == kInitSignature) continue;
    SignatureInfo signature;
    signature.name = entry.key();
    signature.method = entry.value().method_name();
    TENON_RETURN_IF_ERROR(DescribeTensors(entry.value().inputs(), signature.inputs));
    TENON_RETURN_IF_ERROR(DescribeTensors(entry.value().outputs(), signature.outputs));
    for (SignatureTensor& input : signature.inputs) {
      if (input.tensor.empty()) continue;
      TENON_ASSIGN_OR_RETURN(const Tensor value, importer->DefaultOf(input.tensor));
      input.optional = value.valid();
    }
    info.signatures.push_back(std::move(signature));
  }
  std::sort(info.signatures.begin(), info.signatures.end(),
            [](const auto& a, const auto& b) { return a.name < b.name; });
  std::vector<std::string> names;
  const absl::StatusOr<const Signature*> chosen = ChooseSignature(*graph, "", names);
  for (size_t i = 0; chosen.ok() && i < info.signatures.size(); ++i) {
    if (info.signatures[i].name == (*chosen)->key()) info.default_signature = static_cast<int>(i);
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<Model> LoadSavedModel(const ModelSource& source, const LoadOptions& options) {
  Model model;
  model.source = source.directory;
  model.format = "SavedModel";
  google::protobuf::Arena arena;
  auto& saved = *google::protobuf::Arena::CreateMessage<tf::SavedModel>(&arena);
  TENON_RETURN_IF_ERROR(source.Read(saved, nullptr));
  const absl::Status status = Load(source.directory, saved, options, model);
  if (!status.ok()) return source.Annotated(status);
  return model;
}

absl::StatusOr<ModelInfo> InspectSavedModel(const ModelSource& source, const LoadOptions& options) {
  ModelInfo info;
  info.format = "SavedModel";
  google::protobuf::Arena arena;
  auto& saved = *google::protobuf::Arena::CreateMessage<tf::SavedModel>(&arena);
  TENON_RETURN_IF_ERROR(source.Read(saved, nullptr));
  if (absl::Status s = Describe(saved, options, info); !s.ok()) return source.Annotated(s);
  return info;
}

}  // namespace tenon
