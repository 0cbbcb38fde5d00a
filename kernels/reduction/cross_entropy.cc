#include "kernels/reduction/cross_entropy.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <string>
#include <utility>

#include "env/status.h"
#include "kernels/elementwise/elementwise.h"
#include "kernels/interface/parallel.h"
#include "kernels/interface/types.h"
#include "kernels/reduction/loss_simd.h"

namespace tenon {
namespace {

// How to traverse an input of shape [1 or batch, 1 or classes], possibly without the leading
// dimension.
struct Operand {
  int64_t row_stride = 0;
  bool repeated = false;  // one value for a whole row
};

struct Spec {
  int64_t batch = 0, classes = 0;
  Operand features, labels;
  bool sparse = false;
  DType label_dtype = DType::kInvalid;  // of sparse labels
  int threads = 1;
};

Operand OperandOf(const Shape& s, const Spec& spec) {
  const int64_t columns = s.rank() > 0 ? s[s.rank() - 1] : 1;
  const int64_t rows = s.rank() > 1 ? s[0] : 1;
  return {rows == 1 && spec.batch != 1 ? 0 : columns, columns == 1 && spec.classes != 1};
}

Spec SpecOf(PrepareContext& p) {
  Spec s;
  s.batch = p.output_shape(1)[0];
  s.classes = p.output_shape(1)[1];
  s.features = OperandOf(p.input_shape(0), s);
  s.threads = p.services().threads;
  s.sparse = p.input_dtype(1) != p.input_dtype(0);
  if (s.sparse) {
    s.label_dtype = p.input_dtype(1);
  } else {
    s.labels = OperandOf(p.input_shape(1), s);
  }
  return s;
}

int64_t LabelAt(const Spec& s, const RunContext& r, int64_t row) {
  return s.label_dtype == DType::kInt32 ? r.input<int32_t>(1)[row] : r.input<int64_t>(1)[row];
}

absl::Status CheckLabels(const Spec& s, const RunContext& r) {
  if (!s.sparse) return absl::OkStatus();
  for (int64_t i = 0; i < s.batch; ++i) {
    const int64_t label = LabelAt(s, r, i);
    if (label < 0 || label >= s.classes) {
      return InvalidArgument("received a label value of ", label,
                             " which is outside the valid range of [0, ", s.classes, ")");
    }
  }
  return absl::OkStatus();
}

template <typename T>
void ReferenceRow(const Spec& s, const RunContext& r, int64_t row) {
  const T* x = r.input<T>(0) + row * s.features.row_stride;
  const T* labels = s.sparse ? nullptr : r.input<T>(1) + row * s.labels.row_stride;
  const int64_t hot = s.sparse ? LabelAt(s, r, row) : 0;
  const auto logit = [&](int64_t i) { return static_cast<double>(x[s.features.repeated ? 0 : i]); };
  const auto label = [&](int64_t i) {
    if (s.sparse) return i == hot ? 1.0 : 0.0;
    return static_cast<double>(labels[s.labels.repeated ? 0 : i]);
  };
  double largest = -INFINITY, sum = 0, loss = 0;
  for (int64_t i = 0; i < s.classes; ++i) largest = std::max(largest, logit(i));
  for (int64_t i = 0; i < s.classes; ++i) sum += std::exp(logit(i) - largest);
  const double log_sum = std::log(sum);
  T* backprop = r.output<T>(1) + row * s.classes;
  for (int64_t i = 0; i < s.classes; ++i) {
    const double t = logit(i) - largest, l = label(i);
    if (!s.sparse || i == hot) loss += l * (log_sum - t);
    backprop[i] = static_cast<T>(std::exp(t) / sum - l);
  }
  r.output<T>(0)[row] = static_cast<T>(loss);
}

// float rows are read directly from memory; bfloat16 rows are widened into scratch: features (then
// backprop) and labels of each range.
class CrossEntropyKernel final : public Kernel {
 public:
  CrossEntropyKernel(const Spec& spec, bool bfloat16_rows)
      : spec_(spec),
        bfloat16_(bfloat16_rows),
        grain_(ParallelGrain(1.2 * static_cast<double>(spec.classes) + 20)),
        row_fn_(FindCrossEntropyRow()) {}

