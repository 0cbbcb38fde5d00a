// Measures the contractions in bench/shapes/*.txt: each line as one kernel (Prepare once, then
// Run), and each file as a whole, in sequence over two buffers, as a plan would lay them out.
//
//   contraction_bench --benchmark_filter=resnet50
//   contraction_bench --threads=1
#include <benchmark/benchmark.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <memory>
#include <random>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "env/flags.h"
#include "env/status.h"
#include "ops/evaluate.h"
#include "ops/op.h"
#include "primitive_cache/cache.h"

namespace tenon {
namespace {

using Ints = std::vector<int64_t>;

absl::StatusOr<Shape> ParseShape(const std::string& text) {
  Ints dims;
  for (absl::string_view part : absl::StrSplit(text, ',')) {
    int64_t d;
    if (!absl::SimpleAtoi(part, &d)) return InvalidArgument("'", text, "' is no shape");
    dims.push_back(d);
  }
  return Shape(absl::MakeConstSpan(dims));
}

struct Problem {
  std::string text;
  int times = 1;
  Node node;
  std::vector<Shape> inputs;  // the fused ops' extra inputs are added once the output is known
  std::vector<std::string> fused;
  bool gradient = false;  // `inputs` are the forward convolution's
};

bool IsGradient(absl::string_view op) { return absl::StrContains(op, "Backprop"); }

absl::StatusOr<Problem> ParseProblem(const std::string& line) {
  const std::vector<std::string> w = absl::StrSplit(line, ' ', absl::SkipEmpty());
  Problem p;
  p.text = line;
  if (w.size() < 5 || !absl::SimpleAtoi(w[0], &p.times)) return InvalidArgument(line);
  const std::string& op = w[1];
  size_t i = 2;
  if (op == "Einsum") p.node.attrs["equation"] = w[i++];
  for (int k = 0; k < 2; ++k) {
    TENON_ASSIGN_OR_RETURN(Shape s, ParseShape(w[i++]));
    p.inputs.push_back(s);
  }
  if (absl::StrContains(op, "Conv2")) {
    int64_t stride = 1;
    if (w.size() != 7 || !absl::SimpleAtoi(w[i++], &stride)) return InvalidArgument(line);
    p.node.attrs["strides"] = Ints{1, stride, stride, 1};
    if (w[i] == "SAME" || w[i] == "VALID") {
      p.node.attrs["padding"] = w[i++];
    } else {
      TENON_ASSIGN_OR_RETURN(const Shape pads, ParseShape(w[i++]));
      p.node.attrs["padding"] = "EXPLICIT";
      p.node.attrs["explicit_paddings"] = Ints{0, 0, pads[0], pads[1], pads[0], pads[1], 0, 0};
    }
  }
  if (w[i] != "-") p.fused = absl::StrSplit(w[i], ',');
  p.node.name = "bench";
  p.node.attrs["T"] = DType::kFloat;
  p.gradient = IsGradient(op);
  p.node.op = (p.gradient ? "_MklNative" : "_MklNativeFused") + op;
  if (p.gradient) {
    if (p.fused.empty() || p.fused == std::vector<std::string>{"constant"}) return p;
    return InvalidArgument(line);
  }
  if (op == "Einsum") p.node.attrs["N"] = 2;
  p.node.attrs["fused_ops"] = p.fused;
  return p;
}

Tensor Random(const Shape& shape) {
  Tensor t = *Tensor::Allocate(DType::kFloat, shape);
  std::mt19937 engine(7);
  std::uniform_real_distribution<float> uniform(-0.1f, 0.1f);
  for (float& v : t.flat<float>()) v = uniform(engine);
  return t;
}

// A prepared problem. Activations are in `arena` buffers passed to Run; it owns the weights.
class Prepared {
 public:
  static absl::StatusOr<std::unique_ptr<Prepared>> Make(Problem problem, const Services& services) {
    if (problem.gradient) return MakeGradient(problem, services);
    auto p = std::make_unique<Prepared>();
    Node& node = problem.node;
    const OpLookup op = FindOp(node.op);
    if (!op) return NotFound(node.op);
    // The output's shape determines the extra inputs' shapes.
    Node bare = node;
    bare.attrs["fused_ops"] = std::vector<std::string>();
    bare.attrs["num_args"] = 0;
    TENON_RETURN_IF_ERROR(CompleteAttrs(*op.info, bare));
    std::vector<TensorSpec> specs;
    for (const Shape& s : problem.inputs) specs.push_back({DType::kFloat, s, nullptr});
    TENON_ASSIGN_OR_RETURN(const std::vector<TensorSpec> out, InferOutputs(*op.info, bare, specs));
    for (const std::string& name : problem.fused) {
      if (name == "BiasAdd")
        problem.inputs.push_back(Shape({out[0].shape[out[0].shape.rank() - 1]}));
      if (name == "Add") problem.inputs.push_back(out[0].shape);
    }
    node.attrs["num_args"] = static_cast<int64_t>(problem.inputs.size()) - 2;
    TENON_RETURN_IF_ERROR(CompleteAttrs(*op.info, node));

    specs.clear();
    for (size_t i = 0; i < problem.inputs.size(); ++i) {
      const Shape& s = problem.inputs[i];
      specs.push_back({DType::kFloat, s, nullptr});
      const bool weight = i == 1 || (i > 1 && s.rank() == 1);
      p->tensors_.push_back(weight ? Random(s) : Tensor());
      p->constants_.push_back(weight ? std::make_unique<Constant>(p->tensors_.back()) : nullptr);
      p->elements_ = std::max(p->elements_, s.num_elements());
    }
    std::vector<Constant*> constants;
    for (const auto& c : p->constants_) constants.push_back(c.get());
    TENON_ASSIGN_OR_RETURN(p->kernel_, PrepareNode(node, specs, constants, services));
    p->elements_ = std::max(p->elements_, out[0].shape.num_elements());
    return p;
  }

