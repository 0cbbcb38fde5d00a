// SentencePiece models, which TensorFlow Text keeps behind resource handles: they become constants.
#ifndef TENON_PROTO_IMPORT_TEXT_MODELS_H_
#define TENON_PROTO_IMPORT_TEXT_MODELS_H_

#include "absl/status/status.h"
#include "proto/import/draft.h"

namespace tenon {

// Whether the node makes the handle of such a model.
bool IsTextModel(const Node& node);

// Gives the ops that use a model the model itself, and the names of the rows that take it.
absl::Status FreezeTextModels(Draft& draft);

}  // namespace tenon

#endif  // TENON_PROTO_IMPORT_TEXT_MODELS_H_
