#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "learning/services/shape_history.hpp"
#include "model/grant.hpp"
#include "schedulers/policy.hpp"

namespace muster::lrasched {

/// How services did by how many of their replicas were together on an instance, up to that many.
inline constexpr std::uint32_t kMostTogether = kMostDegrees;

/// A service with a goal, and how many of its replicas an instance may hold.
struct LimitedService {
  ServiceGoal goal{};
  Resources size{};                           ///< of the replicas whose numbers these are
  std::map<std::uint32_t, double> numbers{};  ///< of its goal, by how many were together
  std::uint32_t limit = 0;                    ///< that was learnt; 0: the policy's own
  std::vector<Instant> changes{};             ///< of the limit, in the last day

  static constexpr Duration kDay{std::chrono::hours{24}};
  /// Whether a change counts at that time.
  static auto is_within_day(Instant now) {
    return [now](Instant when) { return when + kDay > now; };
  }
};

/// A number of a service whose replicas are together that many on an instance, and how many an
/// instance may hold from then on.
struct LimitStep {
  JobId job{};
  std::uint32_t together = 0;  ///< 1 to kMostTogether
  double number = 0;           ///< of its goal, the mean of such replicas
  Resources size{};            ///< of each of them
  std::uint32_t limit = 0;     ///< as of LimitedService
};

/// Takes up the number of the step, without its limit. Numbers of another size or of another load
/// are forgotten.
void note_number(LimitedService& service, const LimitStep& step);

/// Services with goals, and what was measured of them by how many were together: a fold over the
/// events. The steps of a round come back by its note.
class LimitBook {
 public:
  void observe(const Event& event, const ClusterView& view);

  const std::map<JobId, LimitedService>& services() const { return services_; }
  /// Replicas of the service on one instance, as was learnt; 0: nothing was.
  std::uint32_t limit_of(JobId id) const;

  /// Takes up the step at that time, as observing the round that takes it does.
  void take(const LimitStep& step, Instant at);
  /// As figures of a round's note, and back: steps without a service that is known are left out.
  static void write(const std::vector<LimitStep>& steps, RoundNote& note);
  std::vector<LimitStep> read(const RoundNote& note) const;

  /// Equal for equal books.
  std::string save() const;
  /// False when the words are not understood.
  bool load(std::string_view text, const ClusterView& view);

 private:
  void look(const ClusterState& state);
  void add(const JobRow& row);

  std::map<JobId, LimitedService> services_;
  bool looked_ = false;  ///< at what was there before the first event
};

}  // namespace muster::lrasched
