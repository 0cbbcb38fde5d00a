#include "kernels/layout/concat.h"

#include <cstring>
#include <vector>

#include "env/status.h"
#include "kernels/interface/axis.h"
#include "kernels/interface/parallel.h"

namespace tenon {

absl::StatusOr<std::unique_ptr<Kernel>> VectorConcat(PrepareContext& p, int axis_input) {
  const int parts = p.num_inputs() - 1;
  const int first = axis_input == 0 ? 1 : 0;
  const size_t element = SizeOf(p.output_dtype(0));
  const Shape& out = p.output_shape(0);
  const Tensor* axis_value = p.value(axis_input);
  if (axis_value == nullptr || !out.IsComplete()) return Unimplemented("the axis is not known");
  if (p.output_dtype(0) == DType::kString || element == 0) return Unimplemented("strings");
  TENON_ASSIGN_OR_RETURN(const int64_t value, ScalarInteger(*axis_value, "axis"));
  TENON_ASSIGN_OR_RETURN(const int axis, NormalizeAxis(value, out.rank()));
  p.InputNotRead(axis_input);

  std::vector<size_t> bytes;  // of each part's piece of a row
  size_t row_bytes = 0;
  for (int i = 0; i < parts; ++i) {
    const int64_t elements = Product(p.input_shape(first + i), axis, out.rank());
    bytes.push_back(static_cast<size_t>(elements) * element);
    row_bytes += bytes.back();
  }
  const int64_t rows = row_bytes == 0 ? 0 : Product(out, 0, axis);
  const int threads = p.services().threads;
  if (rows == 1) {
    // With only one row, split by bytes instead of rows.
    constexpr size_t kShare = 16384;
    return MakeKernel(
        [=](RunContext& context) {
          char* to = context.output<char>(0);
          for (int i = 0; i < parts; ++i) {
            const size_t n = bytes[static_cast<size_t>(i)];
            const char* from = context.input<char>(first + i);
            const int64_t shares = static_cast<int64_t>((n + kShare - 1) / kShare);
            ParallelFor(threads, shares, ParallelGrain(kShare * 0.1), [&](int64_t b, int64_t e) {
              const size_t begin = static_cast<size_t>(b) * kShare;
              std::memcpy(to + begin, from + begin,
                          std::min(n, static_cast<size_t>(e) * kShare) - begin);
            });
            to += n;
          }
          return absl::OkStatus();
        },
        "vector:copy");
  }
  const int64_t grain = ParallelGrain(0.1 * static_cast<double>(row_bytes) + 5 * parts);
  return MakeKernel(
      [=](RunContext& context) {
        ParallelFor(threads, rows, grain, [&](int64_t begin, int64_t end) {
          char* to = context.output<char>(0) + static_cast<size_t>(begin) * row_bytes;
          for (int64_t r = begin; r < end; ++r) {
            for (int i = 0; i < parts; ++i) {
              const size_t n = bytes[static_cast<size_t>(i)];
              std::memcpy(to, context.input<char>(first + i) + static_cast<size_t>(r) * n, n);
              to += n;
            }
          }
        });
        return absl::OkStatus();
      },
      "vector:copy");
}

}  // namespace tenon
