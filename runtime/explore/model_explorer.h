// Graphs in the form that Google's Model Explorer reads: a GraphCollection, as JSON.
#ifndef TENON_RUNTIME_EXPLORE_MODEL_EXPLORER_H_
#define TENON_RUNTIME_EXPLORE_MODEL_EXPLORER_H_

#include <nlohmann/json.hpp>

#include "absl/types/span.h"
#include "runtime/explore/explore_page.h"

namespace tenon {

// Each model as loaded and as rewritten, in the latter with implementations, times and reasons.
nlohmann::ordered_json ModelExplorerJson(absl::Span<const ExploredModel> models);

}  // namespace tenon

#endif  // TENON_RUNTIME_EXPLORE_MODEL_EXPLORER_H_
