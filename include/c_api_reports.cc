// The C interface: reports as JSON (reports.h has their schemas).
#include <algorithm>
#include <nlohmann/json.hpp>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "env/containers.h"
#include "env/cpu.h"
#include "env/flags.h"
#include "env/status.h"
#include "include/c_api_text.h"
#include "include/c_api_types.h"
#include "runtime/devices/registry.h"

namespace {

using Json = nlohmann::ordered_json;
using tenon::Session;

Json ShapeJson(const tenon::Shape& shape) {
  if (!shape.has_rank()) return nullptr;
  Json dims = Json::array();
  for (const int64_t d : shape.dims()) dims.push_back(d < 0 ? Json(nullptr) : Json(d));
  return dims;
}

std::string Text(const absl::Status& status) { return std::string(status.message()); }

Json CountsJson(const tenon::OrderedMap<std::string, int>& counts) {
  Json json = Json::object();
  for (const auto& [name, count] : counts) json[name] = count;
  return json;
}

Json RewritingJson(const tenon::SessionReport& report) {
  Json phases = Json::array();
  for (const tenon::PhaseReport& phase : report.rewrite.phases) {
    Json rules = Json::array();
    for (const auto& [rule, fired] : phase.fired)
      rules.push_back({{"rule", rule}, {"fired", fired}});
    phases.push_back({{"phase", tenon::Name(phase.phase)},
                      {"ms", phase.ms},
                      {"nodes", phase.nodes_after},
                      {"rules", std::move(rules)}});
  }
  return {{"status", Text(report.status)},
          {"note", report.note},
          {"ms", report.rewrite.ms},
          {"phases", std::move(phases)},
          {"ops_before", CountsJson(report.rewrite.ops_before)},
          {"ops_after", CountsJson(report.rewrite.ops_after)}};
}

Json MemoryJson(const Session& session) {
  const tenon::SessionBytes bytes = session.bytes();
  Json memory = {{"weights", bytes.weights},
                 {"packed", bytes.packed},
                 {"plans", bytes.plans},
                 {"primitives", bytes.primitives},
                 {"total", bytes.total()}};
  if (const auto used = session.memory_used()) {
    memory["limit"] = used->limit;
    memory["held"] = used->held;
    memory["peak"] = used->peak;
  }
  return memory;
}

Json PlansJson(const Session& session) {
  Json plans = Json::array();
  for (const Session::KeptPlan& kept : session.Plans()) {
    Json inputs = Json::array();
    for (size_t i = 0; i < kept.inputs.size() && i < session.inputs().size(); ++i) {
      if (kept.inputs[i].dtype == tenon::DType::kInvalid) continue;
      inputs.push_back({{"name", session.inputs()[i].name},
                        {"dtype", tenon::Name(kept.inputs[i].dtype)},
                        {"shape", ShapeJson(kept.inputs[i].shape)}});
    }
    const tenon::PlanStats& stats = kept.plan->stats();
    plans.push_back({{"inputs", std::move(inputs)},
                     {"steps", stats.steps},
                     {"nodes", stats.nodes},
                     {"evaluated", stats.evaluated},
                     {"aliased", stats.aliased},
                     {"in_place", stats.in_place},
                     {"arena_bytes", stats.arena_bytes},
                     {"unshared_bytes", stats.unshared_bytes}});
  }
  return plans;
}

Json CacheJson(const tenon::CacheStats& stats) {
  return {{"hits", stats.hits}, {"misses", stats.misses}, {"evictions", stats.evictions}};
}

Json DiskCacheJson(const tenon::DiskCacheReport& report) {
  using State = tenon::DiskCacheReport::State;
  const char* state = "off";
  if (report.state == State::kPending) state = "pending";
  if (report.state == State::kWritten) state = "written";
  if (report.state == State::kRead) state = "read";
  if (report.state == State::kFailed) state = "failed";
  return {{"state", state}, {"status", Text(report.status)}};
}

Json SessionJson(const Session& session) {
  return {{"schema", "tenon.session"},
          {"version", 1},
          {"threads", session.threads()},
          {"onednn_opts", session.flags().onednn_opts},
          {"rewriting", RewritingJson(session.report())},
          {"memory", MemoryJson(session)},
          {"plans", PlansJson(session)},
          {"plan_cache", CacheJson(session.plan_stats())},
          {"function_plan_cache", CacheJson(session.function_plan_stats())},
          {"kernel_cache", CacheJson(session.kernel_stats())},
          {"disk_cache", DiskCacheJson(session.disk_cache())},
          {"devices", session.nodes_on_devices()}};
}

absl::StatusOr<Json> DevicesJson(const char* paths) {
  TENON_ASSIGN_OR_RETURN(const tenon::Flags flags, tenon::Flags::FromEnvironment());
  tenon::DeviceRegistry& plugins = tenon::DeviceRegistry::Global();
  TENON_RETURN_IF_ERROR(plugins.LoadAll(flags.plugin_path));
  if (paths != nullptr) TENON_RETURN_IF_ERROR(plugins.LoadAll(paths));
  Json devices = Json::array();
  const auto add = [&](const tenon::DeviceInfo& info, Json kernels) {
    const bool has_memory = info.total_bytes >= 0;
    devices.push_back({{"name", info.name},
                       {"platform", info.platform},
                       {"hardware", info.hardware},
                       {"vendor", info.vendor},
                       {"total_bytes", has_memory ? Json(info.total_bytes) : Json(nullptr)},
                       {"free_bytes", has_memory ? Json(info.free_bytes) : Json(nullptr)},
                       {"kernels", std::move(kernels)},
                       {"source", info.source}});
  };
  tenon::DeviceInfo cpu;
  cpu.name = "CPU:0";
  cpu.platform = "oneDNN";
  cpu.hardware = absl::StrCat(tenon::AvailableCpus(), " CPUs");
  cpu.source = "Tenon";
  cpu.total_bytes = -1;
  add(cpu, nullptr);
  for (const tenon::Device* device : plugins.devices()) {
    const tenon::DeviceInfo info = device->Describe();
    add(info, plugins.CountKernels(info.type));
  }
  return Json{{"schema", "tenon.devices"}, {"version", 1}, {"devices", std::move(devices)}};
}

}  // namespace

const char* tenon_text_data(const tenon_text* text) { return text->text.c_str(); }
size_t tenon_text_size(const tenon_text* text) { return text->text.size(); }
void tenon_text_free(tenon_text* text) { delete text; }

tenon_status* tenon_session_report(const tenon_session* session, tenon_text** report) {
  return tenon::GiveJson(session, report, [&] { return SessionJson(*session->session); });
}
tenon_status* tenon_session_memory(const tenon_session* session, tenon_memory* memory) {
  return tenon::Guard([&]() -> absl::Status {
    if (session == nullptr) return tenon::InvalidArgument("null argument");
    const tenon::SessionBytes bytes = session->session->bytes();
    const tenon::MemoryUsed used = session->session->memory_used().value_or(tenon::MemoryUsed{});
    const tenon_memory told = {sizeof(tenon_memory), bytes.weights, bytes.packed, bytes.plans,
                               bytes.primitives,     used.limit,    used.held,    used.peak};
    return tenon::WriteStruct(told, memory);
  });
}
tenon_status* tenon_devices(const char* plugins, tenon_text** report) {
  return tenon::GiveJson(report, report, [&] { return DevicesJson(plugins); });
}
