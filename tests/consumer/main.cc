// consumer MODEL: runs an MLP of one float input [?, n] on ones, and checks that errors arrive.
#include <cstdio>
#include <string>
#include <vector>

#include "tenon/tenon.hpp"

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  try {
    tenon::Session session(argv[1]);
    tenon::Tensor input = tenon::Tensor::Create<float>({2, 16});
    for (int64_t i = 0; i < input.num_elements(); ++i) input.data<float>()[i] = 1;
    std::vector<tenon::Tensor> outputs = session.Run({&input});
    const float* scores = outputs.at(0).data<float>();
    std::printf("%s: %g %g\n", session.output_names().at(0).c_str(), scores[0], scores[1]);
    if (outputs[0].dims() != std::vector<int64_t>{2, 1} || scores[0] != scores[1]) return 1;
    std::vector<tenon::Tensor> sum = tenon::eager::Execute("AddV2", {&outputs[0], &outputs[0]});
    if (sum.at(0).data<float>()[0] != 2 * scores[0]) return 1;
    tenon::Tensor wrong = tenon::Tensor::Create<float>({2, 15});
    try {
      session.Run({&wrong});
      return 1;
    } catch (const tenon::Error& error) {
      std::printf("as it should: %s\n", error.what());
      if (error.code() != TENON_INVALID_ARGUMENT) return 1;
    }
    try {
      tenon::Generator generator(session);  // an MLP takes no tokens
      return 1;
    } catch (const tenon::Error& error) {
      std::printf("as it should: %s\n", error.what());
    }
    return 0;
  } catch (const tenon::Error& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
