#include "schedulers/packing/top_up.hpp"

#include <algorithm>

namespace muster {

void TopUp::make_groups(const RoundInput& input, std::span<const std::uint32_t> waiting) {
  members_.assign(waiting.begin(), waiting.end());
  std::stable_sort(members_.begin(), members_.end(), [&](std::uint32_t a, std::uint32_t b) {
    return input.tasks()[a].kind < input.tasks()[b].kind;
  });
  groups_.clear();
  for (std::uint32_t i = 0; i < members_.size(); ++i) {
    const std::uint32_t kind = input.tasks()[members_[i]].kind;
    if (groups_.empty() || groups_.back().kind != kind) groups_.push_back({kind, i, i});
    ++groups_.back().end;
  }
  std::sort(groups_.begin(), groups_.end(),
            [&](const Group& a, const Group& b) { return members_[a.next] < members_[b.next]; });
}

void TopUp::list_hosts(std::span<const char> open, const Layout& layout) {
  hosts_.clear();
  for (std::uint32_t host = 0; host < layout.hosts.size(); ++host) {
    if (open[host]) hosts_.push_back(host);
  }
  std::stable_sort(hosts_.begin(), hosts_.end(), [&](std::uint32_t a, std::uint32_t b) {
    return layout.hosts[a].price_usd_h > layout.hosts[b].price_usd_h;
  });
}

void TopUp::fill(const WorthModel& model, const TaskKinds& kinds, std::uint32_t host,
                 Layout& layout) {
  const TypeId type = layout.hosts[host].type;
  const Resources& capacity = model.prices.types()[type].capacity;
  InstanceWorth& worth = worth_[host];
  while (true) {
    Group* best = nullptr;
    double best_usd_h = worth.usd_h();
    for (Group& group : groups_) {
      if (group.next == group.end) continue;
      const TaskKind& kind = kinds.all()[group.kind];
      const ShapeOnType& shape = model.prices.on(kind.shape, type);
      if (!shape.fits || !(used_[host] + shape.amount).fits_in(capacity)) continue;
      const double usd_h = worth.with(entrant_of(model, kind, type));
      if (usd_h > best_usd_h || (best == nullptr && usd_h == best_usd_h)) {
        best = &group;
        best_usd_h = usd_h;
      }
    }
    if (best == nullptr) break;
    const TaskKind& kind = kinds.all()[best->kind];
    worth.add(entrant_of(model, kind, type));
    used_[host] += model.prices.on(kind.shape, type).amount;
    layout.seat(members_[best->next++], host);
  }
  layout.hosts[host].worth_usd_h = worth.usd_h();
}

void TopUp::run(const RoundInput& input, const WorthModel& model, const TaskKinds& kinds,
                std::span<const char> open, std::vector<std::uint32_t>& waiting, Layout& layout) {
  if (waiting.empty()) return;
  make_groups(input, waiting);
  list_hosts(open, layout);
  if (worth_.size() < layout.hosts.size()) worth_.resize(layout.hosts.size());
  used_.assign(layout.hosts.size(), {});
  for (std::uint32_t host : hosts_) worth_[host].clear(model);
  for (std::uint32_t task = 0; task < layout.host_of.size(); ++task) {
    const std::uint32_t host = layout.host_of[task];
    if (host == kUnassigned || !open[host]) continue;
    const TaskKind& kind = kinds.all()[input.tasks()[task].kind];
    worth_[host].add(entrant_of(model, kind, layout.hosts[host].type));
    used_[host] += model.prices.on(kind.shape, layout.hosts[host].type).amount;
  }
  for (std::uint32_t host : hosts_) fill(model, kinds, host, layout);
  std::erase_if(waiting, [&](std::uint32_t task) { return layout.host_of[task] != kUnassigned; });
}

}  // namespace muster
