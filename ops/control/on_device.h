// `_OnDevice`: a node that was placed on a plug-in's device. No rewrite rule matches it, so exactly
// the op that the user placed runs there. It keeps the attributes of the original op.
#ifndef TENON_OPS_CONTROL_ON_DEVICE_H_
#define TENON_OPS_CONTROL_ON_DEVICE_H_

#include <string>

#include "graph/graph.h"

namespace tenon {

inline constexpr char kOnDevice[] = "_OnDevice";
inline constexpr char kOnDeviceOp[] = "_op";          // the original op
inline constexpr char kOnDeviceDevice[] = "_device";  // "APU:0"
inline constexpr char kOnDeviceIn[] = "_Tin";
inline constexpr char kOnDeviceOut[] = "_Tout";

inline bool IsOnDevice(const Node& node) { return node.op == kOnDevice; }

// The original node.
Node OriginalNode(const Node& on_device);

}  // namespace tenon

#endif  // TENON_OPS_CONTROL_ON_DEVICE_H_
