// ModelStreamInfer: requests and answers on one stream.
#ifndef TENON_TOOLS_SERVE_GRPC_STREAM_H_
#define TENON_TOOLS_SERVE_GRPC_STREAM_H_

#include <grpcpp/grpcpp.h>

#include <mutex>
#include <set>

#include "absl/status/status.h"
#include "inference.grpc.pb.h"
#include "tools/serve/kserve.h"

namespace tenon::serve {

class InferStream;

// The streams that are open. Outlives them.
class InferStreams {
 public:
  // Answers in the order of the requests; several of them run at a time. A request that fails has
  // its error in its answer, and the stream goes on. `allowed`: whether the caller may call at all.
  grpc::ServerBidiReactor<inference::ModelInferRequest, inference::ModelStreamInferResponse>* Start(
      KServe& kserve, grpc::CallbackServerContext* context, const absl::Status& allowed);
  // Ends each stream with UNAVAILABLE once what it has read is answered.
  void Drain();

 private:
  friend class InferStream;
  std::mutex mutex_;
  std::set<InferStream*> open_;
  bool draining_ = false;
};

}  // namespace tenon::serve

#endif  // TENON_TOOLS_SERVE_GRPC_STREAM_H_
