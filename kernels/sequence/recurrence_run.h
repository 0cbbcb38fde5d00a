// The memory of one run of _Recurrence: what its two kernels share.
#ifndef TENON_KERNELS_SEQUENCE_RECURRENCE_RUN_H_
#define TENON_KERNELS_SEQUENCE_RECURRENCE_RUN_H_

#include <algorithm>
#include <cstdint>

#include "kernels/sequence/recurrence.h"

namespace tenon {

struct RecurrenceSizes {
  int64_t steps = 0, batch = 0, units = 0;
  int64_t width = 0;    // of h and y: units, unless they are projected
  int64_t y_steps = 0;  // of y and the mask: steps, unless the mask is longer
};
inline RecurrenceSizes SizesOf(const PrepareContext& p, const RecurrenceAttrs& a) {
  const Shape &x = p.input_shape(0), &h = p.input_shape(a.state(0, 0));
  const int64_t steps = x.dim(a.time_major ? 0 : 1);
  const int64_t y_steps =
      a.longer_mask ? p.input_shape(a.mask(0)).dim(a.mask_time_major ? 0 : 1) : steps;
  return {steps, h.dim(0), x.dim(2) / a.gates(), h.dim(1), y_steps};
}

// One sequence: where its rows are. Rows of x have gates * units elements, rows of y `width`.
struct SequenceMemory {
  SequenceMemory(const RecurrenceAttrs& a, const RecurrenceSizes& sizes, RunContext& run, int s)
      : steps(sizes.steps),
        y_steps(sizes.y_steps),
        batch(sizes.batch),
        last_only(a.last_only),
        x_reverse(a.reverse[static_cast<size_t>(s)] != 0),
        y_reverse(a.y_reverse[static_cast<size_t>(s)] != 0),
        mask_reverse(a.mask_reverse[static_cast<size_t>(s)] != 0),
        x(run.input<float>(a.x(s))),
        bias(a.biased ? run.input<float>(a.bias(s)) : nullptr),
        peephole(a.peephole ? run.input<float>(a.peepholes(s)) : nullptr),
        mask(a.masked ? run.input<uint8_t>(a.mask(s)) : nullptr),
        y(run.output<float>(a.y(s))) {
    const int64_t columns = a.gates() * sizes.units;
    x_row = a.time_major ? columns : steps * columns;
    x_step = a.time_major ? batch * columns : columns;
    y_row = a.y_time_major || last_only ? sizes.width : y_steps * sizes.width;
    mask_row = a.mask_time_major ? 1 : y_steps;
    mask_step = a.mask_time_major ? batch : 1;
    y_step = last_only ? 0 : a.y_time_major ? batch * sizes.width : sizes.width;
  }
  const float* XAt(int64_t t) const { return x + (x_reverse ? steps - 1 - t : t) * x_step; }
  float* YAt(int64_t t) const { return y + (y_reverse ? y_steps - 1 - t : t) * y_step; }
  // Of row 0; null without a mask.
  const uint8_t* MaskAt(int64_t t) const {
    return mask == nullptr ? nullptr : mask + (mask_reverse ? steps - 1 - t : t) * mask_step;
  }

  int64_t steps, y_steps, batch;
  bool last_only, x_reverse, y_reverse, mask_reverse;
  const float *x, *bias, *peephole;
  const uint8_t* mask;
  float* y;
  int64_t x_row, x_step, y_row, y_step, mask_row, mask_step;
};

}  // namespace tenon

#endif  // TENON_KERNELS_SEQUENCE_RECURRENCE_RUN_H_
