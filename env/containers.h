// Tables that survive refused memory: if an insertion throws std::bad_alloc, the table is as it
// was.
//
// Abseil's hash tables change their capacity before they allocate, and mark a slot as used before
// its element is constructed; a table whose growth is refused is then damaged. HashMap and HashSet
// are abseil's tables with two changes: an element is complete before it is inserted, and a full
// table grows by filling a larger one and swapping. All other properties are abseil's: flat, lookup
// by string_view, references end when the table grows.
#ifndef TENON_ENV_CONTAINERS_H_
#define TENON_ENV_CONTAINERS_H_

#include <cstddef>
#include <functional>
#include <initializer_list>
#include <map>
#include <set>
#include <tuple>
#include <type_traits>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"

namespace tenon {

// Ordered tables; the standard library's keep their content if memory is refused. Abseil's B-trees
// move neighbors before they construct an element.
template <typename Key, typename Value>
using OrderedMap = std::map<Key, Value, std::less<>>;
template <typename Key>
using OrderedSet = std::set<Key, std::less<>>;

// What HashMap and HashSet share. Element: what an insertion moves into the table.
template <typename Table, typename Element>
class GuardedTable : protected Table {
 public:
  using typename Table::const_iterator;
  using typename Table::const_pointer;
  using typename Table::const_reference;
  using typename Table::difference_type;
  using typename Table::iterator;
  using typename Table::key_type;
  using typename Table::pointer;
  using typename Table::reference;
  using typename Table::size_type;
  using typename Table::value_type;

  GuardedTable() = default;
  // An empty table with the first capacity, a hash and an equality that hold state.
  GuardedTable(size_t capacity, const typename Table::hasher& hash,
               const typename Table::key_equal& equal)
      : Table(capacity, hash, equal) {}
  // The object is complete, and destroyed correctly, when the body begins to allocate.
  GuardedTable(std::initializer_list<value_type> elements) : GuardedTable() { insert(elements); }
  template <typename Iterator>
  GuardedTable(Iterator first, Iterator last) : GuardedTable() {
    insert(first, last);
  }
  GuardedTable(const GuardedTable& other)
      : Table(other.capacity(), other.hash_function(), other.key_eq()) {
    for (const auto& element : other) Table::insert(Element(element));
  }
  GuardedTable(GuardedTable&& other) noexcept
      : Table(std::move(other.table())), erased_(std::exchange(other.erased_, 0)) {}
  GuardedTable& operator=(const GuardedTable& other) {
    if (this != &other) GuardedTable(other).swap(*this);
    return *this;
  }
  GuardedTable& operator=(GuardedTable&& other) noexcept {
    Table::operator=(std::move(other.table()));
    erased_ = std::exchange(other.erased_, 0);
    return *this;
  }
  ~GuardedTable() = default;

  using Table::begin;
  using Table::capacity;
  using Table::cbegin;
  using Table::cend;
  using Table::empty;
  using Table::end;
  using Table::hash_function;
  using Table::key_eq;
  using Table::size;

  // With a default, so that a key may be written as a list in braces.
  template <typename K = key_type>
  iterator find(const K& key) {
    return Table::find(key);
  }
  template <typename K = key_type>
  const_iterator find(const K& key) const {
    return Table::find(key);
  }
  template <typename K = key_type>
  bool contains(const K& key) const {
    return Table::contains(key);
  }
  template <typename K = key_type>
  size_t count(const K& key) const {
    return Table::count(key);
  }

  // True, and the new element, or false and the one with this key.
  std::pair<iterator, bool> insert(Element&& element) {
    const iterator found = Table::find(KeyOf(element));
    if (found != Table::end()) return {found, false};
    MakeRoom();
    return Table::insert(std::move(element));
  }
  std::pair<iterator, bool> insert(const Element& element) { return insert(Element(element)); }
  template <typename Iterator>
  void insert(Iterator first, Iterator last) {
    for (; first != last; ++first) insert(Element(*first));
  }
  void insert(std::initializer_list<value_type> elements) {
    insert(elements.begin(), elements.end());
  }
  template <typename... Args>
  std::pair<iterator, bool> emplace(Args&&... args) {
    return insert(Element(std::forward<Args>(args)...));
  }

  template <typename K = key_type>
  size_t erase(const K& key) {
    const size_t count = Table::erase(key);
    erased_ += count;
    return count;
  }
  void erase(iterator at) {
    Table::erase(at);
    ++erased_;
  }
  void erase(const_iterator at) {
    Table::erase(at);
    ++erased_;
  }
  void clear() {
    Table::clear();
    erased_ = 0;
  }
  // Room for `count` elements in all.
  void reserve(size_t count) {
    if (count > Room(capacity())) GrowTo(CapacityFor(count));
  }
  void swap(GuardedTable& other) noexcept {
    Table::swap(other.table());
    std::swap(erased_, other.erased_);
  }
  friend void swap(GuardedTable& a, GuardedTable& b) noexcept { a.swap(b); }

