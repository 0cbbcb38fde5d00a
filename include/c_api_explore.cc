// The C interface: what rewriting does to a model and why, as JSON (reports.h has the schemas).
#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "env/flags.h"
#include "env/status.h"
#include "graph_rewrite/explain.h"
#include "include/c_api_text.h"
#include "include/c_api_types.h"
#include "primitive_cache/cache.h"
#include "runtime/devices/placement.h"
#include "runtime/devices/registry.h"
#include "runtime/explore/exploration_json.h"
#include "runtime/explore/explore_page.h"

namespace {

using Json = nlohmann::ordered_json;

// The model, loaded as a session would, with its nodes placed on devices.
absl::StatusOr<tenon::Model> LoadForReport(const tenon_model& model,
                                           tenon::SessionRequest& request) {
  request.load.allow_missing_ops = true;
  TENON_ASSIGN_OR_RETURN(tenon::Model loaded, model.path.empty()
                                                  ? tenon::ParseModel(model.bytes, request.load)
                                                  : tenon::LoadModel(model.path, request.load));
  const tenon::Device* device = nullptr;
  tenon::DeviceRegistry& plugins = tenon::DeviceRegistry::Global();
  TENON_RETURN_IF_ERROR(plugins.LoadAll(request.session.flags->plugin_path));
  for (const std::string& path : request.session.plugins) {
    TENON_RETURN_IF_ERROR(plugins.Load(path));
  }
  if (!request.session.device.empty()) {
    TENON_ASSIGN_OR_RETURN(device, plugins.Find(request.session.device));
  }
  TENON_RETURN_IF_ERROR(tenon::PlaceOnDevices(loaded.graph, device).status());
  return loaded;
}

absl::StatusOr<Json> ExplanationJson(const tenon_model& model, const tenon_session_options* given,
                                     std::vector<std::string> nodes) {
  TENON_ASSIGN_OR_RETURN(tenon::SessionRequest request, tenon::ReadSessionOptions(given));
  TENON_ASSIGN_OR_RETURN(tenon::Model loaded, LoadForReport(model, request));
  const tenon::Flags& flags = *request.session.flags;

  Json json = {{"schema", "tenon.explanation"},
               {"version", 1},
               {"onednn_opts", flags.onednn_opts},
               {"applied", Json::array()},
               {"nodes", Json::array()}};
  if (!flags.onednn_opts) return json;
  if (nodes.size() == 1 && nodes[0] == "*") {
    nodes.clear();
    for (const tenon::NodeId id : loaded.graph.NodeIds()) {
      nodes.push_back(loaded.graph.node(id).name);
    }
  }
  tenon::PrimitiveCache primitives(tenon::PrimitiveCache::LimitsOf(flags));
  tenon::Services services;
  services.flags = &flags;
  services.cache = &primitives;
  services.threads = std::max(request.session.threads, 1);
  tenon::RewriteOptions options;
  options.services = &services;
  options.precision = request.session.precision;
  TENON_ASSIGN_OR_RETURN(const std::vector<tenon::NodeExplanation> explanations,
                         tenon::Explain(loaded.graph, options, nodes));
  options.record_steps = true;
  TENON_ASSIGN_OR_RETURN(const tenon::RewriteReport report, tenon::Rewrite(loaded.graph, options));
  for (const tenon::PhaseReport& phase : report.phases) {
    for (const tenon::RewriteStep& step : phase.steps) {
      json["applied"].push_back({{"phase", tenon::Name(phase.phase)},
                                 {"rule", step.rule},
                                 {"node", step.node},
                                 {"diff", step.diff}});
    }
  }
  for (const tenon::NodeExplanation& node : explanations) {
    Json rules = Json::array();
    for (const tenon::RuleVerdict& rule : node.rules) {
      rules.push_back({{"phase", tenon::Name(rule.phase)},
                       {"rule", rule.rule},
                       {"fired", rule.fired},
                       {"near_miss", rule.near_miss},
                       {"reason", rule.reason},
                       {"why", rule.fired ? Json(nullptr) : tenon::ReasonJson(rule.why)}});
    }
    json["nodes"].push_back({{"node", node.node},
                             {"op", node.op},
                             {"now", node.now},
                             {"now_op", node.now_op},
                             {"accelerated", node.accelerated},
                             {"rules", std::move(rules)}});
  }
  return json;
}

struct Explored {
  tenon::Model model;
  tenon::Exploration exploration;
  tenon::Machine machine;
};

absl::StatusOr<Explored> ExploreModel(const tenon_model& model, const tenon_session_options* given,
                                      absl::Span<const tenon_tensor* const> inputs,
                                      double seconds) {
  TENON_ASSIGN_OR_RETURN(tenon::SessionRequest request, tenon::ReadSessionOptions(given));
  Explored out;
  TENON_ASSIGN_OR_RETURN(out.model, LoadForReport(model, request));
  tenon::ExploreOptions wanted;
  wanted.weights = true;
  if (!inputs.empty()) {
    wanted.inputs = [&](const tenon::Session&) -> absl::StatusOr<std::vector<tenon::Tensor>> {
      std::vector<tenon::Tensor> tensors;
      for (const tenon_tensor* t : inputs) {
        tensors.push_back(t == nullptr ? tenon::Tensor() : t->tensor);
      }
      return tensors;
    };
    wanted.seconds = seconds;
  }
  TENON_ASSIGN_OR_RETURN(out.exploration, tenon::Explore(out.model, request.session, wanted));
  const tenon::Exploration& e = out.exploration;
  tenon::MachinePeak peak;
  if (e.runs > 0) {
    TENON_ASSIGN_OR_RETURN(
        peak, tenon::PeakOf(e.threads, e.precision, tenon::PeakFolder(*request.session.flags)));
  }
  out.machine = tenon::ThisMachine(peak);
  return out;
}

absl::Status CheckExploring(const tenon_tensor* const* inputs, int num_inputs, double seconds) {
  if (num_inputs < 0 || (num_inputs > 0 && inputs == nullptr)) {
    return tenon::InvalidArgument("null argument");
  }
  if (!(seconds >= 0)) return tenon::InvalidArgument("seconds is negative");
  return absl::OkStatus();
}

}  // namespace

