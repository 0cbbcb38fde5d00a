// Inputs for measurements: those of a file, or random ones.
#ifndef TENON_TOOLS_RANDOM_INPUTS_H_
#define TENON_TOOLS_RANDOM_INPUTS_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "env/containers.h"
#include "env/status.h"
#include "graph/npz/npz.h"
#include "runtime/session/session.h"

namespace tenon {

struct InputShapes {
  int64_t batch = 1;                     // for an unknown first dimension
  OrderedMap<std::string, Shape> given;  // by input
};

// "NAME=1,224,224,3"; "NAME=" is a scalar.
absl::Status ParseShapeArg(const std::string& text, InputShapes& shapes);

// Seeded: the same name, dtype and shape give the same values. Floats are in 0..1, integers 0 or 1
// (which can index any table), images bytes 0..255. Unknown dimensions are 1 unless given.
absl::StatusOr<std::vector<Tensor>> RandomInputs(const std::vector<TensorInfo>& inputs,
                                                 const InputShapes& shapes);

// The inputs of `model` (a Session or an EagerModel), in its order: those of the .npz file `path`
// by name; random ones of `shapes` (as ParseShapeArg reads them) and `batch` if `path` is empty.
template <typename M>
absl::StatusOr<std::vector<Tensor>> InputsFor(const M& model, const std::string& path,
                                              const std::vector<std::string>& shapes,
                                              int64_t batch) {
  if (!path.empty()) {
    TENON_ASSIGN_OR_RETURN(const std::vector<NamedTensor> named, ReadNpz(path));
    return model.Arrange(named);
  }
  InputShapes wanted;
  wanted.batch = batch;
  for (const std::string& text : shapes) TENON_RETURN_IF_ERROR(ParseShapeArg(text, wanted));
  return RandomInputs(model.inputs(), wanted);
}

}  // namespace tenon

#endif  // TENON_TOOLS_RANDOM_INPUTS_H_
