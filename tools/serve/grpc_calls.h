// The services on the gRPC port, and what their calls share.
#ifndef TENON_TOOLS_SERVE_GRPC_CALLS_H_
#define TENON_TOOLS_SERVE_GRPC_CALLS_H_

#include <memory>
#include <string>

#include "tools/serve/grpc_call.h"
#include "tools/serve/grpc_server.h"
#include "tools/serve/grpc_stream.h"
#include "tools/serve/kserve.h"
#include "tools/serve/predict.h"
#include "tools/serve/tokens.h"
#include "tools/serve/trace.h"

namespace tenon::serve {

// The trace that the call is part of, which its answer names, too. Before anything is written.
Trace TraceOf(GrpcCall& call);

// Counts a call that has ended, and logs it if the caller traces it.
void CountCall(const std::string& model, const char* api, const Trace& trace,
               const absl::Status& status, Clock::time_point start);

CallCounts CountedCalls();

// Adds the methods of PredictionService, ModelService and GRPCInferenceService. `tokens` may be
// null: everyone may call.
void AddMethods(Predictor& predictor, KServe& kserve, OpenStreams& streams, const Tokens* tokens,
                GrpcMethods& methods);

}  // namespace tenon::serve

#endif  // TENON_TOOLS_SERVE_GRPC_CALLS_H_
