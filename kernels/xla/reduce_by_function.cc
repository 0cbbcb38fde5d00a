#include <algorithm>

#include "env/status.h"
#include "kernels/layout/strided_copy.h"
#include "kernels/xla/element_calls.h"
#include "kernels/xla/elements.h"

namespace tenon {
namespace {

absl::Status ExpectResults(const std::vector<Tensor>& results, absl::Span<const Tensor> like) {
  bool fits = results.size() == like.size();
  for (size_t i = 0; fits && i < like.size(); ++i) fits = results[i].dtype() == like[i].dtype();
  return fits ? absl::OkStatus()
              : InvalidArgument("the reducer does not give results of its arguments' dtypes");
}

}  // namespace

absl::StatusOr<DimList> RemainingDims(const AttrReader& attrs, int rank) {
  TENON_ASSIGN_OR_RETURN(const DimList reduced, attrs.Ints("dimensions_to_reduce"));
  if (!AreDims(reduced, rank)) {
    return InvalidArgument("dimensions_to_reduce are not different dimensions of rank ", rank);
  }
  DimList remaining;
  for (int i = 0; i < rank; ++i) {
    if (!Contains(reduced, i)) remaining.push_back(i);
  }
  return remaining;
}

absl::StatusOr<std::vector<Tensor>> ReduceByFunction(const AttrReader& attrs,
                                                     absl::Span<const Tensor> inputs,
                                                     ElementFunction reducer) {
  const size_t n = inputs.size() / 2;
  const Shape in = inputs[0].shape();
  TENON_ASSIGN_OR_RETURN(const DimList kept, RemainingDims(attrs, in.rank()));
  TENON_ASSIGN_OR_RETURN(DimList order, attrs.Ints("dimensions_to_reduce"));
  if (order.empty())
    return std::vector<Tensor>(inputs.begin(), inputs.begin() + static_cast<long>(n));
  order.insert(order.end(), kept.begin(), kept.end());
  const std::vector<int64_t> strides = DenseStrides(in);
  Shape arranged, out;
  DimList from;
  for (int64_t d : order) {
    arranged.push_back(in.dim(static_cast<int>(d)));
    from.push_back(strides[static_cast<size_t>(d)]);
  }
  for (int64_t d : kept) out.push_back(in.dim(static_cast<int>(d)));
  const int64_t columns = out.num_elements();

  std::vector<Tensor> results;
  for (size_t i = 0; i < n; ++i) {
    TENON_ASSIGN_OR_RETURN(Tensor first, Repeat(inputs[n + i], columns));
    results.push_back(std::move(first));
  }
  if (in.num_elements() > 0) {
    // Rows to be combined, in pairs of halves.
    std::vector<Tensor> rows;
    const StridedCopy copy(arranged.dims(), from, DenseStrides(arranged));
    for (size_t i = 0; i < n; ++i) {
      TENON_ASSIGN_OR_RETURN(Tensor t, Tensor::Allocate(inputs[i].dtype(), arranged));
      copy.Run(t.dtype(), inputs[i].raw(), t.raw());
      rows.push_back(std::move(t));
    }
    int64_t count = in.num_elements() / columns;
    std::vector<Tensor> arguments(2 * n);
    while (count > 1) {
      const int64_t half = count / 2, size = half * columns;
      for (size_t i = 0; i < n; ++i) {
        arguments[i] = Part(rows[i], 0, size);
        arguments[n + i] = Part(rows[i], size, size);
      }
      TENON_ASSIGN_OR_RETURN(const std::vector<Tensor> pairs, reducer(arguments));
      TENON_RETURN_IF_ERROR(ExpectResults(pairs, rows));
      for (size_t i = 0; i < n; ++i) {
        MoveElements(pairs[i], 0, rows[i], 0, size);
        if (count % 2 != 0) MoveElements(rows[i], 2 * size, rows[i], size, columns);
      }
      count = half + count % 2;
    }
    for (size_t i = 0; i < n; ++i) {
      arguments[i] = results[i];
      arguments[n + i] = Part(rows[i], 0, columns);
    }
    TENON_ASSIGN_OR_RETURN(results, reducer(arguments));
    TENON_RETURN_IF_ERROR(ExpectResults(results, rows));
    // A result may be a part of what goes away here.
    for (Tensor& t : results) {
      TENON_ASSIGN_OR_RETURN(t, t.Clone());
    }
  }
  for (Tensor& t : results) {
    TENON_ASSIGN_OR_RETURN(t, t.Reshaped(out));
  }
  return results;
}

}  // namespace tenon
