// Parses the signature strings of an OpRow (ops/op.h describes the format).
#ifndef TENON_OPS_SIGNATURE_H_
#define TENON_OPS_SIGNATURE_H_

#include "absl/status/statusor.h"
#include "ops/op.h"

namespace tenon {

absl::StatusOr<OpSignature> ParseSignature(const OpRow& row);

}  // namespace tenon

#endif  // TENON_OPS_SIGNATURE_H_
