// ModelStreamInfer: requests and answers on one stream.
#ifndef TENON_TOOLS_SERVE_GRPC_STREAM_H_
#define TENON_TOOLS_SERVE_GRPC_STREAM_H_

#include <memory>

#include "tools/serve/grpc_call.h"
#include "tools/serve/grpc_streams.h"
#include "tools/serve/kserve.h"

namespace tenon::serve {

// Answers in the order of the requests; several of them run at a time. A request that fails has its
// error in its answer, and the stream goes on.
void StartInferStream(KServe& kserve, const std::shared_ptr<GrpcCall>& call, OpenStreams& streams);

}  // namespace tenon::serve

#endif  // TENON_TOOLS_SERVE_GRPC_STREAM_H_
