// futures MODEL: concurrent runs of one session with a deadline and a way to stop them, and single
// ops that return at once.
#include <chrono>
#include <future>
#include <iostream>
#include <tenon/tenon.hpp>
#include <vector>

#include "digit.h"

int main(int argc, char** argv) {
  if (argc != 2) {
    std::cerr << "usage: futures MODEL\n";
    return 2;
  }
  try {
    tenon::SessionOptions options;
    options.threads = 1;  // per run, since several run at once
    tenon::Session session(argv[1], options);
    const tenon::CancelToken stop;  // stop.Request(), from any thread, ends all runs that have it
    tenon::RunOptions run;
    run.timeout = std::chrono::seconds(5);
    run.cancel = &stop;

    const tenon::Tensor image = tenon::Tensor::From<float>({1, 8, 8, 1}, kSix);
    std::vector<std::future<tenon::Tensor>> futures;
    for (int i = 0; i < 4; ++i) {
      futures.push_back(
          std::async(std::launch::async, [&] { return session.Run({image}, run).at(0); }));
    }
    // A future has its result, or throws the error of its run.
    for (std::future<tenon::Tensor>& future : futures) {
      const tenon::Handle logits(future.get());
      // Single ops on worker threads: Read waits for those that the result needs.
      const std::vector<tenon::Handle> softmax = tenon::eager::Submit("Softmax", {&logits});
      std::cout << "probability of a six: " << softmax.at(0).Read().data<float>()[6] << "\n";
    }
    stop.Request();
    session.Run({image}, run);  // throws
  } catch (const tenon::Error& error) {
    if (error.code() == TENON_CANCELLED) {
      std::cout << "stopped: " << error.what() << "\n";
      return 0;
    }
    std::cerr << error.what() << "\n";
  }
  return 1;
}
