#include "kernels/sequence/recurrence.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "env/status.h"
#include "kernels/sequence/recurrence_run.h"

namespace tenon {
namespace {

struct CellName {
  const char* name;
  RecurrentCell cell;
};
constexpr CellName kCells[] = {{"lstm", RecurrentCell::kLstm},
                               {"gru", RecurrentCell::kGru},
                               {"gru_reset_before", RecurrentCell::kGruResetBefore},
                               {"simple", RecurrentCell::kSimple}};
struct ActivationName {
  const char* name;
  GateActivation activation;
};
constexpr ActivationName kActivations[] = {{"linear", GateActivation::kLinear},
                                           {"sigmoid", GateActivation::kSigmoid},
                                           {"tanh", GateActivation::kTanh},
                                           {"relu", GateActivation::kRelu},
                                           {"hard_sigmoid", GateActivation::kHardSigmoid}};

float Activate(const GateActivations& a, size_t gate, float x) {
  switch (a.of[gate]) {
    case GateActivation::kSigmoid:
      return 1 / (1 + std::exp(-x));
    case GateActivation::kTanh:
      return std::tanh(x);
    case GateActivation::kRelu:
      return x < 0 ? 0 : x;
    case GateActivation::kHardSigmoid: {
      const float y = a.alpha * x + a.beta;
      return y < 0 ? 0.0f : y > 1 ? 1.0f : y;
    }
    case GateActivation::kLinear:
      break;
  }
  return x;
}

// Within -limit..limit, if there is one. NaN stays.
float Clip(float x, float limit) {
  return limit > 0 ? (x < -limit ? -limit : x > limit ? limit : x) : x;
}

// One row of one step. `h` and `c` hold the states before it, and get those after it.
class RowStep {
 public:
  RowStep(const RecurrenceAttrs& a, const RecurrenceSizes& sizes, const SequenceMemory& m,
          const float* w, const float* projection)
      : a_(a),
        units_(sizes.units),
        width_(sizes.width),
        m_(m),
        w_(w),
        projection_(projection),
        product_(static_cast<size_t>(a.gates() * sizes.units)),
        reset_(static_cast<size_t>(sizes.units)),
        next_(static_cast<size_t>(sizes.units)) {}

  void Run(const float* x, float* h, float* c) {
    const auto& act = a_.activations;
    if (a_.cell == RecurrentCell::kGruResetBefore) {
      Multiply(h, 0, 2);
      for (int64_t u = 0; u < units_; ++u) {
        reset_[At(u)] = h[u] * Activate(act, 1, Product(1, u) + x[units_ + u]);
      }
      Multiply(reset_.data(), 2, 3);
    } else {
      Multiply(h, 0, a_.gates());
    }
    for (int64_t u = 0; u < units_; ++u) {
      auto gate = [&](int64_t g) { return Product(g, u) + x[g * units_ + u]; };
      auto peep = [&](int64_t g) {  // none of an infinite state is no NaN
        return m_.peephole ? m_.peephole[g * units_ + u] * c[u] : 0.0f;
      };
      switch (a_.cell) {
        case RecurrentCell::kLstm: {
          const float i = Activate(act, 0, gate(0) + peep(0));
          const float f = Activate(act, 1, gate(1) + peep(1));
          c[u] = Clip(f * c[u] + i * Activate(act, 2, gate(2)), a_.cell_clip);
          const float o = Activate(act, 3, gate(3) + peep(2));
          next_[At(u)] = o * Activate(act, 4, c[u]);
          break;
        }
        case RecurrentCell::kGru:
        case RecurrentCell::kGruResetBefore: {
          const float z = Activate(act, 0, gate(0));
          float product = Product(2, u) + (m_.bias ? m_.bias[u] : 0.0f);
          if (a_.cell == RecurrentCell::kGru) product *= Activate(act, 1, gate(1));
          next_[At(u)] = z * h[u] + (1 - z) * Activate(act, 2, product + x[2 * units_ + u]);
          break;
        }
        case RecurrentCell::kSimple:
          next_[At(u)] = Activate(act, 0, gate(0));
      }
    }
    if (projection_ == nullptr) {
      std::copy(next_.begin(), next_.end(), h);
      return;
    }
    std::fill_n(h, width_, 0.0f);
    for (int64_t u = 0; u < units_; ++u) {
      for (int64_t j = 0; j < width_; ++j) h[j] += next_[At(u)] * projection_[u * width_ + j];
    }
    for (int64_t j = 0; j < width_; ++j) h[j] = Clip(h[j], a_.projection_clip);
  }

