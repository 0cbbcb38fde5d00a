#include "runtime/quantize/compare.h"

#include <algorithm>
#include <cmath>

namespace tenon {

void Difference::Add(const Tensor& exact, const Tensor& other) {
  const float *x = exact.data<float>(), *y = other.data<float>();
  for (int64_t i = 0; i < exact.num_elements(); ++i) {
    const double a = x[i], b = y[i];
    ++n_;
    x_ += a;
    y_ += b;
    xx_ += a * a;
    yy_ += b * b;
    xy_ += a * b;
    dd_ += (a - b) * (a - b);
  }
}

double Difference::error() const { return dd_ == 0 ? 0 : std::sqrt(dd_ / xx_); }

double Difference::correlation() const {
  const double xy = n_ * xy_ - x_ * y_, xx = n_ * xx_ - x_ * x_, yy = n_ * yy_ - y_ * y_;
  return dd_ == 0 ? 1 : xy / std::sqrt(xx * yy);
}

int64_t CountTop1(const Tensor& scores, const std::vector<int64_t>& labels, int64_t first) {
  const int64_t classes = scores.shape()[1];
  int64_t right = 0;
  for (int64_t i = 0; i < scores.shape()[0]; ++i) {
    const float* row = scores.data<float>() + i * classes;
    right += std::max_element(row, row + classes) - row == labels[static_cast<size_t>(first + i)];
  }
  return right;
}

}  // namespace tenon
