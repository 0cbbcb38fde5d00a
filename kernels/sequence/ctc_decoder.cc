#include "kernels/sequence/ctc_decoder.h"

#include <algorithm>
#include <cmath>
#include <deque>
#include <limits>
#include <vector>

#include "env/containers.h"
#include "kernels/interface/types.h"

namespace tenon {
namespace {

using Labels = std::vector<int64_t>;

absl::Status CheckLengths(const int32_t* lengths, const Shape& in) {
  for (int64_t b = 0; b < in.dim(1); ++b) {
    if (lengths[b] > in.dim(0)) {
      return InvalidArgument("sequence_length[", b, "] = ", lengths[b], " of ", in.dim(0),
                             " time steps");
    }
  }
  return absl::OkStatus();
}

// Stores one path of every sequence as a sparse tensor.
absl::Status Store(RunContext& run, int path, int paths, const std::vector<Labels>& sequences) {
  int64_t count = 0, longest = 0;
  for (const Labels& labels : sequences) {
    count += std::ssize(labels);
    longest = std::max<int64_t>(longest, std::ssize(labels));
  }
  TENON_ASSIGN_OR_RETURN(void* indices_out, run.AllocateOutput(path, Shape({count, 2})));
  TENON_ASSIGN_OR_RETURN(void* values_out, run.AllocateOutput(paths + path, Shape({count})));
  auto* indices = static_cast<int64_t*>(indices_out);
  auto* values = static_cast<int64_t*>(values_out);
  for (size_t b = 0; b < sequences.size(); ++b) {
    for (size_t t = 0; t < sequences[b].size(); ++t) {
      *indices++ = static_cast<int64_t>(b);
      *indices++ = static_cast<int64_t>(t);
      *values++ = sequences[b][t];
    }
  }
  int64_t* shape = run.output<int64_t>(2 * paths + path);
  shape[0] = std::ssize(sequences);
  shape[1] = longest;
  return absl::OkStatus();
}

template <typename T>
constexpr T kLogZero = -std::numeric_limits<T>::infinity();

// TensorFlow computes the exponential and the logarithm in float for every dtype.
template <typename T>
T LogAdd(T a, T b) {
  if (a == kLogZero<T>) return b;
  if (b == kLogZero<T>) return a;
  const float apart = static_cast<float>(-std::abs(a - b));
  return std::max(a, b) + static_cast<T>(std::log1p(std::exp(apart)));
}

// The log probabilities that a prefix ends in a blank, in its last label, or in either.
template <typename T>
struct Probability {
  T total = kLogZero<T>, blank = kLogZero<T>, label = kLogZero<T>;
};

// A prefix: its last label and the prefix before that.
template <typename T>
struct Prefix {
  Prefix* parent = nullptr;
  int64_t label = -1;
  Probability<T> before, now;
  HashMap<int64_t, Prefix*> children;

  bool active() const { return now.total != kLogZero<T>; }
};

template <typename T>
class BeamSearch {
 public:
  explicit BeamSearch(int64_t width) : width_(width) {
    Prefix<T>& root = prefixes_.emplace_back();
    root.now.total = root.now.blank = 0;
    beam_.push_back(&root);
  }

  // The blank is the last of the classes.
  void Step(const T* logits, int64_t classes) {
    T most = logits[0], sum = 0;
    for (int64_t k = 1; k < classes; ++k) most = std::max(most, logits[k]);
    for (int64_t k = 0; k < classes; ++k) sum += std::exp(logits[k] - most);
    const T offset = most + std::log(sum);

    const std::vector<Prefix<T>*> prefixes = std::move(beam_);
    beam_.clear();
    for (Prefix<T>* b : prefixes) b->before = b->now;
    for (Prefix<T>* b : prefixes) {
      if (b->parent != nullptr) {
        if (b->parent->active()) b->now.label = LogAdd(b->now.label, Grown(*b->parent, b->label));
        b->now.label += logits[b->label] - offset;
      }
      b->now.blank = b->before.total + logits[classes - 1] - offset;
      b->now.total = LogAdd(b->now.blank, b->now.label);
      Insert(b);
    }
    for (Prefix<T>* b : prefixes) {
      if (!IsCandidate(b->before)) continue;
      for (int64_t label = 0; label < classes - 1; ++label) {
        const auto known = b->children.find(label);
        Prefix<T>* child = known == b->children.end() ? nullptr : known->second;
        if (child != nullptr && child->active()) continue;
        Probability<T> grown;
        grown.label = grown.total = logits[label] - offset + Grown(*b, label);
        if (!IsCandidate(grown)) {
          if (child != nullptr) child->before = child->now = Probability<T>();
          continue;
        }
        if (child == nullptr) {
          child = &prefixes_.emplace_back();
          child->parent = b;
          child->label = label;
          b->children[label] = child;
        }
        if (std::ssize(beam_) == width_) {
          beam_.back()->now = Probability<T>();
          beam_.pop_back();
        }
        child->now = grown;
        Insert(child);
      }
    }
  }

