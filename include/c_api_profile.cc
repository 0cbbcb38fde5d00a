// The C interface: profiles of runs.
#include "include/c_api_profile.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "env/status.h"
#include "include/c_api_text.h"
#include "include/c_api_types.h"

using Json = nlohmann::ordered_json;

void tenon_profile::OnRun(const std::shared_ptr<const tenon::Plan>& plan) {
  if (runs.empty()) origin = Clock::now();
  size_t index = 0;
  while (index < plans.size() && plans[index].plan.lock() != plan) ++index;
  if (index == plans.size()) plans.push_back({plan, plan->Describe()});
  Run& run = runs.emplace_back();
  run.plan = index;
  run.events.reserve(plans[index].steps.size());
  run.start_ns = Now();
  running = true;
}

void tenon_profile::OnStep(int step, int64_t nanoseconds) {
  Run& run = runs.back();
  const int64_t before =
      run.events.empty() ? run.start_ns : run.events.back().start_ns + run.events.back().ns;
  run.events.push_back({step, std::max(before, Now() - nanoseconds), nanoseconds});
}

void tenon_profile::EndRun(bool ok) {
  if (!running) return;  // it failed before its first step
  running = false;
  if (!ok) {
    runs.pop_back();
    return;
  }
  Run& run = runs.back();
  run.end_ns = Now();
  if (run.events.empty()) return;
  // A plan for parts of a batch tells its steps at the end: their sums, one after the other.
  const int64_t late =
      std::max<int64_t>(0, run.events.back().start_ns + run.events.back().ns - run.end_ns);
  for (Event& event : run.events) event.start_ns -= late;
}

namespace {

Json ReportOf(const tenon_profile& profile) {
  Json plans = Json::array();
  for (size_t p = 0; p < profile.plans.size(); ++p) {
    const auto& infos = profile.plans[p].steps;
    std::vector<int64_t> sum(infos.size(), 0), fastest(infos.size(), 0);
    int runs = 0;
    int64_t total = 0;
    for (const tenon_profile::Run& run : profile.runs) {
      if (run.plan != p) continue;
      for (const tenon_profile::Event& event : run.events) {
        const auto step = static_cast<size_t>(event.step);
        sum[step] += event.ns;
        fastest[step] = runs == 0 ? event.ns : std::min(fastest[step], event.ns);
      }
      total += run.end_ns - run.start_ns;
      ++runs;
    }
    Json steps = Json::array();
    for (size_t i = 0; i < infos.size(); ++i) {
      const tenon::StepInfo& info = infos[i];
      steps.push_back({{"node", info.node},
                       {"op", info.op},
                       {"implementation", info.implementation},
                       {"accelerated", info.accelerated},
                       {"dynamic", info.dynamic},
                       {"device", info.device},
                       {"ns", sum[i]},
                       {"fastest_ns", fastest[i]},
                       {"flops", info.flops},
                       {"bytes", info.bytes}});
    }
    plans.push_back({{"runs", runs}, {"ns", total}, {"steps", std::move(steps)}});
  }
  return {{"schema", "tenon.profile"},
          {"version", 1},
          {"runs", profile.runs.size()},
          {"plans", std::move(plans)}};
}

Json TraceOf(const tenon_profile& profile) {
  const auto microseconds = [](int64_t ns) { return static_cast<double>(ns) / 1000; };
  Json events = Json::array();
  const auto add = [&](const std::string& name, const char* category, int64_t start, int64_t ns,
                       Json args) {
    events.push_back({{"name", name},
                      {"cat", category},
                      {"ph", "X"},
                      {"ts", microseconds(start)},
                      {"dur", microseconds(ns)},
                      {"pid", 1},
                      {"tid", 1},
                      {"args", std::move(args)}});
  };
  for (size_t i = 0; i < profile.runs.size(); ++i) {
    const tenon_profile::Run& run = profile.runs[i];
    add("run", "run", run.start_ns, run.end_ns - run.start_ns, {{"run", i}, {"plan", run.plan}});
    for (const tenon_profile::Event& event : run.events) {
      const tenon::StepInfo& info = profile.plans[run.plan].steps[static_cast<size_t>(event.step)];
      add(info.node, "step", event.start_ns, event.ns,
          {{"op", info.op},
           {"implementation", info.implementation},
           {"flops", info.flops},
           {"bytes", info.bytes}});
    }
  }
  return {{"displayTimeUnit", "ns"}, {"traceEvents", std::move(events)}};
}

}  // namespace

std::string tenon_profile::TraceText() const {
  return TraceOf(*this).dump(-1, ' ', false, Json::error_handler_t::replace);
}

tenon_profile* tenon_profile_create(void) { return new (std::nothrow) tenon_profile; }
void tenon_profile_free(tenon_profile* profile) { delete profile; }
void tenon_profile_clear(tenon_profile* profile) {
  profile->runs.clear();
  profile->plans.clear();
}
int tenon_profile_num_runs(const tenon_profile* profile) {
  return static_cast<int>(profile->runs.size());
}
tenon_status* tenon_profile_report(const tenon_profile* profile, tenon_text** report) {
  return tenon::GiveJson(profile, report, [&] { return ReportOf(*profile); });
}
tenon_status* tenon_profile_trace(const tenon_profile* profile, tenon_text** trace) {
  return tenon::GiveJson(profile, trace, [&] { return TraceOf(*profile); });
}
