#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "actors/messages/cloud_messages.hpp"
#include "config/master_settings.hpp"
#include "model/time.hpp"

namespace muster {

/// One cloud, as far as its master follows it: the time of its clock, the numbered changes of its
/// offerings that were heard, and the instances after which it has to be asked. It knows nothing of
/// the instances and offerings themselves.
class CloudLink {
 public:
  struct Host {
    /// Greets the cloud: it answers with its clock, and with all changes that it still knows.
    std::function<void()> greet;
    std::function<Instant()> now;
    /// ask_due() is to be called then. A call that is too early does no harm.
    std::function<void(Instant)> wake;
  };
  CloudLink(const MasterWatch& watch, Host host);

  /// At the start, and when the cloud can be reached again: messages from meanwhile are lost, and
  /// its clock counts as unknown until it answers.
  void greet();
  /// Greets it once more while it has not answered.
  void greet_again();

  /// It was heard since the cloud was greeted last.
  bool knows_clock() const { return knows_clock_; }
  /// By how much the cloud's clock is ahead of this one at least; nothing: it was never heard.
  std::optional<Duration> ahead() const { return ahead_; }
  enum class ClockNews { none, farther, found };
  /// The cloud's clock is as far ahead as any of its words has shown since it was greeted: those
  /// that took longer show less. `found`: it was not known. Its clock of before counts until
  /// then: the cloud may have been started anew with another clock.
  ClockNews hear_clock(const CloudReport& report);

  /// Whether the report's changes of offerings may be heard; `known` is the newest that was. A
  /// change that is missing got lost on its way: the cloud tells all again when it is greeted. A
  /// change that is still missing then it tells no more, as nothing is rented that it is about.
  /// Changes that come before its answer are a part of that: heard at once they would make those
  /// before them old news, and what was rented meanwhile would be billed at prices that it did not
  /// cost.
  bool takes_changes(const CloudReport& report, std::uint64_t known);
  /// Whether the end of an instance may be heard: it closes the bill, and so waits for the changes
  /// of prices that the cloud knew of by then. The cloud says it again when it is asked after its
  /// instances.
  bool takes_end(const CloudReport& end, std::uint64_t known);
  /// Once after an end that was not heard: the cloud, which has answered, is to be asked after its
  /// instances.
  bool owes_end() { return std::exchange(end_came_early_, false); }

  /// The instance was ordered just now.
  void ask_later(InstanceId id) { ask_later(id, shortest_pause()); }
  /// All that are asked after, as if they had just been ordered.
  void restart_asks(const std::vector<InstanceId>& ids);
  /// Calls `ask` for the instances that are due, some at a time, and has those that it says true of
  /// wait for twice as long as before. The cloud's word that an instance is gone, or will be, may
  /// have got lost without a trace. The pauses from one asking to the next double, so that years of
  /// quiet cost little; those after others change nothing in them. Instances that are due
  /// soon are asked for along with the rest: each is a message of its own.
  void ask_due(const std::function<bool(InstanceId)>& ask);

 private:
  void ask_for_changes(std::uint64_t known);
  /// From an instance's order to the first time that the cloud is asked after it.
  Duration shortest_pause() const;
  void ask_later(InstanceId id, Duration pause);

  MasterWatch watch_;
  Host host_;
  std::optional<Duration> ahead_;
  bool knows_clock_ = false;
  /// The newest change of an offering that was known when the cloud was asked for those after it.
  std::optional<std::uint64_t> gap_after_;
  bool gap_is_answered_ = false;                   ///< and has told all that it knows
  bool end_came_early_ = false;                    ///< an end was not heard for a gap before it
  std::set<std::pair<Instant, InstanceId>> asks_;  ///< when it is asked after which instance
  std::map<InstanceId, Duration> pauses_;          ///< how long after that again
};

}  // namespace muster
