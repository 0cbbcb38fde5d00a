// Depthwise convolutions of narrow numbers, line by line: what kernels of 8-bit integers and of
// bfloat16 share. Images are channels last, with two spatial dimensions; channels have one filter
// each, which is constant.
#ifndef TENON_KERNELS_CONVOLUTION_DEPTHWISE_LINES_H_
#define TENON_KERNELS_CONVOLUTION_DEPTHWISE_LINES_H_

#include <array>
#include <memory>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "absl/functional/function_ref.h"
#include "kernels/contraction/packed_weights.h"
#include "kernels/convolution/conv_geometry.h"
#include "kernels/convolution/depthwise_lines_simd.h"
#include "kernels/interface/kernel.h"

namespace tenon {

// A filter [height, width, channels] of qint8 or bfloat16.
struct DepthwiseFilter {
  size_t height = 0, width = 0, channels = 0;
  NarrowForm form = NarrowForm::kIntegers;
  size_t lanes = 0, word_taps = 0;  // of the form's loops

  size_t element_bytes() const { return form == NarrowForm::kBfloat16 ? 2 : 1; }
  size_t vectors() const { return (channels + lanes - 1) / lanes; }
  size_t words() const { return (height + word_taps - 1) / word_taps; }  // of a column
  size_t vector_words() const { return width * words() * lanes; }
  // Where the sums of all filters begin, in int32, for integers: [vectors][lanes].
  size_t sums_at() const { return vectors() * vector_words(); }
};

class DepthwiseLines {
 public:
  // Packs input 1. Unimplemented if that is not constant, for convolutions of another form, empty
  // tensors, and forms without loops for this CPU.
  static absl::StatusOr<DepthwiseLines> Make(PrepareContext& p, const ConvGeometry& g,
                                             NarrowForm form);

  // Integers as left numbers: `flip` as for NarrowLoops::widen; `zero` stands for 0 then.
  void SetZero(uint8_t flip, uint8_t zero);

  const DepthwiseFilter& filter() const { return filter_; }
  // Scratch memory of all ranges of Run. `ns`: what the caller takes for a vector of sums.
  size_t PlanRanges(int threads, double ns);

  // Calls fn, from several threads, for parts that make up the result: a row is a pixel, counted
  // over all images, a column a channel.
  void Run(const void* images, void* scratch, absl::FunctionRef<void(const NarrowSums&)> fn) const;

 private:
  DepthwiseLines() = default;

  // The columns of the image that the windows of a piece read.
  struct Source {
    DepthwiseColumns columns;
    absl::InlinedVector<const char*, 8> rows;
    absl::InlinedVector<size_t, 8> steps;  // 0: a row outside the image

    void Skip(size_t bytes) {
      for (size_t k = 0; k < rows.size(); ++k) rows[k] += steps[k] == 0 ? 0 : bytes;
    }
  };

  static constexpr size_t kPaddingBytes = 256;

  const int32_t* words() const { return static_cast<const int32_t*>(weights_->data()); }
  int64_t parts() const;
  int64_t tasks() const { return g_.batch * g_.out[0] * parts(); }
  size_t Columns(size_t outputs) const;
  size_t PieceColumns() const;  // of the longest piece
  Source SourceOf(const char* images, int64_t line, int64_t x, size_t outputs, int32_t* to) const;
  void Pad(int32_t* words, size_t n) const;
  void RunPiece(const char* images, int64_t line, size_t x, size_t outputs, size_t vector,
                size_t vectors, char* scratch, absl::FunctionRef<void(const NarrowSums&)> fn) const;

  ConvGeometry g_;
  DepthwiseFilter filter_;
  const DepthwiseLoops* loops_ = nullptr;
  std::shared_ptr<const PackedWeights> weights_;
  uint8_t flip_ = 0, zero_ = 0;
  std::vector<int32_t> start_;                 // of each filter's sums
  std::array<char, kPaddingBytes> padding_{};  // a pixel outside the image
  size_t words_bytes_ = 0, range_bytes_ = 0;   // scratch memory of a range
  int threads_ = 1;
  int64_t grain_ = 1;
};

}  // namespace tenon

#endif  // TENON_KERNELS_CONVOLUTION_DEPTHWISE_LINES_H_
