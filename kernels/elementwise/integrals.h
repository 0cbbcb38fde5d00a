// Special functions that are integrals, computed in double by a series near 0 and by a continued
// fraction or an asymptotic expansion far from it.
#ifndef TENON_KERNELS_ELEMENTWISE_INTEGRALS_H_
#define TENON_KERNELS_ELEMENTWISE_INTEGRALS_H_

namespace tenon {

// exp(-x^2) times the integral of exp(t^2) from 0 to x.
double Dawson(double x);
// The exponential integral Ei; NaN for x < 0.
double Expint(double x);
// The integrals of cos(pi t^2 / 2) and sin(pi t^2 / 2) from 0 to x.
double FresnelCos(double x);
double FresnelSin(double x);
// -integral of log(t) / (t - 1) from 1 to x, = Li2(1 - x); NaN for x < 0.
double Spence(double x);

}  // namespace tenon

#endif  // TENON_KERNELS_ELEMENTWISE_INTEGRALS_H_
