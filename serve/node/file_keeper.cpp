#include "serve/node/file_keeper.hpp"

#include <fmt/format.h>

#include <future>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "model/event.hpp"

namespace muster {
namespace {

/// The cluster has that long to say whether a job is over; a job without an answer is not.
constexpr std::chrono::seconds kPatience{15};
constexpr int kNotFound = 404;
constexpr double kMiB = 1024.0 * 1024;

/// A question whose answer counts once.
struct Asked {
  std::promise<api::Answer> answer;
  std::atomic<bool> is_answered{false};
};

}  // namespace

FileKeeper::FileKeeper(FilesConfig config, api::Backend& backend, Host host, Pace pace)
    : config_(std::move(config)),
      backend_(backend),
      host_(std::move(host)),
      pace_(pace),
      thread_([this] { run(); }) {}

FileKeeper::~FileKeeper() {
  {
    const std::lock_guard lock(mutex_);
    stops_ = true;
  }
  ends_.notify_one();
  thread_.join();
}

void FileKeeper::run() {
  std::chrono::seconds wait = pace_.first;
  for (;;) {
    {
      std::unique_lock lock(mutex_);
      if (ends_.wait_for(lock, wait, [this] { return stops_.load(); })) return;
    }
    sweep();
    wait = pace_.every;
  }
}

std::optional<bool> FileKeeper::needs_files(std::uint64_t job) const {
  // Shared: the answer may come late.
  auto asked = std::make_shared<Asked>();
  auto answer = asked->answer.get_future();
  api::View what;
  what.of = api::Operation::job;
  what.job = JobId{job};
  what.limit = 1;
  backend_.view(what, [asked](api::Answer said) {
    if (!asked->is_answered.exchange(true)) asked->answer.set_value(std::move(said));
  });
  const auto end = std::chrono::steady_clock::now() + kPatience;
  while (answer.wait_for(std::chrono::milliseconds{200}) != std::future_status::ready) {
    if (stops_ || std::chrono::steady_clock::now() >= end) return true;
  }
  const api::Answer said = answer.get();
  if (said.status == kNotFound) return std::nullopt;
  const auto document = nlohmann::json::parse(said.json, nullptr, false);
  if (!document.is_object() || !document.contains("state")) return true;
  const auto& state = document["state"];
  // The state of a job that is over is its outcome.
  return !state.is_string() || !named<JobOutcome>(state.get<std::string>());
}

void FileKeeper::sweep() {
  files::SweepRules rules;
  rules.now = host_.clock();
  rules.stage_keep = std::chrono::days{config_.stage_keep_days};
  rules.outputs_keep = std::chrono::days{config_.outputs_keep_days};
  rules.needs_files = [this](std::uint64_t job) { return needs_files(job); };
  rules.goes_on = [this] { return !stops_; };
  const auto users = files::users_in(config_.folder);
  if (!users) return host_.warn("the store of files: " + users.error().message);
  for (const std::string& user : users.value()) {
    const auto swept = files::sweep_user(config_.folder, user, rules);
    if (stops_) return;
    if (!swept) {
      host_.warn(fmt::format("the store of files, {}: {}", user, swept.error().message));
    } else if (swept->removed.objects > 0) {
      host_.note(fmt::format(
          "the store of files, {}: {} contents ({:.1f} MiB) are removed, {} "
          "({:.1f} MiB) stay",
          user, swept->removed.objects, static_cast<double>(swept->removed.bytes) / kMiB,
          swept->left.objects, static_cast<double>(swept->left.bytes) / kMiB));
    }
  }
}

}  // namespace muster
