// Measures the convolutions in bench/shapes/FILE in fp32, bf16 and int8 (QuantizedConv2DWithBias…
// with the same fusion and requantization), one kernel after another. `direct`: without Winograd's
// algorithm.
//
//   int8_bench [resnet50] [threads] [direct]
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_split.h"
#include "env/flags.h"
#include "env/status.h"
#include "ops/evaluate.h"
#include "ops/op.h"
#include "primitive_cache/cache.h"

namespace tenon {
namespace {

using Ints = std::vector<int64_t>;
constexpr int kRuns = 200;

// A prepared node with its own memory; inputs from 1 on may be constants.
struct Bench {
  std::vector<Tensor> tensors;
  std::vector<std::unique_ptr<Constant>> constants;
  std::vector<Tensor> outputs;
  Tensor scratch;
  PreparedKernel prepared;

  absl::Status Prepare(Node node, std::vector<Tensor> in, int first_fed, const Services& services) {
    const OpLookup op = FindOp(node.op);
    if (!op) return NotFound(node.op);
    TENON_RETURN_IF_ERROR(CompleteAttrs(*op.info, node));
    tensors = std::move(in);
    std::vector<TensorSpec> specs;
    std::vector<Constant*> pointers;
    for (size_t i = 0; i < tensors.size(); ++i) {
      const bool constant = i > 0 && static_cast<int>(i) < first_fed;
      specs.push_back({tensors[i].dtype(), tensors[i].shape(), constant ? &tensors[i] : nullptr});
      constants.push_back(constant ? std::make_unique<Constant>(tensors[i]) : nullptr);
      pointers.push_back(constants.back().get());
    }
    TENON_ASSIGN_OR_RETURN(prepared, PrepareNode(node, specs, pointers, services));
    for (const TensorSpec& out : prepared.outputs) {
      TENON_ASSIGN_OR_RETURN(Tensor t, Tensor::Allocate(out.dtype, out.shape));
      outputs.push_back(std::move(t));
    }
    TENON_ASSIGN_OR_RETURN(
        scratch, Tensor::Allocate(DType::kUint8,
                                  Shape({static_cast<int64_t>(prepared.scratch_bytes) + 64})));
    return absl::OkStatus();
  }

