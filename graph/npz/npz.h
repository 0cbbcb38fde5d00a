// Reads and writes NumPy's .npz: a zip of .npy files, one per named tensor.
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

// In file order. Errors name the file and the entry. A stated size is trusted only as far as the
// compressed bytes can expand.
absl::StatusOr<std::vector<std::pair<std::string, Tensor>>> ReadNpz(const std::string& path);

// Writes the whole file or nothing: writes beside `path` and renames (devices and pipes are written
// to directly). Not compressed, like numpy.savez.
absl::Status WriteNpz(const std::string& path,
                      absl::Span<const std::pair<std::string, Tensor>> tensors);

}  // namespace tenon

#endif  // TENON_GRAPH_NPZ_NPZ_H_
