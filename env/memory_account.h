// Counts the memory of a session against its limit.
//
//   const auto account = std::make_shared<MemoryAccount>(limit);
//   const MemoryScope scope(account, MemoryUse::kRun);  // for what this thread allocates
//   TENON_ASSIGN_OR_RETURN(Tensor t, Tensor::Allocate(dtype, shape));  // ResourceExhausted: too
//   much
//
// Without an account in scope nothing is counted; while the process has no account at all, an
// allocation pays for one load.
#ifndef TENON_ENV_MEMORY_ACCOUNT_H_
#define TENON_ENV_MEMORY_ACCOUNT_H_

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace tenon {

// What memory is taken for; for messages.
enum class MemoryUse { kWeights, kPacked, kRun };

class MemoryAccount {
 public:
  explicit MemoryAccount(int64_t limit);
  ~MemoryAccount();
  MemoryAccount(const MemoryAccount&) = delete;
  MemoryAccount& operator=(const MemoryAccount&) = delete;

  int64_t limit() const { return limit_; }
  int64_t held() const { return held_.load(std::memory_order_relaxed); }
  int64_t held(MemoryUse use) const {
    return by_use_[static_cast<size_t>(use)].load(std::memory_order_relaxed);
  }
  int64_t peak() const { return peak_.load(std::memory_order_relaxed); }

  // ResourceExhausted if that would exceed the limit; the message says what is held.
  absl::Status Take(size_t bytes, MemoryUse use);
  void Give(int64_t bytes, MemoryUse use);

 private:
  const int64_t limit_;
  std::atomic<int64_t> held_ = 0;
  std::atomic<int64_t> peak_ = 0;
  std::array<std::atomic<int64_t>, 3> by_use_ = {};
};

// Counts what the calling thread allocates during its lifetime. A null account changes nothing, so
// that an outer scope goes on.
class MemoryScope {
 public:
  MemoryScope(const std::shared_ptr<MemoryAccount>& account, MemoryUse use) : use_(use) {
    if (account != nullptr) Enter(account);
  }
  ~MemoryScope() {
    if (account_ != nullptr) Leave();
  }
  // What the account in scope has left; without one, the largest number.
  static int64_t Available();
  // The calling thread's; null if it is in none.
  static const MemoryScope* Innermost();
  MemoryScope(const MemoryScope&) = delete;
  MemoryScope& operator=(const MemoryScope&) = delete;

 private:
  friend class MemoryCharge;
  void Enter(const std::shared_ptr<MemoryAccount>& account);
  void Leave();

  std::shared_ptr<MemoryAccount> account_;
  const MemoryUse use_;
  const MemoryScope* outer_ = nullptr;
};

// During its lifetime, what the calling thread allocates counts in the scope of a thread that it
// works for and that waits for it; null: of one that is in no scope.
class SharedMemoryScope {
 public:
  explicit SharedMemoryScope(const MemoryScope* scope);
  ~SharedMemoryScope();
  SharedMemoryScope(const SharedMemoryScope&) = delete;
  SharedMemoryScope& operator=(const SharedMemoryScope&) = delete;

 private:
  const MemoryScope* const own_;
};

// Bytes that count until it is destroyed. They may outlive the session.
class MemoryCharge {
 public:
  MemoryCharge() = default;
  MemoryCharge(MemoryCharge&& other) = default;
  MemoryCharge& operator=(MemoryCharge&& other) {
    if (!empty() || !other.empty()) Assign(std::move(other));
    return *this;
  }
  ~MemoryCharge() {
    if (!empty()) Release();
  }

  // Whether the process has any account; if not, there is nothing to charge.
  static bool AnyAccount() { return accounts_.load(std::memory_order_relaxed) != 0; }
  // Charges the account in scope. Empty if there is none; ResourceExhausted as in Take.
  static absl::StatusOr<MemoryCharge> Of(size_t bytes) {
    if (!AnyAccount()) return MemoryCharge();
    return OfScope(bytes);
  }
  bool empty() const { return account_ == nullptr; }
  // Memory that stays charged as long as it is held.
  std::shared_ptr<const void> Attach(std::shared_ptr<const void> memory) &&;

 private:
  friend class MemoryAccount;
  static absl::StatusOr<MemoryCharge> OfScope(size_t bytes);
  void Assign(MemoryCharge&& other);
  void Release();

  static std::atomic<int> accounts_;  // in the process
  std::shared_ptr<MemoryAccount> account_;
  int64_t bytes_ = 0;
  MemoryUse use_ = MemoryUse::kRun;
};

}  // namespace tenon

#endif  // TENON_ENV_MEMORY_ACCOUNT_H_