  size_t ScratchFloats() const {
    if (!bfloat16_) return 0;
    return static_cast<size_t>(ParallelRanges(spec_.threads, spec_.batch, grain_) * 2 *
                               spec_.classes);
  }

  absl::Status Run(RunContext& r) const override {
    TENON_RETURN_IF_ERROR(CheckLabels(spec_, r));
    ParallelForRanges(
        spec_.threads, spec_.batch, grain_, [&](int range, int64_t begin, int64_t end) {
          float* scratch = static_cast<float*>(r.scratch()) + range * 2 * spec_.classes;
          for (int64_t i = begin; i < end; ++i) One(r, i, scratch);
        });
    return absl::OkStatus();
  }
  std::string Implementation() const override {
    return absl::StrCat("vector:", VectorTargetName());
  }

 private:
  void One(RunContext& r, int64_t i, float* scratch) const {
    const size_t n = static_cast<size_t>(spec_.classes);
    CrossEntropyRow row;
    row.n = n;
    row.repeated_logits = spec_.features.repeated;
    row.repeated_labels = spec_.labels.repeated;
    if (spec_.sparse) row.label = LabelAt(spec_, r, i);
    if (!bfloat16_) {
      row.logits = r.input<float>(0) + i * spec_.features.row_stride;
      if (!spec_.sparse) row.labels = r.input<float>(1) + i * spec_.labels.row_stride;
      row.backprop = r.output<float>(1) + i * spec_.classes;
      r.output<float>(0)[i] = row_fn_(row);
      return;
    }
    const auto widened = [&](int input, const Operand& o, float* to) {
      WidenBfloat16(r.input<uint16_t>(input) + i * o.row_stride, to, o.repeated ? 1 : n);
      return to;
    };
    // A repeated logit is read after the first results have been written.
    float logit = 0;
    row.logits = widened(0, spec_.features, spec_.features.repeated ? &logit : scratch);
    if (!spec_.sparse) row.labels = widened(1, spec_.labels, scratch + n);
    row.backprop = scratch;
    const float loss = row_fn_(row);
    NarrowToBfloat16(scratch, r.output<uint16_t>(1) + i * spec_.classes, n);
    NarrowToBfloat16(&loss, r.output<uint16_t>(0) + i, 1);
  }

  const Spec spec_;
  const bool bfloat16_;
  const int64_t grain_;
  const CrossEntropyRowFn row_fn_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<Kernel>> CrossEntropyReference(PrepareContext& p) {
  const Spec s = SpecOf(p);
  return DispatchType(Floats{}, p.input_dtype(0), [&]<typename T>() {
    return MakeKernel([s](RunContext& r) -> absl::Status {
      TENON_RETURN_IF_ERROR(CheckLabels(s, r));
      for (int64_t i = 0; i < s.batch; ++i) ReferenceRow<T>(s, r, i);
      return absl::OkStatus();
    });
  });
}

absl::StatusOr<std::unique_ptr<Kernel>> CrossEntropyVector(PrepareContext& p) {
  const DType dtype = p.input_dtype(0);
  if (dtype != DType::kFloat && dtype != DType::kBfloat16) return NoKernelFor(dtype);
  auto kernel = std::make_unique<CrossEntropyKernel>(SpecOf(p), dtype == DType::kBfloat16);
  p.RequestScratch(kernel->ScratchFloats() * sizeof(float));
  if (p.input_shape(0) == p.output_shape(1)) p.AllowInPlace(0, 1);
  return std::unique_ptr<Kernel>(std::move(kernel));
}

}  // namespace tenon
