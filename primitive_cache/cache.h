// The session's cache of primitives: a BoundedCache (env/bounded_cache.h). Keys are typed structs
// (hashed with absl, compared with ==); each key type is a separate name space.
//
//   auto conv = cache.GetOrCreate<Primitive>(problem, [&] { return Build(problem); });
#ifndef TENON_PRIMITIVE_CACHE_CACHE_H_
#define TENON_PRIMITIVE_CACHE_CACHE_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <typeinfo>
#include <utility>

#include "absl/functional/function_ref.h"
#include "absl/hash/hash.h"
#include "absl/status/statusor.h"
#include "env/bounded_cache.h"

namespace tenon {

struct Flags;

class PrimitiveCache {
 public:
  static constexpr CacheLimits kDefaultLimits = {.entries = 4096, .bytes = int64_t{512} << 20};

  explicit PrimitiveCache(const CacheLimits& limits = kDefaultLimits);
  // As the flags say: none with TENON_PRIMITIVE_CACHE=0.
  static CacheLimits LimitsOf(const Flags& flags);
  ~PrimitiveCache();
  PrimitiveCache(const PrimitiveCache&) = delete;
  PrimitiveCache& operator=(const PrimitiveCache&) = delete;

  // `make` returns absl::StatusOr<std::shared_ptr<const Value>>; Value has `size_t bytes() const`.
  template <typename Value, typename Key, typename Make>
  absl::StatusOr<std::shared_ptr<const Value>> GetOrCreate(const Key& key, Make make) {
    absl::StatusOr<std::shared_ptr<const Erased>> found =
        Lookup(BorrowedKey<Key>(key), [&make]() -> absl::StatusOr<std::shared_ptr<const Erased>> {
          absl::StatusOr<std::shared_ptr<const Value>> made = make();
          if (!made.ok()) return made.status();
          const size_t bytes = (*made)->bytes();
          return std::make_shared<const Erased>(Erased{*std::move(made), bytes});
        });
    if (!found.ok()) return found.status();
    return std::static_pointer_cast<const Value>((*found)->value);
  }

  CacheStats statistics() const;
  void Clear();  // keeps the statistics

 private:
  struct AnyKey {
    virtual ~AnyKey() = default;
    virtual const std::type_info& type() const = 0;
    virtual const void* get() const = 0;
    virtual size_t Hash() const = 0;
    virtual bool Equals(const AnyKey& other) const = 0;
    virtual std::unique_ptr<const AnyKey> Copy() const = 0;
  };
  template <typename Key>
  struct TypedKey : AnyKey {
    const std::type_info& type() const final { return typeid(Key); }
    const Key& key() const { return *static_cast<const Key*>(this->get()); }
    size_t Hash() const final { return absl::HashOf(typeid(Key).hash_code(), key()); }
    bool Equals(const AnyKey& other) const final {
      return other.type() == typeid(Key) && *static_cast<const Key*>(other.get()) == key();
    }
    std::unique_ptr<const AnyKey> Copy() const final {
      return std::make_unique<const OwnedKey<Key>>(key());
    }
  };
  template <typename Key>
  struct BorrowedKey final : TypedKey<Key> {
    explicit BorrowedKey(const Key& key) : borrowed(key) {}
    const void* get() const override { return &borrowed; }
    const Key& borrowed;
  };
  template <typename Key>
  struct OwnedKey final : TypedKey<Key> {
    explicit OwnedKey(const Key& key) : owned(key) {}
    const void* get() const override { return &owned; }
    const Key owned;
  };
  struct Erased {
    std::shared_ptr<const void> value;
    size_t held = 0;
    size_t bytes() const { return held; }
  };
  struct Query;
  struct State;

  absl::StatusOr<std::shared_ptr<const Erased>> Lookup(
      const AnyKey& key, absl::FunctionRef<absl::StatusOr<std::shared_ptr<const Erased>>()> make);

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
