// The values of what initializers compute when a model is loaded.
#ifndef TENON_PROTO_IMPORT_CONSTANT_VALUE_H_
#define TENON_PROTO_IMPORT_CONSTANT_VALUE_H_

#include <string>

#include "absl/status/statusor.h"
#include "env/containers.h"
#include "graph/tensor.h"
#include "proto/import/draft.h"

namespace tenon {

class VariableStore;

// The model's assets: paths by the name of the Const node that names the file.
using AssetFiles = HashMap<std::string, std::string>;

// The tensor, if it follows from constants, assets and the checkpoint (`store`; null: there is
// none). Unimplemented, naming the node, if it does not.
absl::StatusOr<Tensor> ConstantValue(const Draft& draft, Endpoint e, const AssetFiles& assets,
                                     VariableStore* store);

}  // namespace tenon

#endif  // TENON_PROTO_IMPORT_CONSTANT_VALUE_H_
