#include "runtime/explore/exploration_json.h"

#include <cmath>

#include "absl/strings/str_cat.h"
#include "env/containers.h"
#include "env/cpu.h"
#include "graph/text.h"
#include "graph_rewrite/free_work.h"
#include "graph_rewrite/origins.h"
#include "ops/op.h"

namespace tenon {
namespace {

using Json = nlohmann::ordered_json;

Json NodeJson(const Node& n) {
  Json inputs = Json::array(), controls = Json::array(), attrs = Json::object();
  for (const Endpoint& e : n.inputs) inputs.push_back({e.node, e.port});
  for (NodeId id : n.control_inputs) controls.push_back(id);
  for (const auto& [name, value] : n.attrs) attrs[name] = AttrText(value);
  return {{"id", n.id},
          {"name", n.name},
          {"op", n.op},
          {"inputs", std::move(inputs)},
          {"controls", std::move(controls)},
          {"attrs", std::move(attrs)}};
}

Json StepJson(const RewriteStep& step) {
  Json removed = Json::array(), added = Json::array(), changed = Json::array();
  Json moved = Json::array();
  for (const auto& r : step.edit.removed) removed.push_back(r.id);
  for (const Node& n : step.edit.added) added.push_back(NodeJson(n));
  for (const Node& n : step.edit.changed) changed.push_back(NodeJson(n));
  for (const auto& [old, now] : step.edit.moved) moved.push_back({old, now});
  return {{"rule", step.rule},         {"node", step.node},
          {"function", step.function}, {"removed", std::move(removed)},
          {"added", std::move(added)}, {"changed", std::move(changed)},
          {"moved", std::move(moved)}};
}

Json PhasesJson(const RewriteReport& report) {
  Json phases = Json::array();
  for (const PhaseReport& phase : report.phases) {
    Json steps = Json::array(), rules = Json::array();
    for (const RewriteStep& step : phase.steps) steps.push_back(StepJson(step));
    for (const auto& [rule, fired] : phase.fired) {
      rules.push_back({{"rule", rule}, {"fired", fired}});
    }
    phases.push_back({{"phase", Name(phase.phase)},
                      {"ms", phase.ms},
                      {"nodes", phase.nodes_after},
                      {"rules", std::move(rules)},
                      {"steps", std::move(steps)}});
  }
  return phases;
}

const char* Name(FreeWork::Kind kind) {
  switch (kind) {
    case FreeWork::Kind::kRuns:
      return "runs";
    case FreeWork::Kind::kHolds:
      return "holds";
    case FreeWork::Kind::kPlanning:
      return "planning";
    case FreeWork::Kind::kAlias:
      return "alias";
  }
  return "";
}

// "float[1,56,56,64]"; empty if it is not known before the run.
Json OutputsJson(const Exploration& e, NodeId id) {
  Json outputs = Json::array();
  if (static_cast<size_t>(id) >= e.details.outputs.size()) return outputs;
  for (const TensorSpec& spec : e.details.outputs[static_cast<size_t>(id)]) {
    outputs.push_back(spec.shape.has_rank() ? absl::StrCat(Name(spec.dtype), spec.shape.ToString())
                                            : std::string());
  }
  return outputs;
}

Json FinalJson(const Exploration& e) {
  const Story& story = e.story;
  const Graph& g = story.rewritten();
  const FreeWork free(g);
  const OriginMap origins(story.report);
  Json nodes = Json::array();
  for (NodeId id : g.NodeIds()) {
    const Node& n = g.node(id);
    const bool native = FindOp(n.op).native;
    Json reason = nullptr;
    if (!native && !free.IsFree(id)) reason = ReasonJson(WhyNotAccelerated(n));
    Json sources = Json::array();
    for (NodeId source : origins.SourcesOf(id)) sources.push_back(source);
    nodes.push_back({{"id", id},
                     {"name", n.name},
                     {"op", n.op},
                     {"work", Name(free.KindOf(id))},
                     {"accelerated", native},
                     {"origins", std::move(sources)},
                     {"reason", std::move(reason)}});
    if (e.plan != nullptr) nodes.back()["outputs"] = OutputsJson(e, id);
  }
  return nodes;
}

Json Ids(const std::vector<NodeId>& ids) {
  Json json = Json::array();
  for (NodeId id : ids) json.push_back(id);
  return json;
}

Json MissesJson(const Exploration& e) {
  Json misses = Json::array();
  for (const ExploredMiss& m : e.misses) {
    misses.push_back({{"phase", Name(m.miss.phase)},
                      {"rule", m.miss.rule},
                      {"function", m.miss.function},
                      {"at", m.miss.at},
                      {"reason", ReasonJson(m.miss.reason)},
                      {"nodes", Ids(m.miss.nodes)},
                      {"now", Ids(m.now)},
                      {"saves_ms", m.saves_ms}});
  }
  return misses;
}

Json WhyNotsJson(const Story& story) {
  Json tries = Json::array();
  for (const Story::Tried& tried : story.tried) {
    for (const Try& t : tried.tries) {
      if (!WasCandidate(t)) continue;
      tries.push_back({{"phase", Name(tried.phase)},
                       {"rule", t.rule->name},
                       {"function", tried.function},
                       {"at", t.at},
                       {"matched", Ids(t.outcome.matched)},
                       {"reason", ReasonJson(ReasonOf(t, tried.graph))}});
    }
  }
  return tries;
}

Json ScopesJson(const Exploration& e) {
  struct Sum {
    int nodes = 0;
    double ms = 0, flops = 0;
  };
  const ShortNames shorten = e.short_names();
  OrderedMap<std::string, Sum> scopes;
  for (const ExploredStep& s : e.steps) {
    for (const std::string& scope : ScopesOf(shorten(s.info.node))) {
      Sum& sum = scopes[scope];
      ++sum.nodes;
      sum.ms += s.ms;
      sum.flops += s.info.flops;
    }
  }
  Json list = Json::array();
  for (const auto& [scope, sum] : scopes) {
    list.push_back({{"scope", scope}, {"steps", sum.nodes}, {"ms", sum.ms}, {"flops", sum.flops}});
  }
  return {{"prefix", shorten.prefix()}, {"scopes", std::move(list)}};
}

Json StepsJson(const Exploration& e, const Machine& machine) {
  Json steps = Json::array();
  for (const ExploredStep& s : e.steps) {
    Json reason = nullptr;
    if (!s.info.accelerated && !s.info.dynamic && s.node != kNoNode) {
      reason = ReasonJson(e.WhyReference(s));
    }
    steps.push_back({{"node", s.node == kNoNode ? Json(nullptr) : Json(s.node)},
                     {"name", s.info.node},
                     {"op", s.info.op},
                     {"implementation", s.info.implementation},
                     {"accelerated", s.info.accelerated},
                     {"dynamic", s.info.dynamic},
                     {"device", s.info.device},
                     {"flops", s.info.flops},
                     {"bytes", s.info.bytes},
                     {"limit", Name(LimitOf(e, s, machine))},
                     {"reason", std::move(reason)},
                     {"ms", s.ms}});
  }
  return steps;
}

Json MemoryJson(const Exploration& e) {
  const Plan& plan = *e.plan;
  Json items = Json::array();
  for (const ArenaUse& use : plan.arena_use()) {
    const bool written = use.first >= 0 && static_cast<size_t>(use.first) < e.steps.size();
    const NodeId writer = written ? e.steps[static_cast<size_t>(use.first)].node : kNoNode;
    items.push_back({{"offset", use.offset},
                     {"bytes", use.bytes},
                     {"first", use.first},
                     {"last", use.last},
                     {"scratch", use.scratch},
                     {"node", writer == kNoNode ? Json(nullptr) : Json(writer)}});
  }
  return {{"arena_bytes", plan.stats().arena_bytes},
          {"unshared_bytes", plan.stats().unshared_bytes},
          {"items", std::move(items)}};
}

Json TimelineJson(const Exploration& e) {
  Json events = Json::array();
  for (const TimedStep& s : e.timeline) events.push_back({s.step, s.start_us, s.us, 0});
  return {{"ms", e.timeline_ms}, {"events", std::move(events)}};
}

Json WeightsJson(const Exploration& e) {
  Json weights = Json::array();
  for (const WeightStats& w : e.weights) {
    const auto known = [&](double v) {
      return w.finite > 0 && std::isfinite(v) ? Json(v) : Json(nullptr);
    };
    weights.push_back({{"node", w.node},
                       {"dtype", Name(w.dtype)},
                       {"shape", w.shape.dims()},
                       {"bytes", w.bytes},
                       {"min", known(w.min)},
                       {"max", known(w.max)},
                       {"mean", known(w.mean)},
                       {"std", known(w.stddev)},
                       {"zeros", w.zeros},
                       {"nonfinite", w.nonfinite},
                       {"histogram", w.histogram}});
  }
  return weights;
}

Json CacheJson(const CacheStats& stats) {
  return {{"hits", stats.hits}, {"misses", stats.misses}, {"evictions", stats.evictions}};
}

Json InputsJson(const Exploration& e) {
  Json inputs = Json::array();
  for (size_t i = 0; i < e.inputs.size() && i < e.session->inputs().size(); ++i) {
    if (e.inputs[i].dtype == DType::kInvalid) continue;  // omitted
    Json shape = Json::array();
    for (int64_t d : e.inputs[i].shape.dims()) shape.push_back(d);
    inputs.push_back({{"name", e.session->inputs()[i].name},
                      {"dtype", Name(e.inputs[i].dtype)},
                      {"shape", std::move(shape)}});
  }
  return inputs;
}

}  // namespace

std::string AttrText(const AttrValue& value) {
  const Tensor* t = value.get_if<Tensor>();
  if (t == nullptr) return PrintAttr(value);
  return absl::StrCat(Name(t->dtype()), t->shape().ToString());
}

Json ReasonJson(const Reason& reason) {
  return {{"kind", Name(reason.kind)}, {"node", reason.node},     {"op", reason.op},
          {"found", reason.found},     {"needed", reason.needed}, {"change", reason.change},
          {"text", reason.Text()}};
}

Json ExplorationJson(const Model& model, const Exploration& e, const Machine& machine) {
  Json loaded = Json::array();
  for (NodeId id : e.story.loaded().NodeIds())
    loaded.push_back(NodeJson(e.story.loaded().node(id)));
  Json outputs = Json::array();
  for (const GraphOutput& o : e.graph().outputs()) {
    outputs.push_back({{"name", o.name}, {"node", o.source.node}, {"port", o.source.port}});
  }
  Json advice = Json::array();
  for (const Advice& a : Advise(e, machine)) {
    advice.push_back(
        {{"kind", Name(a.kind)}, {"what", a.what}, {"why", a.why}, {"saves_ms", a.saves_ms}});
  }
  const auto known = [](double v) { return v > 0 ? Json(v) : Json(nullptr); };
  const bool planned = e.plan != nullptr;
  return {{"schema", "tenon.explore"},
          {"version", 1},
          {"model",
           {{"source", model.source}, {"format", model.format}, {"signature", model.signature}}},
          {"machine",
           {{"cpu", CpuName()},
            {"cpus", machine.cpus},
            {"threads", e.threads},
            {"precision", e.precision == Precision::kBfloat16 ? "bf16" : "fp32"},
            {"peak_flops_per_s", known(machine.peak.flops_per_s)},
            {"peak_bytes_per_s", known(machine.peak.bytes_per_s)}}},
          {"onednn_opts", e.story.report.enabled},
          {"loaded", std::move(loaded)},
          {"phases", PhasesJson(e.story.report)},
          {"final", FinalJson(e)},
          {"outputs", std::move(outputs)},
          {"near_misses", MissesJson(e)},
          {"why_nots", WhyNotsJson(e.story)},
          {"scopes", ScopesJson(e)},
          {"planning", std::string(e.planning.message())},
          {"inputs", planned ? InputsJson(e) : Json(nullptr)},
          {"steps", planned ? StepsJson(e, machine) : Json(nullptr)},
          {"profile", e.runs > 0 ? Json{{"runs", e.runs}, {"ms", e.total_ms}} : Json(nullptr)},
          {"memory", planned ? MemoryJson(e) : Json(nullptr)},
          {"timeline", e.timeline.empty() ? Json(nullptr) : TimelineJson(e)},
          {"weights", WeightsJson(e)},
          {"caches",
           planned ? Json{{"plan", CacheJson(e.plan_cache)}, {"kernel", CacheJson(e.kernel_cache)}}
                   : Json(nullptr)},
          {"advice", std::move(advice)}};
}

}  // namespace tenon
