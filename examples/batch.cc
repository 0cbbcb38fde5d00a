// batch MODEL: the same images one by one and in batches, into memory that is allocated once;
// prints images per second.
#include <algorithm>
#include <chrono>
#include <iostream>
#include <tenon/tenon.hpp>
#include <vector>

#include "digit.h"

namespace {

constexpr int kImages = 512;

// Classifies kImages images, `rows` in each run.
double ImagesPerSecond(tenon::Session& session, int64_t rows) {
  tenon::Tensor images = tenon::Tensor::Create<float>({rows, 8, 8, 1});
  for (int64_t row = 0; row < rows; ++row) {
    std::copy(std::begin(kSix), std::end(kSix), images.data<float>() + 64 * row);
  }
  tenon::Tensor logits = tenon::Tensor::Create<float>({rows, 10});
  tenon::Tensor* const outputs[] = {&logits};
  session.RunInto({images}, outputs);  // the first run of a batch size makes its plan

  const auto start = std::chrono::steady_clock::now();
  for (int64_t done = 0; done < kImages; done += rows) session.RunInto({images}, outputs);
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
  return kImages / seconds.count();
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::cerr << "usage: batch MODEL\n";
    return 2;
  }
  try {
    tenon::Session session(argv[1]);
    for (const int64_t rows : {1, 8, 64}) {
      std::cout << "batch " << rows << ": " << ImagesPerSecond(session, rows)
                << " images per second\n";
    }
  } catch (const tenon::Error& error) {
    std::cerr << error.what() << "\n";
    return 1;
  }
}
