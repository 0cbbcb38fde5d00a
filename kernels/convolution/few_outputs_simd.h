// Sums of a convolution with few output channels. A vector holds adjacent terms of one sum, not
// adjacent channels of the output, which would leave most of it empty.
#ifndef TENON_KERNELS_CONVOLUTION_FEW_OUTPUTS_SIMD_H_
#define TENON_KERNELS_CONVOLUTION_FEW_OUTPUTS_SIMD_H_

#include <cstddef>

namespace tenon {

// Terms of a window that lie side by side in the image and in the filter, at these floats.
struct WindowRun {
  size_t image, filter, length;
  // Whether the sum of a part ends here, which has an accumulator of its own; the last run's does.
  bool ends_part = false;
};

// out[p, o] = the sum of image[run.image + p * image_step + i] * filter[o][run.filter + i] over all
// runs and i < run.length, for adjacent pixels p of the output. Then, in this order and as far as
// they are there, bias[o] and addend[p, o] are added, and negative results and those above 6
// replaced.
struct FewOutputs {
  const float* image = nullptr;
  size_t image_step = 0;
  const WindowRun* runs = nullptr;
  size_t num_runs = 0;
  const float* filter = nullptr;
  size_t filter_step = 0;  // from output channel to output channel
  size_t pixels = 0, outputs = 0;
  const float *bias = nullptr, *addend = nullptr;
  bool clamp_low = false, clamp_high = false;
  float* out = nullptr;  // dense, as `addend`; they may be the same
};
using FewOutputsFn = void (*)(const FewOutputs&);

struct FewOutputsLoops {
  FewOutputsFn compute = nullptr;
  size_t lanes = 0;  // sums that a part has at the same time
};
FewOutputsLoops FindFewOutputsLoops();

}  // namespace tenon

#endif  // TENON_KERNELS_CONVOLUTION_FEW_OUTPUTS_SIMD_H_