 private:
  static size_t At(int64_t u) { return static_cast<size_t>(u); }
  float Product(int64_t gate, int64_t u) const { return product_[At(gate * units_ + u)]; }

  // The columns of gates [begin, end).
  void Multiply(const float* a, int64_t begin, int64_t end) {
    const int64_t columns = a_.gates() * units_;
    std::fill(product_.begin() + begin * units_, product_.begin() + end * units_, 0.0f);
    for (int64_t k = 0; k < width_; ++k) {
      for (int64_t j = begin * units_; j < end * units_; ++j) {
        product_[At(j)] += a[k] * w_[k * columns + j];
      }
    }
  }

  const RecurrenceAttrs& a_;
  const int64_t units_, width_;
  const SequenceMemory& m_;
  const float* const w_;
  const float* const projection_;
  std::vector<float> product_, reset_, next_;
};

void RunSequence(const RecurrenceAttrs& a, const RecurrenceSizes& sizes, RunContext& run, int s) {
  const SequenceMemory m(a, sizes, run, s);
  const int64_t units = sizes.units, width = sizes.width, batch = sizes.batch;
  float* const h = run.output<float>(a.last(s, 0));
  float* const c = a.states() > 1 ? run.output<float>(a.last(s, 1)) : nullptr;
  std::copy_n(run.input<float>(a.state(s, 0)), batch * width, h);
  if (c != nullptr) std::copy_n(run.input<float>(a.state(s, 1)), batch * units, c);
  if (a.last_only) std::fill_n(m.y, batch * width, 0.0f);
  RowStep step(a, sizes, m, run.input<float>(a.w(s)),
               a.projected ? run.input<float>(a.projection(s)) : nullptr);
  for (int64_t t = 0; t < sizes.steps; ++t) {
    for (int64_t b = 0; b < sizes.batch; ++b) {
      float* const y = m.YAt(t) + b * m.y_row;
      if (m.mask == nullptr || m.MaskAt(t)[b * m.mask_row] != 0) {
        step.Run(m.XAt(t) + b * m.x_row, h + b * width, c == nullptr ? nullptr : c + b * units);
        std::copy_n(h + b * width, width, y);
      } else if (a.zero_masked || t == 0) {
        std::fill_n(y, width, 0.0f);
      } else if (!a.last_only) {
        std::copy_n(m.YAt(t - 1) + b * m.y_row, width, y);
      }
    }
  }
  for (int64_t t = sizes.steps; t < sizes.y_steps; ++t) {
    for (int64_t b = 0; b < batch; ++b) std::fill_n(m.YAt(t) + b * m.y_row, width, 0.0f);
  }
}

}  // namespace

absl::StatusOr<RecurrenceAttrs> ReadRecurrenceAttrs(const AttrReader& attrs) {
  RecurrenceAttrs out;
  const std::string name = attrs.String("cell", "");
  const auto* cell = std::find_if(std::begin(kCells), std::end(kCells),
                                  [&](const CellName& c) { return name == c.name; });
  if (cell == std::end(kCells)) return InvalidArgument("cell '", name, "' is not known");
  out.cell = cell->cell;
  TENON_ASSIGN_OR_RETURN(const auto activations, attrs.Strings("activations"));
  const size_t count = NumGates(out.cell) + (out.cell == RecurrentCell::kLstm ? 1 : 0);
  if (activations.size() != count) {
    return InvalidArgument("activations must have ", count, " names, but has ", activations.size());
  }
  for (size_t i = 0; i < count; ++i) {
    const auto* a = std::find_if(std::begin(kActivations), std::end(kActivations),
                                 [&](const ActivationName& n) { return activations[i] == n.name; });
    if (a == std::end(kActivations)) {
      return InvalidArgument("activation '", activations[i], "' is not known");
    }
    out.activations.of[i] = a->activation;
  }
  out.activations.alpha = attrs.Float("alpha", 0.2f);
  out.activations.beta = attrs.Float("beta", 0.5f);
  const int64_t n = attrs.Int("N", 1), states = attrs.Int("num_states", 0);
  if (n < 1 || n > 64) return InvalidArgument("N must be 1 to 64, but is ", n);
  out.sequences = static_cast<int>(n);
  if (states != n * out.states()) {
    return InvalidArgument("num_states must be ", n * out.states(), ", but is ", states);
  }
  const struct {
    const char* attr;
    bool* present;
  } optional[] = {{"num_biases", &out.biased},
                  {"num_peepholes", &out.peephole},
                  {"num_masks", &out.masked},
                  {"num_projections", &out.projected}};
  for (const auto& o : optional) {
    const int64_t given = attrs.Int(o.attr, 0);
    if (given != 0 && given != n) return InvalidArgument(o.attr, " must be 0 or ", n);
    *o.present = given != 0;
  }
  if (out.biased && out.cell != RecurrentCell::kGru) {
    return InvalidArgument("only the gru cell has a bias of its own");
  }
  if (out.peephole && out.cell != RecurrentCell::kLstm) {
    return InvalidArgument("only the lstm cell has peepholes");
  }
  out.cell_clip = attrs.Float("cell_clip", 0);
  out.projection_clip = attrs.Float("projection_clip", 0);
  const bool limited = out.cell_clip != 0 || out.projection_clip != 0;
  if ((out.projected || limited) && out.cell != RecurrentCell::kLstm) {
    return InvalidArgument("only the lstm cell has a projection and limits");
  }
  if (!(out.cell_clip >= 0) || !(out.projection_clip >= 0)) {
    return InvalidArgument("cell_clip and projection_clip must not be negative");
  }
  if (out.projection_clip != 0 && !out.projected) {
    return InvalidArgument("projection_clip needs a projection");
  }
  out.time_major = attrs.Bool("time_major", true);
  out.y_time_major = attrs.Bool("y_time_major", true);
  out.mask_time_major = attrs.Bool("mask_time_major", true);
  out.last_only = attrs.Bool("last_only", false);
  out.zero_masked = attrs.Bool("zero_masked", false);
  out.longer_mask = attrs.Bool("longer_mask", false);
  if (out.longer_mask && (!out.masked || !out.zero_masked || out.last_only)) {
    return InvalidArgument("longer_mask needs a mask, zero_masked, and results of all steps");
  }
  for (auto [name_of, to] : {std::pair("reverse", &out.reverse),
                             {"y_reverse", &out.y_reverse},
                             {"mask_reverse", &out.mask_reverse}}) {
    TENON_ASSIGN_OR_RETURN(*to, attrs.Ints(name_of));
    to->resize(std::max(to->size(), static_cast<size_t>(n)), 0);
    if (to->size() != static_cast<size_t>(n)) {
      return InvalidArgument(name_of, " must have at most ", n, " values");
    }
  }
  const auto backwards = [](int64_t flag) { return flag != 0; };
  if (out.longer_mask &&
      (std::any_of(out.reverse.begin(), out.reverse.end(), backwards) ||
       std::any_of(out.mask_reverse.begin(), out.mask_reverse.end(), backwards))) {
    return InvalidArgument("longer_mask excludes reverse and mask_reverse");
  }
  return out;
}

absl::StatusOr<std::unique_ptr<Kernel>> RecurrenceReference(PrepareContext& p) {
  TENON_ASSIGN_OR_RETURN(const RecurrenceAttrs attrs, ReadRecurrenceAttrs(p.attrs()));
  const RecurrenceSizes sizes = SizesOf(p, attrs);
  return MakeKernel([attrs, sizes](RunContext& run) {
    for (int s = 0; s < attrs.sequences; ++s) RunSequence(attrs, sizes, run, s);
    return absl::OkStatus();
  });
}

}  // namespace tenon
