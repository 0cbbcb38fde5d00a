// Inputs for measuring where none are given.
#ifndef TENON_TOOLS_RANDOM_INPUTS_H_
#define TENON_TOOLS_RANDOM_INPUTS_H_

#include <string>
#include <vector>

#include "absl/container/btree_map.h"
#include "absl/status/statusor.h"
#include "runtime/session/session.h"

namespace tenon {

struct InputShapes {
  int64_t batch = 1;                          // for an unknown first dimension
  absl::btree_map<std::string, Shape> given;  // by input
};

// "NAME=1,224,224,3"; "NAME=" is a scalar.
absl::Status ParseShapeArg(const std::string& text, InputShapes& shapes);

// Seeded: the same for the same name, dtype and shape. Floats in 0..1, integers 0 or 1 (which any
// table can be indexed with), images of bytes 0..255. Unknown dimensions are 1 unless given.
absl::StatusOr<std::vector<Tensor>> RandomInputs(const std::vector<TensorInfo>& inputs,
                                                 const InputShapes& shapes);

}  // namespace tenon

#endif  // TENON_TOOLS_RANDOM_INPUTS_H_
