#include "kernels/reduction/bincount.h"

#include <algorithm>

#include "kernels/interface/axis.h"
#include "kernels/interface/types.h"
#include "kernels/reduction/segments.h"

namespace tenon {

// Inputs: [row information], values, [dense_shape], size, weights.
absl::StatusOr<std::unique_ptr<Kernel>> Bincount(PrepareContext& p, BinRows how) {
  const bool before = how == BinRows::kSplits || how == BinRows::kCoordinates;
  const int values_input = before ? 1 : 0;
  const int size_input = how == BinRows::kCoordinates ? 3 : values_input + 1;
  const Shape& out_shape = p.output_shape(0);
  p.InputNotRead(size_input);
  const Shape& in = p.input_shape(values_input);
  const int64_t n = in.num_elements();
  const int64_t bins = out_shape.dim(out_shape.rank() - 1);
  const int64_t rows = out_shape.rank() == 2 ? out_shape.dim(0) : 1;
  const int64_t row_size = how == BinRows::kDense && in.rank() == 2 ? in.dim(1) : n;
  const bool weighted = p.input_shape(size_input + 1).num_elements() > 0;
  const bool binary = p.attrs().Bool("binary_output", false);
  const DType value_type = p.input_dtype(values_input);
  const int64_t given = before ? p.input_shape(0).num_elements() : 0;
  const int64_t coordinates = how == BinRows::kCoordinates ? p.input_shape(0).dim(1) : 1;
  if (how == BinRows::kCoordinates && p.input_shape(0).dim(0) != n) {
    return InvalidArgument("indices of shape ", p.input_shape(0).ToString(), " for ", n, " values");
  }
  if (how == BinRows::kCoordinates && coordinates != out_shape.rank()) {
    return InvalidArgument("indices of ", coordinates, " columns for a dense_shape of ",
                           out_shape.rank());
  }
  return DispatchType(
      TypeList<int32_t, int64_t, float, double>{}, p.output_dtype(0), [&]<typename T>() {
        return MakeKernel([=](RunContext& run) -> absl::Status {
          const std::vector<int64_t> values = IntegersAt(value_type, run.input(values_input), n);
          const int64_t* row_input = before ? run.input<int64_t>(0) : nullptr;
          const T* weights = weighted ? run.input<T>(size_input + 1) : nullptr;
          T* out = run.output<T>(0);
          std::fill_n(out, rows * bins, T(0));
          if (how == BinRows::kSplits) {
            if (row_input[0] != 0 || row_input[given - 1] != n ||
                !std::is_sorted(row_input, row_input + given)) {
              return InvalidArgument("splits must rise from 0 to the ", n, " values");
            }
          }
          int64_t row = 0;
          for (int64_t i = 0; i < n; ++i) {
            const int64_t v = values[static_cast<size_t>(i)];
            if (v < 0) return InvalidArgument("values must not be negative, but one is ", v);
            if (how == BinRows::kDense && rows > 1) row = i / row_size;
            if (how == BinRows::kSplits) {
              while (row_input[row + 1] <= i) ++row;
            }
            if (how == BinRows::kCoordinates && coordinates == 2) row = row_input[2 * i];
            if (row < 0 || row >= rows) return InvalidArgument("row ", row, " of ", rows);
            if (v >= bins) continue;
            T& bin = out[row * bins + v];
            bin = binary ? T(1) : WrapAdd(bin, weighted ? weights[i] : T(1));
          }
          return absl::OkStatus();
        });
      });
}

}  // namespace tenon
