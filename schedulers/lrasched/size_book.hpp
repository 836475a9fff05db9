#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "learning/services/service_sizes.hpp"
#include "model/grant.hpp"
#include "schedulers/policy.hpp"

namespace muster::lrasched {

/// The sizes that replicas may have: cores and memory from the least of each, doubled again and
/// again up to what their user asks for; steps are larger where there were more than kMostSteps.
/// The last one is the largest. Both are above 0, and no least is above what is asked for.
ServiceSizes sizes_between(const SizeRange& least, const Resources& asked);
/// Amounts of cores, and of memory.
inline constexpr std::uint32_t kMostSteps = 8;

/// A service whose size is chosen: the sizes that it may have, and which it has.
struct SizedService {
  Resources asked{};                          ///< by its user, all kinds
  std::shared_ptr<const ServiceSizes> sizes;  ///< never null
  ServiceGoal goal{};
  std::map<std::uint32_t, double> numbers{};  ///< of its goal, by the size at which they were said
  std::uint32_t chosen = 0;                   ///< size of its replicas
  std::optional<std::uint32_t> trial{};       ///< size that one of them has, to be measured
  std::vector<Instant> changes{};             ///< trials and corrections of the last day
  bool goes_on = false;  ///< there is more to try as soon as it may change again
  /// Size at which a replica has failed between rounds, of which no round has noted it yet.
  std::optional<std::uint32_t> failed{};

  static constexpr Duration kDay{std::chrono::hours{24}};
  /// Whether a change counts at that time.
  static auto is_within_day(Instant now) {
    return [now](Instant when) { return when + kDay > now; };
  }

  /// Grant of a replica of that size.
  Resources grant(std::uint32_t size) const;
  /// A number far on the wrong side of the goal's bound.
  double worst() const { return goal.at_least ? 0 : 10 * goal.bound; }
};

/// Finding on a size.
enum class SizeFinding : std::uint8_t {
  number,  ///< the mean of its replicas
  failed,  ///< the program of one ended, or none became ready
  absent   ///< no replica could have it
};

/// A step of the search for a size: the finding on one, and the sizes from then on.
struct SizeStep {
  JobId job{};
  std::uint32_t size = 0;
  SizeFinding found = SizeFinding::number;
  double number = 0;  ///< of that finding
  std::uint32_t chosen = 0;
  std::optional<std::uint32_t> trial{};
  bool goes_on = false;  ///< as of SizedService
};

/// Takes up what the step has found, without its choice.
void note_finding(SizedService& service, const SizeStep& step);

/// Services whose size is chosen, and what was measured of them: a fold over the events. The steps
/// of a round come back by its note.
class SizeBook {
 public:
  void observe(const Event& event, const ClusterView& view);

  const std::map<JobId, SizedService>& services() const { return services_; }
  /// nullptr: its size is what its user asks for.
  const SizedService* find(JobId id) const;

  /// Takes up the step at that time, as observing the round that takes it does.
  void take(const SizeStep& step, Instant at);
  /// As figures of a round's note, and back: steps without a service that is known are left out.
  /// Cores and GiB of each size stand there for people, and are not read.
  void write(const std::vector<SizeStep>& steps, RoundNote& note) const;
  std::vector<SizeStep> read(const RoundNote& note) const;

  /// Equal for equal books.
  std::string save() const;
  /// False when the words are not understood.
  bool load(std::string_view text, const ClusterView& view);

 private:
  void look(const ClusterState& state);
  void add(const JobRow& row);
  void note_end(const ReplicaChanged& changed, const ClusterState& state, Instant at);

  std::map<JobId, SizedService> services_;
  bool looked_ = false;  ///< at what was there before the first event
};

}  // namespace muster::lrasched
