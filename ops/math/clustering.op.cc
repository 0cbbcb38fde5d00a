// NearestNeighbors, KmeansPlusPlusInitialization, KMC2ChainInitialization: k-means clustering.
#include "kernels/interface/axis.h"
#include "kernels/random/k_means.h"
#include "kernels/reduction/nearest_neighbors.h"
#include "ops/op.h"

namespace tenon {
namespace {

absl::Status ExpectPoints(const Shape& points) {
  if (!points.has_rank() || points.dim(0) != 0) return absl::OkStatus();
  return InvalidArgument("there must be at least one point, but points have shape ",
                         points.ToString());
}

absl::Status NearestNeighborsShape(ShapeContext& c) {
  for (int i : {0, 1}) TENON_RETURN_IF_ERROR(c.ExpectRank(i, 2));
  TENON_RETURN_IF_ERROR(c.ExpectRank(2, 0));
  TENON_RETURN_IF_ERROR(ExpectPoints(c.input(0)));
  int64_t k = -1;
  if (c.value(2) != nullptr) {
    TENON_ASSIGN_OR_RETURN(k, ScalarInteger(*c.value(2), "k"));
    if (k < 0) return InvalidArgument("k must not be negative, is ", k);
  }
  Shape out = Shape::UnknownOfRank(2);
  if (c.input(0).has_rank()) out.set_dim(0, c.input(0).dim(0));
  if (c.input(1).has_rank()) {
    if (c.input(0).has_rank() &&
        !Shape({c.input(0).dim(1)}).CompatibleWith(Shape({c.input(1).dim(1)}))) {
      return InvalidArgument("points and centers of different dimensions: ", c.input(0).ToString(),
                             " and ", c.input(1).ToString());
    }
    if (k >= 0 && c.input(1).dim(0) >= 0) out.set_dim(1, std::min(k, c.input(1).dim(0)));
  }
  c.set_output(0, out);
  c.set_output(1, std::move(out));
  return absl::OkStatus();
}

absl::Status KMeansPlusPlusShape(ShapeContext& c) {
  TENON_RETURN_IF_ERROR(c.ExpectRank(0, 2));
  for (int i : {1, 2, 3}) TENON_RETURN_IF_ERROR(c.ExpectRank(i, 0));
  TENON_RETURN_IF_ERROR(ExpectPoints(c.input(0)));
  Shape out = Shape::UnknownOfRank(2);
  const int64_t points = c.input(0).has_rank() ? c.input(0).dim(0) : -1;
  if (c.input(0).has_rank()) out.set_dim(1, c.input(0).dim(1));
  if (c.value(1) != nullptr) {
    TENON_ASSIGN_OR_RETURN(const int64_t count, ScalarInteger(*c.value(1), "num_to_sample"));
    if (count < 1 || (points >= 0 && count > points)) {
      return InvalidArgument("num_to_sample must be from 1 to the number of points, ", points,
                             ", is ", count);
    }
    out.set_dim(0, count);
  }
  c.set_output(0, std::move(out));
  return absl::OkStatus();
}

absl::Status KMeansChainShape(ShapeContext& c) {
  TENON_RETURN_IF_ERROR(c.ExpectRank(0, 1));
  TENON_RETURN_IF_ERROR(c.ExpectRank(1, 0));
  TENON_RETURN_IF_ERROR(ExpectPoints(c.input(0)));
  return ScalarShape(c);
}

const OpRegistration nearest_neighbors({
    .name = "NearestNeighbors",
    .inputs = "points: float, centers: float, k: int64",
    .outputs = "nearest_center_indices: int64, nearest_center_distances: float",
    .shape = NearestNeighborsShape,
    .reference = NearestNeighbors,
    .discontinuous = true,
    .error_bound = ErrorBound::kMatrixProduct,
});

const OpRegistration k_means_plus_plus({
    .name = "KmeansPlusPlusInitialization",
    .inputs = "points: float, num_to_sample: int64, seed: int64, num_retries_per_sample: int64",
    .outputs = "samples: float",
    .shape = KMeansPlusPlusShape,
    .reference = KMeansPlusPlus,
    .discontinuous = true,
    .error_bound = ErrorBound::kExact,
});

const OpRegistration k_means_chain({
    .name = "KMC2ChainInitialization",
    .inputs = "distances: float, seed: int64",
    .outputs = "index: int64",
    .shape = KMeansChainShape,
    .reference = KMeansChain,
    .discontinuous = true,
    .error_bound = ErrorBound::kExact,
});

}  // namespace
}  // namespace tenon
