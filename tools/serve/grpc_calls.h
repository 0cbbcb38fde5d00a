// The services on the gRPC port, and what their calls share.
#ifndef TENON_TOOLS_SERVE_GRPC_CALLS_H_
#define TENON_TOOLS_SERVE_GRPC_CALLS_H_

#include <grpcpp/grpcpp.h>

#include <memory>
#include <string>
#include <vector>

#include "tools/serve/grpc_server.h"
#include "tools/serve/grpc_stream.h"
#include "tools/serve/kserve.h"
#include "tools/serve/predict.h"
#include "tools/serve/tokens.h"
#include "tools/serve/trace.h"

namespace tenon::serve {

grpc::Status ToGrpc(const absl::Status& status);
Caller CallerOf(grpc::CallbackServerContext* context);
// The first header of this name that the client sent; empty if there is none.
absl::string_view Metadata(const grpc::CallbackServerContext* context, const char* name);
// Counts a call that has ended, and logs it if the caller traces it.
void CountCall(const std::string& model, const char* api, const Trace& trace,
               const absl::Status& status, Clock::time_point start);

CallCounts CountedCalls();

// PredictionService, ModelService and GRPCInferenceService. `tokens` may be null: everyone may
// call.
std::vector<std::unique_ptr<grpc::Service>> MakeServices(Predictor& predictor, KServe& kserve,
                                                         InferStreams& streams,
                                                         const Tokens* tokens);

}  // namespace tenon::serve

#endif  // TENON_TOOLS_SERVE_GRPC_CALLS_H_
