#include "kernels/text/rouge.h"

#include <algorithm>
#include <string>
#include <vector>

#include "kernels/interface/types.h"
#include "kernels/ragged/nested_splits.h"

namespace tenon {
namespace {

// The length of the longest common subsequence.
template <typename T>
int64_t CommonLength(absl::Span<const T> a, absl::Span<const T> b) {
  std::vector<int64_t> row(b.size() + 1, 0);
  for (const T& token : a) {
    int64_t diagonal = 0;  // the length without this token and that of b
    for (size_t j = 0; j < b.size(); ++j) {
      const int64_t above = row[j + 1];
      row[j + 1] = token == b[j] ? diagonal + 1 : std::max(above, row[j]);
      diagonal = above;
    }
  }
  return row.back();
}

float FMeasure(float p, float r, float alpha) {
  if (alpha >= 0) {
    const float below = alpha * r + (1 - alpha) * p;
    return below > 0 ? p * r / below : below;
  }
  const float beta = static_cast<float>(static_cast<double>(p) / (static_cast<double>(r) + 1e-12));
  const float below = r + beta * beta * p;
  return below > 0 ? (1 + beta * beta) * r * p / below : 0;
}

}  // namespace

absl::StatusOr<std::unique_ptr<Kernel>> RougeLKernel(PrepareContext& p) {
  const int64_t texts = p.input_shape(0).dim(0), references = p.input_shape(2).dim(0);
  const int64_t splits = p.input_shape(1).dim(0);
  const DType splits_type = p.input_dtype(1);
  return DispatchType(
      TypeList<int32_t, int64_t, std::string>{}, p.input_dtype(0), [&]<typename T>() {
        return MakeKernel([=](RunContext& run) -> absl::Status {
          const float alpha = *run.input<float>(4);
          if (!(alpha <= 1)) return InvalidArgument("alpha must be at most 1, got ", alpha);
          TENON_ASSIGN_OR_RETURN(const NestedSplits of_texts,
                                 ReadSplits(run, splits_type, {splits}, texts, false, 1));
          TENON_ASSIGN_OR_RETURN(const NestedSplits of_references,
                                 ReadSplits(run, splits_type, {splits}, references, false, 3));
          const auto row_of = [&run](const NestedSplits& nested, int input, size_t r) {
            const int64_t begin = nested[0][r], end = nested[0][r + 1];
            return absl::Span<const T>(run.input<T>(input) + begin,
                                       static_cast<size_t>(end - begin));
          };
          for (size_t r = 0; r + 1 < of_texts[0].size(); ++r) {
            const absl::Span<const T> text = row_of(of_texts, 0, r);
            const absl::Span<const T> reference = row_of(of_references, 2, r);
            const double common = static_cast<double>(CommonLength(text, reference));
            const float precision =
                static_cast<float>(common / (static_cast<double>(text.size()) + 1e-12));
            const float recall =
                static_cast<float>(common / (static_cast<double>(reference.size()) + 1e-12));
            run.output<float>(0)[r] = FMeasure(precision, recall, alpha);
            run.output<float>(1)[r] = precision;
            run.output<float>(2)[r] = recall;
          }
          return absl::OkStatus();
        });
      });
}

}  // namespace tenon
