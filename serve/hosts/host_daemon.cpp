#include "serve/hosts/host_daemon.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <fstream>
#include <limits>
#include <memory>
#include <mutex>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <thread>
#include <utility>

#include "actors/link/file_set.hpp"
#include "actors/link/join_pki.hpp"
#include "actors/link/openssl_handles.hpp"
#include "actors/time/clock_wall.hpp"
#include "config/cluster_folder.hpp"
#include "config/key_text.hpp"
#include "config/worker_config.hpp"
#include "serve/machines/process_machines.hpp"
#include "serve/machines/task_user.hpp"
#include "workers/process/files/checkpoint_mark.hpp"
#include "workers/process/files/slow_steps.hpp"
#include "workers/process/progress.hpp"
#include "workers/process/shim/lease.hpp"

namespace muster::hosts {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;
using process::boot_time;

constexpr mode_t kPublicFile = 0644, kKeyFile = 0600;
/// Instances end a little before their lease, so that workers tell nothing of that end as one of
/// their tasks; supervisors make sure of it when the lease is over.
constexpr int kLeaseParts = 10;
constexpr Duration kForever = std::chrono::hours{24 * 365 * 100};
constexpr std::chrono::milliseconds kGuardLooks{100};
constexpr int kMostEndLooks = 300;
constexpr std::chrono::milliseconds kSoon{50};
constexpr Duration kHaltGrace = std::chrono::seconds{2};
constexpr Duration kShortestReport = std::chrono::milliseconds{100};
constexpr Duration kLongestReport = std::chrono::seconds{60};

std::string text_in(const fs::path& file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

/// As a setting of a worker has it.
std::string quoted(const fs::path& path) {
  return config::quoted(path.string());
}

TlsFiles own_files(const fs::path& state) {
  return {state / "host.pem", state / "host.key", state / "node-ca.pem"};
}

std::string joined_json(const JoinedHost& host) {
  const Json document{{"place", to_text(host.port.place)},
                      {"authority", host.port.authority},
                      {"host", host.number},
                      {"type", host.type},
                      {"cpus", host.measured.cpus},
                      {"memory_gib", host.measured.memory_gib},
                      {"gpus", host.measured.gpus},
                      {"storage_gib", host.measured.storage_gib}};
  return document.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

/// The key of this folder, made when it is missing, and on the disk before it is used.
Expected<KeyRequest, AskError> key_in(const fs::path& state) {
  const fs::path file = state / "host.key";
  std::error_code unknown;
  const bool known = fs::exists(file, unknown);
  const auto key = known ? key_request_of(text_in(file)) : make_key_request();
  if (!key) {
    return Failure<AskError>{AskError::other, file.string() + ": " + key.error().message};
  }
  if (known) return key.value();
  if (const auto written = write_files({{file, key->key, kKeyFile}}, false); !written) {
    return Failure<AskError>{AskError::other, written.error().message};
  }
  return key.value();
}

/// The authority in the answer is the one that the token is for.
bool is_authority(const std::string& pem, const std::string& print) {
  const ssl::Bio bio(BIO_new_mem_buf(pem.data(), static_cast<int>(pem.size())));
  const ssl::Certificate read(bio ? PEM_read_bio_X509(bio.get(), nullptr, nullptr, nullptr)
                                  : nullptr);
  ssl::last_error();
  return read && ssl::fingerprint(read.get()) == print;
}

/// Whose the machine's folder of checkpoints is.
enum class Checkpoints : std::uint8_t { unknown, own, shared };

/// Between two looks at that: a file system may be mounted later.
constexpr std::chrono::seconds kMarkLooks{60};

/// The daemon while it runs.
class Daemon {
 public:
  Daemon(const JoinedHost& host, const DaemonSetup& setup)
      : host_(host), setup_(setup), client_(host.port, own_files(setup.state)) {}

  HostEnd run() {
    if (std::string fault = open(); !fault.empty()) return {fault};
    std::thread guard([this] { watch_lease(); });
    std::string fault;
    Duration wait{};
    while (!setup_.wait(std::chrono::duration_cast<std::chrono::milliseconds>(wait))) {
      wait = report(fault);
      if (!fault.empty()) break;
    }
    // Without a cluster no other process would see to instances that still end.
    for (int i = 0; !fault.empty() && i < kMostEndLooks && machines_->count() > 0; ++i) {
      std::this_thread::sleep_for(kGuardLooks);
    }
    over_ = true;
    guard.join();
    const bool removed = !fault.empty();
    return {std::move(fault), removed};
  }

 private:
  std::string open() {
    MachineOptions options;
    options.dir = setup_.state / "machines";
    options.command = {setup_.program.string(), "worker", "--config", "{dir}/worker.toml"};
    options.prepare = [this](const MachineOrder& order, const fs::path& folder) {
      return prepare(order, folder);
    };
    auto machines = ProcessMachines::open(std::move(options));
    if (!machines) return machines.error().message;
    const auto mark = authority_print(setup_.state / "node-ca.pem");
    if (!mark) return mark.error().message;
    mark_ = mark.value();
    looks_.emplace(
        [folder = setup_.checkpoints, mark = mark_, found = checkpoints_] {
          *found = process::lacks_mark(folder, mark) ? Checkpoints::own : Checkpoints::shared;
        },
        kMarkLooks);
    machines_ = std::move(machines).value();
    machines_->watch([note = setup_.note](const MachineEvent& event) {
      note(fmt::format("instance {}: {}", event.instance.value, event.text));
    });
    adopt();
    return {};
  }

  /// Instances go on where the lease holds; a lease of an earlier boot says nothing of this one.
  void adopt() {
    if (text_in(setup_.state / "boot") == boot_) {
      lease_end_ = process::read_lease(setup_.state / "lease").value_or(Duration{}).count();
    }
    if (Duration{lease_end_} > boot_time()) {
      std::error_code none;
      for (const auto& entry : fs::directory_iterator(machines_->folder(), none)) {
        RentedRecord record;
        record.instance = machines::MachineFolder::instance_of(entry.path().filename().string());
        if (record.instance.valid()) machines_->adopt(record);
      }
    } else {
      machines_->keep_only({});
    }
  }

  Duration report(std::string& fault) {
    const Report report{
        run_, boot_, host_.measured, machines_->left(), trouble_, own_checkpoints()};
    // The connector counts from when it hears this, which is later.
    const Duration sent = boot_time();
    const auto text = client_.post(kReportPath, to_json(report));
    if (!text) {
      constexpr int kUnknown = 404;
      if (text.error().code == AskError::refused && client_.refused_status() == kUnknown) {
        machines_->keep_only({});
        fault = text.error().message;
      }
      say(text.error().message);
      return period_;
    }
    const auto answer = report_answer_from(text.value());
    if (!answer) {
      say("the connector's answer: " + answer.error().message);
      return period_;
    }
    say("");
    period_ = std::clamp(answer->report, kShortestReport, kLongestReport);
    renew(sent, answer->lease);
    return obey(answer.value()) ? Duration(kSoon) : period_;
  }

  /// On the disk before anything runs by it.
  void renew(Duration sent, Duration lease) {
    const Duration end = lease == Duration{} ? kForever : sent + lease;
    if (!is_boot_written_) {
      is_boot_written_ = machines::write_durably(setup_.state / "boot", boot_).empty();
    }
    for (const InstanceId id : machines_->left()) {
      const fs::path folder = folder_of(id);
      const auto why = put_lease(folder, end);
      std::error_code unknown;
      // One that has just gone with its instance, or goes, needs no lease.
      if (!why.empty() && fs::exists(folder / "state", unknown)) say(why);
    }
    if (const auto why = process::write_lease(setup_.state / "lease", end); !why.empty()) say(why);
    lease_end_ = (lease == Duration{} ? end : end - lease / kLeaseParts).count();
    written_end_ = end;
  }
  static std::string put_lease(const fs::path& folder, Duration end) {
    return process::write_lease(folder / "state" / process::kLeaseFile, end);
  }
  fs::path folder_of(InstanceId id) const {
    return machines::MachineFolder::of(machines_->folder(), id).path();
  }

  /// True when something changes, and the connector is to hear of it soon.
  bool obey(const ReportAnswer& answer) {
    std::set<InstanceId> wanted;
    for (const WantedInstance& each : answer.instances) wanted.insert(each.instance);
    const std::vector<InstanceId> here = machines_->left();
    bool changes = false;
    for (const InstanceId id : here) {
      if (wanted.contains(id)) continue;
      changes = true;
      if (ending_.insert(id).second) setup_.note(fmt::format("instance {}: ends", id.value));
      machines_->halt(id, {}, kHaltGrace, {});
    }
    std::erase_if(ending_,
                  [&](InstanceId id) { return std::ranges::find(here, id) == here.end(); });
    for (const WantedInstance& each : answer.instances) {
      if (std::ranges::find(here, each.instance) != here.end()) continue;
      changes = begin(each) || changes;
    }
    return changes;
  }

  bool begin(const WantedInstance& wanted) {
    settings_ = wanted.settings;
    MachineOrder order;
    order.instance = wanted.instance;
    order.type.name = host_.type;
    const auto machine = machines_->boot(order);
    trouble_ = machine ? "" : machine.error().message.substr(0, kMaxTrouble);
    std::ranges::replace_if(
        trouble_, [](char c) { return c < ' ' || c >= 0x7f; }, ' ');
    setup_.note(
        fmt::format("instance {}: {}", wanted.instance.value, machine ? "begins" : trouble_));
    return static_cast<bool>(machine);
  }

  /// Why the instance cannot begin; empty: all is in its folder.
  std::string prepare(const MachineOrder& order, const fs::path& folder) {
    const auto key = make_key_request();
    if (!key) return key.error().message;
    const auto answer =
        client_.post(kCertifyPath, to_json(CertifyRequest{order.instance, key->request}));
    if (!answer) return answer.error().message;
    const auto certificate = certificate_from(answer.value());
    if (!certificate) return "the connector's answer: " + certificate.error().message;
    const TlsFiles own{folder / "instance.pem", folder / "instance.key",
                       setup_.state / "node-ca.pem"};
    const auto written = write_files(
        {{own.key, key->key, kKeyFile}, {own.certificate, certificate.value(), kPublicFile}}, true);
    if (!written) return written.error().message;
    return write_settings(folder, own);
  }

  /// The connector says how the worker works, this machine where.
  std::string write_settings(const fs::path& folder, const TlsFiles& own) {
    const fs::path file = folder / "worker.toml";
    if (auto why = machines::write_durably(file, settings_); !why.empty()) return why;
    const fs::path shim = setup_.program.parent_path() / "muster-shim";
    std::vector<std::string> here{"state_dir=" + quoted(folder / "state"),
                                  "checkpoint_root=" + quoted(setup_.checkpoints),
                                  "checkpoint_mark=\"" + mark_ + "\"",
                                  "tls.certificate=" + quoted(own.certificate),
                                  "tls.key=" + quoted(own.key),
                                  "tls.trusted=" + quoted(own.trusted),
                                  "log=" + quoted(folder / "worker.log"),
                                  "hide=[" + quoted(setup_.state) + "]"};
    std::error_code bad;
    if (fs::exists(shim, bad)) here.push_back("shim_program=" + quoted(shim));
    auto config = load_worker_config(file, here);
    if (!config) return config.error().message;
    if (const auto fault = machines::task_user_fault(config->tasks)) {
      return fmt::format("worker.{} = {}: {}", fault->key, fault->value, fault->text);
    }
    fs::create_directories(folder / "state", bad);
    if (bad) return (folder / "state").string() + ": " + bad.message();
    // Before the worker: tasks that it starts find their lease.
    if (auto why = put_lease(folder, written_end_); !why.empty()) return why;
    return machines::write_durably(file, worker_config_text(config.value()));
  }

  /// On a thread of its own, as a report may wait for the network.
  void watch_lease() {
    while (!over_) {
      std::this_thread::sleep_for(kGuardLooks);
      if (Duration{lease_end_} > boot_time() || machines_->count() == 0) continue;
      machines_->keep_only({});
      if (!said_end_.exchange(true)) {
        setup_.note("the lease has ended, as the connector was not heard: all instances end");
      }
    }
  }

  /// Whether the machine shares the cluster's folder, as far as is known.
  std::optional<bool> own_checkpoints() {
    const Checkpoints now = *checkpoints_;
    if (now == Checkpoints::unknown) return std::nullopt;
    if (std::exchange(said_checkpoints_, now) != now) {
      setup_.note(
          now == Checkpoints::shared
              ? fmt::format("{}: shared with the cluster's machines", setup_.checkpoints.string())
              : fmt::format("{}: this machine's own, as it lacks the file {} of the "
                            "connector's worker.checkpoints: a task that leaves the "
                            "machine begins anew",
                            setup_.checkpoints.string(), process::kCheckpointMarkFile));
    }
    return now == Checkpoints::own;
  }

  /// Once for each trouble.
  void say(const std::string& text) {
    if (text == said_) return;
    said_ = text;
    said_end_ = false;
    setup_.note(text.empty() ? "linked to the cluster" : text);
  }

  static constexpr std::size_t kMaxTrouble = 500;
  const JoinedHost& host_;
  const DaemonSetup& setup_;
  HostClient client_;
  const std::string run_ = fmt::format("{}-{}", getpid(), wall_now().time_since_epoch().count());
  const std::string boot_ = start_of_computer();
  std::unique_ptr<ProcessMachines> machines_;
  std::set<InstanceId> ending_;
  std::string settings_;  ///< of the instance that begins
  std::string mark_;      ///< of the folder of checkpoints that the cluster's machines share
  std::shared_ptr<std::atomic<Checkpoints>> checkpoints_ =
      std::make_shared<std::atomic<Checkpoints>>(Checkpoints::unknown);
  Checkpoints said_checkpoints_ = Checkpoints::unknown;
  std::optional<process::SlowSteps> looks_;
  std::string trouble_;
  std::string said_ = "-";
  Duration period_ = std::chrono::seconds{1};
  Duration written_end_{};  ///< that supervisors read
  bool is_boot_written_ = false;
  std::atomic<std::int64_t> lease_end_{0};  ///< in ns since boot, when all is to end
  std::atomic<bool> said_end_{false};
  std::atomic<bool> over_{false};
};

}  // namespace

Expected<std::optional<JoinedHost>, int> joined_in(const fs::path& state) {
  const fs::path file = state / "join.json";
  std::error_code unknown;
  if (!fs::exists(file, unknown)) return std::optional<JoinedHost>();
  const Json document = Json::parse(text_in(file), nullptr, /*allow_exceptions=*/false);
  JoinedHost host;
  bool fine = document.is_object();
  const auto text = [&](const char* name) {
    const bool is_there = fine && document.contains(name) && document[name].is_string();
    fine = is_there;
    return is_there ? document[name].get<std::string>() : std::string{};
  };
  const auto number = [&](const char* name) {
    const bool is_there = fine && document.contains(name) && document[name].is_number_unsigned();
    fine = is_there;
    return is_there ? document[name].get<std::uint32_t>() : 0;
  };
  const auto place = parse_endpoint(text("place"));
  host.port.authority = text("authority");
  host.number = number("host");
  host.type = text("type");
  host.measured = {number("cpus"), number("memory_gib"), number("gpus"), number("storage_gib")};
  if (!fine || !place) {
    return Failure<int>{1, fmt::format("{}: is damaged: remove the folder {} and join again",
                                       file.string(), state.string())};
  }
  host.port.place = *place;
  return std::optional(std::move(host));
}

Expected<JoinedHost, AskError> join_cluster(const fs::path& state, const JoinWish& wish) {
  const auto key = key_in(state);
  if (!key) return key.error();
  JoinRequest request{
      wish.token.id, wish.token.secret, key->request, wish.name, wish.measured, wish.labels, 0};
  request.now_s =
      std::chrono::duration_cast<std::chrono::seconds>(wall_now().time_since_epoch()).count();
  JoinedHost host{{wish.place, wish.token.authority}, 0, {}, wish.measured};
  HostClient client(host.port);
  const auto text = client.post(kJoinPath, to_json(request));
  if (!text) return text.error();
  const auto answer = join_answer_from(text.value());
  if (!answer) return Failure<AskError>{AskError::other, "the answer: " + answer.error().message};
  if (!is_authority(answer->authority, wish.token.authority)) {
    return Failure<AskError>{AskError::stranger, "the answer has another authority than the token"};
  }
  host.number = answer->host;
  host.type = answer->type;
  const TlsFiles own = own_files(state);
  const auto written = write_files({{own.certificate, answer->certificate, kPublicFile},
                                    {own.trusted, answer->authority, kPublicFile},
                                    {state / "join.json", joined_json(host), kPublicFile}},
                                   true);
  if (!written) return Failure<AskError>{AskError::other, written.error().message};
  return host;
}

HostEnd run_host(const JoinedHost& host, const DaemonSetup& setup) {
  return Daemon(host, setup).run();
}

}  // namespace muster::hosts
