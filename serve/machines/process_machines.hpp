#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "actors/cloud/machine_backend.hpp"
#include "serve/machines/machine.hpp"

namespace muster {

/// Where machines live and what runs on them.
struct MachineOptions {
  std::filesystem::path dir;  ///< where each machine gets its folder, instance-ID
  /// The worker's arguments; placeholders for values of the machine are filled in (see fill_in).
  /// The worker has to mark its descriptor 3, which is its lock, to be closed when it starts
  /// others.
  std::vector<std::string> command;
  /// Puts what else the worker needs into its folder, such as its certificate. Called again when an
  /// earlier call has not led to a machine. The answer is why it could not; empty: done. May be
  /// empty.
  std::function<std::string(const MachineOrder&, const std::filesystem::path& folder)> prepare;
  /// Called with the folder of a machine on which nothing runs any more, before that is removed; on
  /// the thread that sees to all machines. May be empty.
  std::function<void(const std::filesystem::path& folder)> over;
  /// The folder that a machine has outside its own, which is removed when it is gone. May be empty.
  std::function<std::filesystem::path(InstanceId)> outside;
  /// Tasks run as another user, who has to get through the machines' folders to their own.
  bool passage = false;
  machines::MachineRules rules;
  Duration stray_grace = std::chrono::seconds{2};  ///< for machines that no master rents
  /// Of the worker's output; kept in DIR/gone when the machine is gone. 0: nothing.
  std::uint64_t kept_log_bytes = std::uint64_t{64} << 10;
  std::size_t kept_logs = 100;  ///< the oldest go; >= 1
  /// There is room for a machine while it leaves this much memory free. 0: there always is.
  std::uint64_t memory_reserve_bytes = 0;
  /// Memory that processes can have at present; empty: this computer's.
  std::function<std::uint64_t()> free_memory_bytes;
};

/// The argument with {instance} {type} {market} {dir} {cpu} {memory} {gpu} {storage} {network}
/// replaced by those of the machine; `dir` is its folder.
std::string fill_in(const std::string& argument, const MachineOrder& order,
                    const std::filesystem::path& folder);

/// Machines that are worker processes of this computer, each in a session and a folder of its own.
/// They outlive this object and this process: the next one to open the folder takes them over. A
/// worker that ends is started again after a pause. Halting ends the worker, the shims of its
/// attempts and everything that any of them has started.
class ProcessMachines final : public MachineBackend {
 public:
  /// Fails when the folder cannot be made or another process has it open.
  static Expected<std::unique_ptr<ProcessMachines>, MachineError> open(MachineOptions options);
  /// The machines go on; their workers are not restarted then.
  ~ProcessMachines() override;
  ProcessMachines(const ProcessMachines&) = delete;
  ProcessMachines& operator=(const ProcessMachines&) = delete;

  Expected<std::string, MachineError> boot(const MachineOrder& order) override;
  bool halt(InstanceId instance, const std::string& machine, Duration grace,
            std::function<void()> ended) override;
  bool has_room(std::size_t rented) const override;
  bool adopt(const RentedRecord& record) override;
  std::optional<Instant> all_ended_at() const override { return ended_all_; }
  void keep_only(const std::set<InstanceId>& rented) override;
  void watch(std::function<void(const MachineEvent&)> tell) override;

  /// Ends all machines, and leaves word of it for the next connector. Why that could not be left;
  /// empty: it was.
  std::string end_all(Instant now);

  /// Machines that are not over yet.
  std::size_t count() const;
  std::vector<InstanceId> left() const;
  const std::filesystem::path& folder() const { return options_.dir; }

 private:
  class Watcher;
  ProcessMachines(MachineOptions options, machines::Descriptor lock);

  MachineOptions options_;
  machines::Descriptor lock_;         ///< of the folder of all machines
  std::optional<Instant> ended_all_;  ///< when somebody ended all of them before this was opened
  std::unique_ptr<Watcher> watcher_;
};

}  // namespace muster
