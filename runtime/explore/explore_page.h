// The page of `tenon explore`: one HTML file with script, style and data, for one model or for two
// side by side. It works without a network.
#ifndef TENON_RUNTIME_EXPLORE_EXPLORE_PAGE_H_
#define TENON_RUNTIME_EXPLORE_EXPLORE_PAGE_H_

#include <nlohmann/json.hpp>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "runtime/explore/advice.h"
#include "runtime/explore/exploration.h"

namespace tenon {

// Pointers to what must outlive the call that takes it.
struct ExploredModel {
  const Model* model = nullptr;
  const Exploration* exploration = nullptr;
  Machine machine;
};

// "resnet50" of "models/resnet50/saved_model": a heading, and the name of a file.
std::string TitleOf(const Model& model);

// What the page shows ("tenon.explore.page", version 1; docs/explore.schema.json has the reports in
// it). Of one model, or two to compare.
nlohmann::ordered_json ExplorePageJson(absl::Span<const ExploredModel> models);

// The page. Nothing that the data contains, whatever the names of nodes, can end its element or
// run. Bytes that are not UTF-8 become replacement characters.
absl::StatusOr<std::string> ExplorePage(const nlohmann::ordered_json& data);

// `text` as a gzip file (RFC 1952).
absl::StatusOr<std::string> Gzip(absl::string_view text);

}  // namespace tenon

#endif  // TENON_RUNTIME_EXPLORE_EXPLORE_PAGE_H_
