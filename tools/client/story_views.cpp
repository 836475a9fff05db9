#include "tools/client/story_views.hpp"

#include <fmt/format.h>

#include <cstddef>
#include <optional>
#include <utility>
#include <vector>

#include "model/rounded_text.hpp"
#include "tools/client/usage_views.hpp"

namespace muster::client {
namespace {

/// A sentence is told whole: it is what was asked for.
constexpr std::size_t kSentence = 2'000;

/// "instance 4 (c7i.large, spot)"
std::string place_of(const AttemptView& attempt) {
  std::string about = attempt.instance_type;
  if (attempt.market) {
    about += fmt::format("{}{}", about.empty() ? "" : ", ", shown_word(*attempt.market));
  }
  const std::string place = fmt::format("instance {}", attempt.instance.value);
  return about.empty() ? place : fmt::format("{} ({})", place, about);
}

/// The position in the list before which attempts are left out; its end where all are there.
std::size_t gap_in(const TaskView& task) {
  const std::vector<AttemptView>& list = *task.attempts;
  if (task.attempts_left_out == 0) return list.size();
  std::size_t at = 0;
  while (at < list.size() && list[at].attempt == at + 1) ++at;
  return at < list.size() ? at : 0;
}

std::string gap_text(const TaskView& task) {
  return fmt::format("{} left out here", count_text(task.attempts_left_out, "attempt"));
}

std::string attempt_line(const AttemptView& attempt) {
  std::string text = fmt::format("  attempt {} on {}", attempt.attempt, place_of(attempt));
  if (attempt.started) text += " from " + time_text(*attempt.started);
  if (attempt.ended) text += " to " + time_text(*attempt.ended);
  if (attempt.ran_s) text += fmt::format(", ran {}", ran_text(attempt.ran_s));
  return text + fmt::format(", {}: {}\n", usd_text(attempt.usd), attempt.why);
}

TextTable attempt_table(bool measured) {
  std::vector<TextTable::Column> columns{{"TASK", true}, {"ATTEMPT", true}, {"INSTANCE", true},
                                         {"TYPE"},       {"MARKET"},        {"STARTED"},
                                         {"ENDED"},      {"RAN", true}};
  if (measured) columns.insert(columns.end(), {{"CPU TIME", true}, {"PEAK MIB", true}});
  columns.insert(columns.end(), {{"EXIT", true}, {"COST", true}, {"WHY", false, kSentence}});
  return TextTable(std::move(columns));
}

/// A line without an attempt.
std::vector<std::string> no_attempt(const std::string& index, std::string attempt, std::string why,
                                    bool measured) {
  std::vector<std::string> row(measured ? 13 : 11, "-");
  row[0] = index;
  row[1] = std::move(attempt);
  row.back() = std::move(why);
  return row;
}

std::vector<std::string> row_of(const std::string& index, const AttemptView& attempt,
                                bool measured) {
  std::vector<std::string> row{
      index,
      std::to_string(attempt.attempt),
      std::to_string(attempt.instance.value),
      attempt.instance_type.empty() ? "-" : attempt.instance_type,
      attempt.market ? std::string(shown_word(*attempt.market)) : std::string("-"),
      time_or_dash(attempt.started),
      time_or_dash(attempt.ended),
      ran_text(attempt.ran_s)};
  if (measured) row.insert(row.end(), {cpu_text(attempt.cpu_s), mib_text(attempt.peak_mib)});
  row.insert(row.end(), {number_or_dash(attempt.exit_code), usd_text(attempt.usd), attempt.why});
  return row;
}

}  // namespace

std::string AttemptTable::next(const JobPage& page) {
  // The head stands above the first page alone, which says which columns there are.
  const std::string head = table_ ? "" : job_head(page);
  if (!table_) {
    measured_ = page.job.cpu_s || page.job.peak_mib;
    table_ = attempt_table(measured_);
  }
  for (const TaskView& task : page.tasks) {
    const std::string index = std::to_string(task.index);
    const auto row = [&](std::string attempt, std::string why) {
      table_->add_row(no_attempt(index, std::move(attempt), std::move(why), measured_));
    };
    if (!task.attempts) {
      row("-", "the cluster's version does not tell attempts");
      continue;
    }
    if (task.attempts->empty()) {
      row("-", task.reason ? in_local_time(task.reason->text) : "no attempt yet");
      continue;
    }
    const std::size_t gap = gap_in(task);
    for (std::size_t i = 0; i < task.attempts->size(); ++i) {
      if (i == gap) row("...", gap_text(task));
      table_->add_row(row_of(index, (*task.attempts)[i], measured_));
    }
  }
  return head + table_->take();
}

std::string attempt_lines(const TaskView& task, bool whole) {
  if (!task.attempts || task.attempts->empty()) return "";
  const AttemptEnd last = task.attempts->back().end;
  const bool plain = last == AttemptEnd::not_over || last == AttemptEnd::finished;
  if (!whole && plain && task.attempts->size() == 1 && task.attempts_left_out == 0) return "";
  const std::size_t gap = gap_in(task);
  std::string text;
  for (std::size_t i = 0; i < task.attempts->size(); ++i) {
    if (i == gap) text += fmt::format("  {}\n", gap_text(task));
    text += attempt_line((*task.attempts)[i]);
  }
  return text;
}

std::string view(const InstanceLife& life) {
  std::string text =
      fmt::format("instance {}  {}, {}{}: {}\n", life.instance.value,
                  life.type.empty() ? "unknown type" : life.type, shown_word(life.market),
                  life.zone.empty() ? "" : ", zone " + life.zone, shown_word(life.stage));
  const auto line = [&](std::string_view what, const std::optional<Instant>& at,
                        const std::string& why) {
    if (!at) return;
    text += fmt::format("  {:<10} {}{}\n", what, time_text(*at), why.empty() ? "" : ": " + why);
  };
  const bool decided = life.released.has_value();
  line("asked for", life.requested, life.why_rented);
  line("up", life.up, "");
  line("ready", life.ready, "");
  line("given up", life.released, life.why_ended);
  line(life.stage == InstanceStage::refused ? "refused" : "ended", life.ended,
       decided ? "" : life.why_ended);
  text += fmt::format("  with {}; {} an hour; {} {}\n", life.master, usd_text(life.usd_h),
                      usd_text(life.usd), life.ended ? "in all" : "so far");
  if (life.tasks.empty()) return text + "  no task has been on it\n";
  TextTable table({{"JOB", true}, {"TASK", true}, {"ATTEMPT", true}, {"SENT"}, {"LEFT"}, {"HOW"}});
  for (const VisitView& visit : life.tasks) {
    const bool there = visit.end == AttemptEnd::not_over;
    table.add_row({std::to_string(visit.job.value), std::to_string(visit.index),
                   std::to_string(visit.attempt), time_text(visit.sent), time_or_dash(visit.ended),
                   there ? "is there" : std::string(shown_word(visit.end))});
  }
  text += table.text();
  if (life.tasks_before > 0) {
    text += fmt::format("{} before these left out\n", count_text(life.tasks_before, "attempt"));
  }
  return text;
}

std::string view(const DecisionsView& shown, bool details) {
  if (shown.decisions.empty()) {
    return "no decision to show; a master keeps its last ones, since it started\n";
  }
  TextTable table({{"TIME"}, {"MASTER"}, {"ROUND", true}, {"DECISION", false, kSentence}});
  for (const DecisionView& one : shown.decisions) {
    table.add_row({time_text(one.at), one.master, std::to_string(one.round), one.sentence});
    if (details && !one.details.empty()) table.add_row({"", "", "", "  " + one.details});
  }
  return table.text();
}

}  // namespace muster::client
