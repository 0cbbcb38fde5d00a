// Runs a model before it gets requests, so that the first of them finds it compiled.
#ifndef TENON_TOOLS_SERVE_WARM_UP_H_
#define TENON_TOOLS_SERVE_WARM_UP_H_

#include <memory>

#include "absl/status/status.h"
#include "tools/serve/predict.h"

namespace tenon::serve {

// Replays assets.extra/tf_serving_warmup_requests, each request `iterations` times; an error of one
// is an error here. Without that file, runs the default signature once with zeros, one row; an
// error of that is only logged.
absl::Status WarmUp(Predictor& predictor, const std::shared_ptr<Servable>& servable,
                    int iterations);

}  // namespace tenon::serve

#endif  // TENON_TOOLS_SERVE_WARM_UP_H_
