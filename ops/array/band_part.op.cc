// MatrixBandPart: keeps the diagonals of each matrix from num_lower below to num_upper above the
// main one, and sets the rest to zero. A negative number keeps all on that side.
#include "kernels/interface/axis.h"
#include "kernels/interface/late_kernel.h"
#include "kernels/interface/types.h"
#include "ops/op.h"

namespace tenon {
namespace {

absl::Status BandPartShape(ShapeContext& c) {
  TENON_RETURN_IF_ERROR(c.ExpectRank(1, 0));
  TENON_RETURN_IF_ERROR(c.ExpectRank(2, 0));
  if (c.input(0).has_rank() && c.input(0).rank() < 2) {
    return InvalidArgument("input must have at least 2 dimensions, but has shape ",
                           c.input(0).ToString());
  }
  c.set_output(0, c.input(0));
  return absl::OkStatus();
}

absl::StatusOr<std::unique_ptr<Kernel>> BandPart(PrepareContext& p) {
  if (p.value(1) == nullptr || p.value(2) == nullptr) return PrepareLate(p, BandPart, {1, 2});
  p.InputNotRead(1);
  p.InputNotRead(2);
  const Shape& in = p.input_shape(0);
  const int64_t rows = in.dim(in.rank() - 2), cols = in.dim(in.rank() - 1);
  const int64_t batch = Product(in, 0, in.rank() - 2);
  TENON_ASSIGN_OR_RETURN(int64_t lower, ScalarInteger(*p.value(1), "num_lower"));
  TENON_ASSIGN_OR_RETURN(int64_t upper, ScalarInteger(*p.value(2), "num_upper"));
  if (lower > rows) return InvalidArgument("num_lower is ", lower, " for ", rows, " rows");
  if (upper > cols) return InvalidArgument("num_upper is ", upper, " for ", cols, " columns");
  if (lower < 0) lower = rows;
  if (upper < 0) upper = cols;
  const DType dtype = p.input_dtype(0);
  return MakeKernel([=](RunContext& run) {
    VisitStorage(dtype, [&]<typename T>() {
      const T* x = run.input<T>(0);
      T* y = run.output<T>(0);
      for (int64_t b = 0; b < batch; ++b) {
        for (int64_t r = 0; r < rows; ++r, x += cols, y += cols) {
          const int64_t begin = std::min(cols, std::max<int64_t>(0, r - lower));
          const int64_t end = std::max(begin, std::min(cols, r + upper + 1));
          std::fill(y, y + begin, T());
          std::copy(x + begin, x + end, y + begin);
          std::fill(y + end, y + cols, T());
        }
      }
    });
    return absl::OkStatus();
  });
}

const OpRegistration matrix_band_part({
    .name = "MatrixBandPart",
    .inputs = "input: T, num_lower: Tindex, num_upper: Tindex",
    .outputs = "band: T",
    .attrs = "T: type; Tindex: type = int64",
    .types = "Tindex: int32 int64",
    .shape = BandPartShape,
    .reference = BandPart,
});

const OpRegistration batch_matrix_band_part({
    .name = "BatchMatrixBandPart",
    .inputs = "input: T, num_lower: int64, num_upper: int64",
    .outputs = "band: T",
    .attrs = "T: type",
    .shape = BandPartShape,
    .reference = BandPart,
});

}  // namespace
}  // namespace tenon
