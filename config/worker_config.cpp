// The config of a worker: its keys, and the rules between them. It comes from a file, from
// overrides on the command line, or from both.

#include "config/worker_config.hpp"

#include <fmt/format.h>

#include <limits>

#include "config/key_reader.hpp"
#include "config/key_text.hpp"
#include "config/task_keys.hpp"

namespace muster {
namespace config {
namespace {

using namespace std::chrono_literals;
namespace fs = std::filesystem;
using C = WorkerConfig;
using WholeKey = WholeKeyOf<C>;
using NumberKey = NumberKeyOf<C>;
using TimeKey = TimeKeyOf<C>;
using PathKey = PathKeyOf<C>;
using Keys = std::vector<KeySpecOf<C>>;
using U32 = std::uint32_t;
using U64 = std::uint64_t;

/// 64 TiB.
constexpr std::uint64_t kMostMib = std::uint64_t{1} << 26;
constexpr std::uint64_t kMiB = std::uint64_t{1} << 20;
// TOML's whole numbers are signed.
constexpr U64 kMaxId = std::numeric_limits<std::int64_t>::max();
/// Far beyond any machine: a bound against mistakes in typing.
constexpr double kMaxAmount = 1e9;

Keys top_keys() {
  return {{"instance", "number of the instance that it is the worker of",
           WholeKey{[](C& c) -> U64& { return c.instance; }, 0, kMaxId}, true},
          {"masters", "where its master listens for workers, HOST:PORT; tried in turn",
           ListKeyOf<C>{[](C& c) -> std::vector<std::string>& { return c.master_texts; }}, true},
          {"master_name", "name of the master's node, as its certificate says; not given: any node",
           TextKeyOf<C>{[](C& c) -> std::string& { return c.master_name; }}},
          {"insecure_loopback", "no TLS, and no address but loopback ones: for development",
           FlagKeyOf<C>{[](C& c) -> bool& { return c.insecure_loopback; }}},
          {"state_dir", "folder of this instance's attempts; outlives the worker's process",
           PathKey{[](C& c) -> fs::path& { return c.state_dir; }}, true},
          {"checkpoint_root", "folder of checkpoints, shared by all instances",
           PathKey{[](C& c) -> fs::path& { return c.checkpoint_root; }}, true},
          {"checkpoint_mark",
           "text of the file .muster-cluster in that folder where it is the cluster's; a folder "
           "without it is this machine's own; not given: all instances share it",
           TextKeyOf<C>{[](C& c) -> std::string& { return c.checkpoint_mark; }}},
          {"files",
           "folder of the store of files, shared by all instances; not given: tasks that begin "
           "with files, or leave some, do not run here",
           PathKey{[](C& c) -> fs::path& { return c.files; }}},
          {"outputs_max_mib", "most that an attempt may leave as outputs",
           WholeKey{[](C& c) -> U32& { return c.outputs_max_mib; }, 1, kMostMib}},
          {"user_max_mib", "most that a user may have in the store of files",
           WholeKey{[](C& c) -> U32& { return c.user_max_mib; }, 1, kMostMib}},
          {"files_patience",
           "longest that the files of an attempt may take to come, and its outputs to be kept",
           TimeKey{[](C& c) -> Duration& { return c.files_patience; }, 1s, 24h}},
          {"hide",
           "files and folders besides state_dir and checkpoint_root that are out of a task's sight "
           "where tasks are isolated by namespaces",
           ListKeyOf<C>{[](C& c) -> std::vector<std::string>& { return c.hide; }}},
          {"shim_program", "program that supervises an attempt; not given: this muster command",
           PathKey{[](C& c) -> fs::path& { return c.shim_program; }}},
          {"log", "file of its log, rotated; not given: standard error",
           PathKey{[](C& c) -> fs::path& { return c.log; }}}};
}

Keys tls_keys() {
  return {{"tls.certificate", "the instance's certificate; needed unless insecure_loopback",
           PathKey{[](C& c) -> fs::path& { return c.certificate; }}},
          {"tls.key", "its key; needed unless insecure_loopback",
           PathKey{[](C& c) -> fs::path& { return c.key; }}},
          {"tls.trusted", "the nodes' authority; needed unless insecure_loopback",
           PathKey{[](C& c) -> fs::path& { return c.trusted; }}}};
}

Keys capacity_keys() {
  const NumberRange range{0, kMaxAmount};
  return {{"capacity.cpu", "cores of the instance",
           NumberKey{[](C& c) -> double& { return c.capacity[Resource::cpu]; }, range}, true},
          {"capacity.memory", "GiB of memory",
           NumberKey{[](C& c) -> double& { return c.capacity[Resource::memory]; }, range}, true},
          {"capacity.gpu", "GPUs",
           NumberKey{[](C& c) -> double& { return c.capacity[Resource::gpu]; }, range}},
          {"capacity.storage", "GiB of storage",
           NumberKey{[](C& c) -> double& { return c.capacity[Resource::storage]; }, range}},
          {"capacity.network", "Gbit/s of network",
           NumberKey{[](C& c) -> double& { return c.capacity[Resource::network]; }, range}},
          {"capacity.spare", "amount of the kind of resource that the cluster defines itself",
           NumberKey{[](C& c) -> double& { return c.capacity[Resource::spare]; }, range}}};
}

Keys link_keys() {
  return {{"link.heartbeat", "between signs of life",
           TimeKey{[](C& c) -> Duration& { return c.heartbeat; }, 10ms, 1min}},
          {"link.timeout", "silence that ends a connection; at least twice heartbeat",
           TimeKey{[](C& c) -> Duration& { return c.timeout; }, 20ms, 1h}},
          {"link.max_frame_bytes", "largest frame to or from the master",
           WholeKey{[](C& c) -> U32& { return c.max_frame_bytes; }, kMiB, 64 * kMiB}}};
}

Keys build_table() {
  Keys all;
  for (const Keys& part :
       {top_keys(), tls_keys(), capacity_keys(), task_keys<C, &C::tasks>("tasks", "uid"),
        replica_keys<C, &C::tasks>("tasks"), exec_keys<C, &C::tasks>("tasks"), link_keys()}) {
    all.insert(all.end(), part.begin(), part.end());
  }
  return all;
}

// Keys that depend on each other; each of them alone is in its range by now.
void check_whole(WorkerConfig& parsed, KeyReader<WorkerConfig>& reader) {
  reader.need_required();
  // Needed as a group: a link with half of them would be neither safe nor plain.
  if (!parsed.insecure_loopback) {
    for (const char* key : {"tls.certificate", "tls.key", "tls.trusted"}) {
      reader.need(key, ", and insecure_loopback is not set");
    }
  }
  for (const std::string& text : parsed.master_texts) {
    const auto place = parse_endpoint(text);
    if (!place) {
      reader.complain("masters", fmt::format("has to be HOST:PORT; one is \"{}\"", text));
    } else if (parsed.insecure_loopback && !is_loopback(*place)) {
      reader.complain("masters", fmt::format("has to be on the loopback, as insecure_loopback is "
                                             "set; one is \"{}\"",
                                             text));
    } else {
      parsed.masters.push_back(*place);
    }
  }
  for (const std::string& place : parsed.hide) {
    // A relative path that hides nothing would go unnoticed.
    if (!fs::path(place).is_absolute()) {
      reader.complain("hide", fmt::format("has to be absolute paths; one is \"{}\"", place));
    }
  }
  // One lost sign of life must not end the link.
  if (parsed.timeout < 2 * parsed.heartbeat) {
    reader.complain("link.timeout", "has to be at least twice link.heartbeat");
  }
  check_task_keys(parsed.tasks, reader, "tasks", "uid");
}

}  // namespace

template <>
const std::vector<KeySpecOf<WorkerConfig>>& key_table<WorkerConfig>() {
  static const Keys kTable = build_table();
  return kTable;
}

}  // namespace config

Expected<WorkerConfig, ConfigError> load_worker_config(const std::filesystem::path& file,
                                                       const std::vector<std::string>& overrides) {
  WorkerConfig parsed;
  ErrorList errors;
  // A key that is missing without a file is missing from the command line.
  const std::filesystem::path source = file.empty() ? "command line" : file;
  config::KeyReader<WorkerConfig> reader({.file = source}, parsed, errors);
  if (!file.empty()) {
    const auto table = config::read_toml(file);
    if (!table) {
      const bool unreadable = table.error().code == config::TomlError::unreadable;
      return Failure<ConfigError>{unreadable ? ConfigError::unreadable : ConfigError::malformed,
                                  table.error().message};
    }
    reader.read_table(table.value());
  }
  // Tells a mistake of the command line from one in the file, which ends the command otherwise.
  const bool file_is_fine = errors.empty();
  for (const std::string& text : overrides) reader.read_override(text);
  const bool bad_override = file_is_fine && !errors.empty();
  config::check_whole(parsed, reader);
  reader.resolve_paths();
  if (errors.empty()) return parsed;
  errors.sort_by_line();
  const bool usage = bad_override || file.empty();
  return Failure<ConfigError>{usage ? ConfigError::bad_override : ConfigError::invalid,
                              errors.text()};
}

std::string worker_config_text(const WorkerConfig& config) {
  WorkerConfig copy = config;  // keys lead to members that could be written to
  std::string text;
  std::string last;
  for (const auto& key : config::key_table<WorkerConfig>()) {
    const std::string value = config::value_text(copy, key);
    if (value.empty()) continue;
    const std::size_t dot = key.name.find('.');
    const bool in_section = dot != std::string::npos;
    const std::string section = in_section ? key.name.substr(0, dot) : "";
    if (section != last) text += fmt::format("\n[{}]\n", section);
    text += fmt::format("{} = {}\n", key.name.substr(in_section ? dot + 1 : 0), value);
    last = section;
  }
  return text;
}

std::vector<KeyInfo> worker_config_keys() {
  std::vector<KeyInfo> all;
  for (const auto& key : config::key_table<WorkerConfig>()) all.push_back(config::info_of(key));
  return all;
}

}  // namespace muster
