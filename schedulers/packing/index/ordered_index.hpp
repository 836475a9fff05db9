#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "model/check.hpp"

namespace muster {

/// Items in the order of their keys, with a summary of every subtree, so that searches can leave
/// out what cannot hold an answer. Insert, erase and replace in logarithmic expected time; the same
/// operations give the same tree (a treap whose priorities are counted, not drawn).
///
/// `Summary` is made of one `Item`, can be compared and has `add(const Summary&)`, whose result
/// does not depend on the order. A key is in it only once.
template <class Key, class Item, class Summary>
class OrderedIndex {
 public:
  using Index = std::uint32_t;
  static constexpr Index kNone = std::numeric_limits<Index>::max();

  struct Node {
    Key key{};
    Item item{};
    Summary all{};  ///< of the node and everything below it
    std::uint64_t priority = 0;
    Index left = kNone;
    Index right = kNone;
  };

  void insert(const Key& key, const Item& item) {
    Index fresh = 0;
    if (free_.empty()) {
      fresh = static_cast<Index>(nodes_.size());
      nodes_.emplace_back();
    } else {
      fresh = free_.back();
      free_.pop_back();
    }
    // The slot of an erased node is used again, so that indices stay dense over weeks of a replay.
    nodes_[fresh] = {key, item, Summary(item), next_priority(), kNone, kNone};
    root_ = insert_below(root_, fresh);
    ++size_;
  }
  /// The key has to be there.
  void erase(const Key& key) {
    bool changed = true;
    root_ = erase_below(root_, key, changed);
    --size_;
  }

  /// The key, which has to be there, gets another item: half of what erasing and inserting cost.
  void replace(const Key& key, const Item& item) { replace_below(root_, key, item); }

  std::size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  Index root() const { return root_; }
  const Node& node(Index at) const { return nodes_[at]; }
  /// Of everything; there has to be something.
  const Summary& all() const { return nodes_[root_].all; }

  /// The first node, not before `from`, that is accepted; null without such a node. `may` says of a
  /// summary whether anything below it may be accepted.
  template <class May, class Accept>
  const Node* first(const Key& from, const May& may, const Accept& accept) const {
    return first_below(root_, from, may, accept);
  }
  /// The last node, not behind `upto`, that is accepted; null without such a node.
  template <class May, class Accept>
  const Node* last(const Key& upto, const May& may, const Accept& accept) const {
    return last_below(root_, upto, may, accept);
  }

 private:
  /// The finaliser of SplitMix64 over a counter: as good as drawn for the balance of the tree, and
  /// equal in every run. A treap of equal operations has to be equal, or searches with ties could
  /// differ between a replay and its repetition.
  std::uint64_t next_priority() {
    std::uint64_t z = (counter_ += 0x9e3779b97f4a7c15ULL);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
    return z ^ (z >> 31);
  }

  /// Pulls and tells whether the summary is another one. Where it is not, nothing above changes:
  /// mostly a path has to be followed for a few steps, and what lies beside it is not looked at.
  bool pull_anew(Index at) {
    const Summary before = nodes_[at].all;
    pull(at);
    return !(before == nodes_[at].all);
  }

  // Children have to be right before their parent: every path is pulled from its lower end up.
  void pull(Index at) {
    Node& node = nodes_[at];
    node.all = Summary(node.item);
    if (node.left != kNone) node.all.add(nodes_[node.left].all);
    if (node.right != kNone) node.all.add(nodes_[node.right].all);
  }

  /// The nodes before the key, and the others. Each half keeps the heap order of priorities.
  std::pair<Index, Index> split(Index at, const Key& key) {
    if (at == kNone) return {kNone, kNone};
    if (nodes_[at].key < key) {
      const auto [before, after] = split(nodes_[at].right, key);
      nodes_[at].right = before;
      pull(at);
      return {at, after};
    }
    const auto [before, after] = split(nodes_[at].left, key);
    nodes_[at].left = after;
    pull(at);
    return {before, at};
  }

  // All keys of `left` have to be before those of `right`.
  Index merge(Index left, Index right) {
    if (left == kNone) return right;
    if (right == kNone) return left;
    if (nodes_[left].priority > nodes_[right].priority) {
      nodes_[left].right = merge(nodes_[left].right, right);
      pull(left);
      return left;
    }
    nodes_[right].left = merge(left, nodes_[right].left);
    pull(right);
    return right;
  }

  Index insert_below(Index at, Index fresh) {
    if (at == kNone) return fresh;
    // The highest priority is on top: the fresh node takes the place of the first one below it, and
    // what was there is split around its key.
    if (nodes_[fresh].priority > nodes_[at].priority) {
      const auto [before, after] = split(at, nodes_[fresh].key);
      nodes_[fresh].left = before;
      nodes_[fresh].right = after;
      pull(fresh);
      return fresh;
    }
    // One more item below is one more in the summary, whatever else is there.
    nodes_[at].all.add(Summary(nodes_[fresh].item));
    if (nodes_[fresh].key < nodes_[at].key) {
      nodes_[at].left = insert_below(nodes_[at].left, fresh);
    } else {
      nodes_[at].right = insert_below(nodes_[at].right, fresh);
    }
    return at;
  }

  /// `changed`: whether the summary of what is returned is not that of what there was.
  Index erase_below(Index at, const Key& key, bool& changed) {
    MUSTER_CHECK(at != kNone, "an entry that is erased has to be in the index");
    if (key < nodes_[at].key) {
      nodes_[at].left = erase_below(nodes_[at].left, key, changed);
    } else if (nodes_[at].key < key) {
      nodes_[at].right = erase_below(nodes_[at].right, key, changed);
    } else {
      // The node's content stays until the slot is used again; nothing leads to it any more.
      free_.push_back(at);
      return merge(nodes_[at].left, nodes_[at].right);
    }
    if (changed) changed = pull_anew(at);
    return at;
  }

  bool replace_below(Index at, const Key& key, const Item& item) {
    MUSTER_CHECK(at != kNone, "an entry that is replaced has to be in the index");
    bool changed = true;
    if (key < nodes_[at].key) {
      changed = replace_below(nodes_[at].left, key, item);
    } else if (nodes_[at].key < key) {
      changed = replace_below(nodes_[at].right, key, item);
    } else {
      nodes_[at].item = item;
    }
    return changed && pull_anew(at);
  }

  template <class May, class Accept>
  const Node* first_below(Index at, const Key& from, const May& may, const Accept& accept) const {
    // A subtree whose summary fails is cut off. Logarithmic as long as a summary that passes mostly
    // has an item that is accepted; linear at worst.
    if (at == kNone || !may(nodes_[at].all)) return nullptr;
    const Node& node = nodes_[at];
    if (node.key < from) return first_below(node.right, from, may, accept);
    if (const Node* found = first_below(node.left, from, may, accept)) return found;
    if (accept(node.item)) return &node;
    return first_below(node.right, from, may, accept);
  }
  /// The mirror image of first_below().
  template <class May, class Accept>
  const Node* last_below(Index at, const Key& upto, const May& may, const Accept& accept) const {
    if (at == kNone || !may(nodes_[at].all)) return nullptr;
    const Node& node = nodes_[at];
    if (upto < node.key) return last_below(node.left, upto, may, accept);
    if (const Node* found = last_below(node.right, upto, may, accept)) return found;
    if (accept(node.item)) return &node;
    return last_below(node.left, upto, may, accept);
  }

  std::vector<Node> nodes_;
  std::vector<Index> free_;
  Index root_ = kNone;
  std::size_t size_ = 0;
  std::uint64_t counter_ = 0;
};

}  // namespace muster
