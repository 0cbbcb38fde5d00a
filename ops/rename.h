// Renames ops to native ops: the decision that the graph's rename phase and eager calls share.
#ifndef TENON_OPS_RENAME_H_
#define TENON_OPS_RENAME_H_

#include <string>
#include <vector>

#include "ops/op.h"

namespace tenon {

// The dtypes of the row's accelerated kernel, for the first type attribute: `native_types`, and
// half with float, in which it is then computed (kernels/elementwise/half_in_float.h).
std::vector<DType> NativeTypes(const OpInfo& op);

// The row's native name if it has an accelerated kernel for the node's dtype; otherwise null and,
// if `why` is given, the reason.
const char* NativeName(const OpInfo& op, const Node& node, std::string* why = nullptr);

}  // namespace tenon

#endif  // TENON_OPS_RENAME_H_
