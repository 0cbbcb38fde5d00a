// Splits attention into tasks for threads: by batch index and queries, or, if these are few, by
// keys.
#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "env/flags.h"
#include "env/status.h"
#include "kernels/attention/attention.h"
#include "kernels/attention/attention_simd.h"
#include "kernels/attention/attention_tiles.h"
#include "kernels/elementwise/elementwise.h"
#include "kernels/interface/parallel.h"
#include "kernels/interface/types.h"

namespace tenon {
namespace {

using Offsets = std::array<int64_t, kMaxAttentionInputs + 1>;

constexpr int64_t kLeastKeys = 512;  // the fewest keys that are worth a task of their own
// For AttentionKeys: the most, and the most if there are matrix tiles, of which fewer would leave
// most of a block empty.
constexpr int64_t kMostKeys = 64, kMostKeysBesideTiles = 23;

// Whether the input is a mask of queries and keys, which is transposed in tiles.
bool IsTiled(const AttentionProblem& p, int input) {
  const size_t i = static_cast<size_t>(std::max(input, 0));
  return input >= 0 && p.rows.stride[i] != 0 && p.keys.stride[i] != 0;
}
bool HasTiles(const AttentionProblem& p) {
  return std::any_of(p.steps.begin(), p.steps.end(),
                     [&](const AttentionStep& s) { return IsTiled(p, s.input); });
}
// Whether another index of this dimension has other tiles.
bool MovesTiles(const AttentionProblem& p, const AttentionDim& d) {
  return std::any_of(p.steps.begin(), p.steps.end(), [&](const AttentionStep& s) {
    return IsTiled(p, s.input) && d.stride[static_cast<size_t>(s.input)] != 0;
  });
}

class VectorAttention final : public Kernel {
 public:
  VectorAttention(AttentionProblem problem, DType dtype, const Services& services)
      : p_(std::move(problem)),
        blocks_(FindAttentionBlocks()),
        few_keys_(FindAttentionKeys()),
        few_rows_(FindAttentionRows()),
        bfloat16_(dtype == DType::kBfloat16),
        skip_(!services.flags->strict_nan),
        tiles_(bfloat16_ && blocks_.lanes == kAttentionTileQueries && HasAttentionTiles()),
        threads_(services.threads),
        batches_(p_.batches()) {
    const auto inner =
        std::stable_partition(p_.batch.begin(), p_.batch.end(),
                              [this](const AttentionDim& d) { return MovesTiles(p_, d); });
    if (HasTiles(p_)) {
      for (auto d = inner; d != p_.batch.end(); ++d) sharing_ *= d->extent;
    }
    // With half a vector of queries, packing the keys costs more than empty lanes.
    few_ = p_.rows.extent <= std::max<int64_t>(blocks_.lanes / 2, 1) && p_.q_depth == 1 &&
           p_.k_depth == 1 && p_.v_width == 1;
    if (few_) {
      rows_ = p_.rows.extent;
      if (batches_ < threads_) {
        parts_ = std::clamp<int64_t>(p_.keys.extent / kLeastKeys, 1, threads_);
      }
    } else {
      // Enough tasks for all threads, but not too small: each packs its keys.
      keys_ = p_.keys.extent <= (tiles_ ? kMostKeysBesideTiles : kMostKeys);
      const int64_t group = keys_ ? 48 : 3 * blocks_.lanes;
      const int64_t wanted = (4 * threads_ + batches_ - 1) / batches_;
      const int64_t even = (p_.rows.extent + wanted - 1) / wanted;
      rows_ = std::clamp((even + group - 1) / group * group, 2 * group, 5 * group);
    }
    chunks_ = (p_.rows.extent + rows_ - 1) / rows_;
    const double flops = 2.0 * static_cast<double>(std::min(rows_, p_.rows.extent)) *
                         static_cast<double>(p_.keys.extent / parts_ + 1) *
                         static_cast<double>(p_.depth + p_.width + 16);
    grain_ = ParallelGrain(flops / 40);
    task_floats_ = few_    ? few_rows_.scratch_floats(p_)
                   : keys_ ? few_keys_.scratch_floats(p_)
                           : blocks_.scratch_floats(p_, rows_, tiles_);
  }

  size_t ScratchFloats() const {
    const int ranges = ParallelRanges(threads_, Tasks(), grain_);
    return static_cast<size_t>(ranges) * task_floats_ + static_cast<size_t>(PartialFloats());
  }

  absl::Status Run(RunContext& context) const override {
    float* scratch = static_cast<float*>(context.scratch());
    float* partial = scratch;
    scratch += PartialFloats();
    ParallelForRanges(threads_, Tasks(), grain_, [&](int range, int64_t begin, int64_t end) {
      AttentionState state;
      AttentionTask task;
      task.problem = &p_;
      task.transpose = FindTranspose();
      task.multiply = FindRowProduct();
      task.bfloat16 = bfloat16_;
      task.tiles = tiles_ && !few_ && !keys_;
      task.skip = skip_;
      task.state = &state;
      task.scratch = scratch + static_cast<size_t>(range) * task_floats_;
      for (int64_t t = begin; t < end; ++t) RunTask(context, t, task, partial);
    });
    if (parts_ > 1) {
      for (int64_t b = 0; b < batches_; ++b) Join(context, b, partial);
    }
    return absl::OkStatus();
  }

