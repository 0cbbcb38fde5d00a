// The inverse functions of the error function and of the normal distribution. NaN outside of the
// range of what they invert; infinite at its ends.
#ifndef TENON_KERNELS_ELEMENTWISE_QUANTILES_H_
#define TENON_KERNELS_ELEMENTWISE_QUANTILES_H_

namespace tenon {

// The y with erf(y) = x.
double InverseErf(double x);
// The y that a normally distributed number is below with probability p.
float NormalQuantile(float p);
double NormalQuantile(double p);

}  // namespace tenon

#endif  // TENON_KERNELS_ELEMENTWISE_QUANTILES_H_
