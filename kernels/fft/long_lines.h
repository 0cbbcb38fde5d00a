// Transforms of a few long lines, too few for a vector lane each. A line of rows * columns points
// is a matrix: a pass along its columns, a factor for each number and a pass along its rows give
// the transposed spectrum. A length with a large prime factor takes two such transforms of about
// twice as many points (see FftChirp).
#ifndef TENON_KERNELS_FFT_LONG_LINES_H_
#define TENON_KERNELS_FFT_LONG_LINES_H_

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "kernels/fft/line_pass.h"

namespace tenon {

template <typename T>
class LongLines {
 public:
  // `lines` lines of n points, one after the other. Unimplemented if this would not be faster than
  // a LinePass.
  static absl::StatusOr<LongLines> Make(LineForm form, int64_t lines, int64_t n, int threads);

  int64_t ScratchNumbers() const;
  // As LinePass::Run.
  void Run(const T* in, T* out, T* scratch) const;

 private:
  LongLines(LinePass<T> columns, LinePass<T> rows)
      : columns_(std::move(columns)), rows_(std::move(rows)) {}
  bool halved() const { return !half_turns_.empty(); }
  bool chirped() const { return chirp_.padded > 0; }
  // The transform in complex_form_.
  void Transform(const T* in, T* out, T* scratch) const;
  void TransformChirped(const T* in, T* out, T* scratch) const;
  // Numbers [begin, end) of the padded line from those of a line, times w; of the results.
  void LoadChirped(const T* line, int64_t begin, int64_t end, T* padded) const;
  void StoreChirped(const T* padded, int64_t begin, int64_t end, T* line) const;
  // From the transforms of z[k] = x[2k] + i x[2k+1] to the halves of the spectra of x, and back.
  void Split(const T* z, T* spectrum) const;
  void Join(const T* spectrum, T* z) const;

  template <typename F>
  void ForParts(int64_t n, F f) const;
  int64_t VectorPart(decltype(FftLines<T>::split_line) combine, int64_t begin, int64_t end,
                     const T* from, T* to) const {
    return static_cast<int64_t>(combine(half_turns_.data(), static_cast<size_t>(points_),
                                        static_cast<size_t>(begin), static_cast<size_t>(end), from,
                                        to));
  }

  LinePass<T> columns_, rows_;
  FftLines<T> loops_ = {};
  LineForm form_ = LineForm::kForward;
  // Of what is left when a real signal of even length has become a complex one of half the length.
  LineForm complex_form_ = LineForm::kForward;
  int64_t lines_ = 0, points_ = 0;
  std::vector<T> half_turns_;  // see FftTables; empty unless such a signal is halved
  FftChirp<T> chirp_;          // empty if the points make a matrix
  int threads_ = 1;
};

}  // namespace tenon

#endif  // TENON_KERNELS_FFT_LONG_LINES_H_
