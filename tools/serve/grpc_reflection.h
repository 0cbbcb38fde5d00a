// Server reflection, v1 and v1alpha: tools such as grpcurl learn services and messages from it.
#ifndef TENON_TOOLS_SERVE_GRPC_REFLECTION_H_
#define TENON_TOOLS_SERVE_GRPC_REFLECTION_H_

#include "tools/serve/grpc_call.h"
#include "tools/serve/grpc_streams.h"

namespace tenon::serve {

// Adds reflection on all that `methods` has, itself included. `streams` must outlive the calls.
void AddReflection(OpenStreams& streams, GrpcMethods& methods);

}  // namespace tenon::serve

#endif  // TENON_TOOLS_SERVE_GRPC_REFLECTION_H_