  friend bool operator==(const GuardedTable& a, const GuardedTable& b) {
    return a.table() == b.table();
  }
  friend bool operator!=(const GuardedTable& a, const GuardedTable& b) { return !(a == b); }

  // Erases the elements for which `predicate` holds, and returns their number. Found through its
  // argument, as the standard library's function of this name.
  template <typename Predicate>
  friend size_t erase_if(GuardedTable& elements, Predicate predicate) {
    const size_t before = elements.size();
    for (iterator at = elements.begin(); at != elements.end();) {
      const iterator here = at++;
      if (predicate(*here)) elements.erase(here);
    }
    return before - elements.size();
  }

 protected:
  // The table after this takes an element without an allocation.
  void MakeRoom() {
    if (size() + erased_ < Room(capacity())) return;
    // Half full at most, so that tables with as many erasures as insertions are seldom copied.
    GrowTo(CapacityFor(2 * size() + 1));
  }

  using Table_ = Table;

 private:
  static const key_type& KeyOf(const Element& element) {
    if constexpr (std::is_same_v<Element, key_type>) {
      return element;
    } else {
      return element.first;
    }
  }
  Table& table() { return *this; }
  const Table& table() const { return *this; }

  // How many elements a capacity holds, as abseil has it, or fewer.
  static size_t Room(size_t capacity) {
    return capacity <= 7 ? capacity - capacity / 7 : capacity - capacity / 8;
  }
  static size_t CapacityFor(size_t count) {
    size_t capacity = 1;
    while (Room(capacity) < count) capacity = 2 * capacity + 1;
    return capacity;
  }

  void GrowTo(size_t capacity) {
    // A constructor that throws has built nothing; `reserve` would leave a damaged table.
    Table larger(capacity, Table::hash_function(), Table::key_eq());
    for (auto& element : table()) larger.insert(TakeElement(element));
    Table::swap(larger);
    erased_ = 0;
  }
  // The keys' constness ends here: the elements that are left are destroyed at once.
  static Element TakeElement(value_type& element) {
    if constexpr (std::is_same_v<Element, key_type>) {
      return std::move(element);
    } else {
      return Element(std::move(const_cast<key_type&>(element.first)), std::move(element.second));
    }
  }
  static Element TakeElement(const value_type& element) {
    return TakeElement(const_cast<value_type&>(element));
  }

  // Since the capacity last changed. Each may have left a slot that takes no other element.
  size_t erased_ = 0;
};

template <typename Key, typename Value, typename... HashAndEqual>
class HashMap
    : public GuardedTable<absl::flat_hash_map<Key, Value, HashAndEqual...>, std::pair<Key, Value>> {
  using Base =
      GuardedTable<absl::flat_hash_map<Key, Value, HashAndEqual...>, std::pair<Key, Value>>;

 public:
  using mapped_type = Value;
  using Base::Base;
  using typename Base::const_iterator;
  using typename Base::iterator;

  template <typename K = Key>
  Value& at(const K& key) {
    return const_cast<Value&>(std::as_const(*this).at(key));
  }
  template <typename K = Key>
  const Value& at(const K& key) const {
    return Base::Table_::at(key);
  }
  template <typename K = Key, typename... Args>
  std::pair<iterator, bool> try_emplace(K&& key, Args&&... args) {
    const iterator found = this->find(key);
    if (found != this->end()) return {found, false};
    return this->insert(std::pair<Key, Value>(std::piecewise_construct,
                                              std::forward_as_tuple(std::forward<K>(key)),
                                              std::forward_as_tuple(std::forward<Args>(args)...)));
  }
  template <typename K = Key, typename V = Value>
  std::pair<iterator, bool> insert_or_assign(K&& key, V&& value) {
    const auto [at, inserted] = try_emplace(std::forward<K>(key), std::forward<V>(value));
    // try_emplace leaves its arguments alone unless it inserts.
    if (!inserted) at->second = std::forward<V>(value);
    return {at, inserted};
  }
  template <typename K = Key>
  Value& operator[](K&& key) {
    return try_emplace(std::forward<K>(key)).first->second;
  }
};

template <typename Key, typename... HashAndEqual>
class HashSet : public GuardedTable<absl::flat_hash_set<Key, HashAndEqual...>, Key> {
  using Base = GuardedTable<absl::flat_hash_set<Key, HashAndEqual...>, Key>;

 public:
  using Base::Base;
};

}  // namespace tenon

#endif  // TENON_ENV_CONTAINERS_H_
