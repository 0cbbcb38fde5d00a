#include "tests/sweep/problem.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <memory>
#include <random>

#include "absl/algorithm/container.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "env/flags.h"
#include "env/flush_denormals.h"
#include "env/status.h"
#include "kernels/elementwise/elementwise.h"
#include "kernels/interface/types.h"
#include "kernels/quantized/quantized_types.h"
#include "ops/evaluate.h"
#include "ops/op.h"
#include "tests/support/prepared_case.h"
#include "tests/support/tolerance.h"
#include "tests/sweep/wide.h"

namespace tenon::sweep {
namespace {

template <typename F>
bool VisitNumbers(DType dtype, F&& f) {
  if (IsQuantized(dtype)) return VisitQuantized(dtype, f);
  return VisitTypes(NumbersAndBool{}, dtype, f);
}

// Writes values as described by "(1,2)", "uniform(low,high)" or "" (standard normal).
absl::Status Fill(Tensor& t, absl::string_view values, std::mt19937_64& random) {
  std::vector<double> given;
  const bool uniform = absl::ConsumePrefix(&values, "uniform");
  if (absl::ConsumePrefix(&values, "(") && absl::ConsumeSuffix(&values, ")") && !values.empty()) {
    for (absl::string_view text : absl::StrSplit(values, ',')) {
      double v = 0;
      if (!absl::SimpleAtod(text, &v)) return InvalidArgument("'", text, "' is no number");
      given.push_back(v);
    }
  }
  std::normal_distribution<double> normal;
  const bool known = VisitNumbers(t.dtype(), [&]<typename T>() {
    for (int64_t i = 0; i < t.num_elements(); ++i) {
      double v = 0;
      if (uniform) {
        const double low = given[0], high = given[1];
        const bool whole =
            IsQuantized(t.dtype()) || IsInteger(t.dtype()) || t.dtype() == DType::kBool;
        const double u = static_cast<double>(random() >> 11) * 0x1p-53;
        v = whole ? std::floor(low + u * (high - low + 1)) : low + u * (high - low);
      } else if (!given.empty()) {
        v = given[static_cast<size_t>(i)];
      } else {
        v = normal(random);
      }
      if constexpr (kIsComplex<T>) {
        t.data<T>()[i] = T(static_cast<float>(v), static_cast<float>(normal(random)));
      } else {
        t.data<T>()[i] = static_cast<T>(static_cast<float>(v));
      }
    }
  });
  return known ? absl::OkStatus() : InvalidArgument("no values of dtype ", Name(t.dtype()));
}

// "f32[2,3]=const:uniform(0,1)"
absl::StatusOr<GuardedTensor> MakeInput(absl::string_view text, std::mt19937_64& random) {
  const size_t open = text.find('['), close = text.find(']');
  if (close == absl::string_view::npos) return InvalidArgument("'", text, "' has no shape");
  Shape shape;
  for (absl::string_view dim :
       absl::StrSplit(text.substr(open + 1, close - open - 1), ',', absl::SkipEmpty())) {
    int64_t n = 0;
    if (!absl::SimpleAtoi(dim, &n)) return InvalidArgument("'", dim, "' is no dimension");
    shape.push_back(n);
  }
  absl::string_view values = text.substr(close + 1);
  absl::ConsumePrefix(&values, "=");
  absl::ConsumePrefix(&values, "const");
  absl::ConsumePrefix(&values, ":");
  GuardedTensor t = AllocateGuarded(GoldenDType(text.substr(0, open)), shape);
  TENON_RETURN_IF_ERROR(Fill(t.tensor, values, random));
  return t;
}

// Runs the kernel as a plan does, with guards around all memory.
absl::StatusOr<std::vector<Tensor>> Run(const Problem& p, const PreparedKernel& prepared) {
  std::vector<const void*> in;
  for (const GuardedTensor& t : p.inputs) in.push_back(t.tensor.raw());
  for (int i : prepared.unread) in[static_cast<size_t>(i)] = nullptr;
  std::vector<GuardedTensor> outputs;
  std::vector<void*> out;
  for (const TensorSpec& spec : prepared.outputs) {
    outputs.push_back(AllocateGuarded(spec.dtype, spec.shape));
    out.push_back(outputs.back().tensor.raw());
  }
  const Guarded scratch(prepared.scratch_bytes);
  RunContext context(in.data(), out.data(), scratch.data());
  TENON_RETURN_IF_ERROR(prepared.kernel->Run(context));
  std::vector<Tensor> results;
  for (const GuardedTensor& t : outputs) {
    if (!t.memory->Intact()) return Internal("wrote beyond an output");
    results.push_back(t.tensor);
  }
  if (!scratch.Intact()) return Internal("wrote beyond its scratch memory");
  for (const GuardedTensor& t : p.inputs) {
    if (!t.memory->Intact()) return Internal("wrote beyond an input");
  }
  return results;
}

}  // namespace

absl::StatusOr<Problem> MakeProblem(const std::string& line, uint64_t seed) {
  std::vector<std::string> parts = absl::StrSplit(line, " => ");
  const size_t open = line.find('('), close = line.find(") ", open);
  if (close == std::string::npos) return InvalidArgument("'", line, "' is no problem");
  const std::vector<std::string> inputs =
      absl::StrSplit(line.substr(open + 1, close - open - 1), ", ");
  // The values of a golden case are in another file.
  std::vector<std::string> bare;
  for (const std::string& text : inputs) {
    const bool constant = absl::StrContains(text, "=const");
    bare.push_back(absl::StrCat(text.substr(0, text.find('=')), constant ? "=const" : ""));
  }
  Problem p;
  TENON_ASSIGN_OR_RETURN(
      p.golden, ParseGoldenCase(absl::StrCat(parts[0].substr(0, open + 1),
                                             absl::StrJoin(bare, ", "), parts[0].substr(close))));
  TENON_ASSIGN_OR_RETURN(p.node, MakeNode(p.golden));
  if (parts.size() > 1 && !absl::SimpleAtoi(parts[1].substr(0, parts[1].find(' ')), &p.outputs)) {
    return InvalidArgument("'", parts[1], "' is no number of outputs");
  }
  std::mt19937_64 random(seed);
  for (const std::string& text : inputs) {
    TENON_ASSIGN_OR_RETURN(GuardedTensor t, MakeInput(text, random));
    p.inputs.push_back(std::move(t));
  }
  return p;
}

namespace {

// Whether special values in the input travel as in the reference kernel; docs/NUMERICS.md has the
// exceptions, with their reasons.
bool TakesSpecial(const Problem& p, size_t input) {
  const Tensor& t = p.inputs[input].tensor;
  if (t.dtype() != DType::kFloat && t.dtype() != DType::kBfloat16) return false;
  if (t.num_elements() == 0) return false;
  const std::string& op = p.node.op;
  // Filters, and images whose kernels are those of two or three convolutions.
  if (op == "_FusedInvertedResidual" && (input > 0 || !p.strict_nan)) return false;
  // A transform of one is not finite anywhere; which results are NaN depends on the order of sums.
  if (absl::StrContains(op, "FFT")) return false;
  // Values at hidden keys are not read.
  const bool hides = absl::c_any_of(
      p.golden.inputs, [](const GoldenCase::Input& each) { return each.dtype == DType::kBool; });
  if (op == "_Attention" && input == 2 && hides && !p.strict_nan) return false;
  if (absl::StrContains(op, "Quantized") || absl::StrContains(op, "BackpropFilter")) return false;
  if (absl::StrContains(op, "BackpropInput") && input == 1) return false;
  const bool forward = absl::StrContains(op, "Conv") && !absl::StrContains(op, "Backprop");
  if (forward && input == 1) return false;
  const bool contraction = absl::StrContains(op, "Conv") || absl::StrContains(op, "MatMul");
  return !(contraction && t.dtype() == DType::kBfloat16);
}

// oneDNN shares these sums among threads, or chooses their parts by the number of threads
// (docs/NUMERICS.md). In oneDNN 2, products by brgemm are named "brg:", no gradient is "brgconv" or
// "brg_conv", and no convolution "brg_conv_fwd".
bool DependsOnThreads(const Problem& p, const std::string& implementation) {
  const std::string& op = p.node.op;
  if (absl::StrContains(op, "BackpropFilter")) return true;
  if (op == "_Recurrence" && !absl::StartsWith(VectorTargetName(), "AVX3")) return true;
  for (const char* product : {"brg:", "brg_matmul:", "ip:"}) {
    if (absl::StartsWith(implementation, product)) return true;
  }
  if (absl::StrContains(implementation, "gemm:")) return true;
  return absl::StrContains(implementation, "brgconv") ||
         absl::StrContains(implementation, "brg_conv") ||
         absl::StrContains(implementation, "_wino");
}

// ---- NaN without TENON_STRICT_NAN, as docs/NUMERICS.md says
// --------------------------------------

bool IsWinograd(const std::string& implementation) {
  return absl::StrContains(implementation, "wino");  // ours, or oneDNN's: jit_fp32_wino_2x3
}

// What its transforms multiply rounding errors by (docs/NUMERICS.md).
constexpr double kWinogradErrors = 5;

// Whether a NaN may become 0, or be in neighbors too.
bool MayLoseNan(const Problem& p, const Kernel& kernel) {
  if (IsWinograd(kernel.Implementation())) return true;
  const auto* fused = p.node.attr<std::vector<std::string>>("fused_ops");
  if (fused == nullptr) return false;
  const bool relu = std::any_of(fused->begin(), fused->end(), [](const std::string& op) {
    return op == "Relu" || op == "Relu6";
  });
  double bytes = 0;
  for (size_t i = 0; i < p.inputs.size(); ++i) {
    if (!p.golden.inputs[i].constant) bytes += static_cast<double>(p.inputs[i].tensor.bytes());
  }
  return relu && kernel.Flops() < 16 * bytes;
}

// Gives `got` the elements of `wanted` that it may lack; returns how many. Winograd's tiles are NaN
// where one of their elements is not finite; a fused Relu makes NaN 0.
int64_t TakeExceptions(const std::string& implementation, const Tensor& wanted, Tensor& got) {
  int64_t taken = 0;
  const auto take = [&]<typename T>(const T* want, T* have) {
    for (int64_t i = 0; i < wanted.num_elements(); ++i) {
      const float w = static_cast<float>(want[i]), h = static_cast<float>(have[i]);
      const bool excepted =
          IsWinograd(implementation) ? std::isnan(h) && !std::isnan(w) : std::isnan(w) && h == 0;
      if (!excepted) continue;
      have[i] = want[i];
      ++taken;
    }
  };
  if (wanted.dtype() == DType::kFloat) take(wanted.data<float>(), got.data<float>());
  if (wanted.dtype() == DType::kBfloat16) take(wanted.data<bfloat16>(), got.data<bfloat16>());
  return taken;
}

void SetElement(Tensor& t, size_t at, float value) {
  if (t.dtype() == DType::kFloat) {
    t.data<float>()[at] = value;
  } else {
    t.data<bfloat16>()[at] = static_cast<bfloat16>(value);
  }
}

}  // namespace

std::string SetSpecial(Problem& p, uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<size_t> candidates;
  for (size_t i = 0; i < p.inputs.size(); ++i) {
    if (TakesSpecial(p, i)) candidates.push_back(i);
  }
  if (candidates.empty()) return "";
  const size_t input = candidates[random() % candidates.size()];
  Tensor& t = p.inputs[input].tensor;
  const float infinity = std::numeric_limits<float>::infinity();
  const float values[] = {
      std::numeric_limits<float>::quiet_NaN(), infinity, -infinity, -0.0f, 1e-40f, 1e30f};
  float value = values[random() % std::size(values)];
  // TensorFlow has two logarithms of a denormal (docs/NUMERICS.md).
  const bool undefined = t.dtype() == DType::kBfloat16 || p.node.op == "Log";
  if (value == 1e-40f && undefined) value = 0;
  // Its square is infinite in TensorFlow and in vector code, but not in reference kernels, which
  // compute in double.
  const bool squares = absl::EndsWith(p.node.op, "LayerNorm") ||
                       absl::EndsWith(p.node.op, "RmsNorm") || absl::StrContains(p.node.op, "LRN");
  if (value == 1e30f && squares) value = absl::StrContains(p.node.op, "LRN") ? 1e5f : 1e15f;
  const size_t at = random() % static_cast<size_t>(t.num_elements());
  if (std::isfinite(value)) SetElement(t, at, value);
  for (const GuardedTensor& each : p.inputs) p.ordinary.push_back(*each.tensor.Clone());
  SetElement(t, at, value);
  return absl::StrCat(value, " at ", at, " of input ", input);
}

absl::StatusOr<Verdict> Check(const Problem& p) {
  const FlushDenormals flush;  // as in a session
  Flags flags;
  flags.strict_nan = p.strict_nan;
  // Force tiles for half of the problems; most are too small to use them by themselves.
  flags.tiles = p.golden.line.size() % 4 < 2 ? 2 : 1;
  flags.block_lines = 2;
  Verdict verdict;
  const char* const name = FindOp(p.node.op).info->row.native;
  if (name == nullptr) return verdict;
  Node native = p.node;
  native.op = name;
  std::vector<Tensor> inputs;
  for (const GuardedTensor& t : p.inputs) inputs.push_back(t.tensor);
  Services services;
  services.flags = &flags;
  TENON_ASSIGN_OR_RETURN(const PreparedCase reference,
                         PrepareCase(p.golden, p.node, inputs, services));
  TENON_ASSIGN_OR_RETURN(std::vector<Tensor> wanted, Run(p, reference.kernel));
  bool wide = false;
  if (p.ordinary.empty()) {
    auto results = RunInDouble(p, services);
    wide = results.ok();
    if (wide) wanted = *std::move(results);
  }

  const int several = p.golden.line.size() % 2 == 0 ? 2 : 4;
  std::vector<Tensor> of_one_thread;
  for (int threads : {1, several}) {
    services.threads = threads;
    TENON_ASSIGN_OR_RETURN(const PreparedCase prepared,
                           PrepareCase(p.golden, native, inputs, services));
    if (!prepared.kernel.accelerated) return verdict;
    verdict.accelerated = true;
    verdict.implementation = prepared.kernel.kernel->Implementation();
    auto wrong = [&](const std::string& what) {
      verdict.wrong = absl::StrCat(verdict.implementation, ", ", threads, " threads: ", what);
      return verdict;
    };
    std::vector<Tensor> first;
    for (const bool again : {false, true}) {
      absl::StatusOr<std::vector<Tensor>> got = Run(p, prepared.kernel);
      if (!got.ok()) return wrong(std::string(got.status().message()));
      if (wide && !again) verdict.error = std::max(verdict.error, RmsError((*got)[0], wanted[0]));
      if (!p.ordinary.empty() && !p.strict_nan && MayLoseNan(p, *prepared.kernel.kernel)) {
        verdict.excepted += TakeExceptions(verdict.implementation, wanted[0], (*got)[0]);
      }
      const size_t compared = p.outputs > 0 ? p.outputs : wanted.size();
      for (size_t i = 0; i < compared; ++i) {
        Tolerance tolerance =
            ToleranceFor(p.node, p.ordinary.empty() ? inputs : p.ordinary, wanted[i]);
        if (IsWinograd(verdict.implementation)) tolerance.absolute *= kWinogradErrors;
        const std::string difference = Difference((*got)[i], wanted[i], tolerance);
        if (!difference.empty()) return wrong(absl::StrCat("output ", i, ": ", difference));
        if (again && !Identical((*got)[i], first[i])) {
          return wrong(absl::StrCat("output ", i, " has other bits in the second run"));
        }
      }
      first = *got;
    }
    if (threads == 1) of_one_thread = first;
    for (size_t i = 0; i < first.size() && !DependsOnThreads(p, verdict.implementation); ++i) {
      if (!Identical(first[i], of_one_thread[i])) {
        return wrong(absl::StrCat("output ", i, " has other bits than with one thread"));
      }
    }
  }
  return verdict;
}

}  // namespace tenon::sweep