  // The kept prefixes, most likely first.
  const std::vector<Prefix<T>*>& beam() const { return beam_; }

 private:
  // The log probability of a prefix with one more label, from the step before: a repeated label
  // needs a blank in between.
  static T Grown(const Prefix<T>& prefix, int64_t label) {
    return label == prefix.label ? prefix.before.blank : prefix.before.total;
  }

  bool IsCandidate(const Probability<T>& p) const {
    return p.total > kLogZero<T> &&
           (std::ssize(beam_) < width_ || p.total > beam_.back()->now.total);
  }

  void Insert(Prefix<T>* prefix) {
    auto likelier = [](const Prefix<T>* a, const Prefix<T>* b) {
      return a->now.total > b->now.total;
    };
    beam_.insert(std::upper_bound(beam_.begin(), beam_.end(), prefix, likelier), prefix);
  }

  const int64_t width_;
  std::deque<Prefix<T>> prefixes_;  // at stable addresses
  std::vector<Prefix<T>*> beam_;
};

template <typename T>
Labels LabelsOf(const Prefix<T>* prefix, bool merge) {
  Labels labels;
  int64_t after = -1;
  for (; prefix->parent != nullptr; prefix = prefix->parent) {
    if (!merge || prefix->label != after) labels.push_back(prefix->label);
    after = prefix->label;
  }
  std::reverse(labels.begin(), labels.end());
  return labels;
}

}  // namespace

absl::StatusOr<std::unique_ptr<Kernel>> CtcGreedyDecoder(PrepareContext& p) {
  const Shape in = p.input_shape(0);
  const int64_t classes = in.dim(2), wanted = p.attrs().Int("blank_index", -1);
  const int64_t blank = wanted < 0 ? classes + wanted : wanted;
  if (blank < 0 || blank >= classes) {
    return InvalidArgument("blank_index ", wanted, " of ", classes, " classes");
  }
  const bool merge = p.attrs().Bool("merge_repeated", false);
  return DispatchType(TypeList<float, double>{}, p.input_dtype(0), [&]<typename T>() {
    return MakeKernel([=](RunContext& run) -> absl::Status {
      const int32_t* lengths = run.input<int32_t>(1);
      TENON_RETURN_IF_ERROR(CheckLengths(lengths, in));
      std::vector<Labels> sequences(static_cast<size_t>(in.dim(1)));
      for (int64_t b = 0; b < in.dim(1); ++b) {
        T score = 0;
        int64_t before = -1;
        for (int64_t t = 0; t < lengths[b]; ++t) {
          const T* logits = run.input<T>(0) + (t * in.dim(1) + b) * classes;
          int64_t best = 0;
          for (int64_t k = 1; k < classes; ++k) {
            if (logits[k] > logits[best]) best = k;
          }
          score -= logits[best];
          if (best != blank && !(merge && best == before)) {
            sequences[static_cast<size_t>(b)].push_back(best);
          }
          before = best;
        }
        run.output<T>(3)[b] = score;
      }
      return Store(run, 0, 1, sequences);
    });
  });
}

absl::StatusOr<std::unique_ptr<Kernel>> CtcBeamSearchDecoder(PrepareContext& p) {
  const Shape in = p.input_shape(0);
  TENON_ASSIGN_OR_RETURN(const int64_t width, p.attrs().Int("beam_width"));
  const int paths = (p.num_outputs() - 1) / 3;
  if (width < 1) return InvalidArgument("beam_width must be at least 1, but is ", width);
  if (paths > width) return InvalidArgument(paths, " paths of a beam of ", width);
  const bool merge = p.attrs().Bool("merge_repeated", true);
  return DispatchType(TypeList<float, double>{}, p.input_dtype(0), [&]<typename T>() {
    return MakeKernel([=](RunContext& run) -> absl::Status {
      const int32_t* lengths = run.input<int32_t>(1);
      TENON_RETURN_IF_ERROR(CheckLengths(lengths, in));
      std::vector<std::vector<Labels>> found(static_cast<size_t>(paths),
                                             std::vector<Labels>(static_cast<size_t>(in.dim(1))));
      for (int64_t b = 0; b < in.dim(1); ++b) {
        BeamSearch<T> search(width);
        for (int64_t t = 0; t < lengths[b]; ++t) {
          search.Step(run.input<T>(0) + (t * in.dim(1) + b) * in.dim(2), in.dim(2));
        }
        if (std::ssize(search.beam()) < paths) {
          return InvalidArgument("only ", search.beam().size(), " of ", paths, " paths exist");
        }
        for (size_t i = 0; i < found.size(); ++i) {
          const Prefix<T>* prefix = search.beam()[i];
          found[i][static_cast<size_t>(b)] = LabelsOf(prefix, merge);
          run.output<T>(3 * paths)[b * paths + static_cast<int64_t>(i)] = prefix->now.total;
        }
      }
      for (int i = 0; i < paths; ++i) {
        TENON_RETURN_IF_ERROR(Store(run, i, paths, found[static_cast<size_t>(i)]));
      }
      return absl::OkStatus();
    });
  });
}

}  // namespace tenon
