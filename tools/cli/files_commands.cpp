#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "model/rounded_text.hpp"
#include "tools/cli/client_options.hpp"
#include "tools/cli/commands.hpp"
#include "tools/cli/interrupt_watch.hpp"
#include "tools/cli/named_task.hpp"
#include "tools/cli/output.hpp"
#include "tools/cli/slow_progress.hpp"
#include "tools/client/bytes_text.hpp"
#include "tools/client/fetching.hpp"
#include "tools/client/printable.hpp"
#include "tools/client/text_table.hpp"
#include "tools/client/views.hpp"

// `muster ls` and `muster fetch`: the files that tasks have left.

namespace muster::cli {
namespace {

using client::bytes_text;
using client::FetchError;
using client::TaskOutputs;
using files::EntryKind;
using Document = nlohmann::json;

/// With more tasks one line says for all of them that they were fetched.
constexpr std::size_t kMostTaskLines = 20;
/// Paths are not cut: a script may read them.
constexpr std::size_t kPathColumns = 4 * files::kMostPathBytes;

struct FilesOptions {
  ClientOptions client;
  std::string job;  ///< JOB or JOB:TASK
  std::optional<std::uint64_t> attempt;
  bool all = false;
  std::string output;  ///< folder; empty: job-JOB
  bool force = false;
};

std::string text_of(const Document& document) {
  return document.dump(-1, ' ', false, Document::error_handler_t::replace);
}

Document document_of(const TaskOutputs& one) {
  return {{"task", one.task},      {"attempt", one.attempt}, {"tree", one.tree.text()},
          {"files", one.files},    {"bytes", one.bytes},     {"kept_s", one.kept_s},
          {"skipped", one.skipped}};
}

/// "job 7" or "task 7:3".
std::string name_of(const client::OutputsWish& wish) {
  return wish.task ? fmt::format("task {}:{}", wish.job, *wish.task)
                   : fmt::format("job {}", wish.job);
}

/// The outputs that are wanted, some at least; nothing after a complaint.
std::optional<std::vector<TaskOutputs>> wanted_outputs(client::ApiClient& api,
                                                       const client::OutputsWish& wish) {
  auto outputs = client::list_outputs(api, wish);
  if (!outputs) {
    complain_of(outputs.error());
    return std::nullopt;
  }
  if (!outputs->empty()) return std::move(outputs).value();
  const std::string attempt =
      wish.attempt ? fmt::format(" of attempt {}", *wish.attempt) : std::string();
  complain(
      fmt::format("{} has no outputs{}: its job names no `outputs`, it has not ended yet, or "
                  "they were removed after files.outputs_keep_days days",
                  name_of(wish), attempt));
  return std::nullopt;
}

client::OutputsWish wish_of(const FilesOptions& options) {
  // The option's check has read it.
  const NamedTask named = named_task(options.job).value_or(NamedTask{});
  return {named.job, named.task, options.attempt, options.all};
}

std::string outputs_table(const std::vector<TaskOutputs>& outputs) {
  client::TextTable table(
      {{"TASK", true}, {"ATTEMPT", true}, {"FILES", true}, {"SIZE", true}, {"KEPT"}});
  for (const TaskOutputs& one : outputs) {
    table.add_row({std::to_string(one.task), std::to_string(one.attempt), std::to_string(one.files),
                   bytes_text(one.bytes), client::time_text(static_cast<double>(one.kept_s))});
  }
  return table.text();
}

std::string files_table(const files::FileTree& tree) {
  client::TextTable table({{"SIZE", true}, {"PATH", false, kPathColumns}});
  for (const files::TreeEntry& entry : tree.entries()) {
    const std::string path = client::printable(entry.path);
    if (entry.kind == EntryKind::file) {
      table.add_row({bytes_text(entry.bytes), path});
    } else if (entry.kind == EntryKind::link) {
      table.add_row({"-", path + " -> " + client::printable(entry.target)});
    } else {
      table.add_row({"-", path + "/"});
    }
  }
  return table.text();
}

Document entries_of(const files::FileTree& tree) {
  Document all = Document::array();
  for (const files::TreeEntry& entry : tree.entries()) {
    Document one{{"path", entry.path}};
    if (entry.kind == EntryKind::file) {
      one["kind"] = "file";
      one["bytes"] = entry.bytes;
      one["mode"] = fmt::format("{:04o}", entry.mode);
      one["content"] = entry.content.text();
    } else if (entry.kind == EntryKind::link) {
      one["kind"] = "link";
      one["target"] = entry.target;
    } else {
      one["kind"] = "folder";
    }
    all.push_back(std::move(one));
  }
  return all;
}

/// Says that the outputs are not all that the job's patterns match.
void warn_of_skipped(const client::OutputsWish& wish, const TaskOutputs& one) {
  if (one.skipped == 0) return;
  complain(
      fmt::format("task {}:{}: entries that matched and were not kept, since no tree of files "
                  "can have them: {}",
                  wish.job, one.task, one.skipped));
}

int list_files(const FilesOptions& options) {
  const auto api = connect(options.client);
  if (!api) return kFailed;
  const client::OutputsWish wish = wish_of(options);
  const auto outputs = wanted_outputs(*api, wish);
  if (!outputs) return kFailed;
  Document document{{"job", wish.job}, {"outputs", Document::array()}};
  for (const TaskOutputs& one : *outputs) document["outputs"].push_back(document_of(one));
  if (outputs->size() > 1) {
    if (options.client.json) {
      print_json(text_of(document));
    } else {
      print_text(outputs_table(*outputs));
    }
    return kDone;
  }
  const TaskOutputs& one = outputs->front();
  const auto tree = client::read_tree(*api, wish.job, one.tree);
  if (!tree) {
    complain(tree.error().message);
    return kFailed;
  }
  if (options.client.json) {
    document["outputs"].front()["entries"] = entries_of(tree.value());
    print_json(text_of(document));
    return kDone;
  }
  print_text(files_table(tree.value()));
  warn_of_skipped(wish, one);
  return kDone;
}

/// Brings the outputs of tasks into their folders.
class FilesFetch {
 public:
  FilesFetch(const FilesOptions& options, const client::OutputsWish& wish)
      : options_(options), wish_(wish) {}

