// A pass of transforms along one axis of a tensor of floats or doubles: all lines of the axis, in
// groups of one line for each vector lane, in parallel.
#ifndef TENON_KERNELS_FFT_LINE_PASS_H_
#define TENON_KERNELS_FFT_LINE_PASS_H_

#include <algorithm>
#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "graph/shape.h"
#include "hwy/aligned_allocator.h"
#include "kernels/fft/fft_lines.h"

namespace tenon {

enum class LineForm {
  kForward,      // complex to complex
  kInverse,      // complex to complex, scaled by 1 / n
  kReal,         // real signal to the first n / 2 + 1 values of its spectrum
  kRealInverse,  // the inverse of kReal, scaled by 1 / n
};

template <typename T>
class LinePass {
 public:
  // Lines of n points along `axis` of the output. The input may be larger than what is read of it.
  // Unimplemented if vector code would not pay.
  static absl::StatusOr<LinePass> Make(LineForm form, int64_t n, int axis, const Shape& input,
                                       const Shape& output, int threads);

  // Of a complex pass along the middle of three axes: multiplies number k of column j of the
  // results by exp(-2 pi i k j / (n * columns)), or its inverse in an inverse pass.
  void TwistColumns();
  // Of a complex pass along the last of three axes: exchanges the last two axes of the output.
  void TransposeOutput();

  int64_t ScratchNumbers() const;
  // Complex tensors are pairs of numbers. A complex pass may work in place. `scratch` is aligned to
  // a cache line.
  void Run(const T* in, T* out, T* scratch) const;

 private:
  // A tensor's lines: the axis, and the other dimensions.
  struct Side {
    int64_t step = 1;              // from point to point
    std::vector<int64_t> strides;  // by other dimension
    int64_t Offset(const std::vector<int64_t>& counts, int64_t line) const;
  };

  LinePass() = default;
  bool FromReal() const { return form_ == LineForm::kReal; }
  bool ToReal() const { return form_ == LineForm::kRealInverse; }
  // Complex numbers in a buffer: a half-length transform of a real signal has one more in its
  // spectrum.
  int64_t Numbers() const {
    return std::max(static_cast<int64_t>(tables_.points) + 1, chirp_.padded);
  }
  void Group(int64_t first, const T* in, T* out, T* x, T* y) const;
  // Transforms x; uses y. Returns the one of them that has the result.
  T* Transform(T* x, T* y) const;
  void Load(const T* in, const int64_t* offsets, T* x) const;
  void Store(const T* x, const int64_t* offsets, size_t lines, T* out) const;
  // Whether the lines at all offsets follow one another.
  bool Neighbors(const int64_t* offsets) const;

  LineForm form_ = LineForm::kForward;
  int64_t n_ = 0;
  bool halved_ = false;  // a real signal of even length is a complex one of half the length
  FftTables<T> tables_;
  FftChirp<T> chirp_;  // empty if the tables have stages
  FftTables<T> padded_;
  FftLines<T> lines_ = {};
  hwy::AlignedFreeUniquePtr<T[]> twist_;  // the factors of each group of lines
  int64_t twist_groups_ = 1;              // which repeat
  Side in_, out_;
  std::vector<int64_t> counts_;  // of lines, by other dimension
  int64_t num_lines_ = 1;
  int threads_ = 1;
  int64_t grain_ = 1;
};

}  // namespace tenon

#endif  // TENON_KERNELS_FFT_LINE_PASS_H_
