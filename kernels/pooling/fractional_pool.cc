#include "kernels/pooling/fractional_pool.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "env/status.h"
#include "kernels/interface/late_kernel.h"
#include "kernels/interface/parallel.h"
#include "kernels/interface/types.h"
#include "kernels/random/sequence.h"

namespace tenon {
namespace {

using FractionalTypes = TypeList<float, double, int32_t, int64_t>;

// The windows' sizes, in order: as even as rounding up multiples of their mean from a random offset
// makes them, or the two sizes next to their mean, shuffled.
std::vector<int64_t> PseudoRandomSizes(int64_t in, int64_t out, RandomSequence& random) {
  const double mean = static_cast<double>(in) / static_cast<double>(out);
  const double small = static_cast<double>(in / out);
  // Larger offsets would make the first window too large or the last one too small.
  const double most =
      std::min((small + 2) / mean - 1,
               (static_cast<double>(in + 1) - small) / mean - static_cast<double>(out - 1));
  const double offset = PhiloxStream(random.Take(2)).NextDouble() * most;
  std::vector<int64_t> sizes(static_cast<size_t>(out));
  int64_t begin = 1;
  for (int64_t i = 0; i < out; ++i) {
    int64_t end = in + 1;
    if (i + 1 < out) {
      end = static_cast<int64_t>(std::ceil(mean * (static_cast<double>(i + 1) + offset)));
      end = std::clamp(end, begin + 1, in + 1 - (out - 1 - i));  // whatever the rounding
    }
    sizes[static_cast<size_t>(i)] = end - begin;
    begin = end;
  }
  return sizes;
}

std::vector<int64_t> RandomSizes(int64_t in, int64_t out, RandomSequence& random) {
  std::vector<int64_t> sizes(static_cast<size_t>(out), in / out);
  for (int64_t i = 0; i < in % out; ++i) ++sizes[static_cast<size_t>(i)];
  PhiloxStream stream(random.Take(static_cast<uint64_t>(out)));
  for (int64_t i = 0; i + 1 < out; ++i) {
    const int64_t other = i + stream.Next() % static_cast<uint32_t>(out - i);
    std::swap(sizes[static_cast<size_t>(i)], sizes[static_cast<size_t>(other)]);
  }
  return sizes;
}

// Writes the out + 1 elements of a pooling sequence.
void MakeSequence(int64_t in, int64_t out, bool pseudo_random, RandomSequence& random,
                  int64_t* sequence) {
  const std::vector<int64_t> sizes =
      pseudo_random ? PseudoRandomSizes(in, out, random) : RandomSizes(in, out, random);
  sequence[0] = 0;
  std::partial_sum(sizes.begin(), sizes.end(), sequence + 1);
}

// The forward op's input and output.
struct Images {
  int64_t batch = 0, channels = 0;
  int64_t in[2] = {0, 0}, out[2] = {0, 0};  // heights and widths
  bool overlapping = false;

  static Images Of(const AttrReader& attrs, const Shape& in, const Shape& out) {
    Images m{in.dim(0), in.dim(3), {in.dim(1), in.dim(2)}, {out.dim(1), out.dim(2)}};
    m.overlapping = attrs.Bool("overlapping", false);
    return m;
  }

  absl::Status CheckSequences(const int64_t* rows, const int64_t* columns) const {
    for (int axis : {0, 1}) {
      const int64_t* const s = axis == 0 ? rows : columns;
      for (int64_t i = 0; i <= out[axis]; ++i) {
        if (s[i] >= (i == 0 ? 0 : s[i - 1] + 1) && s[i] <= in[axis]) continue;
        return InvalidArgument("a pooling sequence must increase from 0 or more to at most ",
                               in[axis], ", but its element ", i, " is ", s[i]);
      }
    }
    return absl::OkStatus();
  }

