#include "env/memory_account.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "env/status.h"

namespace tenon {
namespace {

thread_local const MemoryScope* innermost = nullptr;

}  // namespace

std::atomic<int> MemoryCharge::accounts_ = 0;

MemoryAccount::MemoryAccount(int64_t limit) : limit_(limit) {
  MemoryCharge::accounts_.fetch_add(1, std::memory_order_relaxed);
}

MemoryAccount::~MemoryAccount() { MemoryCharge::accounts_.fetch_sub(1, std::memory_order_relaxed); }

absl::Status MemoryAccount::Take(size_t bytes, MemoryUse use) {
  int64_t held = held_.load(std::memory_order_relaxed);
  do {
    if (held > limit_ || bytes > static_cast<size_t>(limit_ - held)) {
      return absl::ResourceExhaustedError(absl::StrCat(
          bytes, " bytes do not fit in the memory limit: of ", limit_, " bytes, ", held,
          " are held (weights ", this->held(MemoryUse::kWeights), ", packed weights ",
          this->held(MemoryUse::kPacked), ", runs ", this->held(MemoryUse::kRun), ")"));
    }
  } while (!held_.compare_exchange_weak(held, held + static_cast<int64_t>(bytes),
                                        std::memory_order_relaxed));
  const int64_t now = held + static_cast<int64_t>(bytes);
  int64_t peak = peak_.load(std::memory_order_relaxed);
  while (now > peak && !peak_.compare_exchange_weak(peak, now, std::memory_order_relaxed)) {
  }
  by_use_[static_cast<size_t>(use)].fetch_add(static_cast<int64_t>(bytes),
                                              std::memory_order_relaxed);
  return absl::OkStatus();
}

void MemoryAccount::Give(int64_t bytes, MemoryUse use) {
  by_use_[static_cast<size_t>(use)].fetch_sub(bytes, std::memory_order_relaxed);
  held_.fetch_sub(bytes, std::memory_order_relaxed);
}

void MemoryScope::Enter(const std::shared_ptr<MemoryAccount>& account) {
  account_ = account;
  outer_ = innermost;
  innermost = this;
}

void MemoryScope::Leave() { innermost = outer_; }

const MemoryScope* MemoryScope::Innermost() { return innermost; }

SharedMemoryScope::SharedMemoryScope(const MemoryScope* scope) : own_(innermost) {
  innermost = scope;
}
SharedMemoryScope::~SharedMemoryScope() { innermost = own_; }

int64_t MemoryScope::Available() {
  if (innermost == nullptr) return std::numeric_limits<int64_t>::max();
  const MemoryAccount& account = *innermost->account_;
  return std::max<int64_t>(0, account.limit() - account.held());
}

void MemoryCharge::Assign(MemoryCharge&& other) {
  if (this == &other) return;
  if (!empty()) Release();
  account_ = std::move(other.account_);
  bytes_ = other.bytes_;
  use_ = other.use_;
}

absl::StatusOr<MemoryCharge> MemoryCharge::OfScope(size_t bytes) {
  MemoryCharge charge;
  if (innermost == nullptr) return charge;
  TENON_RETURN_IF_ERROR(innermost->account_->Take(bytes, innermost->use_));
  charge.account_ = innermost->account_;
  charge.bytes_ = static_cast<int64_t>(bytes);
  charge.use_ = innermost->use_;
  return charge;
}

std::shared_ptr<const void> MemoryCharge::Attach(std::shared_ptr<const void> memory) && {
  if (empty() || memory == nullptr) return memory;
  struct Charged {
    MemoryCharge charge;
    std::shared_ptr<const void> memory;
  };
  auto charged = std::make_shared<Charged>(Charged{std::move(*this), std::move(memory)});
  const void* const data = charged->memory.get();
  return std::shared_ptr<const void>(std::move(charged), data);
}

void MemoryCharge::Release() {
  account_->Give(bytes_, use_);
  account_ = nullptr;
}

}  // namespace tenon
