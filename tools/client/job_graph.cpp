#include "tools/client/job_graph.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <queue>

#include "tools/client/answers.hpp"
#include "tools/client/text_table.hpp"
#include "tools/client/views.hpp"

// The picture of a pipeline. Names are printable already, and may hold quotes and backslashes.

namespace muster::client {
namespace {

/// Of a job's conditions, in a table.
constexpr std::size_t kShownConditions = 6;

/// Of a condition, behind its job; empty: that the job completes.
std::string condition_of(const AfterView& after) {
  std::string text(after.when == AfterEnd::ok ? "" : shown_word(after.when));
  if (after.by_index) text += text.empty() ? "index" : ":index";
  return text;
}

std::string text_of(const AfterView& after) {
  const std::string condition = condition_of(after);
  return fmt::format("{}{}{}", after.job.value, condition.empty() ? "" : ":", condition);
}

std::string text_of(const std::vector<AfterView>& after) {
  if (after.empty()) return "-";
  std::string text;
  for (std::size_t i = 0; i < std::min(after.size(), kShownConditions); ++i) {
    text += (i > 0 ? ", " : "") + text_of(after[i]);
  }
  if (after.size() > kShownConditions) {
    text += fmt::format(" and {} more", after.size() - kShownConditions);
  }
  return text;
}

/// Inside quotes of Graphviz.
std::string dot_text(const std::string& text) {
  std::string safe;
  for (const char c : text) {
    if (c == '"' || c == '\\') safe += '\\';
    safe += c;
  }
  return safe;
}

}  // namespace

void JobGraph::add(const JobView& job) {
  // A job that is read twice may wait for another one by then: for a resubmission.
  if (const auto known = jobs_.find(job.job); known != jobs_.end()) {
    for (const AfterView& after : known->second.after) followers_[after.job].erase(job.job);
  }
  jobs_.insert_or_assign(job.job, Row{job.name, std::string(shown_word(job.state)), is_over(job),
                                      job.after, job.submitted, job.again_of});
  for (const AfterView& after : job.after) followers_[after.job].insert(job.job);
  if (job.again_of.valid()) again_[job.again_of].insert(job.job);
}

std::set<JobId> JobGraph::connected() const {
  std::set<JobId> found{root_};
  std::queue<JobId> open;
  open.push(root_);
  while (!open.empty()) {
    const JobId job = open.front();
    open.pop();
    const auto visit = [&](JobId next) {
      if (found.insert(next).second) open.push(next);
    };
    if (const auto row = jobs_.find(job); row != jobs_.end()) {
      for (const AfterView& after : row->second.after) visit(after.job);
      if (row->second.again_of.valid()) visit(row->second.again_of);
    }
    for (const auto* links : {&followers_, &again_}) {
      const auto next = links->find(job);
      if (next == links->end()) continue;
      for (const JobId other : next->second) visit(other);
    }
  }
  return found;
}

bool JobGraph::is_whole_behind(const JobView& oldest) const {
  if (!oldest.submitted) return false;
  const std::set<JobId> found = connected();
  // A job is submitted no earlier than those that it waits for.
  return std::all_of(found.begin(), found.end(), [&](JobId job) {
    const auto row = jobs_.find(job);
    return row != jobs_.end() && row->second.submitted &&
           *row->second.submitted > *oldest.submitted;
  });
}

/// A job comes behind all that it waits for, and of those that may come next the one with the
/// lowest number first.
JobGraph::Pipeline JobGraph::pipeline() const {
  Pipeline found;
  std::map<JobId, std::size_t> open;
  std::set<JobId> next;
  for (const JobId job : connected()) {
    const auto row = jobs_.find(job);
    if (row == jobs_.end()) {
      found.unknown.push_back(job);
      continue;
    }
    const std::size_t waits = static_cast<std::size_t>(
        std::count_if(row->second.after.begin(), row->second.after.end(),
                      [&](const AfterView& after) { return jobs_.contains(after.job); }));
    if (waits == 0) next.insert(job);
    if (waits > 0) open[job] = waits;
  }
  while (!next.empty()) {
    const JobId job = *next.begin();
    next.erase(next.begin());
    found.jobs.push_back(job);
    const auto followers = followers_.find(job);
    if (followers == followers_.end()) continue;
    for (const JobId follower : followers->second) {
      // A job may have two conditions on another one.
      const std::vector<AfterView>& after = jobs_.at(follower).after;
      const auto conditions = std::count_if(after.begin(), after.end(),
                                            [&](const AfterView& one) { return one.job == job; });
      const auto left = open.find(follower);
      if (left == open.end()) continue;
      left->second -= std::min(left->second, static_cast<std::size_t>(conditions));
      if (left->second == 0) next.insert(follower);
    }
  }
  return found;
}

std::vector<JobId> JobGraph::open_jobs() const {
  std::vector<JobId> jobs = pipeline().jobs;
  std::erase_if(jobs, [&](JobId job) { return jobs_.at(job).over; });
  std::reverse(jobs.begin(), jobs.end());
  return jobs;
}

std::string JobGraph::text() const {
  const Pipeline found = pipeline();
  TextTable table({{"JOB", true}, {"NAME"}, {"STATE"}, {"AFTER"}});
  for (const JobId job : found.jobs) {
    const Row& row = jobs_.at(job);
    const std::string after = row.again_of.valid() && row.after.empty()
                                  ? fmt::format("instead of {}", row.again_of.value)
                                  : text_of(row.after);
    table.add_row({std::to_string(job.value), row.name, row.state, after});
  }
  for (const JobId job : found.unknown) {
    table.add_row({std::to_string(job.value), "-", "not known any more", "-"});
  }
  return table.text();
}

std::string JobGraph::dot() const {
  const Pipeline found = pipeline();
  std::string text = "digraph pipeline {\n  rankdir=LR;\n  node [shape=box];\n";
  for (const JobId job : found.jobs) {
    const Row& row = jobs_.at(job);
    text += fmt::format("  j{0} [label=\"{0} {1}\\n{2}\"];\n", job.value, dot_text(row.name),
                        row.state);
  }
  for (const JobId job : found.unknown) {
    text += fmt::format("  j{0} [label=\"{0}\\nnot known any more\"];\n", job.value);
  }
  for (const JobId job : found.jobs) {
    if (const JobId first = jobs_.at(job).again_of; first.valid()) {
      text += fmt::format("  j{} -> j{} [style=dashed, label=\"resubmitted\"];\n", first.value,
                          job.value);
    }
    for (const AfterView& after : jobs_.at(job).after) {
      text += fmt::format("  j{} -> j{}", after.job.value, job.value);
      const std::string condition = condition_of(after);
      if (!condition.empty()) text += fmt::format(" [label=\"{}\"]", condition);
      text += ";\n";
    }
  }
  return text + "}\n";
}

std::string JobGraph::json() const {
  using Json = nlohmann::ordered_json;
  const Pipeline found = pipeline();
  Json jobs = Json::array(), unknown = Json::array();
  for (const JobId job : found.jobs) {
    const Row& row = jobs_.at(job);
    Json after = Json::array();
    for (const AfterView& one : row.after) {
      after.push_back({{"job", one.job.value}, {"when", shown_word(one.when)}});
      if (one.by_index) after.back()["by_index"] = true;
    }
    jobs.push_back(
        {{"job", job.value}, {"name", row.name}, {"state", row.state}, {"after", after}});
    if (row.again_of.valid()) jobs.back()["again_of"] = row.again_of.value;
  }
  for (const JobId job : found.unknown) unknown.push_back(job.value);
  const Json document = {{"job", root_.value}, {"jobs", jobs}, {"unknown", unknown}};
  return document.dump(2, ' ', false, Json::error_handler_t::replace);
}

}  // namespace muster::client
