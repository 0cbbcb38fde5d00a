// The two kinds of model that LoadModel and its kin (model.h) choose between.
#ifndef TENON_PROTO_IMPORT_LOAD_H_
#define TENON_PROTO_IMPORT_LOAD_H_

#include <string>

#include "absl/strings/string_view.h"
#include "proto/import/finish.h"
#include "proto/import/model.h"

namespace google::protobuf {
class Message;
}

namespace tenon {

// Where a model's message is.
struct ModelSource {
  std::string path;              // as the caller named it; empty: in memory
  bool saved_model = false;      // else a GraphDef
  std::string directory;         // of a SavedModel; empty: in memory
  std::string file;              // with the message: PATH, or DIRECTORY/saved_model.pb or .pbtxt
  absl::string_view bytes = {};  // the message, if it is in memory

  // Errors name the file.
  absl::Status Read(google::protobuf::Message& message, bool* was_text) const;
  absl::Status Annotated(const absl::Status& status) const;
};

absl::StatusOr<Model> LoadSavedModel(const ModelSource& source, const LoadOptions& options);
absl::StatusOr<Model> LoadGraphDef(const ModelSource& source, const LoadOptions& options);
absl::StatusOr<ModelInfo> InspectSavedModel(const ModelSource& source, const LoadOptions& options);
absl::StatusOr<ModelInfo> InspectGraphDef(const ModelSource& source);

// Adds LoadOptions::more_feeds, except those that are there already.
void AddMoreFeeds(const LoadOptions& options, std::vector<Feed>& feeds);

// Adds the defaults of a finished model's inputs to its interface.
absl::Status AddDefaults(Importer& importer, absl::Span<const Feed> feeds, Model& model);

// Puts the finished draft into `model`, or returns one error about all missing ops.
absl::Status FinishModel(Draft draft, Importer& importer, VariableStore* store, TableStore& tables,
                         const LoadOptions& options, Model& model);

}  // namespace tenon

#endif  // TENON_PROTO_IMPORT_LOAD_H_
