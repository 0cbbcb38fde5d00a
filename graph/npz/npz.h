// NumPy's .npz: a zip of .npy files, one per named tensor.
#ifndef TENON_GRAPH_NPZ_NPZ_H_
#define TENON_GRAPH_NPZ_NPZ_H_

#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "graph/tensor.h"

namespace tenon {

// In the order of the file. Errors name the file and the entry. Sizes that the zip promises are
// believed only as far as its compressed bytes can give.
absl::StatusOr<std::vector<std::pair<std::string, Tensor>>> ReadNpz(const std::string& path);

// Whole or not at all: written beside `path` and renamed (devices and pipes are written to). Not
// compressed, as by numpy.savez.
absl::Status WriteNpz(const std::string& path,
                      absl::Span<const std::pair<std::string, Tensor>> tensors);

}  // namespace tenon

#endif  // TENON_GRAPH_NPZ_NPZ_H_
