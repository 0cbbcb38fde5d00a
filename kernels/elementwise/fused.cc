#include "kernels/elementwise/fused.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "env/status.h"
#include "kernels/elementwise/broadcast.h"
#include "kernels/elementwise/elementwise_scalar.h"
#include "kernels/elementwise/program.h"
#include "kernels/elementwise/quantize_simd.h"
#include "kernels/interface/types.h"

namespace tenon {
namespace {

absl::StatusOr<Program> ProgramOf(PrepareContext& p) {
  TENON_ASSIGN_OR_RETURN(const std::vector<std::string> text, p.attrs().Strings("program"));
  return ParseProgram(text, p.num_inputs());
}

// One element at a time; every result is rounded to T, as by the separate ops.
template <typename T>
absl::Status RunReference(const Program& program, const CollapsedBroadcast& broadcast,
                          int64_t elements, RunContext& context) {
  using F = ComputeType<T>;
  const size_t n = broadcast.strides.size();
  std::vector<int64_t> index(broadcast.dims.size(), 0), offset(n, 0);
  std::vector<F> results(program.size());
  const auto value = [&](const Operand& o) {
    if (o.kind == Operand::Kind::kResult) return results[static_cast<size_t>(o.index)];
    if (o.kind == Operand::Kind::kNone) return F{0};
    return ToCompute(context.input<T>(o.index)[offset[static_cast<size_t>(o.index)]]);
  };
  for (int64_t e = 0; e < elements; ++e) {
    for (size_t i = 0; i < program.size(); ++i) {
      const Instruction& instruction = program[i];
      const T rounded = static_cast<T>(ScalarElementwise<F>(
          instruction.op, value(instruction.operands[0]), value(instruction.operands[1]),
          value(instruction.operands[2]), F(instruction.parameter)));
      results[i] = ToCompute(rounded);
    }
    context.output<T>(0)[e] = static_cast<T>(results.back());
    for (size_t d = index.size(); d-- > 0;) {
      const bool wraps = ++index[d] == broadcast.dims[d];
      if (wraps) index[d] = 0;
      for (size_t i = 0; i < n; ++i) {
        offset[i] += broadcast.strides[i][d] * (wraps ? 1 - broadcast.dims[d] : 1);
      }
      if (!wraps) break;
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<QuantizeMap> MapOf(PrepareContext& p) {
  const bool is_signed = p.output_dtype(0) == DType::kQint8;
  const float step = p.attrs().Float("step", 1);
  if (!(step > 0)) return InvalidArgument("step must be above 0, is ", step);
  const int lowest = is_signed ? -128 : 0;
  const int64_t zero = p.attrs().Int("zero", 0);
  if (zero < lowest || zero > lowest + 255) {
    return InvalidArgument("zero must be an integer of ", Name(p.output_dtype(0)), ", is ", zero);
  }
  QuantizeMap map;
  map.zero = static_cast<float>(zero);
  map.low = (static_cast<float>(lowest) - map.zero) * step;
  map.high = (static_cast<float>(lowest + 255) - map.zero) * step;
  map.scale = 1 / step;
  map.round = p.attrs().Bool("half_to_even", false) ? QuantizeMap::Round::kHalfToEven
                                                    : QuantizeMap::Round::kHalfAway;
  return map;
}

}  // namespace

absl::StatusOr<std::unique_ptr<Kernel>> FusedElementwiseVector(PrepareContext& p) {
  TENON_ASSIGN_OR_RETURN(const Program program, ProgramOf(p));
  return MakeProgramKernel(p, OptimizeProgram(program));
}

absl::StatusOr<std::unique_ptr<Kernel>> FusedElementwiseReference(PrepareContext& p) {
  TENON_ASSIGN_OR_RETURN(Program program, ProgramOf(p));
  std::vector<Shape> shapes;
  for (int i = 0; i < p.num_inputs(); ++i) shapes.push_back(p.input_shape(i));
  TENON_ASSIGN_OR_RETURN(CollapsedBroadcast broadcast,
                         CollapseBroadcast(shapes, p.output_shape(0)));
  const int64_t elements = p.output_shape(0).num_elements();
  return DispatchType(TypeList<half, bfloat16, float, double>{}, p.output_dtype(0),
                      [&]<typename T>() {
                        return MakeKernel([program, broadcast, elements](RunContext& context) {
                          return RunReference<T>(program, broadcast, elements, context);
                        });
                      });
}

absl::StatusOr<std::unique_ptr<Kernel>> FusedElementwiseToIntegersVector(PrepareContext& p) {
  TENON_ASSIGN_OR_RETURN(const Program program, ProgramOf(p));
  TENON_ASSIGN_OR_RETURN(const QuantizeMap map, MapOf(p));
  return MakeProgramKernel(p, OptimizeProgram(program), map);
}

absl::StatusOr<std::unique_ptr<Kernel>> FusedElementwiseToIntegersReference(PrepareContext& p) {
  TENON_ASSIGN_OR_RETURN(const Program program, ProgramOf(p));
  TENON_ASSIGN_OR_RETURN(const QuantizeMap map, MapOf(p));
  std::vector<Shape> shapes;
  for (int i = 0; i < p.num_inputs(); ++i) shapes.push_back(p.input_shape(i));
  TENON_ASSIGN_OR_RETURN(CollapsedBroadcast broadcast,
                         CollapseBroadcast(shapes, p.output_shape(0)));
  const int64_t elements = p.output_shape(0).num_elements();
  return MakeKernel([=](RunContext& r) -> absl::Status {
    std::vector<float> values(static_cast<size_t>(elements));
    absl::InlinedVector<const void*, 8> inputs;
    for (size_t i = 0; i < shapes.size(); ++i) inputs.push_back(r.input(static_cast<int>(i)));
    void* output = values.data();
    RunContext inner(inputs.data(), &output, r.scratch());
    TENON_RETURN_IF_ERROR(RunReference<float>(program, broadcast, elements, inner));
    for (size_t i = 0; i < values.size(); ++i) {
      const float v = std::max(std::min(values[i], map.high), map.low) * map.scale + map.zero;
      const float whole =
          map.round == QuantizeMap::Round::kHalfToEven ? std::nearbyint(v) : std::round(v);
      // A negative integer has the bits of its unsigned counterpart.
      r.output<uint8_t>(0)[i] =
          std::isnan(v) ? uint8_t{0} : static_cast<uint8_t>(static_cast<int32_t>(whole));
    }
    return absl::OkStatus();
  });
}

}  // namespace tenon
