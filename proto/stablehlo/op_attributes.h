// Which attributes each op of VHLO has. Bytecode lists their values without their names.
#ifndef TENON_PROTO_STABLEHLO_OP_ATTRIBUTES_H_
#define TENON_PROTO_STABLEHLO_OP_ATTRIBUTES_H_

#include "absl/strings/string_view.h"

namespace tenon::stablehlo {

// The attributes of an op with its version ("compare_v1"), in the file's order, separated by
// spaces; empty for ops without attributes and for unknown ones.
absl::string_view AttributesOf(absl::string_view op);

// "compare" for "compare_v1".
absl::string_view WithoutVersion(absl::string_view op);

}  // namespace tenon::stablehlo

#endif  // TENON_PROTO_STABLEHLO_OP_ATTRIBUTES_H_
