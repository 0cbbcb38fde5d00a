#include "kernels/xla/scatter_with.h"

#include <string>

#include "kernels/interface/types.h"
#include "kernels/layout/copy.h"
#include "kernels/layout/scatter.h"
#include "kernels/xla/scatter_targets.h"

namespace tenon {
namespace {

absl::StatusOr<ScatterFunction> FunctionNamed(const std::string& name) {
  static constexpr std::pair<const char*, ScatterFunction> kFunctions[] = {
      {"update", ScatterFunction::kUpdate},   {"add", ScatterFunction::kAdd},
      {"sub", ScatterFunction::kSub},         {"mul", ScatterFunction::kMul},
      {"minimum", ScatterFunction::kMinimum}, {"maximum", ScatterFunction::kMaximum},
  };
  for (const auto& [known, function] : kFunctions) {
    if (name == known) return function;
  }
  return InvalidArgument("unknown function '", name, "'");
}

}  // namespace

absl::StatusOr<std::unique_ptr<Kernel>> ScatterWithKernel(PrepareContext& p) {
  TENON_ASSIGN_OR_RETURN(const std::string bytes, p.attrs().String("dimension_numbers"));
  TENON_ASSIGN_OR_RETURN(const GatherNumbers numbers, ParseGatherNumbers(bytes));
  TENON_ASSIGN_OR_RETURN(const std::string name, p.attrs().String("function"));
  TENON_ASSIGN_OR_RETURN(const ScatterFunction function, FunctionNamed(name));
  const DType dtype = p.input_dtype(0);
  const ScatterFn scatter = FindScatter(function, dtype);
  if (scatter == nullptr || dtype == DType::kString) return NoKernelFor(dtype);
  const ScatterTargets targets(numbers, p.input_shape(0), p.input_shape(1), p.input_dtype(1),
                               p.input_shape(2));
  const int64_t n = p.input_shape(0).num_elements();
  p.AllowInPlace(0, 0);
  return MakeKernel([=](RunContext& run) {
    CopyElements(dtype, run.input(0), run.output(0), n);
    targets.ForEachRun(run.input(1), [&](int64_t first, absl::Span<const int64_t> offsets) {
      scatter(run.output(0), ElementAddress(run.input(2), dtype, first * targets.run()), offsets,
              targets.run(), ScatterUpdates::kSlices);
    });
    return absl::OkStatus();
  });
}

}  // namespace tenon
