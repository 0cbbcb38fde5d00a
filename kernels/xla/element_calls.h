// XLA's ops that call a function of scalars: reductions, windows, scatters, sorts. They give it
// many elements at once, as vectors of one length, and it returns vectors of that length.
#ifndef TENON_KERNELS_XLA_ELEMENT_CALLS_H_
#define TENON_KERNELS_XLA_ELEMENT_CALLS_H_

#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "graph/attr_reader.h"
#include "graph/tensor.h"
#include "kernels/xla/conv.h"

namespace tenon {

// At least one element each.
using ElementFunction =
    absl::FunctionRef<absl::StatusOr<std::vector<Tensor>>(absl::Span<const Tensor>)>;

// XlaReduce, XlaVariadicReduce and XlaVariadicReduceV2. Inputs: tensors, then as many initial
// values. The function gets as many partial results, then as many elements.
absl::StatusOr<std::vector<Tensor>> ReduceByFunction(const AttrReader& attrs,
                                                     absl::Span<const Tensor> inputs,
                                                     ElementFunction reducer);

// The dimensions that remain. InvalidArgument unless the others are different dimensions.
absl::StatusOr<DimList> RemainingDims(const AttrReader& attrs, int rank);

// One dimension of a window that moves over a tensor.
struct MovingWindow {
  int64_t size = 1;
  ConvWindow steps;
};
// From vectors of a tensor's rank; the dilations may be null.
absl::StatusOr<std::vector<MovingWindow>> MakeWindows(const Tensor& dimensions,
                                                      const Tensor& strides,
                                                      const Tensor* base_dilations,
                                                      const Tensor* window_dilations,
                                                      const Tensor& padding, int rank);
absl::StatusOr<Shape> WindowPositions(const std::vector<MovingWindow>& windows, const Shape& in);

// XlaReduceWindow. Inputs: input, init_value, window_dimensions, window_strides, base_dilations,
// window_dilations, padding.
absl::StatusOr<Tensor> ReduceWindowByFunction(absl::Span<const Tensor> inputs,
                                              ElementFunction computation);

// XlaSelectAndScatter. Inputs: operand, window_dimensions, window_strides, padding, source,
// init_value.
absl::StatusOr<Tensor> SelectAndScatterByFunction(absl::Span<const Tensor> inputs,
                                                  ElementFunction select, ElementFunction scatter);

// XlaScatter. Inputs: operand, scatter_indices, updates.
absl::StatusOr<Tensor> ScatterByFunction(const AttrReader& attrs, absl::Span<const Tensor> inputs,
                                         ElementFunction combine);

// XlaVariadicSort. Inputs: tensors of one shape, then the dimension. The function gets two elements
// of each tensor in turn, and tells whether the first comes first.
absl::StatusOr<std::vector<Tensor>> SortByFunction(absl::Span<const Tensor> inputs,
                                                   ElementFunction comes_first);

}  // namespace tenon

#endif  // TENON_KERNELS_XLA_ELEMENT_CALLS_H_
