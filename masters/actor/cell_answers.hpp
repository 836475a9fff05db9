#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "actors/messages/byte_cut.hpp"
#include "masters/actor/apart_reads.hpp"
#include "masters/actor/part_host.hpp"
#include "masters/master.hpp"
#include "masters/view/cell_view.hpp"
#include "storage/stores/journal.hpp"

namespace muster {

/// How long each round's decision took.
struct DecisionTimes {
  std::vector<double> ms;
};

/// Tells those who look at the cluster how a master stands, and counts and keeps for them its last
/// decisions, figures for monitoring, and the minute samples of its past.
class CellAnswers {
 public:
  struct Setup {
    const Journal* journal = nullptr;
    DecisionTimes* times = nullptr;
    /// Is given a sample of the figures a minute while there is something to see; empty: no past is
    /// kept.
    std::function<void(const HistorySample&)> keep_sample;
    /// As MasterSetup has it.
    std::function<std::string()> node_trouble;
  };
  struct Host {
    /// The failure of the planner; empty: it has not failed.
    std::function<std::string()> planner_trouble;
    /// How the workers stand.
    std::function<std::map<InstanceId, WorkerStanding>()> workers;
  };
  /// The parts that it works with; they outlive it.
  struct Parts {
    const Master& master;
    const ApartReads& reads;
    PartHost& host;
  };
  CellAnswers(const Parts& parts, Setup setup, Host host);

  /// Takes in what is under way in a master that was restored; before any event.
  void recall() { tally_.recall(master_.state()); }
  /// The samples of before. Of a clock that was ahead some may be later than now: they would stand
  /// before all that comes, and are dropped.
  void recall(std::vector<HistorySample> past, Instant now);
  /// The events are about to go on record, and in the master's state.
  void watch(const std::vector<Event>& events);
  /// Events that are watched between the two are of a slice of the newest round's plan.
  void begin_slice() { decisions_.begin_slice(); }
  void end_slice(bool more_follow) { decisions_.end_slice(more_follow); }
  /// A decision took that long.
  void note_time(Duration took);
  /// Keeps the present for the plots when the last sample is a minute old. It needs no timer of its
  /// own: between two events and questions nothing of it changes but what has been spent.
  void sample();

  /// The master as those see it who look at the cluster.
  CellView view() const;
  /// The API's node asks every few seconds, also when nothing happens here: so the past has no
  /// holes.
  CellFigures figures();
  CellFigures figures_with_series();
  InstancesView instances(InstanceId after) const;
  HistoryView history(std::uint32_t hours) const;
  /// Answers at once, or when what is needed has been read.
  template <class View>
  void show(CellAnswer<View> made, const PartAnswer<View>& answer) const {
    const PartAnswer<View> bounded = [answer](caf::expected<View> view) {
      if (view && encoded_bytes(*view) > kMostViewBytes) {
        view = caf::make_error(ActorError::too_large);
      }
      answer(std::move(view));
    };
    if (!made.read) return bounded(std::move(made.view));
    reads_.answer<View>(std::move(made.read), bounded);
  }

 private:
  /// Less than the smallest message, with its envelope. Bytes beyond which a view is answered with
  /// an error: it was cut too late, and an error says more than the end of the link.
  static constexpr std::size_t kMostViewBytes = kLeastMessageBytes / 64 * 63;

  const Master& master_;
  const ApartReads& reads_;
  PartHost& host_;
  Setup setup_;
  Host hooks_;
  DecisionLog decisions_;
  CellTally tally_;
  CellHistory past_;
};

}  // namespace muster
