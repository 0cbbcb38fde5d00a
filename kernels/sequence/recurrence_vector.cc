// _Recurrence in vector code. Sequences run side by side; each is further split by rows if its
// weights fit a core's cache, and otherwise by units, with a barrier in each step, so that every
// core reads only a part of the weights.
#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "env/status.h"
#include "env/team.h"
#include "kernels/contraction/packed_weights.h"
#include "kernels/sequence/recurrence_run.h"

namespace tenon {
namespace {

class RecurrentLayout final : public PackedLayout {
 public:
  RecurrentLayout(RecurrentCell cell, size_t width, size_t units, size_t lanes)
      : cell_(cell),
        width_(width),
        units_(units),
        lanes_(lanes),
        key_(absl::StrCat("recurrent:", static_cast<int>(cell), ":", width, ":", units, ":",
                          lanes)) {}
  const std::string& key() const override { return key_; }
  size_t bytes() const override {
    return PackedRecurrentFloats(cell_, width_, units_, lanes_) * sizeof(float);
  }
  absl::Status Pack(const void* plain, void* packed) const override {
    PackRecurrent(cell_, width_, units_, lanes_, static_cast<const float*>(plain),
                  static_cast<float*>(packed));
    return absl::OkStatus();
  }
  bool can_unpack() const override { return false; }
  absl::Status Unpack(const void*, void*) const override {
    return Unimplemented("packed recurrent weights");
  }

 private:
  const RecurrentCell cell_;
  const size_t width_, units_, lanes_;
  const std::string key_;
};

// How many threads work on one sequence, and how they share it.
struct Sharing {
  int threads = 1;  // in all
  int each = 1;     // per sequence
  bool by_rows = false;
};

Sharing ChooseSharing(const RecurrenceAttrs& a, const RecurrenceSizes& sizes, size_t lanes,
                      int threads) {
  constexpr double kWorthThreads = 4e5;    // multiply-adds of a run
  constexpr double kWorthBarrier = 3e4;    // multiply-adds of a step, per thread
  constexpr double kCacheBytes = 1 << 20;  // weights that stay near a core
  const double units = static_cast<double>(sizes.units);
  const double width = static_cast<double>(sizes.width);
  const double weights =
      static_cast<double>(a.gates()) * width * units + (a.projected ? width * units : 0);
  const double step = weights * static_cast<double>(sizes.batch);
  Sharing out;
  if (step * static_cast<double>(sizes.steps) * a.sequences < kWorthThreads) return out;
  out.threads = std::min(threads, a.sequences);
  const int each = threads / a.sequences;
  if (each <= 1) return out;
  const int64_t blocks =
      (sizes.units + static_cast<int64_t>(lanes) - 1) / static_cast<int64_t>(lanes);
  out.by_rows = sizes.batch >= 4 * each && weights * sizeof(float) <= kCacheBytes;
  const double most =
      out.by_rows ? each : std::min(static_cast<double>(blocks), step / kWorthBarrier);
  out.each = std::clamp(static_cast<int>(std::min(most, 1e6)), 1, each);
  out.threads = out.each * a.sequences;
  return out;
}

// Whether no row takes the step.
bool IsMasked(const RecurrentStep& s) {
  if (s.mask == nullptr) return false;
  for (size_t r = 0; r < s.rows; ++r) {
    if (s.mask[r * s.mask_row] != 0) return false;
  }
  return true;
}

// The results of such a step, for these blocks.
void RepeatResults(const RecurrentStep& s, size_t first_block, size_t end_block, size_t lanes) {
  const size_t begin = first_block * lanes, end = std::min(end_block * lanes, s.width);
  const bool zero = s.zero_masked || s.y_before == nullptr;
  for (size_t r = 0; r < s.rows && begin < end; ++r) {
    float* const y = s.y + r * s.y_row + begin;
    if (zero) {
      std::fill_n(y, end - begin, 0.0f);
    } else if (s.y_before != s.y) {
      std::copy_n(s.y_before + r * s.y_row + begin, end - begin, y);
    }
  }
}

class RecurrenceKernel final : public Kernel {
 public:
  RecurrenceKernel(RecurrenceAttrs attrs, RecurrenceSizes sizes, RecurrentCode code,
                   std::vector<std::shared_ptr<const PackedWeights>> weights,
                   std::vector<std::shared_ptr<const PackedWeights>> projections, int threads)
      : attrs_(std::move(attrs)),
        sizes_(sizes),
        code_(code),
        weights_(std::move(weights)),
        projections_(std::move(projections)),
        sharing_(ChooseSharing(attrs_, sizes, code.lanes, threads)),
        // OpenMP ends and starts threads when a team's size changes.
        threads_(sharing_.threads > 1 ? threads : 1) {}