  // Gradients read the gradient of the output from the arena. Their filter is constant if the last
  // column says "constant", as in Conv2DTranspose.
  static absl::StatusOr<std::unique_ptr<Prepared>> MakeGradient(const Problem& problem,
                                                                const Services& services) {
    auto p = std::make_unique<Prepared>();
    Node node = problem.node, forward = node;
    forward.op = node.op.substr(0, node.op.find("Backprop"));
    const OpLookup op = FindOp(node.op), forward_op = FindOp(forward.op);
    if (!op || !forward_op) return NotFound(node.op);
    TENON_RETURN_IF_ERROR(CompleteAttrs(*op.info, node));
    TENON_RETURN_IF_ERROR(CompleteAttrs(*forward_op.info, forward));
    const Shape &input = problem.inputs[0], &filter = problem.inputs[1];
    TENON_ASSIGN_OR_RETURN(
        const std::vector<TensorSpec> out,
        InferOutputs(*forward_op.info, forward,
                     {{DType::kFloat, input, nullptr}, {DType::kFloat, filter, nullptr}}));
    const bool of_input = absl::StrContains(node.op, "BackpropInput");
    auto sizes = [](const Shape& s) {
      return Tensor::Vector(std::vector<int32_t>(s.dims().begin(), s.dims().end()));
    };
    p->activation_ = 2;
    p->tensors_ = {of_input ? sizes(input) : Random(input),
                   of_input ? Random(filter) : sizes(filter), Tensor()};
    std::vector<TensorSpec> specs;
    for (const Tensor& t : p->tensors_) {
      if (!t.valid()) continue;
      specs.push_back({t.dtype(), t.shape(), t.dtype() == DType::kInt32 ? &t : nullptr});
    }
    specs.push_back({DType::kFloat, out[0].shape, nullptr});
    std::vector<Constant*> constants(3);
    if (!problem.fused.empty()) {
      p->constants_.push_back(std::make_unique<Constant>(p->tensors_[1]));
      constants[1] = p->constants_.back().get();
    }
    TENON_ASSIGN_OR_RETURN(p->kernel_, PrepareNode(node, specs, constants, services));
    p->elements_ = std::max(input.num_elements(), out[0].shape.num_elements());
    return p;
  }

  int64_t elements() const { return elements_; }
  size_t scratch_bytes() const { return kernel_.scratch_bytes; }
  const Kernel& kernel() const { return *kernel_.kernel; }

