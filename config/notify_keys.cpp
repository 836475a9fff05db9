#include "config/notify_keys.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <utility>

#include "config/notify_address.hpp"
#include "config/text_pieces.hpp"
#include "model/letter.hpp"

namespace muster::config {
namespace {

using R = JobRequest;

constexpr std::string_view kWantedNotify =
    "a list like [\"https://example.org/hook\", \"me@example.org\"], or a text with commas between "
    "them: at most 8 webhooks (https://...) and mail addresses";
constexpr std::string_view kWantedOn =
    "\"end\" (however it ended), \"fail\" (only if it failed, was refused or skipped, or expired), "
    "or "
    "\"all\" (once, when all jobs of the submission that say so are over)";

/// Adds the address; false: the text is no address.
bool add_address(std::vector<std::string>& all, std::string_view text) {
  text = without_spaces(text);
  if (!is_notify_address(text)) return false;
  all.emplace_back(text);
  return true;
}

bool read_notify(JobRequest& request, const RequestValue& value) {
  std::vector<std::string> all;
  if (const auto* text = std::get_if<std::string>(&value.data)) {
    for (const std::string_view one : pieces_of(*text, ',')) {
      if (!add_address(all, one)) return false;
    }
  } else if (const auto* list = std::get_if<RequestValue::List>(&value.data)) {
    for (const RequestValue& element : *list) {
      const auto* text_of_it = std::get_if<std::string>(&element.data);
      if (text_of_it == nullptr || !add_address(all, *text_of_it)) return false;
    }
  } else {
    return false;
  }
  // Each once and in one order: two spellings of a request are one submission.
  std::sort(all.begin(), all.end());
  all.erase(std::unique(all.begin(), all.end()), all.end());
  request.notify = std::move(all);
  return true;
}

void check_notified(const JobRequest& request, const Report& report) {
  if (request.notify.size() > kMostLetterAddresses) {
    return report("notify", fmt::format("has to be at most {} addresses; they are {}",
                                        kMostLetterAddresses, request.notify.size()));
  }
  for (const std::string& each : request.notify) {
    if (is_notify_address(each)) continue;
    return report("notify", fmt::format("has to be {}; it has \"{:.60}\"", kWantedNotify, each));
  }
}

/// Several words are the widest of them: every end means failures, too.
std::optional<NotifyOn> notify_on_of(std::string_view text) {
  std::optional<NotifyOn> widest;
  for (const std::string_view one : pieces_of(text, ',')) {
    const auto word = named<NotifyOn>(without_spaces(one));
    if (!word) return std::nullopt;
    const bool alone = *word == NotifyOn::all || widest == NotifyOn::all;
    if (widest && alone && *word != *widest) return std::nullopt;
    if (!widest || *word == NotifyOn::end) widest = *word;
  }
  return widest;
}

bool read_on(JobRequest& request, const RequestValue& value) {
  const auto* text = std::get_if<std::string>(&value.data);
  const auto on = text == nullptr ? std::nullopt : notify_on_of(*text);
  if (!on) return false;
  request.notify_on = *on == NotifyOn::end ? std::string() : std::string(name_of(*on));
  return true;
}

void check_on(const JobRequest& request, const Report& report) {
  if (request.notify_on.empty() || notify_on_of(request.notify_on)) return;
  report("notify_on", fmt::format("has to be {}; it is \"{:.60}\"", kWantedOn, request.notify_on));
}

}  // namespace

std::vector<RequestKey> notify_request_keys() {
  return {{"notify", "list, or text like \"https://example.org/hook,me@example.org\"", "none",
           "webhooks and mail addresses that are told of the job's end, 8 at most",
           RequestOther{&R::notify, std::string(kWantedNotify), read_notify, check_notified},
           RequestFlag{"--notify",
                       "tell these of the job's end: https://... and mail addresses, with commas "
                       "between them"}},
          {"notify_on", "`end`, `fail` or `all`", "`end`",
           "after which ends `notify` is told: `end`: each; `fail`: it failed, was refused or "
           "skipped, or expired; `all`: once, when all jobs of the submission that say so are over",
           RequestOther{&R::notify_on, std::string(kWantedOn), read_on, check_on},
           RequestFlag{"--notify-on",
                       "after which ends: end (default), fail, or all: once for the submission"}}};
}

void check_notify(const JobRequest& request, const Report& report) {
  if (!request.notify_on.empty() && request.notify.empty()) {
    report("notify_on", "needs notify, which says who is told");
  }
}

void make_notify(const JobRequest& request, Job& job) {
  job.notify = request.notify;
  job.notify_on = notify_on_of(request.notify_on).value_or(NotifyOn::end);
}

void ask_notify(const Job& job, JobRequest& request) {
  request.notify = job.notify;
  request.notify_on =
      job.notify_on == NotifyOn::end ? std::string() : std::string(name_of(job.notify_on));
}

}  // namespace muster::config
