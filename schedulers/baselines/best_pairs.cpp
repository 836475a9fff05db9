#include "schedulers/baselines/best_pairs.hpp"

#include <algorithm>
#include <utility>

namespace muster {

bool BestPairs::IsLater::operator()(const Pair& a, const Pair& b) const {
  if (a.ratio != b.ratio) return a.ratio < b.ratio;
  return std::pair(a.one, a.other) > std::pair(b.one, b.other);
}

BestPairs::BestPairs(std::uint32_t kinds, Rules rules, Budget& budget)
    : rules_(std::move(rules)),
      budget_(budget),
      most_of_kind_(std::max(kLeastOfKind, rules_.most_kept / std::max(kinds, 1U))),
      partners_(kinds) {
  for (std::uint32_t kind = 0; kind < kinds; ++kind) {
    find_partners(kind);
    queue_next_of(kind);
  }
}

bool BestPairs::is_left(std::uint32_t one, std::uint32_t other) const {
  if (one == other) return rules_.left(one) >= 2;
  return rules_.left(one) >= 1 && rules_.left(other) >= 1;
}

void BestPairs::drop(std::uint32_t kind) {
  kept_ -= partners_[kind].best.size();
  partners_[kind] = {};
}

void BestPairs::find_partners(std::uint32_t kind) {
  drop(kind);
  Partners& of = partners_[kind];
  const auto comes_first = [](const Partner& a, const Partner& b) {
    return a.ratio != b.ratio ? a.ratio > b.ratio : a.kind < b.kind;
  };
  const auto leave_out = [&] {
    const auto end = of.best.begin() + static_cast<std::ptrdiff_t>(most_of_kind_);
    std::nth_element(of.best.begin(), end, of.best.end(), comes_first);
    of.best.erase(end, of.best.end());
    of.has_more = true;
  };
  for (auto other = kind; other < partners_.size(); ++other) {
    if (budget_.is_spent()) {
      cut_off_ = true;
      break;
    }
    budget_.spend();
    if (!is_left(kind, other)) continue;
    const auto ratio = rules_.ratio(kind, other);
    if (!ratio) continue;
    of.best.push_back({*ratio, other});
    if (of.best.size() >= 2 * most_of_kind_) leave_out();
  }
  if (of.best.size() > most_of_kind_) leave_out();
  std::sort(of.best.begin(), of.best.end(), comes_first);
  of.best.shrink_to_fit();
  kept_ += of.best.size();
}

/// Tasks become fewer only: a partner that is used up need never be looked at again.
void BestPairs::queue_next_of(std::uint32_t kind) {
  Partners& of = partners_[kind];
  while (rules_.left(kind) > 0) {
    for (; of.at < of.best.size(); ++of.at) {
      const Partner& partner = of.best[of.at];
      if (is_left(kind, partner.kind)) return queue_.push({kind, partner.kind, partner.ratio});
    }
    if (!of.has_more) break;
    find_partners(kind);
  }
  drop(kind);
}

std::optional<BestPairs::Pair> BestPairs::next() {
  while (!queue_.empty()) {
    const Pair pair = queue_.top();
    queue_.pop();
    if (is_left(pair.one, pair.other)) {
      queue_.push(pair);
      return pair;
    }
    queue_next_of(pair.one);
  }
  return std::nullopt;
}

}  // namespace muster