  // An addend is at the output's address, as in a plan.
  absl::Status Run(float* in, float* out, void* scratch) const {
    absl::InlinedVector<const void*, 6> inputs;
    for (size_t i = 0; i < tensors_.size(); ++i) {
      inputs.push_back(i == activation_ ? in : tensors_[i].valid() ? tensors_[i].raw() : out);
    }
    void* outputs[] = {out};
    RunContext run(inputs.data(), outputs, scratch);
    return kernel_.kernel->Run(run);
  }

 private:
  PreparedKernel kernel_;
  std::vector<Tensor> tensors_;
  std::vector<std::unique_ptr<Constant>> constants_;
  int64_t elements_ = 0;
  size_t activation_ = 0;  // the input in the arena
};

struct Memory {
  Tensor in, out, scratch;
  explicit Memory(const std::vector<std::unique_ptr<Prepared>>& kernels) {
    int64_t elements = 1, bytes = 64;
    for (const auto& k : kernels) {
      elements = std::max(elements, k->elements());
      bytes = std::max(bytes, static_cast<int64_t>(k->scratch_bytes()));
    }
    in = Random(Shape({elements}));
    out = Random(Shape({elements}));
    scratch = *Tensor::Allocate(DType::kUint8, Shape({bytes}));
  }
};

int threads = 2;  // --threads

Services MakeServices() {
  static const Flags* const flags = new Flags;
  static PrimitiveCache* const cache = new PrimitiveCache;
  return {flags, cache, threads};
}

void RunProblems(benchmark::State& state, const std::vector<Problem>& problems, bool sequence) {
  std::vector<std::unique_ptr<Prepared>> kernels;
  std::vector<int> order;
  for (const Problem& p : problems) {
    auto made = Prepared::Make(p, MakeServices());
    if (!made.ok()) return state.SkipWithError(std::string(made.status().message()).c_str());
    kernels.push_back(*std::move(made));
    order.insert(order.end(), sequence ? static_cast<size_t>(p.times) : 1,
                 static_cast<int>(kernels.size()) - 1);
  }
  Memory memory(kernels);
  double flops = 0;
  for (int i : order) flops += kernels[static_cast<size_t>(i)]->kernel().Flops();
  for (auto _ : state) {
    float* in = memory.in.data<float>();
    float* out = memory.out.data<float>();
    for (int i : order) {
      const absl::Status s = kernels[static_cast<size_t>(i)]->Run(in, out, memory.scratch.raw());
      if (!s.ok()) return state.SkipWithError(std::string(s.message()).c_str());
      std::swap(in, out);
    }
  }
  state.counters["GFLOP/s"] =
      benchmark::Counter(flops * 1e-9, benchmark::Counter::kIsIterationInvariantRate);
  if (!sequence) state.SetLabel(kernels[0]->kernel().Implementation());
}

int Register() {
  const std::filesystem::path folder = std::filesystem::path(TENON_SOURCE_DIR) / "bench" / "shapes";
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    std::ifstream file(entry.path());
    std::vector<Problem> problems;
    std::set<std::string> seen;
    std::string line;
    const std::string name = entry.path().stem();
    while (std::getline(file, line)) {
      if (line.empty() || line[0] == '#') continue;
      absl::StatusOr<Problem> p = ParseProblem(line);
      if (!p.ok()) {
        std::fprintf(stderr, "%s: %s\n", name.c_str(), p.status().ToString().c_str());
        return 1;
      }
      problems.push_back(*p);
      if (!seen.insert(line).second) continue;
      benchmark::RegisterBenchmark((name + ": " + line).c_str(), [p = *p](benchmark::State& s) {
        RunProblems(s, {p}, /*sequence=*/false);
      })->UseRealTime();
    }
    benchmark::RegisterBenchmark((name + ": all").c_str(), [problems](benchmark::State& s) {
      RunProblems(s, problems, /*sequence=*/true);
    })->UseRealTime();
  }
  return 0;
}

}  // namespace
}  // namespace tenon

int main(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
  for (int i = 1; i < argc; ++i) {
    absl::string_view arg = argv[i];
    if (!absl::ConsumePrefix(&arg, "--threads=") || !absl::SimpleAtoi(arg, &tenon::threads)) {
      std::fprintf(stderr, "unknown argument: %s\n", argv[i]);
      return 1;
    }
  }
  if (const int status = tenon::Register(); status != 0) return status;
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}
