#include "env/status.h"
#include "kernels/xla/element_calls.h"
#include "kernels/xla/elements.h"
#include "kernels/xla/scatter_in_rounds.h"
#include "kernels/xla/scatter_targets.h"

namespace tenon {

absl::Status ScatterInRounds(const std::vector<int64_t>& targets, const Tensor& updates,
                             ElementFunction combine, Tensor& result) {
  struct Round {
    std::vector<int64_t> targets, updates;
  };
  std::vector<Round> rounds;
  std::vector<uint32_t> seen(static_cast<size_t>(result.num_elements()), 0);
  for (size_t i = 0; i < targets.size(); ++i) {
    if (targets[i] < 0) continue;
    const uint32_t round = seen[static_cast<size_t>(targets[i])]++;
    if (round == rounds.size()) rounds.emplace_back();
    rounds[round].targets.push_back(targets[i]);
    rounds[round].updates.push_back(static_cast<int64_t>(i));
  }
  for (Round& round : rounds) {
    PadToPowerOfTwo(round.targets);
    PadToPowerOfTwo(round.updates);
    TENON_ASSIGN_OR_RETURN(const Tensor now, Take(result, round.targets));
    TENON_ASSIGN_OR_RETURN(const Tensor update, Take(updates, round.updates));
    TENON_ASSIGN_OR_RETURN(const std::vector<Tensor> combined, combine({now, update}));
    if (combined.size() != 1 || combined[0].dtype() != result.dtype()) {
      return InvalidArgument("the function does not give a result of its arguments' dtype");
    }
    Put(combined[0], round.targets, result);
  }
  return absl::OkStatus();
}

absl::StatusOr<Tensor> ScatterByFunction(const AttrReader& attrs, absl::Span<const Tensor> inputs,
                                         ElementFunction combine) {
  const Tensor &operand = inputs[0], &indices = inputs[1], &updates = inputs[2];
  TENON_ASSIGN_OR_RETURN(const std::string bytes, attrs.String("dimension_numbers"));
  TENON_ASSIGN_OR_RETURN(const GatherNumbers numbers, ParseGatherNumbers(bytes));
  // The shape function has checked the shapes.
  const ScatterTargets runs(numbers, operand.shape(), indices.shape(), indices.dtype(),
                            updates.shape());
  std::vector<int64_t> targets;
  targets.reserve(static_cast<size_t>(updates.num_elements()));
  runs.ForEachRun(indices.raw(), [&](int64_t first, absl::Span<const int64_t> offsets) {
    for (int64_t offset : offsets) {
      for (int64_t i = 0; i < runs.run(); ++i) targets.push_back(offset < 0 ? -1 : offset + i);
    }
  });
  TENON_ASSIGN_OR_RETURN(Tensor result, operand.Clone());
  TENON_RETURN_IF_ERROR(ScatterInRounds(targets, updates, combine, result));
  return result;
}

}  // namespace tenon
