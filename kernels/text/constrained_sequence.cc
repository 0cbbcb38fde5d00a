#include "kernels/text/constrained_sequence.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <vector>

#include "kernels/interface/types.h"
#include "kernels/reduction/segments.h"

namespace tenon {
namespace {

constexpr int32_t kNoState = -1;
constexpr float kLowest = std::numeric_limits<float>::lowest();

struct Transitions {
  const bool* allowed;   // null: all
  const float* weights;  // null: none
  int64_t width;         // of both
  bool add;              // scores are logarithms

  bool Allow(int64_t from, int64_t to) const {
    return allowed == nullptr || allowed[from * width + to];
  }
  // The score with the weight of the transition.
  float Weigh(float score, int64_t from, int64_t to) const {
    if (weights == nullptr) return score;
    const float weight = weights[from * width + to];
    return add ? score + weight : score * weight;
  }
};

struct Sequence {
  const float* scores;  // [steps, states]
  int64_t steps, states;
  bool has_ends;  // the state `states` is before the first step and after the last

  float score(int64_t step, int64_t state) const { return scores[step * states + state]; }
};

// Products would soon leave the range of the type.
void Normalize(std::vector<double>& scores) {
  const double most = *std::max_element(scores.begin(), scores.end());
  if (most > 0) {
    for (double& score : scores) score /= most;
  }
}

void Viterbi(const Sequence& s, const Transitions& t, int32_t* out) {
  if (s.steps == 0) return;
  if (s.states == 0) return std::fill_n(out, s.steps, kNoState), void();
  const int64_t outside = s.states;
  const size_t n = static_cast<size_t>(s.states);
  // How a state is best reached at each step, and the scores of doing so.
  std::vector<int32_t> before(static_cast<size_t>(s.steps) * n, kNoState);
  std::vector<double> last(n, kLowest), now(n, kLowest);
  for (int64_t state = 0; state < s.states; ++state) {
    if (s.has_ends && !t.Allow(outside, state)) continue;
    before[static_cast<size_t>(state)] = static_cast<int32_t>(outside);
    const float score = s.score(0, state);
    last[static_cast<size_t>(state)] = s.has_ends ? t.Weigh(score, outside, state) : score;
  }
  if (!t.add) Normalize(last);
  for (int64_t step = 1; step < s.steps; ++step) {
    const int32_t* reached = &before[static_cast<size_t>(step - 1) * n];
    for (int64_t state = 0; state < s.states; ++state) {
      int32_t best = kNoState;
      float best_score = kLowest;
      for (int64_t from = 0; from < s.states; ++from) {
        if (reached[from] == kNoState || !t.Allow(from, state)) continue;
        const double own = s.score(step, state), so_far = last[static_cast<size_t>(from)];
        const float score =
            t.Weigh(static_cast<float>(t.add ? own + so_far : own * so_far), from, state);
        if (score >= best_score) {
          best = static_cast<int32_t>(from);
          best_score = score;
        }
      }
      before[static_cast<size_t>(step) * n + static_cast<size_t>(state)] = best;
      now[static_cast<size_t>(state)] = best_score;
    }
    if (!t.add) Normalize(now);
    last.swap(now);
  }
  const int32_t* reached = &before[static_cast<size_t>(s.steps - 1) * n];
  int32_t best = kNoState;
  float best_score = kLowest;
  for (int64_t state = 0; state < s.states; ++state) {
    if (reached[state] == kNoState || (s.has_ends && !t.Allow(state, outside))) continue;
    float score = static_cast<float>(last[static_cast<size_t>(state)]);
    if (s.has_ends) score = t.Weigh(score, state, outside);
    if (score >= best_score) {
      best = static_cast<int32_t>(state);
      best_score = score;
    }
  }
  for (int64_t step = s.steps; step-- > 0;) {
    out[step] = best;
    if (best != kNoState) best = before[static_cast<size_t>(step) * n + static_cast<size_t>(best)];
  }
}

void Greedy(const Sequence& s, const Transitions& t, int32_t* out) {
  const int64_t outside = s.states;
  for (int64_t step = 0; step < s.steps; ++step) {
    const int64_t from = step == 0 ? outside : out[step - 1];
    const bool ends = s.has_ends && step == s.steps - 1;
    out[step] = kNoState;
    if (from == kNoState) continue;
    float best_score = kLowest;
    for (int64_t state = 0; state < s.states; ++state) {
      float score = s.score(step, state);
      if (s.has_ends || step > 0) {
        if (!t.Allow(from, state) || (ends && !t.Allow(state, outside))) continue;
        score = t.Weigh(score, from, state);
        if (ends) score = t.Weigh(score, state, outside);
      }
      if (score >= best_score) {
        out[step] = static_cast<int32_t>(state);
        best_score = score;
      }
    }
  }
}

}  // namespace

absl::StatusOr<std::unique_ptr<Kernel>> ConstrainedSequenceKernel(PrepareContext& p) {
  TENON_ASSIGN_OR_RETURN(const bool viterbi, p.attrs().Bool("use_viterbi"));
  TENON_ASSIGN_OR_RETURN(const bool add, p.attrs().Bool("use_log_space"));
  TENON_ASSIGN_OR_RETURN(const bool has_ends, p.attrs().Bool("use_start_and_end_states"));
  const Shape& scores = p.input_shape(0);
  const int rank = scores.rank();
  const int64_t batch = rank == 3 ? scores.dim(0) : 1;
  const int64_t steps = scores.dim(rank - 2), states = scores.dim(rank - 1);
  const int64_t allowed = p.input_shape(2).num_elements();
  const int64_t weights = p.input_shape(3).num_elements();
  const DType length_type = p.input_dtype(1), splits_type = p.output_dtype(1);
  return MakeKernel([=](RunContext& run) -> absl::Status {
    const std::vector<int64_t> lengths = IntegersAt(length_type, run.input(1), batch);
    for (const int64_t length : lengths) {
      if (length < 0 || length > steps) {
        return InvalidArgument("a sequence of length ", length, " of ", steps, " steps");
      }
    }
    const Transitions transitions = {allowed == 0 ? nullptr : run.input<bool>(2),
                                     weights == 0 ? nullptr : run.input<float>(3),
                                     states + (has_ends ? 1 : 0), add};
    if (!add && std::any_of(run.input<float>(3), run.input<float>(3) + weights,
                            [](float w) { return !(w >= 0); })) {
      return InvalidArgument("transition_weights must not be negative");
    }
    TENON_ASSIGN_OR_RETURN(
        void* memory, run.AllocateOutput(
                          0, Shape({std::accumulate(lengths.begin(), lengths.end(), int64_t{0})})));
    int32_t* out = static_cast<int32_t*>(memory);
    for (int64_t b = 0; b < batch; ++b) {
      const Sequence sequence = {run.input<float>(0) + b * steps * states,
                                 lengths[static_cast<size_t>(b)], states, has_ends};
      (viterbi ? Viterbi : Greedy)(sequence, transitions, out);
      out += sequence.steps;
    }
    VisitTypes(TypeList<int32_t, int64_t>{}, splits_type, [&]<typename I>() {
      I* splits = run.output<I>(1);
      *splits = 0;
      for (const int64_t length : lengths) {
        splits[1] = static_cast<I>(*splits + length);
        ++splits;
      }
    });
    return absl::OkStatus();
  });
}

}  // namespace tenon
