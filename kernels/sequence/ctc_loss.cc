#include "kernels/sequence/ctc_loss.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include "env/status.h"
#include "kernels/interface/parallel.h"
#include "kernels/interface/types.h"

namespace tenon {
namespace {

using ClassLabels = std::vector<int32_t>;

constexpr double kLogOfZero = -std::numeric_limits<double>::infinity();
constexpr double kNsPerState = 40;

struct LossOptions {
  bool collapse_labels;  // repeated labels of the target count once
  bool merge_repeated;   // repeated labels of a path count once
  bool skip_too_long;    // a target that is longer than its sequence has loss 0; otherwise an error
  CtcBlank blank;
};

// The labels of each sequence, in the order of the sparse tensor.
absl::StatusOr<std::vector<ClassLabels>> LabelsOf(const int64_t* indices, const int32_t* values,
                                                  int64_t count, int64_t batch) {
  std::vector<ClassLabels> labels(static_cast<size_t>(batch));
  std::pair<int64_t, int64_t> before(-1, -1);
  for (int64_t i = 0; i < count; ++i) {
    const std::pair<int64_t, int64_t> at(indices[2 * i], indices[2 * i + 1]);
    if (at.first < 0 || at.first >= batch || at.second < 0) {
      return InvalidArgument("labels_indices[", i, "] = (", at.first, ", ", at.second,
                             ") for a batch of ", batch);
    }
    if (at <= before) {
      return InvalidArgument("labels_indices[", i, "] is repeated or out of order");
    }
    before = at;
    labels[static_cast<size_t>(at.first)].push_back(values[i]);
  }
  return labels;
}

// A blank, and each label followed by a blank. A label of the blank's class, or above the classes
// if the blank is the last, ends the target.
absl::StatusOr<ClassLabels> StatesOf(const ClassLabels& labels, int64_t sequence, int32_t classes,
                                     const LossOptions& options) {
  const bool last = options.blank == CtcBlank::kLastClass;
  const int32_t blank = last ? classes - 1 : 0;
  if (labels.empty()) return InvalidArgument("sequence ", sequence, " has no labels");
  ClassLabels states = {blank};
  bool ended = false;
  for (size_t i = 0; i < labels.size(); ++i) {
    if (options.collapse_labels && i > 0 && labels[i] == labels[i - 1]) continue;
    if (labels[i] == blank || (last && labels[i] > blank)) {
      ended = true;
      continue;
    }
    if (labels[i] >= classes) {
      return InvalidArgument("label ", labels[i], " of sequence ", sequence, " for ", classes,
                             " classes");
    }
    if (ended || labels[i] < 0) {
      return InvalidArgument("label ", labels[i], " of sequence ", sequence,
                             ended ? " follows a blank" : " is negative");
    }
    states.insert(states.end(), {labels[i], blank});
  }
  return states;
}

double LogAdd(double a, double b) {
  if (a < b) std::swap(a, b);
  return b == kLogOfZero ? a : a + std::log1p(std::exp(b - a));
}

// One sequence: logarithms of probabilities by time step and class, and by time step and state.
class Alignment {
 public:
  Alignment(const ClassLabels& states, int64_t steps, int64_t classes, const LossOptions& options)
      : states_(states),
        steps_(steps),
        classes_(classes),
        merge_(options.merge_repeated),
        log_y_(static_cast<size_t>(steps * classes)),
        alpha_(static_cast<size_t>(steps) * states.size(), kLogOfZero),
        beta_(alpha_) {}

  // logits: of step 0; `stride` values separate steps. In T: probabilities that underflow in T are
  // zero, and so are those of the paths through them.
  template <typename T>
  void Softmax(const T* logits, int64_t stride) {
    std::vector<T> row(static_cast<size_t>(classes_));
    for (int64_t t = 0; t < steps_; ++t, logits += stride) {
      const T largest = *std::max_element(logits, logits + classes_);
      T sum = 0;
      for (int64_t k = 0; k < classes_; ++k) {
        sum += row[static_cast<size_t>(k)] = std::exp(logits[k] - largest);
      }
      for (int64_t k = 0; k < classes_; ++k) {
        log_y_[At(t, k)] = std::log(static_cast<double>(row[static_cast<size_t>(k)] / sum));
      }
    }
  }

  // The log probability of the labels.
  double Run() {
    const int64_t last = std::ssize(states_) - 1;
    for (int64_t u = 0; u <= std::min<int64_t>(1, last); ++u) alpha(0, u) = y(0, u);
    for (int64_t t = 1; t < steps_; ++t) {
      for (int64_t u = 0; u <= last; ++u) alpha(t, u) = y(t, u) + Before(t, u);
    }
    for (int64_t u = std::max<int64_t>(0, last - 1); u <= last; ++u) beta(steps_ - 1, u) = 0;
    for (int64_t t = steps_ - 2; t >= 0; --t) {
      for (int64_t u = 0; u <= last; ++u) beta(t, u) = Behind(t, u);
    }
    double total = kLogOfZero;
    for (int64_t u = 0; u <= last; ++u) total = LogAdd(total, alpha(0, u) + beta(0, u));
    return total;
  }

  // The gradient of the loss with respect to the logits. Without any path: the softmax.
  template <typename T>
  void Gradient(double log_probability, T* gradient, int64_t stride) {
    std::vector<double> through(static_cast<size_t>(classes_));
    for (int64_t t = 0; t < steps_; ++t, gradient += stride) {
      std::fill(through.begin(), through.end(), kLogOfZero);
      for (int64_t u = 0; u < std::ssize(states_) && log_probability != kLogOfZero; ++u) {
        double& sum = through[static_cast<size_t>(states_[static_cast<size_t>(u)])];
        sum = LogAdd(sum, alpha(t, u) + beta(t, u));
      }
      for (int64_t k = 0; k < classes_; ++k) {
        const double taken = through[static_cast<size_t>(k)];
        const double share = taken == kLogOfZero ? 0 : std::exp(taken - log_probability);
        gradient[k] = static_cast<T>(std::exp(log_y_[At(t, k)]) - share);
      }
    }
  }

