// XlaCallModule: a StableHLO module in a node's attribute, as jax2tf and Keras with JAX export it.
#ifndef TENON_PROTO_IMPORT_CALL_MODULE_H_
#define TENON_PROTO_IMPORT_CALL_MODULE_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "graph/graph.h"

namespace tenon {

namespace tf {
class FunctionDef;
}  // namespace tf

struct ModuleFunctions {
  ModuleFunctions();
  ModuleFunctions(ModuleFunctions&&) noexcept;
  ModuleFunctions& operator=(ModuleFunctions&&) noexcept;
  ~ModuleFunctions();

  std::vector<std::unique_ptr<tf::FunctionDef>> functions;
};

// The module's main function as TensorFlow's ops, under the name `name`, and the functions that its
// control flow calls. It takes the node's inputs and gives its outputs. Unimplemented, naming the
// op of StableHLO, for modules that need what Tenon does not have, or that are for other devices.
absl::StatusOr<ModuleFunctions> LowerCallModule(const Node& node, const std::string& name);

}  // namespace tenon

#endif  // TENON_PROTO_IMPORT_CALL_MODULE_H_
