#include <algorithm>
#include <array>
#include <string>

#include "env/status.h"
#include "env/team.h"
#include "kernels/sequence/cells_simd.h"
#include "kernels/sequence/gate_products.h"
#include "kernels/sequence/lstm.h"

namespace tenon {
namespace {

// The inputs of several steps are multiplied together, up to this many rows.
constexpr size_t kRowsTogether = 96;

class LstmVectorKernel final : public Kernel {
 public:
  LstmVectorKernel(const PrepareContext& p, LstmForm form)
      : first_(LstmFirst(form)), attrs_(ReadLstmAttrs(p.attrs(), form)) {
    const auto dim = [&](int input, int axis) {
      return static_cast<size_t>(p.input_shape(first_ + input).dim(axis));
    };
    steps_ = first_ > 0 ? dim(kLstmX, 0) : 1;
    batch_ = dim(kLstmX, first_);
    features_ = dim(kLstmX, first_ + 1);
    cell_ = dim(kLstmCsPrev, 1);
    together_ = std::clamp<size_t>(kRowsTogether / std::max<size_t>(batch_, 1), 1,
                                   std::max<size_t>(steps_, 1));
    threads_ = ThreadsOfSteps(Terms(), p.services().threads);
  }

  bool empty() const { return batch_ == 0 || features_ == 0 || cell_ == 0; }
  size_t ScratchBytes() const { return (together_ + 1) * batch_ * 4 * cell_ * sizeof(float); }

  absl::Status Run(RunContext& run) const override {
    TENON_ASSIGN_OR_RETURN(const int64_t valid,
                           LstmLength(run, first_, static_cast<int64_t>(steps_)));
    const auto length = static_cast<size_t>(valid);
    Barrier barrier;
    RunTeam(threads_, [&](int member, int team) {
      const UnitRange units = UnitsOfMember(cell_, member, team);
      for (size_t t = 0; t < length; t += together_) {
        MultiplyInputs(run, t, std::min(together_, length - t), units);
        for (size_t i = t; i < std::min(t + together_, length); ++i) {
          Step(run, i, i - t, units);
          // The next step reads the state of all units.
          if (team > 1 && i + 1 < length) barrier.Wait(team);
        }
      }
    });
    const size_t state = batch_ * cell_;
    for (int i = 0; i < kLstmOutputs; ++i) {
      std::fill_n(run.output<float>(i) + length * state, (steps_ - length) * state, 0.0f);
    }
    return absl::OkStatus();
  }
  std::string Implementation() const override { return "vector"; }
  double Flops() const override { return 2 * static_cast<double>(steps_) * Terms(); }

 private:
  double Terms() const {
    return static_cast<double>(batch_ * (features_ + cell_)) * 4 * static_cast<double>(cell_);
  }
  float* FromX(RunContext& run, size_t step) const {
    return static_cast<float*>(run.scratch()) + step * batch_ * 4 * cell_;
  }
  const float* In(const RunContext& run, int i) const { return run.input<float>(first_ + i); }

  void MultiplyInputs(RunContext& run, size_t t, size_t steps, UnitRange units) const {
    MultiplyGates(multiply_, {features_, 4, cell_, In(run, kLstmW)}, steps * batch_,
                  In(run, kLstmX) + t * batch_ * features_, units, FromX(run, 0));
  }

  // Step t, the `place`-th of those whose inputs were multiplied together.
  void Step(RunContext& run, size_t t, size_t place, UnitRange units) const {
    constexpr int kCs = 1, kH = 6;
    const size_t state = batch_ * cell_;
    const auto out = [&](int i) { return run.output<float>(i) + t * state; };
    const float* const h_prev = t == 0 ? In(run, kLstmHPrev) : out(kH) - state;
    float* const from_h = FromX(run, together_);
    MultiplyGates(multiply_, {cell_, 4, cell_, In(run, kLstmW) + features_ * 4 * cell_}, batch_,
                  h_prev, units, from_h);
    LstmGates g;
    g.part = {batch_, cell_, units.begin, units.end};
    g.from_x = FromX(run, place);
    g.from_h = from_h;
    g.input = static_cast<size_t>(attrs_.input_gate);
    g.candidate = static_cast<size_t>(attrs_.cell_gate);
    g.forget = static_cast<size_t>(attrs_.forget_gate);
    g.output = static_cast<size_t>(attrs_.output_gate);
    g.bias = In(run, kLstmB);
    g.forget_bias = attrs_.forget_bias;
    g.cell_clip = attrs_.cell_clip;
    if (attrs_.peephole) {
      g.wci = In(run, kLstmWci);
      g.wcf = In(run, kLstmWcf);
      g.wco = In(run, kLstmWco);
    }
    g.cs_prev = t == 0 ? In(run, kLstmCsPrev) : out(kCs) - state;
    const std::array<float**, kLstmOutputs> results = {&g.i, &g.cs, &g.f, &g.o, &g.ci, &g.co, &g.h};
    for (int i = 0; i < kLstmOutputs; ++i) *results[static_cast<size_t>(i)] = out(i);
    code_.lstm(g);
  }

  const int first_;
  const LstmAttrs attrs_;
  const CellCode code_ = FindCellCode();
  const SmallProductFn multiply_ = FindSmallProduct();
  size_t steps_ = 1, batch_ = 0, features_ = 0, cell_ = 0;
  size_t together_ = 1;
  int threads_ = 1;
};

}  // namespace

absl::StatusOr<std::unique_ptr<Kernel>> LstmVector(PrepareContext& p, LstmForm form) {
  if (p.input_dtype(LstmFirst(form)) != DType::kFloat) return Unimplemented("not floats");
  auto kernel = std::make_unique<LstmVectorKernel>(p, form);
  if (kernel->empty()) return Unimplemented("nothing to compute");
  p.RequestScratch(kernel->ScratchBytes());
  return std::unique_ptr<Kernel>(std::move(kernel));
}

}  // namespace tenon