 private:
  size_t At(int64_t t, int64_t k) const { return static_cast<size_t>(t * classes_ + k); }
  int32_t label(int64_t u) const { return states_[static_cast<size_t>(u)]; }
  double y(int64_t t, int64_t u) const { return log_y_[At(t, label(u))]; }
  double& alpha(int64_t t, int64_t u) {
    return alpha_[static_cast<size_t>(t) * states_.size() + static_cast<size_t>(u)];
  }
  double& beta(int64_t t, int64_t u) {
    return beta_[static_cast<size_t>(t) * states_.size() + static_cast<size_t>(u)];
  }

  bool MayStay(int64_t u) const { return merge_ || u % 2 == 0; }
  // Whether a path may go from label u to label u + 2 without the blank in between.
  bool MaySkip(int64_t u) const { return u % 2 == 1 && !(merge_ && label(u) == label(u + 2)); }

  double Before(int64_t t, int64_t u) {
    double sum = MayStay(u) ? alpha(t - 1, u) : kLogOfZero;
    if (u > 0) sum = LogAdd(sum, alpha(t - 1, u - 1));
    if (u > 1 && MaySkip(u - 2)) sum = LogAdd(sum, alpha(t - 1, u - 2));
    return sum;
  }

  double Behind(int64_t t, int64_t u) {
    double sum = MayStay(u) ? beta(t + 1, u) + y(t + 1, u) : kLogOfZero;
    const int64_t last = std::ssize(states_) - 1;
    if (u + 1 <= last) sum = LogAdd(sum, beta(t + 1, u + 1) + y(t + 1, u + 1));
    if (u + 2 <= last && MaySkip(u)) sum = LogAdd(sum, beta(t + 1, u + 2) + y(t + 1, u + 2));
    return sum;
  }

  const ClassLabels& states_;
  const int64_t steps_, classes_;
  const bool merge_;
  std::vector<double> log_y_, alpha_, beta_;
};

struct Target {
  ClassLabels states;
  int64_t steps = 0;  // 0: no loss
};

absl::StatusOr<std::vector<Target>> TargetsOf(RunContext& run, const Shape& in, int64_t count,
                                              const LossOptions& options) {
  const int64_t batch = in.dim(1);
  TENON_ASSIGN_OR_RETURN(const std::vector<ClassLabels> labels,
                         LabelsOf(run.input<int64_t>(1), run.input<int32_t>(2), count, batch));
  std::vector<Target> targets(labels.size());
  for (int64_t b = 0; b < batch; ++b) {
    const int64_t steps = run.input<int32_t>(3)[b];
    if (steps < 0 || steps > in.dim(0)) {
      return InvalidArgument("sequence_length[", b, "] = ", steps, " of ", in.dim(0),
                             " time steps");
    }
    const ClassLabels& own = labels[static_cast<size_t>(b)];
    Target& target = targets[static_cast<size_t>(b)];
    TENON_ASSIGN_OR_RETURN(target.states,
                           StatesOf(own, b, static_cast<int32_t>(in.dim(2)), options));
    const bool too_long = std::ssize(own) > steps;
    if (too_long && !options.skip_too_long) {
      return InvalidArgument("sequence ", b, " has ", own.size(), " labels but ", steps,
                             " time steps (ignore_longer_outputs_than_inputs passes over it)");
    }
    target.steps = too_long ? 0 : steps;
  }
  return targets;
}

}  // namespace

absl::StatusOr<std::unique_ptr<Kernel>> CtcLoss(PrepareContext& p, CtcBlank blank) {
  const Shape in = p.input_shape(0);
  const int64_t count = p.input_shape(2).num_elements();
  if (in.dim(2) > std::numeric_limits<int32_t>::max()) {
    return InvalidArgument(in.dim(2), " classes");
  }
  const LossOptions options = {p.attrs().Bool("preprocess_collapse_repeated", false),
                               p.attrs().Bool("ctc_merge_repeated", true),
                               p.attrs().Bool("ignore_longer_outputs_than_inputs", false), blank};
  const int threads = p.services().threads;
  return DispatchType(TypeList<float, double>{}, p.input_dtype(0), [&]<typename T>() {
    return MakeKernel([in, count, options, threads](RunContext& run) -> absl::Status {
      TENON_ASSIGN_OR_RETURN(const std::vector<Target> targets, TargetsOf(run, in, count, options));
      const int64_t batch = in.dim(1), classes = in.dim(2), stride = batch * classes;
      const T* logits = run.input<T>(0);
      T *loss = run.output<T>(0), *gradient = run.output<T>(1);
      std::fill_n(gradient, in.num_elements(), T(0));
      const double ns = kNsPerState * static_cast<double>(in.dim(0) * classes);
      ParallelFor(threads, batch, ParallelGrain(ns), [&](int64_t begin, int64_t end) {
        for (int64_t b = begin; b < end; ++b) {
          const Target& target = targets[static_cast<size_t>(b)];
          loss[b] = T(0);
          if (target.steps == 0) continue;
          Alignment alignment(target.states, target.steps, classes, options);
          alignment.Softmax(logits + b * classes, stride);
          const double log_probability = alignment.Run();
          loss[b] = static_cast<T>(-log_probability);
          alignment.Gradient(log_probability, gradient + b * classes, stride);
        }
      });
      return absl::OkStatus();
    });
  });
}

}  // namespace tenon