  std::string Implementation() const override {
    if (!few_ && !keys_ && tiles_) return "bfloat16 tiles";
    return absl::StrCat(few_ ? "rows:" : keys_ ? "keys:" : "blocks:", VectorTargetName());
  }
  double Flops() const override {
    return 2.0 * static_cast<double>(batches_ * p_.rows.extent) *
           static_cast<double>(p_.keys.extent * (p_.depth + p_.width));
  }

 private:
  int64_t Tasks() const { return batches_ * chunks_ * parts_; }
  int64_t PartialRow() const { return p_.width + 2; }
  int64_t PartialFloats() const {
    if (parts_ == 1) return 0;
    return (batches_ * parts_ * p_.rows.extent * PartialRow() + 15) / 16 * 16;
  }
  Offsets At(int64_t b) const {
    Offsets at{p_.offset[0], p_.offset[1], p_.offset[2]};
    p_.Locate(b, at);
    return at;
  }
  size_t ElementSize() const { return bfloat16_ ? 2 : 4; }
  void* Out(RunContext& context, int64_t at) const {
    return context.output<char>(0) + at * static_cast<int64_t>(ElementSize());
  }

  // Tasks that share the tiles of masks, those of `sharing_` batch indices and the same queries,
  // follow one another, so that the tiles stay.
  void RunTask(RunContext& context, int64_t t, AttentionTask& task, float* partial) const {
    const int64_t part = t % parts_, group = t / parts_ / sharing_;
    const int64_t chunk = group % chunks_;
    const int64_t b = group / chunks_ * sharing_ + t / parts_ % sharing_;
    const Offsets at = At(b);
    for (int i = 0; i < p_.num_inputs; ++i) {
      const size_t is = static_cast<size_t>(i);
      const bool condition = std::any_of(p_.steps.begin(), p_.steps.end(), [i](const auto& s) {
        return s.input == i && s.selects();
      });
      const size_t size = condition ? 1 : ElementSize();
      task.inputs[is] = context.input<char>(i) + at[is] * static_cast<int64_t>(size);
    }
    task.out = Out(context, at[AttentionDim::kOut]);
    task.row_begin = chunk * rows_;
    task.row_end = std::min(task.row_begin + rows_, p_.rows.extent);
    task.key_begin = p_.keys.extent * part / parts_;
    task.key_end = p_.keys.extent * (part + 1) / parts_;
    if (parts_ > 1) {
      task.partial = partial + (b * parts_ + part) * p_.rows.extent * PartialRow();
    }
    if (few_) return few_rows_.run(task);
    keys_ ? few_keys_.run(task) : blocks_.run(task, rows_);
  }

  // Adds up what the parts of the keys gave.
  void Join(RunContext& context, int64_t b, const float* partial) const {
    const Offsets at = At(b);
    for (int64_t r = 0; r < p_.rows.extent; ++r) {
      const float* first = partial + (b * parts_ * p_.rows.extent + r) * PartialRow();
      const int64_t step = p_.rows.extent * PartialRow();
      float largest = -std::numeric_limits<float>::infinity(), sum = 0;
      for (int64_t i = 0; i < parts_; ++i) {
        largest = std::max(largest, first[i * step + p_.width + 1]);
      }
      const float base = largest == -std::numeric_limits<float>::infinity() ? 0 : largest;
      for (int64_t i = 0; i < parts_; ++i) {
        sum += first[i * step + p_.width] * std::exp(first[i * step + p_.width + 1] - base);
      }
      const int64_t to = at[AttentionDim::kOut] + r * p_.rows.stride[AttentionDim::kOut];
      for (int64_t e = 0; e < p_.width; ++e) {
        float y = 0;
        for (int64_t i = 0; i < parts_; ++i) {
          y += first[i * step + e] * std::exp(first[i * step + p_.width + 1] - base);
        }
        y = largest <= p_.zero_up_to ? 0 : y / sum;
        void* out = Out(context, to + e * p_.out_width);
        if (bfloat16_) {
          *static_cast<bfloat16*>(out) = static_cast<bfloat16>(y);
        } else {
          *static_cast<float*>(out) = y;
        }
      }
    }
  }

  AttentionProblem p_;
  const AttentionBlocks blocks_;
  const AttentionKeys few_keys_;
  const AttentionRows few_rows_;
  const bool bfloat16_, skip_, tiles_;
  const int threads_;
  const int64_t batches_;
  bool few_ = false, keys_ = false;            // which loops
  int64_t rows_ = 1, chunks_ = 1, parts_ = 1;  // rows of a task; tasks of a batch index
  int64_t sharing_ = 1;
  int64_t grain_ = 1;
  size_t task_floats_ = 0;
};

}  // namespace

absl::StatusOr<std::unique_ptr<Kernel>> AttentionVector(PrepareContext& context) {
  const DType dtype = context.output_dtype(0);
  if (dtype != DType::kFloat && dtype != DType::kBfloat16) return NoKernelFor(dtype);
  TENON_ASSIGN_OR_RETURN(const AttentionSpec spec, ParseAttention(context.attrs()));
  std::vector<Shape> inputs;
  for (int i = 0; i < context.num_inputs(); ++i) inputs.push_back(context.input_shape(i));
  TENON_ASSIGN_OR_RETURN(AttentionProblem p,
                         MakeAttentionProblem(spec, inputs, context.output_shape(0)));
  if (context.output_shape(0).num_elements() == 0 || p.keys.extent == 0) {
    return Unimplemented("nothing to compute");
  }
  auto kernel = std::make_unique<VectorAttention>(std::move(p), dtype, context.services());
  context.RequestScratch(kernel->ScratchFloats() * sizeof(float));
  return std::unique_ptr<Kernel>(std::move(kernel));
}

}  // namespace tenon
