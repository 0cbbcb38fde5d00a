// A random crop of an image that covers enough of one of its objects, as TensorFlow draws it, with
// identical numbers for the same seeds.
#ifndef TENON_KERNELS_RANDOM_DISTORTED_BOX_H_
#define TENON_KERNELS_RANDOM_DISTORTED_BOX_H_

#include <memory>

#include "absl/status/statusor.h"
#include "kernels/interface/kernel.h"

namespace tenon {

// What the attributes ask of a crop. InvalidArgument for aspect ratios that are not positive, areas
// that are not in (0, 1], or no attempts.
struct CropLimits {
  float least_aspect = 0, largest_aspect = 0;  // width / height
  float least_area = 0, largest_area = 0;      // relative to the image's
  float covered = 0;                           // least part of an object; input 2 if there is one
  int64_t attempts = 0;
  bool image_is_object = false;  // if there are no boxes

  static absl::StatusOr<CropLimits> Of(const AttrReader& attrs);
};

// Inputs: the image's size [3], integers; the objects' boxes [batch, n, 4], each y_min, x_min,
// y_max, x_max in [0, 1]; possibly min_object_covered, and then a seed [2]. Without a seed, each
// kernel has a sequence by attributes seed and seed2. Outputs: the crop's start [3] and size [3],
// for Slice, and its box [1, 1, 4]. The whole image if no attempt finds a crop, of which there are
// at most a million. InvalidArgument at Run for boxes out of range, and if there are none and
// use_image_if_no_bounding_boxes is false.
absl::StatusOr<std::unique_ptr<Kernel>> DistortedBox(PrepareContext& p);

}  // namespace tenon

#endif  // TENON_KERNELS_RANDOM_DISTORTED_BOX_H_
