// Measures one kernel in a benchmark loop, for the *_bench.cc programs.
#ifndef TENON_BENCH_KERNEL_LOOP_H_
#define TENON_BENCH_KERNEL_LOOP_H_

#include <benchmark/benchmark.h>

#include <vector>

#include "env/flags.h"
#include "graph/tensor.h"
#include "ops/evaluate.h"

namespace tenon {

// Runs the node's kernel on the inputs with state.range(0) threads; reports bytes moved per second
// (each input and output once) and the implementation that ran.
inline void MeasureKernel(benchmark::State& state, const Node& node,
                          const std::vector<Tensor>& inputs) {
  static const Flags& flags = *new Flags();
  Services services;
  services.flags = &flags;
  services.threads = static_cast<int>(state.range(0));
  std::vector<TensorSpec> specs;
  for (const Tensor& t : inputs) specs.push_back({t.dtype(), t.shape(), &t});
  const auto prepared = PrepareNode(node, specs, {}, services);
  if (!prepared.ok()) return state.SkipWithError(prepared.status().ToString().c_str());
  std::vector<Tensor> outputs;
  std::vector<const void*> in;
  std::vector<void*> out;
  int64_t bytes = 0;
  for (const Tensor& t : inputs) in.push_back(t.raw()), bytes += static_cast<int64_t>(t.bytes());
  for (const TensorSpec& s : prepared->outputs) {
    outputs.push_back(*Tensor::Allocate(s.dtype, s.shape));
    out.push_back(outputs.back().raw());
    bytes += static_cast<int64_t>(outputs.back().bytes());
  }
  Tensor scratch =
      *Tensor::Allocate(DType::kUint8, Shape({static_cast<int64_t>(prepared->scratch_bytes)}));
  for (auto _ : state) {
    RunContext run(in.data(), out.data(), scratch.raw());
    if (!prepared->kernel->Run(run).ok()) return state.SkipWithError("failed");
    benchmark::ClobberMemory();
  }
  state.SetBytesProcessed(state.iterations() * bytes);
  state.SetLabel(prepared->kernel->Implementation());
}

}  // namespace tenon

#endif  // TENON_BENCH_KERNEL_LOOP_H_
