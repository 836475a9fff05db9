#pragma once

#include <cstdint>
#include <vector>

#include "actors/messages/messages.hpp"
#include "masters/actor/apart_reads.hpp"
#include "masters/actor/part_host.hpp"
#include "masters/master.hpp"

namespace muster {

/// Tells sites which tasks of a master's jobs are over, for those of other jobs that wait for them,
/// and hears from sites which of the tasks here may begin. Sites repeat themselves, so that nothing
/// is kept here of what they were told.
class CounterpartAnswers {
 public:
  /// The parts that it works with; they outlive it.
  struct Parts {
    Master& master;
    const ApartReads& reads;
    PartHost& host;
  };
  explicit CounterpartAnswers(const Parts& parts) : parts_(parts) {}

  /// O(tasks) of each job of which something is new, of some hundred thousand tasks at most.
  void answer(const CounterpartQuestion& asked, const PartAnswer<CounterpartReport>& answer) const;

 private:
  std::vector<JobId> hear(const std::vector<CounterpartsTold>& told) const;
  void put_awaiting(CounterpartReport& report, const CounterpartQuestion& asked) const;
  std::vector<CounterpartsAsked> put_present(CounterpartReport& report,
                                             const CounterpartQuestion& asked) const;
  void put_past(CounterpartReport report, std::vector<CounterpartsAsked> past,
                const PartAnswer<CounterpartReport>& answer) const;

  const Parts parts_;
};

}  // namespace muster
