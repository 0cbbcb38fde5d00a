// The session's cache of primitives. Keys are typed structs (hashed with absl, compared with ==);
// each key type is a separate name space. A value is built once, outside the lock; threads that ask
// for it in the meantime wait for that build. If a build fails, all waiting threads get the error,
// and nothing is cached. The cache is bounded by count and bytes and evicts the least recently used
// entry. Results never depend on the cache: whoever holds a value keeps it alive after eviction.
//
//   auto conv = cache.GetOrCreate<Primitive>(problem, [&] { return Build(problem); });
#ifndef TENON_PRIMITIVE_CACHE_CACHE_H_
#define TENON_PRIMITIVE_CACHE_CACHE_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <typeinfo>
#include <utility>

#include "absl/hash/hash.h"
#include "absl/status/statusor.h"

namespace tenon {

class PrimitiveCache {
 public:
  struct Limits {
    bool enabled = true;
    int64_t entries = 0;  // 0: kDefaultEntries
    int64_t bytes = 0;    // 0: kDefaultBytes
  };
  static constexpr int64_t kDefaultEntries = 4096;
  static constexpr int64_t kDefaultBytes = int64_t{512} << 20;

  struct Statistics {
    int64_t hits = 0;  // found, or waited for another thread's build
    int64_t misses = 0;
    int64_t failures = 0;
    int64_t evictions = 0;
    int64_t entries = 0;
    int64_t bytes = 0;
  };

  PrimitiveCache() : PrimitiveCache(Limits{}) {}
  explicit PrimitiveCache(const Limits& limits);
  ~PrimitiveCache();
  PrimitiveCache(const PrimitiveCache&) = delete;
  PrimitiveCache& operator=(const PrimitiveCache&) = delete;

  // `make` returns absl::StatusOr<std::shared_ptr<const Value>>; Value has `size_t bytes() const`.
  // A disabled cache calls `make` every time.
  template <typename Value, typename Key, typename Make>
  absl::StatusOr<std::shared_ptr<const Value>> GetOrCreate(const Key& key, Make make) {
    absl::StatusOr<Erased> found =
        Lookup(std::make_unique<TypedKey<Key>>(key), [&make]() -> absl::StatusOr<Erased> {
          absl::StatusOr<std::shared_ptr<const Value>> made = make();
          if (!made.ok()) return made.status();
          return Erased{*made, (*made)->bytes()};
        });
    if (!found.ok()) return found.status();
    return std::static_pointer_cast<const Value>(found->value);
  }

  Statistics statistics() const;
  void Clear();  // keeps the statistics

 private:
  struct AnyKey {
    virtual ~AnyKey() = default;
    virtual size_t Hash() const = 0;
    virtual bool Equals(const AnyKey& other) const = 0;
  };
  template <typename Key>
  struct TypedKey final : AnyKey {
    explicit TypedKey(const Key& k) : key(k) {}
    size_t Hash() const override { return absl::HashOf(typeid(Key).hash_code(), key); }
    bool Equals(const AnyKey& other) const override {
      return typeid(other) == typeid(*this) && static_cast<const TypedKey<Key>&>(other).key == key;
    }
    const Key key;
  };
  struct Erased {
    std::shared_ptr<const void> value;
    size_t bytes = 0;
  };
  struct State;

  absl::StatusOr<Erased> Lookup(std::unique_ptr<const AnyKey> key,
                                const std::function<absl::StatusOr<Erased>()>& make);

  const std::unique_ptr<State> state_;
};

// Gets the value from `cache`, or builds it directly if `cache` is null.
template <typename Value, typename Key, typename Make>
absl::StatusOr<std::shared_ptr<const Value>> GetOrCreate(PrimitiveCache* cache, const Key& key,
                                                         Make make) {
  if (cache == nullptr) return make();
  return cache->GetOrCreate<Value>(key, std::move(make));
}

}  // namespace tenon

#endif  // TENON_PRIMITIVE_CACHE_CACHE_H_
