// Measures the time to rewrite whole models, without loading.
//
//   build/bin/rewrite_bench [MODEL...]      SavedModels or GraphDefs; default: the small test
//   models
#include <string>
#include <vector>

#include "benchmark/benchmark.h"
#include "env/flags.h"
#include "graph_rewrite/pipeline.h"
#include "proto/import/model.h"

namespace tenon {
namespace {

void BM_Rewrite(benchmark::State& state, const std::string& path) {
  const Flags flags;
  const Services services{.flags = &flags, .threads = 2};
  double phases[std::size(kPhases)] = {};
  for (auto _ : state) {
    // Uses a fresh graph each time, because folding may overwrite weights that only it holds.
    absl::StatusOr<Model> model = LoadModel(path, {});
    if (!model.ok()) {
      state.SkipWithError(model.status().ToString().c_str());
      return;
    }
    const auto report = Rewrite(model->graph, {.services = &services, .verify = false});
    if (!report.ok()) {
      state.SkipWithError(report.status().ToString().c_str());
      return;
    }
    state.SetIterationTime(report->ms / 1000);
    for (const PhaseReport& p : report->phases) phases[static_cast<size_t>(p.phase)] += p.ms;
  }
  for (Phase p : kPhases) {
    state.counters[std::string(Name(p)) + "_ms"] =
        benchmark::Counter(phases[static_cast<size_t>(p)], benchmark::Counter::kAvgIterations);
  }
}

}  // namespace
}  // namespace tenon

int main(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
  std::vector<std::string> models(argv + 1, argv + argc);
  if (models.empty()) {
    for (const char* name : {"resnet50", "mobilenetv2", "efficientnetb0", "inceptionv3",
                             "densenet121", "bert4", "mlp"}) {
      models.push_back(std::string(TENON_SOURCE_DIR) + "/tests/models/" + name + "/saved_model");
    }
  }
  for (const std::string& path : models) {
    benchmark::RegisterBenchmark(
        path.c_str(), [path](benchmark::State& state) { tenon::BM_Rewrite(state, path); })
        ->UseManualTime()
        ->Unit(benchmark::kMillisecond)
        ->MinTime(1);
  }
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}