  int run();

 private:
  bool is_only_task(client::ApiClient& api, const std::vector<TaskOutputs>& outputs) const;
  std::string folder_of(const TaskOutputs& one) const;
  /// Nothing more can be fetched, after a complaint.
  bool fetch(client::ApiClient& api, const TaskOutputs& one);
  void tell(const TaskOutputs& one, const client::Fetched& fetched, const std::string& folder);
  void print_end() const;

  const FilesOptions& options_;
  const client::OutputsWish& wish_;
  const InterruptWatch interrupt_;
  bool one_folder_ = false;  ///< there is one task, whose files are not in a folder by its index
  std::size_t tasks_ = 0;    ///< that are to be fetched
  std::size_t fetched_ = 0;  ///< tasks, those that were there among them
  std::uint64_t files_ = 0;  ///< of these
  std::uint64_t bytes_ = 0;  ///< likewise
  bool failed_ = false;      ///< some task was not fetched
  Document document_ = Document::array();
};

/// Only the job says whether other tasks may still have outputs. Of a job that is not known any
/// more, its outputs do.
bool FilesFetch::is_only_task(client::ApiClient& api,
                              const std::vector<TaskOutputs>& outputs) const {
  if (wish_.task) return true;
  if (outputs.size() > 1 || outputs.front().task > 0) return false;
  const auto answer = api.get(fmt::format("/v1/jobs/{}?limit=1", wish_.job));
  const auto page =
      answer ? client::job_page(answer.value()) : client::Parsed<client::JobPage>(answer.error());
  return !page || page->job.tasks <= 1;
}

std::string FilesFetch::folder_of(const TaskOutputs& one) const {
  const std::filesystem::path top =
      options_.output.empty() ? fmt::format("job-{}", wish_.job) : options_.output;
  return one_folder_ ? top.string() : (top / std::to_string(one.task)).string();
}

int FilesFetch::run() {
  const auto api = connect(options_.client, [this](client::ApiOptions& tuned) {
    tuned.stop_asked = [this] { return interrupt_.interrupted(); };
    tuned.pause = [this](Duration length) { return interrupt_.pause(length); };
  });
  if (!api) return kFailed;
  const auto outputs = wanted_outputs(*api, wish_);
  if (!outputs) return kFailed;
  one_folder_ = is_only_task(*api, *outputs);
  tasks_ = outputs->size();
  for (const TaskOutputs& one : *outputs) {
    if (!fetch(*api, one)) break;
  }
  print_end();
  return failed_ ? kFailed : kDone;
}

bool FilesFetch::fetch(client::ApiClient& api, const TaskOutputs& one) {
  const std::string folder = folder_of(one);
  SlowProgress line;
  client::FetchOrder order{wish_.job, one.tree, folder, options_.force, {}};
  order.progress = [&](const files::UnpackCount& count) {
    line.draw([&] {
      return fmt::format("task {}: {} of {}, {} of {}", one.task, count.files,
                         count_text(one.files, "file"), bytes_text(count.bytes),
                         bytes_text(one.bytes));
    });
    return !interrupt_.interrupted();
  };
  const auto fetched = client::fetch_tree(api, order);
  line.clear();
  if (fetched) {
    tell(one, fetched.value(), folder);
    return true;
  }
  failed_ = true;
  const auto& failure = fetched.error();
  if (failure.code == FetchError::stopped) {
    complain(fmt::format("stopped; fetched: {} of {}", fetched_, count_text(tasks_, "task")));
    return false;
  }
  complain(fmt::format("task {}: {}", one.task, failure.message));
  // Of a folder that cannot be had, or files that are damaged, the next task's are free.
  return failure.code != FetchError::cluster;
}

void FilesFetch::tell(const TaskOutputs& one, const client::Fetched& fetched,
                      const std::string& folder) {
  ++fetched_;
  files_ += fetched.files;
  bytes_ += fetched.bytes;
  if (!fetched.not_removed.empty()) {
    complain(fmt::format("the replaced folder could not be removed: it is {}",
                         client::printable(fetched.not_removed.string())));
  }
  if (options_.client.json) {
    Document entry = document_of(one);
    entry["folder"] = folder;
    entry["already_there"] = fetched.was_there;
    document_.push_back(std::move(entry));
    return;
  }
  warn_of_skipped(wish_, one);
  if (tasks_ > kMostTaskLines) return;
  print_text(fmt::format("task {}: {}, {} in {}{}\n", one.task, count_text(fetched.files, "file"),
                         bytes_text(fetched.bytes), client::printable(folder),
                         fetched.was_there ? ", already there" : ""));
}

void FilesFetch::print_end() const {
  if (options_.client.json) {
    print_json(text_of(Document{{"job", wish_.job}, {"fetched", document_}}));
  } else if (tasks_ > kMostTaskLines) {
    const std::string top =
        options_.output.empty() ? fmt::format("job-{}", wish_.job) : options_.output;
    print_text(fmt::format("{} of {}: {}, {} in {}\n", fetched_, count_text(tasks_, "task"),
                           count_text(files_, "file"), bytes_text(bytes_), client::printable(top)));
  }
}

int fetch_files(const FilesOptions& options) {
  const client::OutputsWish wish = wish_of(options);
  return FilesFetch(options, wish).run();
}

void add_files_options(CLI::App& command, FilesOptions& options) {
  command
      .add_option("job", options.job,
                  "id of a job, or of a job and a task in it: 12 or 12:3; without a task: all that "
                  "have outputs")
      ->required()
      ->check(is_task());
  command.add_option("--attempt", options.attempt,
                     "number of the attempt; default: of each task the latest that has outputs");
  command.add_flag("--json", options.client.json, "print a document");
  add_where_options(command, options.client);
}

}  // namespace

void add_files(CLI::App& app, int& exit_code) {
  auto listed = std::make_shared<FilesOptions>();
  CLI::App* command =
      app.add_subcommand("ls", "List the files that tasks have left, as their jobs' outputs say");
  add_files_options(*command, *listed);
  command->add_flag("--all", listed->all, "of each task every attempt that has outputs")
      ->excludes(command->get_option("--attempt"));
  command->callback([listed, &exit_code] { exit_code = list_files(*listed); });

  auto fetched = std::make_shared<FilesOptions>();
  command = app.add_subcommand("fetch", "Copy the files that tasks have left into a folder");
  add_files_options(*command, *fetched);
  command
      ->add_option("-o,--output", fetched->output,
                   "folder; of several tasks each gets one in it, by its index; default: job-JOB")
      ->check(CLI::Validator(
          [](const std::string& text) -> std::string {
            return text.empty() ? "must not be empty; leave the option out for job-JOB" : "";
          },
          "FOLDER"));
  command->add_flag("--force", fetched->force, "replace folders that have other files");
  command->callback([fetched, &exit_code] { exit_code = fetch_files(*fetched); });
}

}  // namespace muster::cli
