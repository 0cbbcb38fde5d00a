// Counts the threads at work in our kernels: what tenon_tensorflow.thread_use() tells. Apart from
// the thread budget, which they must not exceed.
#ifndef TENON_TF_PLUGIN_THREAD_USE_H_
#define TENON_TF_PLUGIN_THREAD_USE_H_

namespace tenon::plugin {

// While it lives, `threads` are at work.
class CountedThreads {
 public:
  explicit CountedThreads(int threads);
  ~CountedThreads();
  CountedThreads(const CountedThreads&) = delete;
  CountedThreads& operator=(const CountedThreads&) = delete;

 private:
  const int threads_;
};

}  // namespace tenon::plugin

#endif  // TENON_TF_PLUGIN_THREAD_USE_H_
