#pragma once

#include <cstdint>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "model/ids.hpp"
#include "serve/hosts/host_entry.hpp"

namespace muster::hosts {

inline constexpr std::size_t kMaxHosts = 10'000;

/// Machines, found by number, by key and by the instance that each is in use by; null: there is no
/// such machine. Its owner locks it and writes it to the disk.
class HostTable {
 public:
  HostEntry* find(std::uint32_t number);
  HostEntry* of_key(const std::string& print);
  const HostEntry* of_key(const std::string& print) const;
  HostEntry* of_instance(InstanceId instance);
  const HostEntry* of_instance(InstanceId instance) const;

  /// With the next number; its key must be new.
  HostEntry& add(HostEntry host);
  void erase(std::uint32_t number);
  /// Changes labels; an empty text takes one away. False: they are too many, or the file has no
  /// room for them.
  bool relabel(HostEntry& host, const Labels& changes);
  /// Takes a machine without a use into use, reserved.
  void assign(HostEntry& host, InstanceId instance);
  /// The use that it had.
  Assignment release(HostEntry& host);

  bool is_full() const { return hosts_.size() >= kMaxHosts; }
  /// Whether the file could be read again with that machine, too.
  bool has_room(const HostEntry& host) const;
  std::map<std::uint32_t, HostEntry>& all() { return hosts_; }
  const std::map<std::uint32_t, HostEntry>& all() const { return hosts_; }
  /// The number that the next machine gets; no number is given twice.
  std::uint32_t next() const { return next_; }

  nlohmann::ordered_json to_rows() const;
  void load(const nlohmann::ordered_json& rows, std::uint32_t next);

 private:
  std::map<std::uint32_t, HostEntry> hosts_;
  std::map<std::string, std::uint32_t> by_key_;
  std::map<InstanceId, std::uint32_t> by_instance_;
  std::uint32_t next_ = 1;
  std::size_t bytes_ = 0;  ///< of the file, at most
};

}  // namespace muster::hosts
