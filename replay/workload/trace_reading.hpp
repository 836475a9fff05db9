#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "config/error_list.hpp"
#include "replay/workload/readers.hpp"
#include "replay/workload/seen_ids.hpp"

namespace muster::replay {

/// Takes the jobs of a trace one after the other, as they are read.
class JobTaker {
 public:
  virtual ~JobTaker() = default;
  /// `number` counts the jobs from 0 on; jobs of one instant go by `order`.
  virtual void take(std::uint64_t number, std::uint64_t order, JobDraft draft) = 0;
};

/// Facts of a trace that are known only when all of it is read.
struct TraceFacts {
  std::string description;
  LeftOut left_out;
  std::uint64_t jobs = 0;     ///< that are left when `dropped` ones are taken off
  Duration begin{};           ///< to be taken off all times of submission
  bool by_id = false;         ///< jobs of one instant go by their ids
  std::vector<bool> dropped;  ///< jobs that are left out, by their number; empty: no job is
};
using TraceResult = Expected<TraceFacts, WorkloadError>;

/// How a reader ends.
struct TraceEnd {
  std::string description;
  bool from_first = true;  ///< the first job is submitted at 0, whatever the file counts from
  std::string_view id_field = {};  ///< column that names a row
  std::string_view id_of = {};     ///< in words: "number of the job"
};

/// One reading of a trace. It has the rules that all formats share: the effect of a wrong row, ids,
/// which have to be unique, times, and the counting of rows that are left out.
class TraceReading {
 public:
  /// Its arguments have to outlive it.
  TraceReading(const WorkloadConfig& config, JobTaker& taker);

  const WorkloadConfig& config() const { return config_; }
  /// Faults of the present row, or of the whole, go there.
  ErrorList& errors() { return errors_; }
  /// Jobs of one instant go by their ids instead of by their places in the file.
  void order_by_id() { by_id_ = true; }

  void begin_row(std::uint32_t line);
  /// The row's id, which no other row may have.
  void id(std::uint64_t id);
  void id(std::string_view id);
  /// The row states points in time of the calendar.
  void dated() { dated_ = true; }
  /// Why the row, which is right, is no job.
  void leave_out(std::string_view reason) { reason_ = reason; }
  /// A value of the row is not taken as it is written, though it is right.
  void change(std::string_view what) { change_ = what; }
  /// Hands on the row's job, unless the row is wrong or to be left out.
  void end_row(std::optional<JobDraft> draft);

  /// All was read.
  TraceResult finish(TraceEnd end);

 private:
  /// A time of submission and where it stands.
  struct Submission {
    Instant at;
    std::uint32_t line = 0;
  };

  bool skip_if_wrong();
  void check_ids(const TraceEnd& end, TraceFacts& facts);
  void check_times(TraceEnd& end, TraceFacts& facts);

  const WorkloadConfig& config_;
  JobTaker& taker_;
  std::string file_;
  ErrorList errors_;
  std::size_t errors_before_ = 0;  ///< the present row
  std::uint32_t line_ = 0;
  std::string reason_;
  std::string change_;
  std::optional<std::uint64_t> number_id_;
  std::optional<std::string> text_id_;
  SeenIds ids_;
  LeftOut left_out_;
  std::uint64_t rows_ = 0;
  std::uint64_t jobs_ = 0;
  std::optional<Submission> first_, last_;
  bool dated_ = false;
  bool by_id_ = false;
};

}  // namespace muster::replay
