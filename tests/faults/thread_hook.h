// pthread_create, replaced in the whole test program, so that it can fail as when a limit of
// processes is reached.
#ifndef TENON_TESTS_FAULTS_THREAD_HOOK_H_
#define TENON_TESTS_FAULTS_THREAD_HOOK_H_

namespace tenon::faults {

// During its lifetime `allowed` more threads can be started.
class ThreadLimit {
 public:
  explicit ThreadLimit(int allowed);
  ~ThreadLimit();
  ThreadLimit(const ThreadLimit&) = delete;
  ThreadLimit& operator=(const ThreadLimit&) = delete;
};

}  // namespace tenon::faults

#endif  // TENON_TESTS_FAULTS_THREAD_HOOK_H_
