// profiling MODEL TRACE: where the time of a run goes, as a file for Perfetto (ui.perfetto.dev),
// and what the model holds.
#include <fstream>
#include <iostream>
#include <tenon/tenon.hpp>

#include "digit.h"

int main(int argc, char** argv) {
  if (argc != 3) {
    std::cerr << "usage: profiling MODEL TRACE\n";
    return 2;
  }
  try {
    tenon::Session session(argv[1]);
    const tenon::Tensor image = tenon::Tensor::From<float>({1, 8, 8, 1}, kSix);
    session.Run({image});  // the first run prepares kernels

    tenon::Profile profile;
    tenon::RunOptions options;
    options.profile = &profile;
    for (int i = 0; i < 10; ++i) session.Run({image}, options);
    std::ofstream(argv[2]) << profile.Trace();
    std::cout << profile.Report()
              << "\n";  // JSON: each step's node, op, implementation, nanoseconds, FLOP

    const tenon_memory memory = session.Memory();
    std::cout << profile.num_runs() << " runs; weights " << memory.weights << " bytes, packed "
              << memory.packed << " bytes\n";
  } catch (const tenon::Error& error) {
    std::cerr << error.what() << "\n";
    return 1;
  }
}
