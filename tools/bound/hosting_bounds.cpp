#include "tools/bound/hosting_bounds.hpp"

#include <algorithm>
#include <limits>
#include <optional>
#include <utility>

#include "replay/workload/demands_text.hpp"
#include "schedulers/packing/bound/divided_bound.hpp"

namespace muster::bound {
namespace {

/// Sets of tasks that the searches for one moment look at, at most: thousands of moments are
/// looked at.
constexpr std::uint64_t kMomentNodes = 300'000;
/// A bound is good enough when it is this close to a cost that is reached, as a share of it.
constexpr double kMomentExact = 1e-4;
/// With more kinds of tasks at one moment its bound is that of divided instances, which needs no
/// search: the linear program of the patterns has a row for each kind, at each moment.
constexpr std::size_t kMomentKinds = 200;

/// Fills in where the task runs; false when it is not in the problem.
bool place(const Catalog& catalog, const HostedTasks& hosted, const Shape& shape, FluidKind& kind,
           double& alone_usd_h) {
  alone_usd_h = std::numeric_limits<double>::infinity();
  for (std::uint32_t i = 0; i < catalog.size(); ++i) {
    const InstanceType& type = catalog[TypeId{i}];
    const FamilyDemand* demand = shape.on(type);
    const bool held = demand != nullptr && demand->amount.fits_in(type.capacity);
    if (held && demand->amount == Resources{}) return false;
    kind.on.push_back(held ? OnType{demand->amount, 1} : OnType{});
    if (held) alone_usd_h = std::min(alone_usd_h, hosted.usd_h()[i]);
  }
  return alone_usd_h < std::numeric_limits<double>::infinity();
}

}  // namespace

HostingNow hosting_now(const Catalog& catalog, const HostedTasks& hosted) {
  HostingNow now;
  now.problem.rates = PairTable(1);
  for (std::uint32_t i = 0; i < catalog.size(); ++i) {
    const InstanceType& type = catalog[TypeId{i}];
    now.problem.types.push_back({type.name, type.capacity, hosted.usd_h()[i]});
  }
  for (std::uint32_t number = 0; number < hosted.kinds().size(); ++number) {
    const std::uint32_t count = hosted.counts()[number];
    if (count == 0) continue;
    FluidKind kind;
    double alone_usd_h = 0;
    if (!place(catalog, hosted, hosted.kinds()[number], kind, alone_usd_h)) {
      now.left_out += count;
      continue;
    }
    kind.work_h = count;
    kind.tasks = kind.most = count;
    kind.name = replay::demands_text(hosted.kinds()[number].demands.entries());
    now.alone_usd_h += count * alone_usd_h;
    now.kinds.push_back(number);
    now.problem.kinds.push_back(std::move(kind));
  }
  return now;
}

double HostingBounds::of(const HostedTasks& hosted) {
  const HostingNow now = hosting_now(catalog_, hosted);
  if (now.problem.kinds.empty()) return 0;
  if (now.problem.kinds.size() > kMomentKinds) return divided_bound(now.problem).usd;
  std::map<std::uint32_t, std::uint32_t> position;
  for (std::uint32_t i = 0; i < now.kinds.size(); ++i) position[now.kinds[i]] = i;
  std::vector<Pattern> start;
  for (const Known& known : known_) {
    Pattern pattern{known.type, {}};
    for (const std::uint32_t kind : known.kinds) {
      const auto at = position.find(kind);
      if (at == position.end()) continue;
      const auto there = std::ranges::count(pattern.kinds, at->second);
      if (there < now.problem.kinds[at->second].most) pattern.kinds.push_back(at->second);
    }
    std::ranges::sort(pattern.kinds);
    if (!pattern.kinds.empty()) start.push_back(std::move(pattern));
  }
  FluidLimits limits;
  limits.nodes = kMomentNodes;
  limits.exact = kMomentExact;
  limits.start = start;
  const FluidBound bound = solve_fluid(now.problem, limits);
  known_.clear();
  for (const PatternHours& rented : bound.patterns) {
    Known known{rented.pattern.type, {}};
    for (const std::uint32_t kind : rented.pattern.kinds) known.kinds.push_back(now.kinds[kind]);
    known_.push_back(std::move(known));
  }
  return bound.bound_usd;
}

void RentedGap::see(const Event& event) {
  if (!next_ && std::holds_alternative<InstanceUp>(event.body)) next_ = event.at + apart_;
  if (next_) sample_until(event.at);
  hosted_.see(event);
}

/// The present bound has held since the last event.
void RentedGap::sample_until(Instant now) {
  while (*next_ <= now) {
    if (hosted_.take_changed()) last_ = {hosted_.rented_usd_h(), bounds_.of(hosted_)};
    moments_.push_back(last_);
    *next_ += apart_;
    if (moments_.size() == kMoments) halve();
  }
}

/// Keeps every other moment, so that a long run has no more of them than a short one.
void RentedGap::halve() {
  std::size_t kept = 0;
  for (std::size_t i = 1; i < moments_.size(); i += 2) moments_[kept++] = moments_[i];
  moments_.resize(kept);
  apart_ *= 2;
  // The last one that is kept lies one of the new steps back.
  *next_ += apart_ / 2;
}

std::optional<double> RentedGap::above() const {
  double rented = 0;
  double bound = 0;
  for (const Moment& moment : moments_) {
    rented += moment.rented_usd_h;
    bound += moment.bound_usd_h;
  }
  if (bound <= 0) return std::nullopt;
  return rented / bound - 1;
}

}  // namespace muster::bound
