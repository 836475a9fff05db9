#include "replay/workload/trace_reading.hpp"

#include <fmt/format.h>

#include <utility>

#include "config/text_file.hpp"

namespace muster::replay {

TraceReading::TraceReading(const WorkloadConfig& config, JobTaker& taker)
    : config_(config), taker_(taker), file_(text_file_name(config.path)) {}

void TraceReading::begin_row(std::uint32_t line) {
  errors_before_ = errors_.size();
  line_ = line;
  reason_.clear();
  change_.clear();
  number_id_.reset();
  text_id_.reset();
}

void TraceReading::id(std::uint64_t id) {
  number_id_ = id;
}

void TraceReading::id(std::string_view id) {
  text_id_ = std::string(id);
}

/// Where wrong rows are to be skipped, its errors are counted and forgotten.
bool TraceReading::skip_if_wrong() {
  if (errors_.size() == errors_before_) return false;
  // Errors before the first row are about the file as a whole, and may be many.
  if (!config_.skip_bad || errors_before_ >= ErrorList::kKept) return true;
  left_out_.add_bad(errors_.field(errors_before_), errors_.text_of(errors_before_));
  errors_.shrink(errors_before_);
  return true;
}

void TraceReading::end_row(std::optional<JobDraft> draft) {
  const bool wrong = skip_if_wrong();
  if (wrong && config_.skip_bad) return;
  // Rows that are no jobs, or wrong, count too: of two rows with one id one may be the other's
  // correction.
  const SeenIds::Row row{rows_++, line_, draft && !wrong ? jobs_ : SeenIds::kNoJob};
  if (number_id_) ids_.add(*number_id_, row);
  if (text_id_) ids_.add(*text_id_, row);
  if (wrong) return;
  if (!draft) {
    if (!reason_.empty()) left_out_.add(reason_);
    return;
  }
  if (!change_.empty()) left_out_.add_change(change_);
  const Submission here{draft->job.submit, line_};
  if (!first_ || here.at < first_->at) first_ = here;
  if (!last_ || here.at > last_->at) last_ = here;
  const std::uint64_t order = by_id_ ? draft->job.job.id.value : jobs_;
  taker_.take(jobs_++, order, *std::move(draft));
}

void TraceReading::check_ids(const TraceEnd& end, TraceFacts& facts) {
  const bool read = ids_.each_repeated([&](const SeenIds::Repeated& repeated) {
    const std::string complaint =
        fmt::format("{} is already the {} in line {}", repeated.id, end.id_of, repeated.first_line);
    const TextPlace place{file_, repeated.line, 0};
    if (!config_.skip_bad) return errors_.add(place, end.id_field, complaint);
    left_out_.add_bad(end.id_field,
                      fmt::format("{}: {}: {}", to_text(place), end.id_field, complaint));
    facts.dropped.resize(jobs_);
    if (repeated.job == SeenIds::kNoJob) return;
    facts.dropped[repeated.job] = true;
    --facts.jobs;
  });
  if (!read) errors_.add({file_}, "", ids_.failure());
}

void TraceReading::check_times(TraceEnd& end, TraceFacts& facts) {
  if (!first_) return;
  // Beyond what a workload may last, numbers are times of the calendar.
  const bool calendar = dated_ || last_->at.time_since_epoch() > kLongest;
  if (end.from_first || calendar) facts.begin = first_->at.time_since_epoch();
  if (last_->at.time_since_epoch() - facts.begin <= kLongest) return;
  errors_.add(
      {file_, last_->line}, "",
      fmt::format("is submitted more than {} s after the job in line {}, which is the first",
                  seconds_text(kLongest), first_->line));
}

TraceResult TraceReading::finish(TraceEnd end) {
  TraceFacts facts;
  facts.jobs = jobs_;
  facts.by_id = by_id_;
  // A complaint about an id would be another one about a row that is wrong already.
  check_ids(end, facts);
  check_times(end, facts);
  if (!errors_.empty()) {
    errors_.sort_by_line();
    return invalid(errors_);
  }
  const std::string left_out = left_out_.text();
  if (facts.jobs == 0) {
    std::string message = fmt::format("{}: has no jobs", file_);
    if (!left_out.empty()) message += "; " + left_out;
    if (!left_out_.first_bad.empty()) message += "\n" + left_out_.first_bad;
    return Failure<WorkloadError>{WorkloadError::invalid, message};
  }
  facts.description = std::move(end.description);
  if (!left_out.empty()) facts.description += ", " + left_out;
  facts.left_out = std::move(left_out_);
  return facts;
}

}  // namespace muster::replay
