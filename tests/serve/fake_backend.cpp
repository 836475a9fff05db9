#include "tests/serve/fake_backend.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>

#include "serve/api/log_piece.hpp"
#include "tests/serve/story_documents.hpp"

namespace muster::api {
namespace {

using Json = nlohmann::ordered_json;

constexpr double kBegin = FakeBackend::kBegin;

std::string user_of_job(std::uint64_t job) {
  return job % 2 == 0 ? "ann" : "ben";
}

std::string name_of_job(std::uint64_t job) {
  return job == 3 ? FakeBackend::kHostileName : fmt::format("sweep-{}", job);
}

std::string state_of_job(std::uint64_t job, std::uint64_t tick) {
  static constexpr std::array<const char*, 4> kStates{"waiting", "running", "running", "held"};
  if (job == 1 && tick > 1) {
    return "completed";
  }
  return job % 7 == 6 ? "failed" : kStates[job % kStates.size()];
}

/// Job 5 is elastic.
Json elastic_document(std::uint64_t job) {
  if (job != 5) return nullptr;
  return {{"least", 1},  {"most", 8},     {"width", 3},
          {"done", 120}, {"whole", 1000}, {"unit", "samples"}};
}

Json job_document(std::uint64_t job, std::uint64_t tick) {
  const std::string state = state_of_job(job, tick);
  const bool over = state == "completed" || state == "failed";
  return {{"job", job},
          {"name", name_of_job(job)},
          {"user", user_of_job(job)},
          {"class", "sweep"},
          {"state", state},
          {"master", job % 2 == 0 ? Json("m0") : Json("m1")},
          {"tasks_total", 8},
          {"waiting", state == "waiting" ? 8 : 1},
          {"held", 0},
          {"capped", 0},
          {"starting", 0},
          {"running", state == "running" ? 3 : 0},
          {"finished", state == "completed" ? 8 : 4},
          {"failed", state == "failed" ? 1 : 0},
          {"failed_attempts", job % 3},
          {"submitted_s", kBegin + static_cast<double>(job)},
          {"over_s", over ? Json(kBegin + 60) : Json(nullptr)},
          {"usd", 0.12 * static_cast<double>(job)},
          {"market", "any"},
          {"gang", false},
          {"movable", true},
          {"checkpoints", false},
          {"distinct_instances", false},
          {"most_an_instance", 0},
          {"elastic", elastic_document(job)},
          {"after", Json::array()},
          {"exit_code", state == "failed" ? Json(3)
                        : over            ? Json(0)
                                          : Json(nullptr)},
          {"failed_task", state == "failed" ? Json(2) : Json(nullptr)},
          {"max_fails", nullptr},
          {"cpu_s", over ? Json(61.5) : Json(nullptr)},
          {"peak_mib", over ? Json(310.2) : Json(nullptr)},
          {"reason", nullptr},
          {"command", {"python3", "train.py", "--fast"}}};
}

Json task_documents() {
  Json tasks = Json::array();
  for (int i = 0; i < 8; ++i) {
    const bool waits = i > 5;
    tasks.push_back(
        {{"task", i},
         {"phase", waits ? "pending" : "running"},
         {"attempt", 1},
         {"instance", waits ? Json(nullptr) : Json(i / 2)},
         {"instance_type", waits ? Json(nullptr) : Json("c7i.large")},
         {"usd", 0.03},
         {"exit_code", nullptr},
         {"reason",
          waits ? Json{{"kind", "not now"},
                       {"code", "spend cap"},
                       {"text", "m0 spends 2.40 of at most 2.50 $/h; another c7i.large costs 0.09"}}
                : Json(nullptr)},
         {"moves", i % 2},
         {"metrics", waits ? Json::object() : Json{{"loss", 0.25 * i}, {"p99_ms", 12.5}}},
         {"failures", i == 2 ? 1 : 0},
         {"ran_s", waits ? 0 : 30 + i},
         {"wall_s", waits ? 0 : 30 + i},
         {"cpu_s", nullptr},
         {"peak_mib", nullptr},
         {"started_s", waits ? Json(nullptr) : Json(kBegin + 30)},
         {"ended_s", nullptr},
         {"last_failure",
          i == 2 ? Json{{"kind", "exit code"}, {"text", "exit code 3"}} : Json(nullptr)}});
  }
  return tasks;
}

Json instance_documents(std::uint64_t tick) {
  Json list = Json::array();
  for (std::uint64_t i = 0; i < 5 + tick % 3; ++i) {
    const bool spot = i % 2 == 1;
    list.push_back({{"instance", i},
                    {"type", i < 3 ? "c7i.large" : "p3.2xlarge"},
                    {"market", spot ? "spot" : "on-demand"},
                    {"phase", i == 4 ? "booting" : "ready"},
                    {"released", false},
                    {"usd_h", spot ? 0.031 : 0.085},
                    {"requested_s", kBegin},
                    {"up_s", i == 4 ? Json(nullptr) : Json(kBegin + 30)},
                    {"master", i % 2 == 0 ? "m0" : "m1"},
                    {"tasks", Json::array({{{"job", 2}, {"task", i}}})},
                    {"used", {{"cpu", 1}, {"memory", 2}, {"gpu", 0}}},
                    {"capacity", {{"cpu", 2}, {"memory", 4}, {"gpu", 0}}},
                    {"connected", i != 3},
                    {"limits", "cgroup v2"},
                    {"isolation", "uid"},
                    {"own_checkpoints", false},
                    {"labels", i == 2 ? Json{{"disk", "nvme"}, {"zone", "eu-1a"}} : Json::object()},
                    {"more_tasks", 0}});
  }
  return list;
}

Json node_documents(std::uint64_t tick) {
  return Json::array(
      {{{"node", "n0"},
        {"roles", {"site tokyo", "master m0", "cloud", "api"}},
        {"connected", true},
        {"load",
         {{"jobs", 21}, {"pending_tasks", 30 + tick}, {"instances", 3}, {"policy", "eva"}}}},
       {{"node", "n1"},
        {"roles", {"site oslo", "master m1"}},
        {"connected", tick % 5 != 4},
        {"load",
         {{"jobs", 19}, {"pending_tasks", 12}, {"instances", 2}, {"policy", "no-packing"}}}}});
}

Json status_document(std::uint64_t tick) {
  const double rate = 0.4 + 0.05 * static_cast<double>(tick % 6);
  return {
      {"now_s", kBegin + static_cast<double>(tick)},
      {"jobs",
       {{"waiting", 10 + tick}, {"running", 20}, {"held", 10}, {"over", 5}, {"handing_over", 0}}},
      {"tasks", {{"pending", 80}, {"running", 60 + tick}}},
      {"elastic", {{"jobs", 2}, {"workers", 5}}},
      {"instances",
       Json::array({{{"type", "c7i.large"}, {"market", "on-demand"}, {"count", 2}},
                    {{"type", "c7i.large"}, {"market", "spot"}, {"count", 1}},
                    {{"type", "p3.2xlarge"}, {"market", "spot"}, {"count", 2 + tick % 3}}})},
      {"usd_h", rate},
      {"total_usd", 12.34 + 0.001 * static_cast<double>(tick)},
      {"today_usd", 3.21 + 0.001 * static_cast<double>(tick)},
      {"nodes", node_documents(tick)},
      {"caps",
       Json::array(
           {{{"master", "m0"}, {"max_instances", 10}, {"max_usd_h", 2.5}, {"max_usd_day", 40}}})},
      {"trouble", tick % 5 == 4 ? Json::array({"node n1 is not connected"}) : Json::array()}};
}

/// Three hours of the past.
Json history_documents(std::uint64_t tick) {
  Json list = Json::array();
  for (int minute = 180; minute > 0; --minute) {
    list.push_back({{"at_s", kBegin + static_cast<double>(tick) - 60.0 * minute},
                    {"instances", 5},
                    {"jobs_waiting", minute % 7},
                    {"spent_usd", 12.3 - 0.01 * minute},
                    {"tasks_pending", 80},
                    {"tasks_running", 60},
                    {"usd_h", 0.4}});
  }
  return list;
}

bool listed(const Json& job, const View& what) {
  const std::string state = job["state"];
  const bool over = state == "completed" || state == "failed";
  const bool in_state = what.state == JobState::all || (what.state == JobState::over) == over;
  const std::string name = job["name"];
  const NamePattern pattern(what.filter.name);
  return in_state && (what.user.empty() || job["user"] == what.user) && pattern.matches(name) &&
         (!what.filter.failed || state == "failed");
}

/// By number alone.
Json jobs_document(const View& what, std::uint64_t tick) {
  Json out{
      {"jobs", Json::array()}, {"next", nullptr}, {"sorted_of", nullptr}, {"sorted_all", nullptr}};
  std::uint64_t job = what.after ? what.after->behind.job.value : FakeBackend::kJobs;
  while (job-- > 0) {
    Json entry = job_document(job, tick);
    if (!listed(entry, what)) continue;
    if (out["jobs"].size() >= what.limit) {
      const JobId last{out["jobs"].back()["job"].get<std::uint64_t>()};
      out["next"] = to_text(JobCursor{what.state == JobState::over, {Instant{}, last}});
      break;
    }
    out["jobs"].push_back(std::move(entry));
  }
  return out;
}

/// A page of the tasks.
void put_tasks(Json& out, const View& what) {
  Json page = Json::array();
  std::size_t behind = 0;
  for (Json& task : task_documents()) {
    if (what.after_task && task["task"] <= *what.after_task) continue;
    if (!what.phase.empty() && task["phase"] != what.phase) continue;
    if (what.attempts) task["attempts"] = attempt_documents();
    if (page.size() < what.limit) {
      page.push_back(std::move(task));
    } else {
      ++behind;
    }
  }
  out["next"] = behind > 0 ? page.back()["task"] : Json(nullptr);
  out["tasks_behind"] = behind;
  out["tasks"] = std::move(page);
}

}  // namespace

void FakeBackend::answer(const Reply& reply, std::string json, int status) {
  ++calls_;
  Answer answer{status, std::move(json)};
  {
    const std::lock_guard lock(mutex_);
    if (always_) {
      answer = *always_;
    }
    if (silent_) {
      kept_.emplace_back(reply, std::move(answer));
      return;
    }
  }
  reply(std::move(answer));
}

void FakeBackend::answer_kept() {
  std::vector<std::pair<Reply, Answer>> kept;
  {
    const std::lock_guard lock(mutex_);
    kept.swap(kept_);
  }
  for (auto& [reply, answer] : kept) {
    reply(answer);
    reply(std::move(answer));  // only the first counts
  }
}

void FakeBackend::answer_with(Answer answer) {
  const std::lock_guard lock(mutex_);
  always_ = std::move(answer);
}

void FakeBackend::submit(std::vector<Job> jobs, Reply reply) {
  Json ids = Json::array();
  {
    const std::lock_guard lock(mutex_);
    for (Job& job : jobs) {
      ids.push_back({{"job", jobs_.size()}});
      if (!forgets_) {
        jobs_.push_back(std::move(job));
      }
    }
  }
  answer(reply, Json{{"jobs", ids}}.dump(), 201);
}

void FakeBackend::owner(JobId job, std::function<void(JobOwner)> reply) {
  if (job.value >= kJobs) return reply({{}, refusal(404, "not found", "there is no such job")});
  reply({user_of_job(job.value)});
}

void FakeBackend::change_service(ServiceChange what, Reply reply) {
  if (what.as) return submit({*what.as}, std::move(reply));
  const std::string said = what.replicas
                               ? fmt::format("scale {} {}", what.job.value, *what.replicas)
                               : fmt::format("restart {}", what.job.value);
  {
    const std::lock_guard lock(mutex_);
    changes_.push_back(said);
  }
  if (what.replicas) return answer(reply, Json{{"job", what.job.value}}.dump());
  answer(reply, Json{{"jobs", Json::array({{{"job", what.job.value + 1}}})}}.dump(), 201);
}

void FakeBackend::change_job(JobId job, JobChange change, Reply reply) {
  static constexpr std::array<const char*, 3> kWords{"cancel", "hold", "release"};
  {
    const std::lock_guard lock(mutex_);
    changes_.push_back(
        fmt::format("{} {}", kWords.at(static_cast<std::size_t>(change)), job.value));
  }
  if (job.value >= kJobs) {
    const Answer missing = refusal(404, "not found", "there is no such job");
    return answer(reply, missing.json, missing.status);
  }
  answer(reply, Json{{"job", job.value}}.dump());
}

void FakeBackend::resubmit(const Again& what, Reply reply) {
  {
    const std::lock_guard lock(mutex_);
    changes_.push_back(fmt::format("resubmit {}{} {}", what.job.value,
                                   what.failed_only ? " failed" : "", what.token));
  }
  answer(reply, Json{{"jobs", {{{"job", what.job.value + 1}}}}}.dump(), 201);
}

void FakeBackend::change_instance(InstanceId instance, InstanceChange change, Reply reply) {
  {
    const std::lock_guard lock(mutex_);
    changes_.push_back(fmt::format("{} {}", change == InstanceChange::drain ? "drain" : "interrupt",
                                   instance.value));
  }
  answer(reply, Json{{"instance", instance.value}}.dump());
}

void FakeBackend::read_log(const LogQuery& query, Reply reply) {
  {
    const std::lock_guard lock(mutex_);
    last_log_ = query;
  }
  std::string text;
  for (std::uint64_t origin = 0; origin <= tick_; ++origin) {
    text += fmt::format("task {}: epoch {}, loss {:.3f}\n", query.index, origin,
                        1.0 / (1.0 + static_cast<double>(origin)));
  }
  const std::uint64_t begin = std::min<std::uint64_t>(query.offset, text.size());
  const std::string piece = text.substr(begin, query.max);
  LogPiece made;
  made.attempt = 1;
  made.offset = begin;
  made.bytes = piece;
  made.size = text.size();
  made.more = begin + piece.size() < text.size();
  reply(query.raw ? log_bytes(made) : log_document(query, made));
}

void FakeBackend::plan(Job job, Reply reply) {
  const Json document{
      {"launches", Json::array({{{"type", "c7i.large"}, {"market", "spot"}, {"usd_h", 0.03}}})},
      {"places", Json::array({{{"task", 0}, {"to", "instance 3 (c7i.large)"}}})},
      {"refusals",
       Json::array(
           {{{"task", job.tasks.size() - 1}, {"kind", "not now"}, {"why", "the cap is reached"}}})},
      {"left_out", 0},
      {"master", "m0"},
      {"moves", 1},
      {"usd_h", 0.43},
      {"usd_h_now", 0.4}};
  answer(reply, document.dump());
}

std::string FakeBackend::document(const View& what) const {
  const std::uint64_t tick = tick_;
  Json out;
  switch (what.of) {
    case Operation::jobs:
      out = jobs_document(what, tick);
      break;
    case Operation::job:
      out = job_document(what.job.value, tick);
      out["submission"] = nullptr;
      put_tasks(out, what);
      break;
    case Operation::explain:
      out["job"] = job_document(what.job.value, tick);
      put_tasks(out, what);
      for (Json& task : out["tasks"]) {
        task["why"] = task["reason"].is_null() ? Json("it has a place") : task["reason"]["text"];
      }
      break;
    case Operation::instances:
      out["instances"] = instance_documents(tick);
      break;
    case Operation::usage:
      out["tasks"] = Json::array();
      out["next"] = nullptr;
      break;
    case Operation::instance:
      return life_document(what.instance.value).dump();
    case Operation::nodes:
      out["nodes"] = node_documents(tick);
      break;
    case Operation::services:
    case Operation::service:
      out["services"] = Json::array();
      out["more"] = 0;
      break;
    case Operation::endpoints:
      out = {{"service", "web"},
             {"user", "ann"},
             {"job", 7},
             {"revision", "0123456789abcdef"},
             {"endpoints", Json::array()}};
      break;
    case Operation::cost:
      out = {
          {"total_usd", 12.34},
          {"unsettled_usd", 0.2},
          {"tasks_usd", 11.94},
          {"idle_usd", {{"boot", 0.1}, {"idle", 0.2}, {"drain", 0.1}, {"fragmentation", 0}}},
          {"by", Json::array({{{"name", "ann"}, {"usd", 7.5}}, {{"name", "ben"}, {"usd", 4.44}}})}};
      break;
    case Operation::cost_today:
      return R"({"since_s": 1.0, "by": [], "complete": true, "silent": []})";
    case Operation::status:
      out = status_document(tick);
      break;
    case Operation::history:
      out["samples"] = history_documents(tick);
      break;
    case Operation::decisions:
      out = decision_documents(tick);
      break;
    default:
      break;
  }
  // Views of the whole cluster say whose part is missing.
  out["complete"] = true;
  out["silent"] = Json::array();
  return out.dump();
}

void FakeBackend::view(const View& what, Reply reply) {
  {
    const std::lock_guard lock(mutex_);
    last_view_ = what;
  }
  const bool of_job = what.of == Operation::job || what.of == Operation::explain;
  if (of_job && what.job.value >= kJobs) {
    const Answer missing = refusal(404, "not found", "there is no such job");
    return answer(reply, missing.json, missing.status);
  }
  answer(reply, document(what));
}

void FakeBackend::metrics(std::function<void(std::optional<MetricsInput>)> reply) {
  ++calls_;
  if (silent_) {
    return;
  }
  MetricsInput input;
  input.metrics = {{"muster_jobs",
                    "Jobs by state.",
                    false,
                    {{{{"state", "running"}}, 20}, {{{"state", "a\"b\n"}}, 1}}},
                   {"muster_rounds_total", "Rounds of planning.", true, {{{}, 17}}},
                   {"not a name", "Is left out.", false, {{{}, 1}}}};
  input.distributions = {{"muster_decision_seconds",
                          "How long rounds took.",
                          {{"master", "m0"}},
                          {0.01, 0.1},
                          {3, 2, 1},
                          0.5}};
  reply(std::move(input));
}

std::vector<Job> FakeBackend::jobs() const {
  const std::lock_guard lock(mutex_);
  return jobs_;
}

View FakeBackend::last_view() const {
  const std::lock_guard lock(mutex_);
  return last_view_;
}

LogQuery FakeBackend::last_log() const {
  const std::lock_guard lock(mutex_);
  return last_log_;
}

std::vector<std::string> FakeBackend::changes() const {
  const std::lock_guard lock(mutex_);
  return changes_;
}

}  // namespace muster::api
