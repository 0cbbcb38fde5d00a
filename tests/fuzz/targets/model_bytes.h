// For targets that make models: what import accepts is rewritten, planned and run with small
// inputs.
#ifndef TENON_TESTS_FUZZ_TARGETS_MODEL_BYTES_H_
#define TENON_TESTS_FUZZ_TARGETS_MODEL_BYTES_H_

#include "absl/strings/string_view.h"

namespace tenon {

// The bytes of a saved_model.pb or of a GraphDef, binary or text. Returns what a target returns.
int RunModelBytes(absl::string_view bytes);

}  // namespace tenon

#endif  // TENON_TESTS_FUZZ_TARGETS_MODEL_BYTES_H_
