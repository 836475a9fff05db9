#include "serve/local/kept_logs.hpp"

#include <algorithm>
#include <future>
#include <optional>
#include <system_error>
#include <tuple>
#include <utility>
#include <vector>

#include "actors/time/clock_wall.hpp"
#include "config/worker_config.hpp"
#include "workers/process/files/attempt_dir.hpp"
#include "workers/process/files/log_file.hpp"

namespace muster::local {
namespace {

namespace fs = std::filesystem;

/// Of a stream that is in memory at once.
constexpr std::size_t kPieceBytes = std::size_t{1} << 20;
/// Less than whoever waits for the ends of instances waits from one to the next.
constexpr double kLongestS = 20;
constexpr const char* kUnreadable = "it could not be read when `muster down` ended the cluster";
constexpr const char* kTooLate =
    "it was not across when `muster down` had taken as long for it as logs.handover_s allows";

/// The part of a stream that is kept already; nothing: the attempt is not known there.
std::optional<KeptLog> kept_of(LogStore& store, const LogName& name, bool error_stream) {
  std::promise<std::optional<KeptLog>> told;
  const auto use = [&](std::optional<KeptLog> kept) { told.set_value(std::move(kept)); };
  if (!store.read({name, error_stream, 0, 0}, use)) return std::nullopt;
  return told.get_future().get();
}

/// Bytes of both files of an attempt.
std::uint64_t bytes_of(const fs::path& folder) {
  std::uint64_t bytes = 0;
  for (const char* file : {process::kOutLog, process::kErrLog}) {
    std::error_code failed;
    const std::uintmax_t size = fs::file_size(folder / file, failed);
    if (!failed) bytes += size;
  }
  return bytes;
}

bool deliver(LogStore& store, LogDelivery delivery) {
  std::promise<bool> told;
  const auto done = [&](bool written) { told.set_value(written); };
  return store.take(std::move(delivery), done) && told.get_future().get();
}

}  // namespace

bool LogsOfEnd::is_late() {
  if (!until_) {
    until_ = Clock::now() +
             std::chrono::duration_cast<Clock::duration>(
                 std::chrono::duration<double>(std::min(config_.logs.handover_s, kLongestS)));
  }
  return Clock::now() >= *until_;
}

/// The keep of the node's master, as the node itself opens it.
LogStore* LogsOfEnd::store_of(const std::string& node) {
  const auto [at, fresh] = stores_.try_emplace(node);
  if (!fresh) return at->second.get();
  const NodeConfig* of = config_.find(node);
  if (of == nullptr || !of->master) return nullptr;
  LogStoreOptions options;
  options.max_bytes = config_.logs.keep_mib << 20;
  options.max_age = std::chrono::hours{24} * config_.logs.keep_days;
  options.clock = [] { return wall_now().time_since_epoch(); };
  const fs::path& all = config_.logs.folder;
  auto store = LogStore::open(all.empty() ? config_.state / node / "logs" : all / *of->master,
                              std::move(options));
  if (store) at->second = std::move(store).value();
  return at->second.get();
}

void LogsOfEnd::bring(const fs::path& machine) {
  const auto worker = load_worker_config(machine / "worker.toml", {});
  if (!worker) return;
  const fs::path attempts = worker->state_dir / process::kAttemptsFolder;
  std::error_code ignored;
  // Short outputs go first: a long one is not to use up the time of all others.
  std::vector<std::tuple<std::uint64_t, fs::path>> found;
  for (fs::directory_iterator each(attempts, ignored), end; each != end; each.increment(ignored)) {
    if (!ignored) found.emplace_back(bytes_of(each->path()), each->path());
  }
  std::ranges::sort(found);
  for (const auto& [bytes, folder] : found) {
    const auto key = process::key_from(folder.filename().string());
    if (!key) continue;
    LogStore* store = store_of(worker->master_name);
    const bool kept = store != nullptr && bring_attempt(*store, folder, {key->task, key->attempt});
    ++(kept ? done_.kept : done_.lost);
  }
}

bool LogsOfEnd::bring_attempt(LogStore& store, const fs::path& folder, const LogName& name) {
  const process::Descriptor files = process::open_folder(folder);
  if (!files) return false;
  for (const bool error_stream : {false, true}) {
    const auto kept = kept_of(store, name, error_stream);
    if (kept && !kept->none && !kept->open) return true;  // it had come before the end
    const process::LogReader reader(files.get(),
                                    error_stream ? process::kErrLog : process::kOutLog);
    for (std::uint64_t at = kept ? kept->end : 0; at < reader.end();) {
      if (is_late()) {
        deliver(store, {name, {}, true, kTooLate});
        return false;
      }
      std::string text = reader.read(at, kPieceBytes);
      if (text.empty()) {
        deliver(store, {name, {}, true, kUnreadable});
        return false;
      }
      const std::uint64_t next = at + text.size();
      if (!deliver(store, {name, {{error_stream, at, std::move(text)}}})) return false;
      at = next;
    }
  }
  return deliver(store, {name, {}, true});
}

}  // namespace muster::local
