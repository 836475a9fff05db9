#include "tools/cli/stage_folders.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <map>
#include <system_error>
#include <utility>

#include "model/rounded_text.hpp"
#include "tools/cli/output.hpp"
#include "tools/cli/slow_progress.hpp"
#include "tools/client/bytes_text.hpp"
#include "tools/client/printable.hpp"
#include "tools/client/staging.hpp"

namespace muster::cli {
namespace {

using client::bytes_text;

constexpr std::size_t kShownColumns = 40;  ///< of a folder's path, in the line of progress

/// A folder, by whatever path, and whose its files are to be.
using FolderOfUser = std::pair<std::string, std::string>;

FolderOfUser folder_of(const JobRequest& request) {
  std::error_code failed;
  const std::filesystem::path whole = std::filesystem::canonical(request.stage, failed);
  return {failed ? request.stage : whole.string(), request.user};
}

std::string progress_text(const std::string& folder, const client::StageProgress& progress) {
  const std::string shown = client::cut(client::printable(folder), kShownColumns);
  if (progress.files_to_send == 0) {
    return fmt::format("reading {}: {}, {}", shown, count_text(progress.files_read, "file"),
                       bytes_text(progress.bytes_read));
  }
  return fmt::format("sending {}: {} of {}, {} of {}", shown, progress.files_sent,
                     count_text(progress.files_to_send, "file"), bytes_text(progress.bytes_sent),
                     bytes_text(progress.bytes_to_send));
}

/// Stages one folder; nothing after a complaint.
std::optional<client::Staged> stage_one(client::ApiClient& api, const JobRequest& request,
                                        client::Elsewhere elsewhere) {
  SlowProgress line;
  client::StageOptions options;
  options.user = request.user;
  options.memory = client::stage_memory_folder(client::process_environment());
  options.elsewhere = elsewhere;
  options.progress = [&](const client::StageProgress& progress) {
    line.draw([&] { return progress_text(request.stage, progress); });
    return true;
  };
  const auto staged = client::stage_folder(api, request.stage, options);
  line.clear();
  if (staged) return staged.value();
  complain(staged.error().message);
  return std::nullopt;
}

}  // namespace

void place_stage(const std::string& file, JobRequest& request) {
  const std::filesystem::path folder(request.stage);
  const bool is_path = !request.stage.empty() && !client::is_tree_id(request.stage);
  if (!is_path || file == "-" || folder.is_absolute()) return;
  request.stage = (std::filesystem::path(file).parent_path() / folder).string();
}

std::optional<std::vector<std::string>> stage_folders(client::ApiClient& api,
                                                      std::vector<JobRequest>& requests,
                                                      client::Elsewhere elsewhere) {
  std::map<FolderOfUser, client::Staged> all;
  std::vector<std::string> notes(requests.size());
  for (std::size_t i = 0; i < requests.size(); ++i) {
    JobRequest& request = requests[i];
    if (request.stage.empty() || client::is_tree_id(request.stage)) continue;
    const FolderOfUser key = folder_of(request);
    auto found = all.find(key);
    if (found == all.end()) {
      const auto staged = stage_one(api, request, elsewhere);
      if (!staged) return std::nullopt;
      found = all.emplace(key, *staged).first;
    }
    const client::Staged& staged = found->second;
    notes[i] = fmt::format("{} ({}) of {}", count_text(staged.files, "file"),
                           bytes_text(staged.bytes), client::printable(request.stage));
    request.stage = staged.tree.text();
  }
  return notes;
}

}  // namespace muster::cli
