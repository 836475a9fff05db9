#pragma once

#include <vector>

#include "schedulers/packing/index/ordered_index.hpp"

namespace muster {

/// An OrderedIndex from whose searches items can be set aside for a while. An item that is set
/// aside is still in it: it can be erased and replaced, and counts in `all`.
template <class Key, class Item, class Summary>
class AsideIndex {
 public:
  using Open = OrderedIndex<Key, Item, Summary>;

  void insert(const Key& key, const Item& item) { open_.insert(key, item); }
  /// The key has to be there.
  void erase(const Key& key) { is_aside(key) ? aside_.erase(key) : open_.erase(key); }
  /// The key, which has to be there, gets another item, and is looked at again.
  void replace(const Key& key, const Item& item) {
    if (!is_aside(key)) return open_.replace(key, item);
    aside_.erase(key);
    open_.insert(key, item);
  }
  /// Searches pass by the key until open_aside(). It has to be among those that they look at.
  void set_aside(const Key& key, const Item& item) {
    const Item kept = item;  // the caller's may be the one that is erased
    const Key at = key;
    open_.erase(at);
    aside_.insert(at, kept);
  }
  void open_aside() {
    while (!aside_.empty()) {
      const typename Open::Node node = aside_.node(aside_.root());
      aside_.erase(node.key);
      open_.insert(node.key, node.item);
    }
  }

  bool empty() const { return open_.empty() && aside_.empty(); }
  /// Of everything; there has to be something.
  Summary all() const {
    if (open_.empty()) return aside_.all();
    Summary all = open_.all();
    if (!aside_.empty()) all.add(aside_.all());
    return all;
  }
  /// The items that searches look at.
  const Open& open() const { return open_; }

 private:
  bool is_aside(const Key& key) const {
    if (aside_.empty()) return false;
    const auto any = [](const auto&) { return true; };
    const auto* found = aside_.first(key, any, any);
    return found != nullptr && found->key == key;
  }

  Open open_;
  Open aside_;
};

}  // namespace muster
