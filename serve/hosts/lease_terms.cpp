#include "serve/hosts/lease_terms.hpp"

#include <algorithm>

namespace muster::hosts {
namespace {

Duration longer(Duration one, Duration other) {
  return one == Duration{} || other == Duration{} ? Duration{} : std::max(one, other);
}

}  // namespace

std::optional<Duration> LeaseTerms::end_of(const HostEntry& host) const {
  // It may have been renewed until the end of the process before this one.
  const Duration before = host.heard ? earlier_ : longer(earlier_, lease_);
  if (lease_ == Duration{} || (!host.heard && before == Duration{})) return std::nullopt;
  Duration end = opened_ + before + lease_margin(before);
  // The answer to the report may have got lost, so the earlier lease holds beside this one.
  if (host.heard) end = std::max(end, *host.heard + lease_ + lease_margin(lease_));
  return end;
}

Duration LeaseTerms::longest(const HostTable& hosts, Duration now) const {
  const bool is_unheard = std::ranges::any_of(hosts.all(), [](const auto& each) {
    return each.second.use && !each.second.heard && !each.second.lost;
  });
  const bool holds = is_unheard || now <= opened_ + earlier_ + lease_margin(earlier_);
  return holds ? longer(earlier_, lease_) : lease_;
}

}  // namespace muster::hosts
