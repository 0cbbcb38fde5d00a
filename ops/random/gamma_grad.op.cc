// RandomGammaGrad: the derivative of a gamma-distributed sample with respect to alpha.
#include <Eigen/Core>
#include <unsupported/Eigen/SpecialFunctions>

#include "kernels/elementwise/reference.h"
#include "ops/op.h"

namespace tenon {
namespace {

constexpr auto kGammaSampleSlope = [](auto alpha, auto sample) {
  return Eigen::numext::gamma_sample_der_alpha(alpha, sample);
};

const OpRegistration random_gamma_grad_op({
    .name = "RandomGammaGrad",
    .inputs = "alpha: T, sample: T",
    .outputs = "output: T",
    .attrs = "T: type",
    .types = "T: float double",
    .shape = BroadcastBinaryShape,
    .reference = Binary<kGammaSampleSlope, TypeList<float, double>, kSeriesNs>,
    .elementwise = true,
    .error_bound = ErrorBound::kSpecialFunction,
});

}  // namespace
}  // namespace tenon
