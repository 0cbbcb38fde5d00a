#include <algorithm>

#include "env/status.h"
#include "kernels/layout/strided_copy.h"
#include "kernels/xla/element_calls.h"
#include "kernels/xla/elements.h"
#include "kernels/xla/scatter_in_rounds.h"
#include "kernels/xla/slice_places.h"

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
  const Shape& shape = updates.shape();
  const DimList kept = KeptDims(operand.shape().rank(), numbers);
  const std::vector<int64_t> strides = DenseStrides(operand.shape());
  DimList slice(static_cast<size_t>(operand.shape().rank()), 1);
  // For each dimension of the updates: its step within the operand, or within the list of slices.
  struct Axis {
    int64_t size, in_operand = 0, in_slices = 0;
  };
  std::vector<Axis> axes(static_cast<size_t>(shape.rank()));
  size_t next = kept.size();
  int64_t slices = 1;
  for (int i = shape.rank(); i-- > 0;) {
    Axis& axis = axes[static_cast<size_t>(i)];
    axis.size = shape.dim(i);
    if (Contains(numbers.offset, i)) {
      const size_t d = static_cast<size_t>(kept[--next]);
      slice[d] = axis.size;
      axis.in_operand = strides[d];
    } else {
      axis.in_slices = slices;
      slices *= axis.size;
    }
  }
  const SlicePlaces places(numbers, operand.shape(), indices.shape(), indices.dtype(), slice);
  std::vector<int64_t> at(static_cast<size_t>(places.count()));
  for (size_t i = 0; i < at.size(); ++i) {
    at[i] = places.Inside(indices.raw(), static_cast<int64_t>(i));
  }
  std::vector<int64_t> targets(static_cast<size_t>(updates.num_elements()));
  DimList index(axes.size(), 0);
  int64_t within = 0, which = 0;
  for (int64_t& target : targets) {
    const int64_t place = at[static_cast<size_t>(which)];
    target = place < 0 ? -1 : place + within;
    for (size_t d = axes.size(); d > 0; --d) {
      const Axis& axis = axes[d - 1];
      within += axis.in_operand;
      which += axis.in_slices;
      if (++index[d - 1] < axis.size) break;
      within -= axis.in_operand * axis.size;
      which -= axis.in_slices * axis.size;
      index[d - 1] = 0;
    }
  }
  TENON_ASSIGN_OR_RETURN(Tensor result, operand.Clone());
  TENON_RETURN_IF_ERROR(ScatterInRounds(targets, updates, combine, result));
  return result;
}

}  // namespace tenon
