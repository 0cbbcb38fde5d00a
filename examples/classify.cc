// classify MODEL: what a model takes and gives, then one image classified, in C++.
#include <algorithm>
#include <iostream>
#include <tenon/tenon.hpp>

#include "digit.h"

int main(int argc, char** argv) {
  if (argc != 2) {
    std::cerr << "usage: classify MODEL\n";
    return 2;
  }
  try {
    tenon::Session session(argv[1]);
    for (const tenon::TensorSpec& input : session.inputs()) {
      std::cout << "takes " << input.name << " of rank " << (input.dims ? input.dims->size() : 0)
                << "\n";
    }
    for (const tenon::TensorSpec& output : session.outputs())
      std::cout << "gives " << output.name << "\n";

    const tenon::Tensor image = tenon::Tensor::From<float>({1, 8, 8, 1}, kSix);
    const tenon::Tensor logits = session.RunNamed({{"image", image}}, {"output_0"}).at(0);
    const tenon::Span<const float> scores = logits.elements<float>();
    const auto best = std::max_element(scores.begin(), scores.end());
    std::cout << "a " << best - scores.begin() << ", with logit " << *best << "\n";
  } catch (const tenon::Error& error) {
    std::cerr << error.what() << "\n";
    return 1;
  }
}