  // Calls visit(output position, input positions of the window) for the windows of row `row` of
  // image `image`. Positions are counted in pixels from the first image's first.
  template <typename Visit>
  void ForWindows(int64_t image, int64_t row, const int64_t* rows, const int64_t* columns,
                  const Visit& visit) const {
    const int64_t shared = overlapping ? 1 : 0;
    const int64_t bottom = std::min(rows[row + 1] + shared, in[0]);
    std::vector<int64_t> taps;
    for (int64_t column = 0; column < out[1]; ++column) {
      const int64_t right = std::min(columns[column + 1] + shared, in[1]);
      taps.clear();
      for (int64_t h = rows[row]; h < bottom; ++h) {
        for (int64_t w = columns[column]; w < right; ++w) {
          taps.push_back((image * in[0] + h) * in[1] + w);
        }
      }
      visit((image * out[0] + row) * out[1] + column, taps);
    }
  }
};

// Runs pool(taps, x, channels, y) for each window: y has the window's channels.
template <typename T, typename Pool>
absl::StatusOr<std::unique_ptr<Kernel>> MakeForward(PrepareContext& p, Pool pool) {
  const Images m = Images::Of(p.attrs(), p.input_shape(0), p.output_shape(0));
  const bool pseudo_random = p.attrs().Bool("pseudo_random", false);
  // A run of a deterministic op starts the sequence anew.
  const bool repeats = p.attrs().Bool("deterministic", false);
  const auto random = RandomSequence::Of(p.attrs());
  const int threads = p.services().threads;
  const double taps = static_cast<double>(m.in[1] * m.channels) *
                      (static_cast<double>(m.in[0]) / static_cast<double>(m.out[0]) + 1);
  return MakeKernel([=](RunContext& r) {
    RandomSequence once = random->Restarted();
    RandomSequence& source = repeats ? once : *random;
    int64_t *const rows = r.output<int64_t>(1), *const columns = r.output<int64_t>(2);
    MakeSequence(m.in[0], m.out[0], pseudo_random, source, rows);
    MakeSequence(m.in[1], m.out[1], pseudo_random, source, columns);
    ParallelFor(threads, m.batch * m.out[0], ParallelGrain(taps), [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        m.ForWindows(i / m.out[0], i % m.out[0], rows, columns,
                     [&](int64_t to, const std::vector<int64_t>& from) {
                       pool(from, r.input<T>(0), m.channels, r.output<T>(0) + to * m.channels);
                     });
      }
    });
    return absl::OkStatus();
  });
}

// The position of a window's first largest element, which is above the dtype's lowest number, or
// else of the window's first element.
template <typename T>
int64_t LargestAt(const std::vector<int64_t>& window, const T* x, int64_t channels) {
  T largest = std::numeric_limits<T>::lowest();
  int64_t at = window[0];
  for (int64_t i : window) {
    if (x[i * channels] > largest) {
      largest = x[i * channels];
      at = i;
    }
  }
  return at;
}

template <typename T>
T Largest(const std::vector<int64_t>& window, const T* x, int64_t channels) {
  const T v = x[LargestAt(window, x, channels) * channels];
  return v > std::numeric_limits<T>::lowest() ? v : std::numeric_limits<T>::lowest();
}

template <typename T>
void LargestOf(const std::vector<int64_t>& window, const T* x, int64_t channels, T* __restrict y) {
  std::fill_n(y, channels, std::numeric_limits<T>::lowest());
  for (int64_t i : window) {
    const T* const pixel = x + i * channels;
    for (int64_t c = 0; c < channels; ++c) y[c] = pixel[c] > y[c] ? pixel[c] : y[c];
  }
}

template <typename T>
void MeanOf(const std::vector<int64_t>& window, const T* x, int64_t channels, T* __restrict y) {
  std::fill_n(y, channels, T(0));
  for (int64_t i : window) {
    const T* const pixel = x + i * channels;
    for (int64_t c = 0; c < channels; ++c) y[c] = WrapAdd(y[c], pixel[c]);
  }
  const T size = static_cast<T>(window.size());
  for (int64_t c = 0; c < channels; ++c) y[c] /= size;
}

// Where the double is beyond the integers, the nearest one.
template <typename T>
T FromDouble(double v) {
  if constexpr (kIsInt<T>) {
    if (std::isnan(v)) return 0;
    if (v >= -static_cast<double>(std::numeric_limits<T>::min())) {
      return std::numeric_limits<T>::max();
    }
    if (v <= static_cast<double>(std::numeric_limits<T>::min())) {
      return std::numeric_limits<T>::min();
    }
  }
  return static_cast<T>(v);
}

}  // namespace

absl::StatusOr<std::vector<int64_t>> FractionalPoolSizes(const AttrReader& attrs, const Shape& in) {
  TENON_ASSIGN_OR_RETURN(const std::vector<float> ratios, attrs.Floats("pooling_ratio"));
  if (ratios.size() != 4) {
    return InvalidArgument("pooling_ratio must have 4 elements, has ", ratios.size());
  }
  std::vector<int64_t> sizes(4, -1);
  for (size_t i = 0; i < 4; ++i) {
    if (!(ratios[i] >= 1)) {
      return InvalidArgument("pooling_ratio must be at least 1, is ", ratios[i]);
    }
    if (ratios[i] != 1 && (i == 0 || i == 3)) {
      return InvalidArgument("pooling_ratio must be 1 for the batch and for the channels, is ",
                             ratios[i]);
    }
    const int64_t size = in.has_rank() ? in.dim(static_cast<int>(i)) : -1;
    if (size < 0) continue;
    if (static_cast<float>(size) < ratios[i] || size > std::numeric_limits<int32_t>::max()) {
      return InvalidArgument("pooling_ratio ", ratios[i], " for a dimension of ", size);
    }
    const float pooled = std::floor(static_cast<float>(size) / ratios[i]);
    sizes[i] = ratios[i] == 1 ? size : std::clamp<int64_t>(static_cast<int64_t>(pooled), 1, size);
  }
  return sizes;
}

