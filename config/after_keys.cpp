#include "config/after_keys.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

#include "config/job_name.hpp"
#include "config/numbers.hpp"
#include "config/request_text.hpp"
#include "config/request_value.hpp"
#include "config/text_pieces.hpp"

namespace muster::config {
namespace {

using R = JobRequest;

constexpr std::string_view kWantedAfter =
    "a list like [\"12\", \"prep:any\"], or a text like \"12,prep:any\": numbers of jobs, names of "
    "jobs of this submission, or places in it like #1; behind each :ok (the default), :any, :fail "
    "or :start, and :index where each task waits for the one with its index alone; or a table like "
    "{ job = \"prep\", when = \"any\", match = \"index\" }";
constexpr std::string_view kByIndex = "index";
/// Jobs for whose tasks each of a job's own may wait.
constexpr std::ptrdiff_t kMostByIndex = 16;
constexpr std::size_t kLongestAfter = kMaxRequestText + 16;

/// One of the texts, taken apart.
struct AfterText {
  std::string_view job;  ///< its number, its place like "#3", or its name
  AfterEnd end = AfterEnd::ok;
  bool by_index = false;
};

/// The condition behind the last colon, if there is one, is taken off.
AfterText parse_after(std::string_view text) {
  AfterText parsed{text};
  const auto take = [&parsed](auto known) {
    const std::size_t colon = parsed.job.rfind(':');
    if (colon == std::string_view::npos || !known(parsed.job.substr(colon + 1))) return;
    parsed.job = parsed.job.substr(0, colon);
  };
  take([&](std::string_view word) { return parsed.by_index = word == kByIndex; });
  take([&](std::string_view word) {
    const auto end = named<AfterEnd>(word);
    if (end) parsed.end = *end;
    return end.has_value();
  });
  return parsed;
}

/// "12:any:index"; that it has completed is not said, unless the name ends as a condition does.
std::string after_text(std::string_view job, const AfterText& as) {
  std::string text(job);
  if (as.end != AfterEnd::ok || parse_after(job).job != job)
    text += fmt::format(":{}", name_of(as.end));
  if (as.by_index) text += fmt::format(":{}", kByIndex);
  return text;
}

/// The place in a submission, from 1; nothing: the text is no place.
std::optional<std::uint32_t> submission_place(std::string_view job) {
  if (!job.starts_with('#')) return std::nullopt;
  const auto place = parse_whole(job.substr(1));
  if (!place || *place == 0 || *place > kMaxJobsPerBatch) return std::nullopt;
  return static_cast<std::uint32_t>(*place);
}

bool is_after_text(std::string_view text) {
  const auto [job, end, by_index] = parse_after(text);
  if (by_index && end == AfterEnd::start) return false;
  if (job.empty() || text.size() > kLongestAfter || !is_label(text)) return false;
  if (job.starts_with('#')) return submission_place(job).has_value();
  const auto number = parse_whole(job);
  return !number || *number > 0;
}

/// Adds the text; false: it stands for no job.
bool add_after(std::vector<std::string>& texts, std::string_view text) {
  text = without_spaces(text);
  if (!is_after_text(text)) return false;
  const AfterText parsed = parse_after(text);
  texts.push_back(after_text(parsed.job, parsed));
  return true;
}

/// Likewise, of a number of a job; a name may look like one below 1.
bool add_after(std::vector<std::string>& texts, std::int64_t number) {
  return number > 0 && add_after(texts, std::to_string(number));
}

/// Likewise, of a table: { job = "prep", when = "any", match = "index" }.
bool add_after(std::vector<std::string>& texts, const RequestValue::Table& table) {
  std::string job, when, match;
  for (const RequestMember& each : table) {
    const auto* text = std::get_if<std::string>(&each.value.data);
    const auto* number = std::get_if<std::int64_t>(&each.value.data);
    std::string* to = each.key == "job"     ? &job
                      : each.key == "when"  ? &when
                      : each.key == "match" ? &match
                                            : nullptr;
    if (to == nullptr || (text == nullptr && (number == nullptr || to != &job))) return false;
    *to = text != nullptr ? std::string(without_spaces(*text)) : std::to_string(*number);
    if (to->empty()) return false;
  }
  if (!when.empty() && !named<AfterEnd>(when)) return false;
  if (!match.empty() && match != kByIndex && match != "job") return false;
  // Said here: a name may end as a condition does.
  if (when.empty()) when = name_of(AfterEnd::ok);
  return !job.empty() &&
         add_after(texts, fmt::format("{}:{}{}", job, when, match == kByIndex ? ":index" : ""));
}

bool add_after(std::vector<std::string>& texts, const RequestValue& value) {
  if (const auto* word = std::get_if<std::string>(&value.data)) return add_after(texts, *word);
  if (const auto* table = std::get_if<RequestValue::Table>(&value.data)) {
    return add_after(texts, *table);
  }
  const auto* number = std::get_if<std::int64_t>(&value.data);
  return number != nullptr && add_after(texts, *number);
}

bool read_after(JobRequest& request, const RequestValue& value) {
  std::vector<std::string> texts;
  if (const auto* text = std::get_if<std::string>(&value.data)) {
    for (const std::string_view each : pieces_of(*text, ',')) {
      if (!add_after(texts, each)) return false;
    }
  } else if (const auto* list = std::get_if<RequestValue::List>(&value.data)) {
    for (const RequestValue& element : *list) {
      if (!add_after(texts, element)) return false;
    }
  } else if (!add_after(texts, value)) {
    return false;
  }
  // Each once and in one order: two spellings of a request are one submission.
  request.after.clear();
  add_after_texts(request.after, texts);
  return true;
}

void check_after_texts(const JobRequest& request, const Report& report) {
  if (request.after.size() > kMostAfter) {
    return report("after", fmt::format("has to be at most {} jobs; they are {}", kMostAfter,
                                       request.after.size()));
  }
  for (const std::string& each : request.after) {
    if (is_after_text(each)) continue;
    return report("after", fmt::format("has to be {}; it has \"{:.60}\"", kWantedAfter, each));
  }
}

/// Which requests of a submission wait for which, by their positions.
using AfterGraph = std::vector<std::vector<std::size_t>>;

/// The positions of a circle, the first one at its end once more; none: there is no circle. Walks
/// with a list of its own, so that a long chain takes no stack.
std::vector<std::size_t> circle_in(const AfterGraph& waits_for) {
  enum class Mark : std::uint8_t { fresh, open, done };
  std::vector<Mark> marks(waits_for.size(), Mark::fresh);
  std::vector<std::pair<std::size_t, std::size_t>> path;  // a request, and its next edge
  for (std::size_t start = 0; start < waits_for.size(); ++start) {
    if (marks[start] != Mark::fresh) continue;
    path.emplace_back(start, 0);
    marks[start] = Mark::open;
    while (!path.empty()) {
      auto& [at, edge] = path.back();
      if (edge == waits_for[at].size()) {
        marks[at] = Mark::done;
        path.pop_back();
        continue;
      }
      const std::size_t next = waits_for[at][edge++];
      if (marks[next] == Mark::done) continue;
      if (marks[next] == Mark::fresh) {
        marks[next] = Mark::open;
        path.emplace_back(next, 0);
        continue;
      }
      std::vector<std::size_t> circle;
      for (const auto& [on_path, unused] : path) {
        if (!circle.empty() || on_path == next) circle.push_back(on_path);
      }
      circle.push_back(next);
      return circle;
    }
  }
  return {};
}

/// Jobs of a submission by their names.
using JobNames = std::map<std::string, std::vector<std::size_t>, std::less<>>;

/// The position that the text stands for; nothing: it is of another submission. Says what is wrong.
struct PlacedAfter {
  std::optional<std::size_t> at{};
  std::string fault{};
};
PlacedAfter placed_after(std::string_view job, const JobNames& names, std::size_t requests) {
  if (const auto place = submission_place(job)) {
    if (*place <= requests) return {*place - 1, {}};
    return {{},
            fmt::format("\"{}\" is no place in this submission, which has {} job{}", job, requests,
                        requests == 1 ? "" : "s")};
  }
  const auto named = names.find(job);
  if (parse_whole(job)) {
    if (named == names.end()) return {};
    return {{},
            fmt::format("\"{:.60}\" may be a number or the name of a job of this submission: say "
                        "its place, as \"#{}\", or name it otherwise",
                        job, named->second.front() + 1)};
  }
  if (named == names.end()) {
    const std::size_t colon = job.rfind(':');
    const bool has_condition =
        colon != std::string_view::npos &&
        (parse_whole(job.substr(0, colon)) || names.contains(job.substr(0, colon)));
    if (has_condition) {
      return {{},
              fmt::format("\"{:.60}\": \"{:.20}\" is no condition; they are ok, any, fail and "
                          "start, and index behind them",
                          job, job.substr(colon + 1))};
    }
    return {{},
            fmt::format("\"{:.60}\" is the name of no job of this submission; jobs of another "
                        "one go by their numbers",
                        job)};
  }
  if (named->second.size() == 1) return {named->second.front(), {}};
  return {{},
          fmt::format("\"{:.60}\" is the name of {} jobs of this submission: say its place, as "
                      "\"#{}\"",
                      job, named->second.size(), named->second.front() + 1)};
}

}  // namespace

std::vector<RequestKey> after_keys() {
  return {{"after", "list, or text like \"12,prep:any\"", "none",
           "jobs that have to be over before this one begins: their numbers, or names of jobs of "
           "the same submission; each has to have completed, behind `:any` to be over, behind "
           "`:fail` to have failed, behind `:start` to have started. Behind `:index` each task "
           "waits for "
           "the task with its array index alone. A job for which that cannot come true any more is "
           "skipped",
           RequestOther{&R::after, std::string(kWantedAfter), read_after, check_after_texts,
                        NumberRange{.low = 1, .high = 9e15, .whole = true}},
           RequestFlag{"--after",
                       "begin after these jobs, like 12,13:any: numbers, or names of jobs of this "
                       "submission; :ok (default), :any, :fail, :start; :index task by task"}}};
}

void check_after(const JobRequest& request, const Report& report) {
  if (request.after.empty()) return;
  if (request.service) {
    return report("after", "is for jobs that end: a service waits for no other job");
  }
  std::map<std::string_view, std::set<std::pair<AfterEnd, bool>>> ends;
  for (const std::string& text : request.after) {
    const AfterText parsed = parse_after(text);
    ends[parsed.job].emplace(parsed.end, parsed.by_index);
  }
  for (const auto& [job, wanted] : ends) {
    const auto has = [&, &all = wanted](AfterEnd end, bool by_index) {
      return all.contains({end, by_index});
    };
    // Tasks of a job that has failed may have completed, but not those of one that has completed
    // have failed.
    const bool never =
        (has(AfterEnd::ok, false) && has(AfterEnd::fail, false)) ||
        (has(AfterEnd::fail, true) && (has(AfterEnd::ok, false) || has(AfterEnd::ok, true)));
    if (!never) continue;
    report("after", fmt::format("names \"{:.60}\" with :ok and with :fail, which never come true "
                                "together: :any goes by either end",
                                job));
  }
  const auto by_index = std::count_if(request.after.begin(), request.after.end(),
                                      [](const auto& each) { return parse_after(each).by_index; });
  if (by_index == 0) return;
  if (by_index > kMostByIndex) {
    report("after", fmt::format("has to have :index at most {} times; it has it {} times",
                                kMostByIndex, by_index));
  }
  if (request.gang || !request.elastic.empty()) {
    report("after",
           "has :index, with which tasks begin one by one: those of a gang or an elastic "
           "job begin together");
  }
  if (request.on_fail == "keep") {
    report("on_fail",
           "does not go with :index in after: a task whose counterpart ended otherwise "
           "has failed");
  }
}

std::vector<AfterJob> after_of(const std::vector<std::string>& texts) {
  std::vector<AfterJob> jobs;
  for (const std::string& text : texts) {
    const AfterText parsed = parse_after(text);
    if (const auto place = submission_place(parsed.job)) {
      jobs.push_back({{}, parsed.end, *place, false, parsed.by_index});
    } else if (const auto number = parse_whole(parsed.job)) {
      jobs.push_back({JobId{*number}, parsed.end, 0, false, parsed.by_index});
    }
  }
  return jobs;
}

std::vector<std::string> after_texts(const std::vector<AfterJob>& jobs) {
  std::vector<std::string> texts;
  for (const AfterJob& each : jobs) {
    const std::string job =
        each.place > 0 ? fmt::format("#{}", each.place) : std::to_string(each.job.value);
    texts.push_back(after_text(job, {{}, each.end, each.by_index}));
  }
  return texts;
}

void add_after_texts(std::vector<std::string>& to, const std::vector<std::string>& more) {
  to.insert(to.end(), more.begin(), more.end());
  std::sort(to.begin(), to.end());
  to.erase(std::unique(to.begin(), to.end()), to.end());
}

void settle_after(std::vector<JobRequest>& requests,
                  const std::function<void(std::size_t, std::string)>& report) {
  const bool any = std::any_of(requests.begin(), requests.end(),
                               [](const JobRequest& each) { return !each.after.empty(); });
  if (!any) return;
  JobNames names;
  for (std::size_t i = 0; i < requests.size(); ++i) {
    names[job_name(requests[i])].push_back(i);
  }
  AfterGraph waits_for(requests.size());
  for (std::size_t i = 0; i < requests.size(); ++i) {
    for (std::string& text : requests[i].after) {
      const AfterText parsed = parse_after(text);
      PlacedAfter found = placed_after(parsed.job, names, requests.size());
      if (!found.fault.empty()) report(i, std::move(found.fault));
      if (!found.at) continue;
      if (!requests[*found.at].every.empty()) {
        report(i, fmt::format("\"{:.60}\" recurs, and is never over", parsed.job));
      }
      waits_for[i].push_back(*found.at);
      text = after_text(fmt::format("#{}", *found.at + 1), parsed);
    }
  }
  const std::vector<std::size_t> circle = circle_in(waits_for);
  if (circle.empty()) return;
  constexpr std::size_t kShown = 6;
  std::string path;
  for (std::size_t i = 0; i < std::min(circle.size(), kShown); ++i) {
    path += (i > 0 ? ", " : "") + fmt::format("{:.60}", job_name(requests[circle[i]]));
  }
  if (circle.size() > kShown) path += ", ...";
  report(circle.front(), circle.size() == 2 ? "the job would wait for itself"
                                            : "the jobs would wait for each other: " + path);
}

}  // namespace muster::config
