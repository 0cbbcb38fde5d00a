#include "proto/import/model.h"

#include <sys/stat.h>

#include <algorithm>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_join.h"
#include "absl/strings/strip.h"
#include "env/status.h"
#include "proto/import/load.h"
#include "proto/messages/message_file.h"

namespace tenon {
namespace {

constexpr size_t kMissingNodesShown = 5;

bool IsDirectory(const std::string& path) {
  struct stat info;
  return stat(path.c_str(), &info) == 0 && S_ISDIR(info.st_mode);
}

bool Exists(const std::string& path) {
  struct stat info;
  return stat(path.c_str(), &info) == 0;
}

std::string MissingText(const OrderedMap<std::string, std::vector<std::string>>& missing) {
  std::vector<std::string> ops;
  for (const auto& [op, nodes] : missing) {
    const size_t shown = std::min(nodes.size(), kMissingNodesShown);
    std::string text =
        absl::StrCat("op ", op, " is not implemented: ", nodes.size() == 1 ? "node " : "nodes ",
                     absl::StrJoin(nodes.begin(), nodes.begin() + static_cast<long>(shown), ", "));
    if (shown < nodes.size()) absl::StrAppend(&text, " and ", nodes.size() - shown, " more");
    ops.push_back(std::move(text));
  }
  return absl::StrJoin(ops, "; ");
}

}  // namespace

void AddMoreFeeds(const LoadOptions& options, std::vector<Feed>& feeds) {
  for (const std::string& tensor : options.more_feeds) {
    const absl::string_view name = absl::StripSuffix(tensor, ":0");
    const bool there = std::any_of(feeds.begin(), feeds.end(), [&](const Feed& feed) {
      return feed.name == tensor || absl::StripSuffix(feed.name, ":0") == name ||
             absl::StripSuffix(feed.tensor, ":0") == name;
    });
    if (!there) feeds.push_back({tensor, tensor});
  }
}

absl::Status AddDefaults(Importer& importer, absl::Span<const Feed> feeds, Model& model) {
  for (const Feed& feed : feeds) {
    TENON_ASSIGN_OR_RETURN(Tensor value, importer.DefaultOf(feed.tensor));
    if (value.valid()) model.interface.defaults.emplace_back(feed.name, std::move(value));
  }
  return absl::OkStatus();
}

absl::Status FinishModel(Draft draft, Importer& importer, VariableStore* store, TableStore& tables,
                         const LoadOptions& options, Model& model) {
  Finisher finisher(importer, store, tables);
  TENON_ASSIGN_OR_RETURN(model.graph, finisher.Finish(std::move(draft)));
  if (finisher.missing().empty()) return absl::OkStatus();
  if (!options.allow_missing_ops) return Unimplemented(MissingText(finisher.missing()));
  model.missing_ops = finisher.missing();
  return absl::OkStatus();
}

absl::Status ModelSource::Read(google::protobuf::Message& message, bool* was_text) const {
  return file.empty() ? ParseMessage(bytes, message, was_text)
                      : ReadMessageFile(file, message, was_text);
}

absl::Status ModelSource::Annotated(const absl::Status& status) const {
  return file.empty() ? status : Annotate(status, file);
}

namespace {

absl::StatusOr<ModelSource> Locate(const std::string& path) {
  ModelSource source;
  source.path = path;
  absl::string_view directory = path;
  while (directory.size() > 1 && absl::ConsumeSuffix(&directory, "/")) {
  }
  if (IsDirectory(path)) {
    source.saved_model = true;
    source.directory = std::string(directory);
    for (const char* name : {"saved_model.pb", "saved_model.pbtxt"}) {
      source.file = absl::StrCat(directory, "/", name);
      if (Exists(source.file)) return source;
    }
    if (Exists(absl::StrCat(directory, "/saved_model.cpb"))) {
      return Unimplemented(path, ": SavedModels in chunks (saved_model.cpb)");
    }
    return NotFound(path, ": a directory without saved_model.pb or saved_model.pbtxt");
  }
  if (!Exists(path)) return NotFound(path, ": no such file or directory");
  source.file = path;
  const size_t slash = path.rfind('/');
  const std::string name = slash == std::string::npos ? path : path.substr(slash + 1);
  if (name == "saved_model.pb" || name == "saved_model.pbtxt") {
    source.saved_model = true;
    source.directory = slash == std::string::npos ? "." : path.substr(0, slash);
  }
  return source;
}

// A SavedModel's message begins with the version of its schema, a GraphDef's with a node.
ModelSource InMemory(absl::string_view bytes) {
  constexpr char kSchemaVersion = 1 << 3;  // the tag of field 1 with a number
  ModelSource source;
  source.bytes = bytes;
  source.saved_model = absl::StartsWith(bytes, absl::string_view(&kSchemaVersion, 1)) ||
                       absl::StartsWith(bytes, "saved_model_schema_version") ||
                       absl::StartsWith(bytes, "meta_graphs");
  return source;
}

absl::StatusOr<Model> Load(const ModelSource& source, const LoadOptions& options) {
  return source.saved_model ? LoadSavedModel(source, options) : LoadGraphDef(source, options);
}

absl::StatusOr<ModelInfo> Inspect(const ModelSource& source, const LoadOptions& options) {
  return source.saved_model ? InspectSavedModel(source, options) : InspectGraphDef(source);
}

}  // namespace

absl::StatusOr<Model> LoadModel(const std::string& path, const LoadOptions& options) {
  TENON_ASSIGN_OR_RETURN(const ModelSource source, Locate(path));
  return Load(source, options);
}

absl::StatusOr<Model> ParseModel(absl::string_view bytes, const LoadOptions& options) {
  return Load(InMemory(bytes), options);
}

absl::StatusOr<ModelInfo> InspectModel(const std::string& path, const LoadOptions& options) {
  TENON_ASSIGN_OR_RETURN(const ModelSource source, Locate(path));
  return Inspect(source, options);
}

absl::StatusOr<ModelInfo> InspectParsed(absl::string_view bytes, const LoadOptions& options) {
  return Inspect(InMemory(bytes), options);
}

}  // namespace tenon
