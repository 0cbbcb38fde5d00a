#include "runtime/explore/explore_page.h"

#include <zlib.h>

#include <algorithm>
#include <limits>
#include <utility>
#include <vector>

#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "env/containers.h"
#include "env/status.h"
#include "runtime/explore/comparison.h"
#include "runtime/explore/exploration_json.h"
#include "runtime/explore/layout/layout.h"

namespace tenon {

// tools/explorer/dist/explorer.html; CMake makes the source of it.
extern const char kExplorerPage[];
extern const size_t kExplorerPageSize;

namespace {

using Json = nlohmann::ordered_json;

constexpr absl::string_view kPlaceholder = "@@TENON_EXPLORE_DATA@@";

Json LayoutJson(const Layout& layout) {
  Json ids = Json::array(), scope = Json::array(), layer = Json::array(), order = Json::array();
  for (const Layout::Place& p : layout.nodes) {
    ids.push_back(p.node);
    scope.push_back(p.scope);
    layer.push_back(p.layer);
    order.push_back(p.order);
  }
  Json scopes = Json::array();
  for (const Layout::Scope& s : layout.scopes) {
    scopes.push_back({{"name", s.name},
                      {"label", s.label},
                      {"parent", s.parent},
                      {"layer", s.layer},
                      {"order", s.order}});
  }
  return {{"nodes",
           {{"id", std::move(ids)},
            {"scope", std::move(scope)},
            {"layer", std::move(layer)},
            {"order", std::move(order)}}},
          {"scopes", std::move(scopes)}};
}

Json MarksJson(const OrderedMap<NodeId, std::vector<Mark>>& marks) {
  Json json = Json::array();
  for (const auto& [id, of] : marks) {
    Json names = Json::array();
    for (Mark mark : of) names.push_back(Name(mark));
    json.push_back(Json::array({id, std::move(names)}));
  }
  return json;
}

Json ComparisonJson(const Comparison& c) {
  const auto id = [](NodeId node) { return node == kNoNode ? Json(nullptr) : Json(node); };
  Json pairs = Json::array(), rows = Json::array();
  for (const auto& [a, b] : c.pairs) pairs.push_back(Json::array({a, b}));
  for (const Comparison::Row& row : c.rows) {
    Json marks = Json::array();
    for (Mark mark : row.marks) marks.push_back(Name(mark));
    rows.push_back({{"a", id(row.a)},
                    {"b", id(row.b)},
                    {"a_ms", row.a_ms},
                    {"b_ms", row.b_ms},
                    {"marks", std::move(marks)},
                    {"text", row.text}});
  }
  return {{"pairs", std::move(pairs)},
          {"marks", {{"a", MarksJson(c.of_a)}, {"b", MarksJson(c.of_b)}}},
          {"rows", std::move(rows)},
          {"summary", c.summary}};
}

const char* PrecisionName(const Exploration& e) {
  return e.precision == Precision::kBfloat16 ? "bf16" : "fp32";
}

// Titles that tell the models apart.
std::vector<std::string> TitlesOf(absl::Span<const ExploredModel> models) {
  std::vector<std::string> titles;
  for (const ExploredModel& m : models) titles.push_back(TitleOf(*m.model));
  if (titles.size() != 2 || titles[0] != titles[1]) return titles;
  const Exploration& a = *models[0].exploration;
  const Exploration& b = *models[1].exploration;
  if (a.precision != b.precision) {
    absl::StrAppend(&titles[0], " (", PrecisionName(a), ")");
    absl::StrAppend(&titles[1], " (", PrecisionName(b), ")");
  } else {
    titles[0] += " (first)";
    titles[1] += " (second)";
  }
  return titles;
}

}  // namespace

std::string TitleOf(const Model& model) {
  absl::string_view path = model.source;
  while (absl::ConsumeSuffix(&path, "/")) {
  }
  // The folder of a SavedModel often has no name of its own, or a version for one.
  const auto last = [&] { return path.substr(path.rfind('/') + 1); };
  const bool is_folder_name = last() == "saved_model" || last() == "saved_model.pb";
  if (is_folder_name && path.rfind('/') != absl::string_view::npos) {
    const absl::string_view outer = path.substr(0, path.rfind('/'));
    if (!outer.empty() && outer != "." && outer != "..") path = outer;
  }
  absl::string_view name = last();
  for (const char* ending : {".pbtxt", ".pb"}) absl::ConsumeSuffix(&name, ending);
  return name.empty() || name == "." || name == ".." ? "model" : std::string(name);
}

Json ExplorePageJson(absl::Span<const ExploredModel> models) {
  const std::vector<std::string> titles = TitlesOf(models);
  Json list = Json::array();
  for (size_t i = 0; i < models.size(); ++i) {
    const Exploration& e = *models[i].exploration;
    list.push_back({{"title", titles[i]},
                    {"report", ExplorationJson(*models[i].model, e, models[i].machine)},
                    {"layout", LayoutJson(LayOut(e.story, e.short_names().prefix()))}});
  }
  Json comparison = nullptr;
  if (models.size() == 2) {
    comparison = ComparisonJson(
        Compare(*models[0].exploration, titles[0], *models[1].exploration, titles[1]));
  }
  return {{"schema", "tenon.explore.page"},
          {"version", 1},
          {"models", std::move(list)},
          {"comparison", std::move(comparison)}};
}

absl::StatusOr<std::string> Gzip(absl::string_view text) {
  constexpr int kGzip = 15 + 16;  // the largest window, with gzip's header
  z_stream stream = {};
  if (text.size() > std::numeric_limits<uInt>::max() / 2) {
    return absl::ResourceExhaustedError(
        absl::StrCat("a page cannot hold ", text.size(), " bytes of data"));
  }
  if (deflateInit2(&stream, Z_BEST_COMPRESSION, Z_DEFLATED, kGzip, 8, Z_DEFAULT_STRATEGY) != Z_OK) {
    return absl::ResourceExhaustedError("no memory to compress the page's data");
  }
  std::string packed(deflateBound(&stream, static_cast<uLong>(text.size())), '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
  stream.avail_in = static_cast<uInt>(text.size());
  stream.next_out = reinterpret_cast<Bytef*>(packed.data());
  stream.avail_out = static_cast<uInt>(packed.size());
  const int state = deflate(&stream, Z_FINISH);
  packed.resize(stream.total_out);
  deflateEnd(&stream);
  if (state != Z_STREAM_END) return Internal("zlib: ", state);
  return packed;
}

absl::StatusOr<std::string> ExplorePage(const Json& data) {
  const absl::string_view page(kExplorerPage, kExplorerPageSize);
  const size_t at = page.find(kPlaceholder);
  if (at == absl::string_view::npos) return Internal("the page has no place for its data");
  TENON_ASSIGN_OR_RETURN(const std::string packed,
                         Gzip(data.dump(-1, ' ', false, Json::error_handler_t::replace)));
  // Base64 has no character that HTML knows.
  return absl::StrCat(page.substr(0, at), absl::Base64Escape(packed),
                      page.substr(at + kPlaceholder.size()));
}

}  // namespace tenon
