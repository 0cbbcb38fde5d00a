#include "proto/import/model.h"

#include <sys/stat.h>

#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_join.h"
#include "absl/strings/strip.h"
#include "env/status.h"
#include "proto/import/load.h"

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

std::string MissingText(const absl::btree_map<std::string, std::vector<std::string>>& missing) {
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

absl::Status FinishModel(Draft draft, Importer& importer, VariableStore* store, TableStore& tables,
                         const LoadOptions& options, Model& model) {
  Finisher finisher(importer, store, tables);
  TENON_ASSIGN_OR_RETURN(model.graph, finisher.Finish(std::move(draft)));
  if (finisher.missing().empty()) return absl::OkStatus();
  if (!options.allow_missing_ops) return Unimplemented(MissingText(finisher.missing()));
  model.missing_ops = finisher.missing();
  return absl::OkStatus();
}

absl::StatusOr<Model> LoadModel(const std::string& path, const LoadOptions& options) {
  absl::string_view directory = path;
  while (directory.size() > 1 && absl::ConsumeSuffix(&directory, "/")) {
  }
  std::string file;
  if (IsDirectory(path)) {
    for (const char* name : {"saved_model.pb", "saved_model.pbtxt"}) {
      file = absl::StrCat(directory, "/", name);
      if (Exists(file)) return LoadSavedModel(std::string(directory), file, options);
    }
    if (Exists(absl::StrCat(directory, "/saved_model.cpb"))) {
      return Unimplemented(path, ": SavedModels in chunks (saved_model.cpb)");
    }
    return NotFound(path, ": a directory without saved_model.pb or saved_model.pbtxt");
  }
  if (!Exists(path)) return NotFound(path, ": no such file or directory");
  const size_t slash = path.rfind('/');
  const std::string name = slash == std::string::npos ? path : path.substr(slash + 1);
  if (name == "saved_model.pb" || name == "saved_model.pbtxt") {
    return LoadSavedModel(slash == std::string::npos ? "." : path.substr(0, slash), path, options);
  }
  return LoadGraphDef(path, options);
}

}  // namespace tenon
