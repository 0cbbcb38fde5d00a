// std::condition_variable::wait, by the linker's --wrap (tools/cmake/TenonTargets.cmake). libstdc++
// 12 has a new version of the symbol, GLIBCXX_3.4.30, whose only difference is that it may be
// cancelled; this definition lets binaries run with older ones.
#include <pthread.h>

#include <condition_variable>
#include <mutex>

extern "C" void __wrap__ZNSt18condition_variable4waitERSt11unique_lockISt5mutexE(
    std::condition_variable* changed, std::unique_lock<std::mutex>* lock);

void __wrap__ZNSt18condition_variable4waitERSt11unique_lockISt5mutexE(
    std::condition_variable* changed, std::unique_lock<std::mutex>* lock) {
  pthread_cond_wait(changed->native_handle(), lock->mutex()->native_handle());
}
