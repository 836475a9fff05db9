#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "model/catalog.hpp"
#include "model/expected.hpp"
#include "model/ids.hpp"
#include "model/time.hpp"
#include "serve/hosts/book_writer.hpp"
#include "serve/hosts/host_entry.hpp"
#include "serve/hosts/host_refusal.hpp"
#include "serve/hosts/host_table.hpp"
#include "serve/hosts/join_protocol.hpp"
#include "serve/hosts/join_tokens.hpp"
#include "serve/hosts/lease_terms.hpp"

namespace muster::hosts {

/// Of a book.
struct HostBookSetup {
  std::filesystem::path file;
  const Catalog* catalog = nullptr;
  Duration lease{};                      ///< 0: no machine is given up by itself
  Duration report{};                     ///< that machines are told
  std::size_t rented = 0;                ///< instances on machines that are on record
  std::function<std::int64_t()> wall_s;  ///< seconds since 1970
  std::function<Duration()> since_boot;  ///< by a clock that counts sleep
  std::function<void(const std::string&)> note{};
  /// The settings of an instance's worker, TOML; a failure is noted and tried again.
  std::function<Expected<std::string, int>(InstanceId, const InstanceType&)> settings{};
};

/// Machines of one's own: tokens by which they join, what they are, and the instance that each is
/// in use by. A machine is in use by one instance at a time, and is free again when it has said
/// that nothing of the instance is left, or when it has been silent for the lease and its margin.
/// An order to a machine is in the file before it is told; that an instance is over may be there
/// later (kLateWrite). Every function may be called from any thread; those that write wait for the
/// disk.
class HostBook {
 public:
  /// Fails without a file when there are instances: they would count as gone while they run.
  static Expected<std::shared_ptr<HostBook>, int> open(HostBookSetup setup);

  /// The file is written when it returns. `authority`: its SHA-256.
  Expected<JoinToken, int> create_token(std::uint32_t hosts, std::int64_t lifetime_s,
                                        const std::string& authority);
  Expected<JoinTokenRow, int> revoke_token(const std::string& id);
  std::vector<JoinTokenRow> tokens() const;
  std::int64_t now_s() const { return setup_.wall_s(); }

  /// Takes the machine with that key in, or finds it again: its number and type.
  struct Joined {
    std::uint32_t host = 0;
    std::string type;
    bool again = false;  ///< it had joined before
  };
  Expected<Joined, int> join(const JoinRequest& request, const std::string& key_print);
  /// A report by the holder of that key, and what the machine is to do.
  Expected<ReportAnswer, int> report(const std::string& key_print, const Report& report);
  bool knows(const std::string& key_print) const;
  /// Whether that machine is to have a certificate for that instance.
  std::optional<Failure<int>> may_certify(const std::string& key_print, InstanceId instance) const;

  /// Keeps a free machine of the type for the instance; false: no machine is free.
  bool reserve(InstanceId instance, const std::string& type);
  /// Has the instance run on the machine that is kept for it, from its next report on. The
  /// machine's name; nothing when it is lost or removed.
  std::optional<std::string> begin(InstanceId instance);
  /// Whether a machine is in use by it.
  bool has(InstanceId instance) const;
  /// True: nothing of it runs. False: `done` is called when that is so.
  bool end(InstanceId instance, std::function<void()> done);
  /// Ends those that are on no record.
  void keep_only(const std::function<bool(InstanceId)>& is_rented);
  /// Hears of a book's machines; any thread.
  struct Watcher {
    /// The instance is over with its machine.
    std::function<void(InstanceId, const std::string&)> lost{};
    /// Other machines are free than before.
    std::function<void()> room{};
  };
  void watch(Watcher watcher);
  /// Gives up machines whose lease has ended, and looks which are free. Each second.
  void sweep();
  /// Numbers of machines that can be reserved, by their type; of other types no machine can.
  std::map<std::string, std::uint32_t> free_machines() const;

  std::vector<HostRow> list() const;
  /// An admin's word that nothing runs on the machine any more. Refused until its lease is over,
  /// and while it reports, but for `force`.
  Expected<HostRow, int> declare_lost(std::uint32_t host, bool force);
  /// The machine's key counts no more. It must not be in use, but for `force`: its instance counts
  /// as over.
  Expected<HostRow, int> remove(std::uint32_t host, bool force);
  Expected<HostRow, int> change(std::uint32_t host, const HostChange& wanted);

 private:
  using Steps = std::vector<std::function<void()>>;

  explicit HostBook(HostBookSetup setup);
  std::optional<Failure<int>> load();
  std::optional<Failure<int>> save(std::unique_lock<std::mutex>& lock);
  HostState now_of(const HostEntry& host) const {
    return state_of(host, setup_.since_boot(), setup_.report);
  }
  HostRow shown(const HostEntry& host) const;
  std::optional<Failure<int>> add(const JoinRequest& request, const std::string& key_print);
  ReportAnswer answer_to(HostEntry& host);
  void give_up(HostEntry& host, const std::string& why, Steps& steps);
  void free(HostEntry& host, Steps& steps);

  const HostBookSetup setup_;
  LeaseTerms terms_;
  mutable std::mutex mutex_;  ///< never held for a wait
  BookWriter writer_;
  JoinTokens tokens_;
  HostTable hosts_;
  Watcher watcher_;
  std::map<std::string, std::uint32_t> told_free_;  ///< free machines when the watcher was told
};

}  // namespace muster::hosts
