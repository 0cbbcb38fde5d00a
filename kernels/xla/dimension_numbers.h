// Which dimensions of XLA's products, convolutions, gathers and scatters mean what: serialized
// protocol buffers (xla_data.proto) in attributes of the Xla ops. Their bytes are not trusted.
#ifndef TENON_KERNELS_XLA_DIMENSION_NUMBERS_H_
#define TENON_KERNELS_XLA_DIMENSION_NUMBERS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace tenon {

using DimList = std::vector<int64_t>;

// DotDimensionNumbers. Equal entries of the lhs and rhs lists belong together.
struct DotNumbers {
  DimList lhs_contracting, rhs_contracting, lhs_batch, rhs_batch;
};
// Checks the lists' lengths, but not their entries against ranks.
absl::StatusOr<DotNumbers> ParseDotNumbers(absl::string_view bytes);

// ConvolutionDimensionNumbers.
struct ConvNumbers {
  struct Layout {
    int64_t batch = 0, feature = 0;  // of a kernel: output features, input features
    DimList spatial;

    // Whether these are all dimensions of a tensor of that rank, each once.
    bool Covers(int rank) const;
  };
  Layout input, kernel, output;
};
absl::StatusOr<ConvNumbers> ParseConvNumbers(absl::string_view bytes);
// UniformQuantizedConvolutionDimensionNumbersAttr (uniform_quant_ops_attr.proto): the same under
// other field numbers.
absl::StatusOr<ConvNumbers> ParseUniformConvNumbers(absl::string_view bytes);

// GatherDimensionNumbers, and ScatterDimensionNumbers, which are the same under other names:
//   gather:  offset_dims, collapsed_slice_dims, start_index_map, operand_batching_dims
//   scatter: update_window_dims, inserted_window_dims, scatter_dims_to_operand_dims,
//            input_batching_dims
struct GatherNumbers {
  DimList offset, collapsed, index_map;
  int64_t index_vector = 0;
  DimList operand_batch, indices_batch;
};
absl::StatusOr<GatherNumbers> ParseGatherNumbers(absl::string_view bytes);

// Whether the entries are different and in [0, bound).
bool AreDims(const DimList& dims, int64_t bound);
bool Contains(const DimList& dims, int64_t dim);

}  // namespace tenon

#endif  // TENON_KERNELS_XLA_DIMENSION_NUMBERS_H_
