// Measures the overhead of running a plan without its kernels (goal: less than 0.2 µs per step),
// and the cost of building one. The problem is a chain of ops that do nothing.
#include <benchmark/benchmark.h>

#include "ops/op.h"
#include "runtime/session/session.h"

namespace tenon {
namespace {

absl::StatusOr<std::unique_ptr<Kernel>> Nothing(PrepareContext&) {
  return MakeKernel([](RunContext&) { return absl::OkStatus(); });
}

const OpRegistration nothing({.name = "BenchNothing",
                              .inputs = "x: float, y: float",
                              .outputs = "z: float",
                              .shape = UnchangedShape,
                              .reference = Nothing});

Graph Chain(int64_t steps) {
  Graph graph;
  Node input;
  input.name = "x";
  input.op = "Placeholder";
  input.attrs = {{"dtype", DType::kFloat}, {"shape", Shape({4})}};
  NodeId last = *graph.AddNode(input);
  graph.AddInput({"x", last});
  NodeId before = last;
  for (int64_t i = 0; i < steps; ++i) {
    Node node;
    node.name = absl::StrCat("n", i);
    node.op = "BenchNothing";
    node.inputs = {{last, 0}, {before, 0}};
    before = last;
    last = *graph.AddNode(node);
  }
  graph.AddOutput({"y", {last, 0}});
  return graph;
}

void PlanStep(benchmark::State& state) {
  SessionOptions options;
  options.threads = 1;
  auto session = Session::Create(Chain(state.range(0)), options);
  const std::vector<Tensor> inputs = {Tensor::Vector<float>({1, 2, 3, 4})};
  for (auto _ : state) benchmark::DoNotOptimize((*session)->Run(inputs));
  state.counters["per_step"] =
      benchmark::Counter(static_cast<double>(state.iterations() * state.range(0)),
                         benchmark::Counter::kIsRate | benchmark::Counter::kInvert);
}
BENCHMARK(PlanStep)->Arg(1)->Arg(100)->Arg(1000);

void PlanBuild(benchmark::State& state) {
  SessionOptions options;
  options.threads = 1;
  const std::vector<Tensor> inputs = {Tensor::Vector<float>({1, 2, 3, 4})};
  const Graph graph = Chain(state.range(0));
  for (auto _ : state) {
    auto session = Session::Create(graph, options);
    benchmark::DoNotOptimize((*session)->PlanFor(inputs));
  }
}
BENCHMARK(PlanBuild)->Arg(1000)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace tenon

BENCHMARK_MAIN();
