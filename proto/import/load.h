// Loads the two kinds of model that LoadModel (model.h) chooses between.
#ifndef TENON_PROTO_IMPORT_LOAD_H_
#define TENON_PROTO_IMPORT_LOAD_H_

#include <string>

#include "proto/import/finish.h"
#include "proto/import/model.h"

namespace tenon {

// `file` is DIR/saved_model.pb or .pbtxt.
absl::StatusOr<Model> LoadSavedModel(const std::string& directory, const std::string& file,
                                     const LoadOptions& options);
absl::StatusOr<Model> LoadGraphDef(const std::string& path, const LoadOptions& options);

// Puts the finished draft into `model`, or returns one error about all missing ops.
absl::Status FinishModel(Draft draft, Importer& importer, VariableStore* store, TableStore& tables,
                         const LoadOptions& options, Model& model);

}  // namespace tenon

#endif  // TENON_PROTO_IMPORT_LOAD_H_