  // Milliseconds of the fastest run. An addend is at the result's address, as in a plan.
  absl::StatusOr<double> Fastest(int addend) {
    std::vector<const void*> in;
    for (const Tensor& t : tensors) in.push_back(t.raw());
    if (addend >= 0) in[static_cast<size_t>(addend)] = outputs[0].raw();
    std::vector<void*> out;
    for (Tensor& t : outputs) out.push_back(t.raw());
    RunContext run(in.data(), out.data(), scratch.raw());
    double best = 1e9;
    for (int i = 0; i < kRuns; ++i) {
      const auto begin = std::chrono::steady_clock::now();
      TENON_RETURN_IF_ERROR(prepared.kernel->Run(run));
      const std::chrono::duration<double, std::milli> ms = std::chrono::steady_clock::now() - begin;
      best = std::min(best, ms.count());
    }
    return best;
  }
};

Tensor Random(DType dtype, const Shape& shape) {
  static std::mt19937 engine(7);
  Tensor t = *Tensor::Allocate(dtype, shape);
  for (int64_t i = 0; i < t.num_elements(); ++i) {
    if (dtype == DType::kBfloat16) {
      t.data<uint16_t>()[i] = static_cast<uint16_t>(0x3d00 + engine() % 0x80);
    } else if (dtype == DType::kFloat) {
      t.data<float>()[i] = static_cast<float>(engine() % 2001) * 1e-4f - 0.1f;
    } else {
      t.data<uint8_t>()[i] = static_cast<uint8_t>(engine());
    }
  }
  return t;
}
Tensor Value(float v) { return Tensor::Scalar(v); }

absl::StatusOr<Shape> ParseShape(const std::string& text) {
  Ints dims;
  for (absl::string_view part : absl::StrSplit(text, ',')) {
    if (!absl::SimpleAtoi(part, &dims.emplace_back())) return InvalidArgument(text);
  }
  return Shape(absl::MakeConstSpan(dims));
}

struct Times {
  double fp32 = 0, bf16 = 0, int8 = 0;
};

absl::StatusOr<Times> Compare(const std::vector<std::string>& w, const Services& services,
                              std::string& names) {
  TENON_ASSIGN_OR_RETURN(const Shape input, ParseShape(w[2]));
  TENON_ASSIGN_OR_RETURN(const Shape filter, ParseShape(w[3]));
  int64_t stride = 1;
  if (!absl::SimpleAtoi(w[4], &stride)) return InvalidArgument(w[4]);
  const bool add = absl::StrContains(w[6], ",Add");
  const bool relu = absl::StrContains(w[6], "Relu");
  Node node;
  node.name = "bench";
  node.attrs["strides"] = Ints{1, stride, stride, 1};
  node.attrs["padding"] = w[5];
  Ints pads;
  if (w[5] != "SAME" && w[5] != "VALID") {
    TENON_ASSIGN_OR_RETURN(const Shape p, ParseShape(w[5]));
    pads = {0, 0, p[0], p[1], p[0], p[1], 0, 0};
  }
  const int64_t channels = filter[3];
  const int64_t same = w[5] == "VALID" ? (input[1] - filter[0]) / stride + 1
                       : pads.empty()  ? (input[1] + stride - 1) / stride
                                       : (input[1] + 2 * pads[2] - filter[0]) / stride + 1;
  const Shape output({input[0], same, same, channels});
  const Shape bias({channels});

  Times times;
  for (DType dtype : {DType::kFloat, DType::kBfloat16}) {
    Node real = node;
    real.op = "_MklNativeFusedConv2D";
    real.attrs["T"] = dtype;
    real.attrs["fused_ops"] = std::vector<std::string>(absl::StrSplit(w[6], ','));
    real.attrs["num_args"] = add ? 2 : 1;
    if (!pads.empty()) {
      real.attrs["padding"] = "EXPLICIT";
      real.attrs["explicit_paddings"] = pads;
    }
    std::vector<Tensor> in{Random(dtype, input), Random(dtype, filter), Random(dtype, bias)};
    if (add) in.push_back(Random(dtype, output));
    Bench bench;
    TENON_RETURN_IF_ERROR(bench.Prepare(real, std::move(in), 3, services));
    double& ms = dtype == DType::kFloat ? times.fp32 : times.bf16;
    TENON_ASSIGN_OR_RETURN(ms, bench.Fastest(add ? 3 : -1));
    absl::StrAppend(&names, bench.prepared.kernel->Implementation(), " / ");
  }

  Node int8 = node;
  int8.op = add    ? "_MklNativeQuantizedConv2DWithBiasSumAndReluAndRequantize"
            : relu ? "_MklNativeQuantizedConv2DWithBiasAndReluAndRequantize"
                   : "_MklNativeQuantizedConv2DWithBiasAndRequantize";
  int8.attrs["Tinput"] = DType::kQuint8;
  int8.attrs["Tfilter"] = DType::kQint8;
  int8.attrs["Tbias"] = DType::kFloat;
  if (add) int8.attrs["Tsummand"] = DType::kQuint8;
  if (!pads.empty()) {
    int8.attrs["padding"] = "VALID";
    int8.attrs["padding_list"] = pads;
  }
  Tensor low = Random(DType::kFloat, bias), high = Random(DType::kFloat, bias);
  for (float& v : low.flat<float>()) v = -0.5f;
  for (float& v : high.flat<float>()) v = 0.5f;
  std::vector<Tensor> q{Random(DType::kQuint8, input),
                        Random(DType::kQint8, filter),
                        Random(DType::kFloat, bias),
                        Value(0),
                        Value(6),
                        low,
                        high,
                        Value(0),
                        Value(60)};
  if (add) q.insert(q.end(), {Random(DType::kQuint8, output), Value(0), Value(60)});
  Bench narrow;
  TENON_RETURN_IF_ERROR(narrow.Prepare(int8, std::move(q), 9, services));
  TENON_ASSIGN_OR_RETURN(times.int8, narrow.Fastest(add ? 9 : -1));
  names += narrow.prepared.kernel->Implementation();
  return times;
}

void Print(const Times& t, const std::string& what) {
  std::printf("%7.3f %6.3f %6.3f  %9.2f  %9.2f  %s\n", t.fp32, t.bf16, t.int8, t.fp32 / t.bf16,
              t.fp32 / t.int8, what.c_str());
}

absl::Status RunFile(const std::string& name, int threads, bool winograd) {
  std::ifstream file(absl::StrCat(TENON_SOURCE_DIR, "/bench/shapes/", name, ".txt"));
  if (!file) return NotFound("no file bench/shapes/", name, ".txt");
  Flags flags;
  flags.winograd = winograd;
  PrimitiveCache cache;
  Services services;
  services.flags = &flags;
  services.cache = &cache;
  services.threads = threads;
  Times total;
  std::printf("   fp32   bf16   int8  fp32/bf16  fp32/int8 (ms, fastest of %d runs, %d threads)\n",
              kRuns, threads);
  for (std::string line; std::getline(file, line);) {
    const std::vector<std::string> w = absl::StrSplit(line, ' ', absl::SkipEmpty());
    int times = 0;
    if (w.size() != 7 || w[1] != "Conv2D" || !absl::SimpleAtoi(w[0], &times)) continue;
    std::string names;
    TENON_ASSIGN_OR_RETURN(const Times t, Compare(w, services, names));
    total.fp32 += times * t.fp32;
    total.bf16 += times * t.bf16;
    total.int8 += times * t.int8;
    Print(t, absl::StrCat(line, "  ", names));
  }
  Print(total, absl::StrCat("all of ", name));
  return absl::OkStatus();
}

}  // namespace
}  // namespace tenon

int main(int argc, char** argv) {
  const absl::Status status =
      tenon::RunFile(argc > 1 ? argv[1] : "resnet50", argc > 2 ? std::atoi(argv[2]) : 2,
                     argc <= 3 || std::string(argv[3]) != "direct");
  if (status.ok()) return 0;
  std::fprintf(stderr, "%s\n", status.ToString().c_str());
  return 1;
}