absl::StatusOr<std::unique_ptr<Kernel>> FractionalMaxPool(PrepareContext& p) {
  return DispatchType(FractionalTypes{}, p.input_dtype(0),
                      [&]<typename T>() { return MakeForward<T>(p, LargestOf<T>); });
}

absl::StatusOr<std::unique_ptr<Kernel>> FractionalAvgPool(PrepareContext& p) {
  return DispatchType(FractionalTypes{}, p.input_dtype(0),
                      [&]<typename T>() { return MakeForward<T>(p, MeanOf<T>); });
}

absl::StatusOr<std::unique_ptr<Kernel>> FractionalMaxPoolGrad(PrepareContext& p) {
  const Images m = Images::Of(p.attrs(), p.input_shape(0), p.input_shape(1));
  const int64_t image = m.in[0] * m.in[1] * m.channels;
  const int threads = p.services().threads;
  return DispatchType(FractionalTypes{}, p.input_dtype(0), [&]<typename T>() {
    return MakeKernel([=](RunContext& r) -> absl::Status {
      const int64_t *const rows = r.input<int64_t>(3), *const columns = r.input<int64_t>(4);
      TENON_RETURN_IF_ERROR(m.CheckSequences(rows, columns));
      const T *const x = r.input<T>(0), *const y = r.input<T>(1), *const dy = r.input<T>(2);
      T* const dx = r.output<T>(0);
      std::vector<char> agrees(static_cast<size_t>(m.batch), 1);
      const int64_t grain = ParallelGrain(static_cast<double>(image) * 2);
      ParallelFor(threads, m.batch, grain, [&](int64_t begin, int64_t end) {
        std::fill(dx + begin * image, dx + end * image, T(0));
        for (int64_t i = begin * m.out[0]; i < end * m.out[0]; ++i) {
          const auto add = [&](int64_t to, const std::vector<int64_t>& window) {
            for (int64_t c = 0; c < m.channels; ++c) {
              const int64_t from = to * m.channels + c;
              if (Largest(window, x + c, m.channels) != y[from]) {
                agrees[static_cast<size_t>(i / m.out[0])] = 0;
              }
              T& sum = dx[LargestAt(window, x + c, m.channels) * m.channels + c];
              sum = WrapAdd(sum, dy[from]);
            }
          };
          m.ForWindows(i / m.out[0], i % m.out[0], rows, columns, add);
        }
      });
      if (std::count(agrees.begin(), agrees.end(), 1) == m.batch) return absl::OkStatus();
      return InvalidArgument("orig_output is not what FractionalMaxPool makes of orig_input");
    });
  });
}

absl::StatusOr<std::unique_ptr<Kernel>> FractionalAvgPoolGrad(PrepareContext& p) {
  if (p.value(0) == nullptr) return PrepareLate(p, FractionalAvgPoolGrad, {0});
  p.InputNotRead(0);
  const Images m = Images::Of(p.attrs(), p.output_shape(0), p.input_shape(1));
  const int64_t image = m.in[0] * m.in[1] * m.channels;
  const int threads = p.services().threads;
  return DispatchType(FractionalTypes{}, p.output_dtype(0), [&]<typename T>() {
    return MakeKernel([=](RunContext& r) -> absl::Status {
      const int64_t *const rows = r.input<int64_t>(2), *const columns = r.input<int64_t>(3);
      TENON_RETURN_IF_ERROR(m.CheckSequences(rows, columns));
      const T* const dy = r.input<T>(1);
      T* const dx = r.output<T>(0);
      const int64_t grain = ParallelGrain(static_cast<double>(image) * 2);
      ParallelFor(threads, m.batch, grain, [&](int64_t begin, int64_t end) {
        std::vector<double> sums(static_cast<size_t>(image));
        std::vector<double> shares(static_cast<size_t>(m.channels));
        for (int64_t n = begin; n < end; ++n) {
          std::fill(sums.begin(), sums.end(), 0);
          double* const first = sums.data();
          for (int64_t row = 0; row < m.out[0]; ++row) {
            const auto spread = [&](int64_t from, const std::vector<int64_t>& window) {
              for (size_t c = 0; c < shares.size(); ++c) {
                shares[c] = static_cast<double>(dy[from * m.channels + static_cast<int64_t>(c)]) /
                            static_cast<double>(window.size());
              }
              for (int64_t i : window) {
                double* const to = first + (i - n * m.in[0] * m.in[1]) * m.channels;
                for (size_t c = 0; c < shares.size(); ++c) to[c] += shares[c];
              }
            };
            m.ForWindows(n, row, rows, columns, spread);
          }
          std::transform(sums.begin(), sums.end(), dx + n * image, FromDouble<T>);
        }
      });
      return absl::OkStatus();
    });
  });
}

}  // namespace tenon
