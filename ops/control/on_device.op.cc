// The plan runs these nodes on their device (runtime/execution/device_step.h), so there is no
// kernel here.
#include "ops/control/on_device.h"

#include "env/status.h"
#include "ops/evaluate.h"
#include "ops/op.h"

namespace tenon {

Node OriginalNode(const Node& on_device) {
  Node node = on_device;
  node.op.clear();
  if (const std::string* op = on_device.attr<std::string>(kOnDeviceOp)) node.op = *op;
  for (const char* name : {kOnDeviceOp, kOnDeviceDevice, kOnDeviceIn, kOnDeviceOut}) {
    node.attrs.erase(name);
  }
  return node;
}

namespace {

absl::Status OnDeviceShape(ShapeContext& c) {
  const Node node = OriginalNode(c.node());
  const OpLookup op = FindOp(node.op);
  if (!op) return InvalidArgument("there is no op '", node.op, "'");
  std::vector<TensorSpec> inputs;
  for (int i = 0; i < c.num_inputs(); ++i) {
    inputs.push_back({c.dtype(i), c.input(i), c.value(i)});
  }
  TENON_ASSIGN_OR_RETURN(const std::vector<TensorSpec> outputs,
                         InferOutputs(*op.info, node, inputs));
  if (static_cast<int>(outputs.size()) != c.num_outputs()) {
    return InvalidArgument("'", node.op, "' has ", outputs.size(), " outputs, not ",
                           c.num_outputs());
  }
  for (int i = 0; i < c.num_outputs(); ++i) c.set_output(i, outputs[static_cast<size_t>(i)].shape);
  return absl::OkStatus();
}

const OpRegistration on_device({
    .name = kOnDevice,
    .inputs = "args: _Tin",
    .outputs = "results: _Tout",
    .attrs = "_Tin: list(type); _Tout: list(type); _op: string; _device: string",
    .shape = OnDeviceShape,
    .stateful = true,  // it must run on the chosen device each time
    .eager = false,
    .internal = true,
});

}  // namespace
}  // namespace tenon
