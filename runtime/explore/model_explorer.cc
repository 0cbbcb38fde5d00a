#include "runtime/explore/model_explorer.h"

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "env/containers.h"
#include "graph_rewrite/free_work.h"
#include "graph_rewrite/origins.h"
#include "ops/op.h"
#include "runtime/explore/exploration_json.h"

namespace tenon {
namespace {

using Json = nlohmann::ordered_json;

Json Pair(absl::string_view key, std::string value) {
  return {{"key", std::string(key)}, {"value", std::move(value)}};
}

// A graph, node by node; `more` adds to the attributes and outputs of each.
template <typename More>
Json GraphJson(const std::string& id, const Graph& graph, const ShortNames& shorten, More more) {
  Json nodes = Json::array();
  for (NodeId node : graph.NodeIds()) {
    const Node& n = graph.node(node);
    const std::string name = shorten(n.name);
    const size_t slash = name.rfind('/');
    Json edges = Json::array(), attrs = Json::array(), outputs = Json::array();
    for (size_t i = 0; i < n.inputs.size(); ++i) {
      edges.push_back({{"sourceNodeId", graph.node(n.inputs[i].node).name},
                       {"sourceNodeOutputId", absl::StrCat(n.inputs[i].port)},
                       {"targetNodeInputId", absl::StrCat(i)}});
    }
    for (NodeId control : n.control_inputs) {
      edges.push_back({{"sourceNodeId", graph.node(control).name},
                       {"sourceNodeOutputId", "control"},
                       {"targetNodeInputId", "control"}});
    }
    attrs.push_back(Pair("name", n.name));
    for (const auto& [key, value] : n.attrs) attrs.push_back(Pair(key, AttrText(value)));
    more(n, attrs, outputs);
    nodes.push_back({{"id", n.name},
                     {"label", n.op},
                     {"namespace", slash == std::string::npos ? "" : name.substr(0, slash)},
                     {"attrs", std::move(attrs)},
                     {"incomingEdges", std::move(edges)},
                     {"outputsMetadata", std::move(outputs)}});
  }
  return {{"id", id}, {"nodes", std::move(nodes)}};
}

Json RewrittenJson(const std::string& id, const Exploration& e) {
  HashMap<NodeId, const ExploredStep*> steps;
  for (const ExploredStep& s : e.steps) steps[s.node] = &s;
  const FreeWork free(e.graph());
  const OriginMap origins(e.story.report);
  return GraphJson(id, e.graph(), e.short_names(), [&](const Node& n, Json& attrs, Json& outputs) {
    if (const auto it = steps.find(n.id); it != steps.end()) {
      const ExploredStep& s = *it->second;
      if (!s.info.implementation.empty()) {
        attrs.push_back(Pair("implementation", s.info.implementation));
      }
      if (s.info.flops > 0) attrs.push_back(Pair("flops", absl::StrFormat("%.0f", s.info.flops)));
      if (e.runs > 0) attrs.push_back(Pair("ms", absl::StrFormat("%.4f", s.ms)));
      if (!s.info.accelerated && !s.info.dynamic) {
        attrs.push_back(Pair("not accelerated", e.WhyReference(s).Text()));
      }
    } else if (!free.IsFree(n.id) && !FindOp(n.op).native) {
      attrs.push_back(Pair("not accelerated", WhyNotAccelerated(n).Text()));
    }
    std::vector<std::string> names;
    for (NodeId source : origins.SourcesOf(n.id)) {
      if (source != n.id) names.push_back(e.story.loaded().node(source).name);
    }
    if (!names.empty()) attrs.push_back(Pair("made from", absl::StrJoin(names, "\n")));
    if (static_cast<size_t>(n.id) >= e.details.outputs.size()) return;
    int port = 0;
    for (const TensorSpec& spec : e.details.outputs[static_cast<size_t>(n.id)]) {
      outputs.push_back(
          {{"id", absl::StrCat(port++)},
           {"attrs",
            Json::array({Pair("shape", absl::StrCat(Name(spec.dtype), spec.shape.ToString()))})}});
    }
  });
}

}  // namespace

Json ModelExplorerJson(absl::Span<const ExploredModel> models) {
  Json graphs = Json::array();
  std::vector<std::string> titles;
  for (const ExploredModel& m : models) {
    const Exploration& e = *m.exploration;
    titles.push_back(TitleOf(*m.model));
    const std::string before = models.size() == 1 ? "" : absl::StrCat(titles.size(), ": ");
    graphs.push_back(RewrittenJson(absl::StrCat(before, "rewritten"), e));
    graphs.push_back(GraphJson(absl::StrCat(before, "loaded"), e.story.loaded(), e.short_names(),
                               [](const Node&, Json&, Json&) {}));
  }
  return {{"label", absl::StrJoin(titles, ", ")}, {"graphs", std::move(graphs)}};
}

}  // namespace tenon
