// _Recurrence in vector code. Sequences run side by side; each is further split by rows if its
// weights fit a core's cache, and otherwise by units, with a barrier in each step, so that every
// core reads only a part of the weights.
#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "env/status.h"
#include "kernels/contraction/packed_weights.h"
#include "kernels/interface/team.h"
#include "kernels/sequence/recurrence_run.h"

namespace tenon {
namespace {

class RecurrentLayout final : public PackedLayout {
 public:
  RecurrentLayout(RecurrentCell cell, size_t units, size_t lanes)
      : cell_(cell),
        units_(units),
        lanes_(lanes),
        key_(absl::StrCat("recurrent:", static_cast<int>(cell), ":", units, ":", lanes)) {}
  const std::string& key() const override { return key_; }
  size_t bytes() const override {
    return PackedRecurrentFloats(cell_, units_, lanes_) * sizeof(float);
  }
  absl::Status Pack(const void* plain, void* packed) const override {
    PackRecurrent(cell_, units_, lanes_, static_cast<const float*>(plain),
                  static_cast<float*>(packed));
    return absl::OkStatus();
  }
  bool can_unpack() const override { return false; }
  absl::Status Unpack(const void*, void*) const override {
    return Unimplemented("packed recurrent weights");
  }

 private:
  const RecurrentCell cell_;
  const size_t units_, lanes_;
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
  const double weights = static_cast<double>(a.gates()) * units * units;
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

class RecurrenceKernel final : public Kernel {
 public:
  RecurrenceKernel(RecurrenceAttrs attrs, RecurrenceSizes sizes, RecurrentCode code,
                   std::vector<std::shared_ptr<const PackedWeights>> weights, int threads)
      : attrs_(std::move(attrs)),
        sizes_(sizes),
        code_(code),
        weights_(std::move(weights)),
        sharing_(ChooseSharing(attrs_, sizes, code.lanes, threads)),
        // OpenMP ends and starts threads when a team's size changes.
        threads_(sharing_.threads > 1 ? threads : 1) {}

  // Elements of [batch, units], rounded up to whole cache lines.
  static size_t StateFloats(const RecurrenceSizes& sizes) {
    return (static_cast<size_t>(sizes.batch * sizes.units) + 15) / 16 * 16;
  }
  static size_t StatesPerSequence(const RecurrenceAttrs& a) {
    return a.cell == RecurrentCell::kGruResetBefore ? 4 : 2;
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
    return 2.0 * static_cast<double>(sizes_.steps * sizes_.batch * attrs_.gates()) * units * units *
           attrs_.sequences;
  }

 private:
  // Part `index` of `parts` of a sequence.
  void RunPart(RunContext& run, int s, int index, int parts, Barrier* barrier) const {
    const SequenceMemory m(attrs_, sizes_, run, s);
    const auto units = static_cast<size_t>(sizes_.units), batch = static_cast<size_t>(sizes_.batch);
    const size_t blocks = (units + code_.lanes - 1) / code_.lanes;
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
    const size_t size = (end_row - row) * units, at = row * units;
    float* const c = attrs_.states() > 1 ? run.output<float>(attrs_.last(s, 1)) : nullptr;
    float* const last = run.output<float>(attrs_.last(s, 0));
    if (by_rows || index == 0) {
      std::copy_n(run.input<float>(attrs_.state(s, 0)) + at, size, h[0] + at);
      if (c != nullptr) std::copy_n(run.input<float>(attrs_.state(s, 1)) + at, size, c + at);
      if (attrs_.last_only) std::fill_n(m.y + at, size, 0.0f);
    }
    if (barrier != nullptr) barrier->Wait(parts);

    RecurrentStep step;
    step.cell = attrs_.cell;
    step.activations = attrs_.activations;
    step.units = units;
    step.rows = end_row - row;
    step.weights = static_cast<const float*>(weights_[static_cast<size_t>(s)]->data());
    step.x_row = static_cast<size_t>(m.x_row);
    step.y_row = static_cast<size_t>(m.y_row);
    step.c = c == nullptr ? nullptr : c + at;
    step.bias = m.bias;
    step.peephole = m.peephole;
    step.mask_row = static_cast<size_t>(m.mask_row);
    step.zero_masked = attrs_.zero_masked;
    step.first_block = by_rows ? 0 : share(blocks, own);
    step.end_block = by_rows ? blocks : share(blocks, own + 1);
    const int phases = attrs_.cell == RecurrentCell::kGruResetBefore ? 2 : 1;
    if (phases > 1) {
      step.reset_h = scratch + 2 * state + at;
      step.update = scratch + 3 * state + at;
    }
    for (int64_t t = 0; t < sizes_.steps; ++t) {
      step.x = m.XAt(t) + row * step.x_row;
      step.h = h[t % 2] + at;
      step.h_next = h[(t + 1) % 2] + at;
      step.y = m.YAt(t) + row * step.y_row;
      step.y_before = t == 0 ? nullptr : m.YAt(t - 1) + row * step.y_row;
      step.mask = m.mask == nullptr ? nullptr : m.MaskAt(t) + row * step.mask_row;
      for (int phase = 0; phase < phases; ++phase) {
        code_.step(step, phase);
        if (barrier != nullptr) barrier->Wait(parts);
      }
    }
    if (by_rows || index == 0) std::copy_n(h[sizes_.steps % 2] + at, size, last + at);
  }

  const RecurrenceAttrs attrs_;
  const RecurrenceSizes sizes_;
  const RecurrentCode code_;
  const std::vector<std::shared_ptr<const PackedWeights>> weights_;
  const Sharing sharing_;
  const int threads_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<Kernel>> RecurrenceVector(PrepareContext& p) {
  TENON_ASSIGN_OR_RETURN(RecurrenceAttrs attrs, ReadRecurrenceAttrs(p.attrs()));
  const RecurrenceSizes sizes = SizesOf(p, attrs);
  if (sizes.units == 0 || sizes.batch == 0) return Unimplemented("nothing to compute");
  const RecurrentCode code = FindRecurrentStep();
  const auto layout =
      std::make_shared<RecurrentLayout>(attrs.cell, static_cast<size_t>(sizes.units), code.lanes);
  std::vector<std::shared_ptr<const PackedWeights>> weights;
  for (int s = 0; s < attrs.sequences; ++s) {
    Constant* const w = p.constant(attrs.w(s));
    if (w == nullptr) return Unimplemented("the recurrent weights are not constant");
    TENON_ASSIGN_OR_RETURN(auto packed, PackConstant(*w, layout));
    weights.push_back(std::move(packed));
  }
  for (int s = 0; s < attrs.sequences; ++s) p.InputNotRead(attrs.w(s));
  p.RequestScratch(static_cast<size_t>(attrs.sequences) * RecurrenceKernel::StateFloats(sizes) *
                   RecurrenceKernel::StatesPerSequence(attrs) * sizeof(float));
  return std::unique_ptr<Kernel>(new RecurrenceKernel(std::move(attrs), sizes, code,
                                                      std::move(weights), p.services().threads));
}

}  // namespace tenon
