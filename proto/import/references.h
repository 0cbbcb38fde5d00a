// TensorFlow 1's variables in branches and loops. A reference that passes a Switch or an Enter can
// be changed behind it; a handle says the same, and survives functionalization.
#ifndef TENON_PROTO_IMPORT_REFERENCES_H_
#define TENON_PROTO_IMPORT_REFERENCES_H_

#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "proto/import/draft.h"

namespace tenon {

// The op on resource variables that corresponds to an op on TensorFlow 1's variables; "" if the op
// changes no variable.
std::string ResourceOp(absl::string_view op);
// Whether the op changes a variable of TensorFlow 1 and passes the reference to it on. (Otherwise
// its output is a value.)
bool PassesReference(absl::string_view op);
// The number of leading inputs that are variables.
size_t HandleInputs(const std::string& resource_op);
// Turns a node that changes a TensorFlow 1 variable into `op`, which changes a resource variable.
void MakeResourceOp(Node& n, const std::string& op);
// Turns the node into a read through `handle` of `variable`.
absl::Status MakeRead(Node& n, Endpoint handle, const Node& variable);

// If something changes a variable of TensorFlow 1 behind a Switch or an Enter, all such variables
// become VarHandleOps, and their uses reads and resource ops.
absl::Status ReferencesToHandles(Draft& draft);

}  // namespace tenon

#endif  // TENON_PROTO_IMPORT_REFERENCES_H_