  // Elements of [batch, units] or [batch, width], rounded up to whole cache lines.
  static size_t StateFloats(const RecurrenceSizes& sizes) {
    return (static_cast<size_t>(sizes.batch * std::max(sizes.units, sizes.width)) + 15) / 16 * 16;
  }
  static size_t StatesPerSequence(const RecurrenceAttrs& a) {
    return a.cell == RecurrentCell::kGruResetBefore ? 4 : a.projected ? 3 : 2;
  }

  absl::Status Run(RunContext& run) const override {
    std::vector<Barrier> barriers(static_cast<size_t>(attrs_.sequences));
    RunTeam(threads_, [&](int member, int size) {
      if (size < attrs_.sequences || size < sharing_.threads) {
        for (int s = member; s < attrs_.sequences; s += size) RunPart(run, s, 0, 1, nullptr);
      } else if (member < sharing_.threads) {
        const int s = member / sharing_.each;
        RunPart(run, s, member % sharing_.each, sharing_.each,
                sharing_.each > 1 ? &barriers[static_cast<size_t>(s)] : nullptr);
      }
    });
    return absl::OkStatus();
  }
  std::string Implementation() const override { return "recurrence:vector"; }
  double Flops() const override {
    const double units = static_cast<double>(sizes_.units);
    const double width = static_cast<double>(sizes_.width);
    const auto products = static_cast<double>(attrs_.gates() + (attrs_.projected ? 1 : 0));
    return 2.0 * static_cast<double>(sizes_.steps * sizes_.batch) * products * width * units *
           attrs_.sequences;
  }

 private:
  // Part `index` of `parts` of a sequence.
  void RunPart(RunContext& run, int s, int index, int parts, Barrier* barrier) const {
    const SequenceMemory m(attrs_, sizes_, run, s);
    const auto units = static_cast<size_t>(sizes_.units), batch = static_cast<size_t>(sizes_.batch);
    const auto width = static_cast<size_t>(sizes_.width);
    const auto own = static_cast<size_t>(index), all = static_cast<size_t>(parts);
    auto share = [&](size_t n, size_t i) { return n * i / all; };
    const bool by_rows = sharing_.by_rows || parts == 1;
    const size_t row = by_rows ? share(batch, own) : 0;
    const size_t end_row = by_rows ? share(batch, own + 1) : batch;
    if (by_rows) barrier = nullptr;

    const size_t state = StateFloats(sizes_);
    float* const scratch = static_cast<float*>(run.scratch()) +
                           static_cast<size_t>(s) * state * StatesPerSequence(attrs_);
    float* const h[2] = {scratch, scratch + state};
    // Every part copies whole rows; if parts share rows, the first copies them for all.
    const size_t rows = end_row - row, at = row * width;
    float* const c = attrs_.states() > 1 ? run.output<float>(attrs_.last(s, 1)) : nullptr;
    float* const last = run.output<float>(attrs_.last(s, 0));
    if (by_rows || index == 0) {
      std::copy_n(run.input<float>(attrs_.state(s, 0)) + at, rows * width, h[0] + at);
      if (c != nullptr) {
        std::copy_n(run.input<float>(attrs_.state(s, 1)) + row * units, rows * units,
                    c + row * units);
      }
      if (attrs_.last_only) std::fill_n(m.y + at, rows * width, 0.0f);
    }
    if (barrier != nullptr) barrier->Wait(parts);

    RecurrentStep step;
    step.cell = attrs_.cell;
    step.activations = attrs_.activations;
    step.units = units;
    step.width = width;
    step.rows = rows;
    step.weights = static_cast<const float*>(weights_[static_cast<size_t>(s)]->data());
    step.x_row = static_cast<size_t>(m.x_row);
    step.y_row = static_cast<size_t>(m.y_row);
    step.c = c == nullptr ? nullptr : c + row * units;
    step.bias = m.bias;
    step.peephole = m.peephole;
    step.mask_row = static_cast<size_t>(m.mask_row);
    step.zero_masked = attrs_.zero_masked;
    // The blocks of columns that each phase computes: of y in the last.
    const int phases = attrs_.cell == RecurrentCell::kGruResetBefore || attrs_.projected ? 2 : 1;
    size_t first_block[2], end_block[2];
    for (int phase = 0; phase < phases; ++phase) {
      const size_t columns = phase == phases - 1 ? width : units;
      const size_t blocks = (columns + code_.lanes - 1) / code_.lanes;
      first_block[phase] = by_rows ? 0 : share(blocks, own);
      end_block[phase] = by_rows ? blocks : share(blocks, own + 1);
    }
    step.cell_clip = attrs_.cell_clip;
    if (attrs_.projected) {
      step.projection = static_cast<const float*>(projections_[static_cast<size_t>(s)]->data());
      step.projection_clip = attrs_.projection_clip;
      step.unprojected = scratch + 2 * state + row * units;
    } else if (phases > 1) {
      step.reset_h = scratch + 2 * state + at;
      step.update = scratch + 3 * state + at;
    }
    size_t now = 0;  // which h holds the state
    for (int64_t t = 0; t < sizes_.steps; ++t) {
      step.y = m.YAt(t) + row * step.y_row;
      step.y_before = t == 0 ? nullptr : m.YAt(t - 1) + row * step.y_row;
      step.mask = m.mask == nullptr ? nullptr : m.MaskAt(t) + row * step.mask_row;
      // Every part of the sequence has the same rows here, or waits for no other.
      if (IsMasked(step)) {
        RepeatResults(step, first_block[phases - 1], end_block[phases - 1], code_.lanes);
        continue;
      }
      step.x = m.XAt(t) + row * step.x_row;
      step.h = h[now] + at;
      step.h_next = h[1 - now] + at;
      now = 1 - now;
      // The weights that the step before read last are still in the cache.
      step.backward = !step.backward;
      for (int phase = 0; phase < phases; ++phase) {
        step.first_block = first_block[phase];
        step.end_block = end_block[phase];
        code_.step(step, phase);
        if (barrier != nullptr) barrier->Wait(parts);
      }
    }
    for (int64_t t = sizes_.steps; t < sizes_.y_steps; ++t) {
      step.y = m.YAt(t) + row * step.y_row;
      RepeatResults(step, first_block[phases - 1], end_block[phases - 1], code_.lanes);  // zeros
    }
    if (by_rows || index == 0) std::copy_n(h[now] + at, rows * width, last + at);
  }