tenon_status* tenon_model_explain(const tenon_model* model, const tenon_session_options* options,
                                  const char* const* nodes, int num_nodes, tenon_text** report) {
  return tenon::GiveJson(model, report, [&]() -> absl::StatusOr<Json> {
    std::vector<std::string> names;
    for (int i = 0; i < num_nodes; ++i) {
      if (nodes == nullptr || nodes[i] == nullptr) return tenon::InvalidArgument("null argument");
      names.push_back(nodes[i]);
    }
    return ExplanationJson(*model, options, std::move(names));
  });
}
tenon_status* tenon_model_explore(const tenon_model* model, const tenon_session_options* options,
                                  const tenon_tensor* const* inputs, int num_inputs, double seconds,
                                  tenon_text** report) {
  return tenon::GiveJson(model, report, [&]() -> absl::StatusOr<Json> {
    TENON_RETURN_IF_ERROR(CheckExploring(inputs, num_inputs, seconds));
    TENON_ASSIGN_OR_RETURN(
        const Explored e,
        ExploreModel(*model, options, {inputs, static_cast<size_t>(num_inputs)}, seconds));
    return tenon::ExplorationJson(e.model, e.exploration, e.machine);
  });
}
tenon_status* tenon_model_explore_page(const tenon_model* model,
                                       const tenon_session_options* options,
                                       const tenon_tensor* const* inputs, int num_inputs,
                                       double seconds, const tenon_model* second,
                                       const tenon_session_options* second_options,
                                       tenon_text** page) {
  return tenon::Guard([&]() -> absl::Status {
    if (model == nullptr || page == nullptr) return tenon::InvalidArgument("null argument");
    TENON_RETURN_IF_ERROR(CheckExploring(inputs, num_inputs, seconds));
    const absl::Span<const tenon_tensor* const> given(inputs, static_cast<size_t>(num_inputs));
    TENON_ASSIGN_OR_RETURN(const Explored one, ExploreModel(*model, options, given, seconds));
    std::vector<tenon::ExploredModel> models = {{&one.model, &one.exploration, one.machine}};
    Explored other;
    if (second != nullptr) {
      TENON_ASSIGN_OR_RETURN(other, ExploreModel(*second, second_options, given, seconds));
      models.push_back({&other.model, &other.exploration, other.machine});
    }
    TENON_ASSIGN_OR_RETURN(std::string html, tenon::ExplorePage(tenon::ExplorePageJson(models)));
    *page = new tenon_text{std::move(html)};
    return absl::OkStatus();
  });
}
