// DecodeProtoV2 and EncodeProto: messages' fields as tensors.
#ifndef TENON_KERNELS_EXAMPLE_PROTO_DECODE_MESSAGE_H_
#define TENON_KERNELS_EXAMPLE_PROTO_DECODE_MESSAGE_H_

#include <memory>

#include "absl/status/statusor.h"
#include "kernels/interface/kernel.h"

namespace tenon {

// Input: messages. Outputs: how often each field occurs in each message, and for each field its
// values, as many as the message has that has most, at least one; missing ones are the default.
absl::StatusOr<std::unique_ptr<Kernel>> DecodeMessageKernel(PrepareContext& p);

// Inputs: how many values of each field a message gets, and for each field its values. Output: the
// messages, fields in the order of their numbers.
absl::StatusOr<std::unique_ptr<Kernel>> EncodeMessageKernel(PrepareContext& p);

}  // namespace tenon

#endif  // TENON_KERNELS_EXAMPLE_PROTO_DECODE_MESSAGE_H_
