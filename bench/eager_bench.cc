// Measures the cost of an eager call, synchronous and submitted (goal: a repeated small op takes
// less than 1 us, including its output's memory).
#include <benchmark/benchmark.h>

#include "absl/strings/str_join.h"
#include "runtime/eager/eager.h"

namespace tenon {
namespace {

Tensor Floats(const Shape& shape) {
  return Tensor::From<float>(shape,
                             std::vector<float>(static_cast<size_t>(shape.num_elements()), 0.5f));
}

struct Call {
  const char* op;
  std::vector<Tensor> inputs;
  AttrMap attrs = {};
};

std::vector<Call> Calls() {
  const Tensor v = Floats({8});
  const Tensor m = Floats({8, 8});
  return {{"AddV2", {v, v}},
          {"Relu", {v}},
          {"MatMul", {m, m}},
          {"MatMul", {m, m}, {{"transpose_a", false}, {"transpose_b", true}}},
          {"Softmax", {m}},
          {"Sum", {m, Tensor::Scalar<int32_t>(1)}},
          {"ConcatV2", {v, v, Tensor::Scalar<int32_t>(0)}},
          {"Reshape", {m, Tensor::Vector<int32_t>({4, 16})}}};
}

void Sync(benchmark::State& state, const Call& call) {
  SessionOptions options;
  auto eager = Eager::Create(options);
  for (auto _ : state) {
    auto y = (*eager)->Execute(call.op, call.inputs, call.attrs);
    if (!y.ok()) return state.SkipWithError(y.status().ToString().c_str());
    benchmark::DoNotOptimize(y);
  }
}

// A chain of calls, each reading the previous result, then one Read.
void Async(benchmark::State& state) {
  SessionOptions options;
  auto eager = Eager::Create(options);
  const Tensor v = Floats({8});
  for (auto _ : state) {
    EagerHandle h(v);
    for (int64_t i = 0; i < state.range(0); ++i) h = (*(*eager)->Submit("Relu", {h}))[0];
    benchmark::DoNotOptimize(h.Read());
  }
  state.counters["per_call"] =
      benchmark::Counter(static_cast<double>(state.iterations() * state.range(0)),
                         benchmark::Counter::kIsRate | benchmark::Counter::kInvert);
}
BENCHMARK(Async)->Arg(1)->Arg(100)->Arg(1000)->UseRealTime();

}  // namespace
}  // namespace tenon

int main(int argc, char** argv) {
  for (const tenon::Call& call : tenon::Calls()) {
    std::vector<std::string> parts = {call.op};
    for (const tenon::Tensor& t : call.inputs) parts.push_back(t.shape().ToString());
    if (!call.attrs.empty()) parts.push_back("with attributes");
    benchmark::RegisterBenchmark(absl::StrJoin(parts, " ").c_str(), tenon::Sync, call);
  }
  benchmark::Initialize(&argc, argv);
  benchmark::RunSpecifiedBenchmarks();
}