  const RecurrenceAttrs attrs_;
  const RecurrenceSizes sizes_;
  const RecurrentCode code_;
  const std::vector<std::shared_ptr<const PackedWeights>> weights_, projections_;
  const Sharing sharing_;
  const int threads_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<Kernel>> RecurrenceVector(PrepareContext& p) {
  TENON_ASSIGN_OR_RETURN(RecurrenceAttrs attrs, ReadRecurrenceAttrs(p.attrs()));
  const RecurrenceSizes sizes = SizesOf(p, attrs);
  if (sizes.units == 0 || sizes.width == 0 || sizes.batch == 0)
    return Unimplemented("nothing to compute");
  const RecurrentCode code = FindRecurrentStep();
  const auto units = static_cast<size_t>(sizes.units), width = static_cast<size_t>(sizes.width);
  const auto layout = std::make_shared<RecurrentLayout>(attrs.cell, width, units, code.lanes);
  const auto projected =
      std::make_shared<RecurrentLayout>(RecurrentCell::kSimple, units, width, code.lanes);
  std::vector<std::shared_ptr<const PackedWeights>> weights, projections;
  auto pack = [&](int input, const auto& as, auto& to) {
    Constant* const w = p.constant(input);
    if (w == nullptr) return Unimplemented("the recurrent weights are not constant");
    TENON_ASSIGN_OR_RETURN(auto packed, PackConstant(*w, as));
    to.push_back(std::move(packed));
    return absl::OkStatus();
  };
  for (int s = 0; s < attrs.sequences; ++s) {
    TENON_RETURN_IF_ERROR(pack(attrs.w(s), layout, weights));
    if (!attrs.projected) continue;
    TENON_RETURN_IF_ERROR(pack(attrs.projection(s), projected, projections));
  }
  for (int s = 0; s < attrs.sequences; ++s) {
    p.InputNotRead(attrs.w(s));
    if (attrs.projected) p.InputNotRead(attrs.projection(s));
  }
  p.RequestScratch(static_cast<size_t>(attrs.sequences) * RecurrenceKernel::StateFloats(sizes) *
                   RecurrenceKernel::StatesPerSequence(attrs) * sizeof(float));
  return std::unique_ptr<Kernel>(new RecurrenceKernel(std::move(attrs), sizes, code,
                                                      std::move(weights), std::move(projections),
                                                      p.services().threads));
}

}  // namespace tenon
