#include "kernels/random/distorted_box.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <vector>

#include "env/status.h"
#include "kernels/interface/types.h"
#include "kernels/random/sequence.h"
#include "kernels/random/stateless.h"

namespace tenon {
namespace {

// In pixels.
struct Box {
  int64_t top = 0, left = 0, bottom = 0, right = 0;

  float Area() const { return static_cast<float>((bottom - top) * (right - left)); }
  Box Intersection(const Box& other) const {
    const Box both{std::max(top, other.top), std::max(left, other.left),
                   std::min(bottom, other.bottom), std::min(right, other.right)};
    return both.top > both.bottom || both.left > both.right ? Box() : both;
  }
};

// Rounded to nearest, ties to even; numbers that no image has become the nearest ones.
int64_t Nearest(double v) {
  constexpr double kMost = 0x1p31;
  return std::isnan(v) ? 0 : static_cast<int64_t>(std::nearbyint(std::clamp(v, -kMost, kMost)));
}

int64_t PixelsBelow(int64_t n, PhiloxStream& random) {
  return random.NextBelow(static_cast<uint32_t>(n));
}

// A crop with that aspect ratio: its height is uniformly distributed between those that the areas
// allow. None if no size fits.
std::optional<Box> RandomCrop(int64_t image_height, int64_t image_width, const CropLimits& limits,
                              float aspect, PhiloxStream& random) {
  if (image_height <= 0 || image_width <= 0 || limits.least_area > limits.largest_area) return {};
  const float w = static_cast<float>(image_width), h = static_cast<float>(image_height);
  const float least = limits.least_area * w * h, largest = limits.largest_area * w * h;
  const auto width_of = [&](int64_t height) {
    return Nearest(static_cast<float>(height) * aspect);
  };
  int64_t height = Nearest(std::sqrt(least / aspect));
  int64_t most = Nearest(std::sqrt(largest / aspect));
  if (width_of(most) > image_width) {
    // The largest height whose width fits.
    constexpr float kLess = 1e-7f;
    most = Nearest(std::trunc((static_cast<double>(image_width) + 0.5 - kLess) / aspect));
    if (width_of(most) > image_width) --most;
  }
  most = std::min(most, image_height);
  height = std::min(height, most);
  if (height < most) height += PixelsBelow(most - height + 1, random);
  // Rounding may have led out of the areas.
  const auto area_of = [&](int64_t rows) { return static_cast<float>(rows * width_of(rows)); };
  if (area_of(height) < least) ++height;
  if (area_of(height) > largest) --height;
  const int64_t width = width_of(height);
  if (area_of(height) < least || area_of(height) > largest || width > image_width ||
      height > image_height || width <= 0 || height <= 0) {
    return {};
  }
  Box crop;
  if (height < image_height) crop.top = PixelsBelow(image_height - height, random);
  if (width < image_width) crop.left = PixelsBelow(image_width - width, random);
  crop.bottom = crop.top + height;
  crop.right = crop.left + width;
  return crop;
}

bool CoversOne(const Box& crop, float covered, const std::vector<Box>& objects) {
  constexpr float kLeastArea = 1;
  if (crop.Area() < kLeastArea) return false;
  return std::any_of(objects.begin(), objects.end(), [&](const Box& object) {
    const float area = object.Area();
    return area >= kLeastArea && crop.Intersection(object).Area() / area >= covered;
  });
}

absl::StatusOr<std::vector<Box>> ObjectsOf(const float* boxes, int64_t count, int64_t height,
                                           int64_t width) {
  std::vector<Box> objects;
  for (int64_t i = 0; i < count; ++i) {
    const auto pixel = [&](int64_t k, int64_t size) {
      return static_cast<int64_t>(boxes[4 * i + k] * static_cast<float>(size));
    };
    for (int64_t k = 0; k < 4; ++k) {
      if (boxes[4 * i + k] >= 0 && boxes[4 * i + k] <= 1) continue;
      return InvalidArgument("coordinates of bounding boxes must be in [0, 1], but one is ",
                             boxes[4 * i + k]);
    }
    objects.push_back({pixel(0, height), pixel(1, width), pixel(2, height), pixel(3, width)});
  }
  return objects;
}

template <typename T>
absl::Status SampleBox(RunContext& r, const CropLimits& limits, int64_t boxes,
                       PhiloxStream random) {
  const int64_t height = static_cast<int64_t>(r.input<T>(0)[0]);
  const int64_t width = static_cast<int64_t>(r.input<T>(0)[1]);
  if (std::min(height, width) < 0 ||
      std::max(height, width) >= std::numeric_limits<int32_t>::max()) {
    return InvalidArgument("an image of size ", height, " x ", width);
  }
  TENON_ASSIGN_OR_RETURN(std::vector<Box> objects,
                         ObjectsOf(r.input<float>(1), boxes, height, width));
  const Box image{0, 0, height, width};
  if (objects.empty()) {
    if (!limits.image_is_object) {
      return InvalidArgument(
          "there are no bounding boxes, and use_image_if_no_bounding_boxes is false");
    }
    objects.push_back(image);
  }
  Box crop = image;
  for (int64_t i = 0; i < limits.attempts; ++i) {
    const float aspect =
        random.NextFloat() * (limits.largest_aspect - limits.least_aspect) + limits.least_aspect;
    const std::optional<Box> next = RandomCrop(height, width, limits, aspect, random);
    if (!next || !CoversOne(*next, limits.covered, objects)) continue;
    crop = *next;
    break;
  }
  T *const begin = r.output<T>(0), *const size = r.output<T>(1);
  begin[0] = static_cast<T>(crop.top);
  begin[1] = static_cast<T>(crop.left);
  begin[2] = 0;
  size[0] = static_cast<T>(crop.bottom - crop.top);
  size[1] = static_cast<T>(crop.right - crop.left);
  size[2] = static_cast<T>(-1);  // all channels
  const float h = static_cast<float>(height), w = static_cast<float>(width);
  float* const box = r.output<float>(2);
  box[0] = static_cast<float>(crop.top) / h;
  box[1] = static_cast<float>(crop.left) / w;
  box[2] = static_cast<float>(crop.bottom) / h;
  box[3] = static_cast<float>(crop.right) / w;
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<CropLimits> CropLimits::Of(const AttrReader& attrs) {
  CropLimits limits;
  TENON_ASSIGN_OR_RETURN(const std::vector<float> aspects, attrs.Floats("aspect_ratio_range"));
  TENON_ASSIGN_OR_RETURN(const std::vector<float> areas, attrs.Floats("area_range"));
  if (aspects.size() != 2 || areas.size() != 2) {
    return InvalidArgument("aspect_ratio_range and area_range must have 2 elements, have ",
                           aspects.size(), " and ", areas.size());
  }
  for (float aspect : aspects) {
    if (!(aspect > 0)) return InvalidArgument("an aspect ratio must be positive, is ", aspect);
  }
  for (float area : areas) {
    if (!(area > 0 && area <= 1)) return InvalidArgument("an area must be in (0, 1], is ", area);
  }
  limits.least_aspect = aspects[0];
  limits.largest_aspect = aspects[1];
  limits.least_area = areas[0];
  limits.largest_area = areas[1];
  limits.covered = attrs.Float("min_object_covered", 0);
  if (!(limits.covered >= 0)) {
    return InvalidArgument("min_object_covered must not be negative, is ", limits.covered);
  }
  constexpr int64_t kMostAttempts = 1000000;
  limits.attempts = std::min(attrs.Int("max_attempts", 0), kMostAttempts);
  if (limits.attempts < 1) {
    return InvalidArgument("max_attempts must be positive, is ", limits.attempts);
  }
  limits.image_is_object = attrs.Bool("use_image_if_no_bounding_boxes", false);
  return limits;
}

absl::StatusOr<std::unique_ptr<Kernel>> DistortedBox(PrepareContext& p) {
  TENON_ASSIGN_OR_RETURN(const CropLimits limits, CropLimits::Of(p.attrs()));
  const int64_t boxes = p.input_shape(1).num_elements() / 4;
  const bool has_covered = p.num_inputs() > 2, has_seed = p.num_inputs() > 3;
  const DType seed_type = has_seed ? p.input_dtype(3) : DType::kInvalid;
  return DispatchType(Ints{}, p.input_dtype(0), [&]<typename T>() {
    return MakeKernel([=, sequence = RandomSequence::Of(p.attrs())](RunContext& r) -> absl::Status {
      CropLimits at_run = limits;
      if (has_covered) at_run.covered = *r.input<float>(2);
      if (!(at_run.covered >= 0)) {
        return InvalidArgument("min_object_covered must not be negative, is ", at_run.covered);
      }
      const Philox generator = has_seed
                                   ? PhiloxOfSeed(seed_type, r.input(3))
                                   : sequence->Take(static_cast<uint64_t>(limits.attempts) * 4);
      return SampleBox<T>(r, at_run, boxes, PhiloxStream(generator));
    });
  });
}

}  // namespace tenon
