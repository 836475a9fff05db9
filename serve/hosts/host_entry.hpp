#pragma once

#include <cstdint>
#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "model/catalog.hpp"
#include "model/ids.hpp"
#include "model/time.hpp"
#include "serve/hosts/join_protocol.hpp"

namespace muster::hosts {

/// State of a machine, for people.
enum class HostState : std::uint8_t { waiting, ready, silent, lost };
std::string_view name_of(HostState state);

/// How an instance has a machine.
enum class Use : std::uint8_t { reserved, ordered, ending };

/// An instance that has a machine.
struct Assignment {
  InstanceId instance;
  Use use = Use::reserved;
  bool told = false;         ///< the machine may have heard of it
  std::uint64_t change = 0;  ///< that is in the file before the machine hears of it
  std::vector<std::function<void()>> done{};
};

/// A machine as the book has it.
struct HostEntry {
  std::uint32_t number = 0;
  std::string name;
  std::string key;    ///< SHA-256 of its public key
  std::string token;  ///< id of the token by which it joined
  std::string type;
  Measured measured;
  Labels labels;
  bool drained = false;         ///< no instance is to take it into use
  std::string run, run_before;  ///< of its daemon
  std::string boot;             ///< of the machine on which that runs
  std::optional<Assignment> use{};
  // Since the start.
  std::optional<Duration> heard{};
  std::int64_t heard_s = 0;
  std::optional<Duration> copy_heard{};  ///< another one has reported with its key
  std::vector<InstanceId> present{};
  std::string trouble{};
  std::optional<bool> own_checkpoints{};  ///< it does not share the cluster's folder of them
  bool lost = false;
};

/// A joined machine, for people.
struct HostRow {
  std::uint32_t number = 0;
  std::string name;
  std::string type;
  HostState state = HostState::waiting;
  bool drained = false;
  Measured measured;
  Labels labels;
  std::optional<InstanceId> instance;   ///< in use by it
  std::optional<std::int64_t> heard_s;  ///< since 1970; nothing: not since the node's start
  std::string trouble;
  std::optional<bool> own_checkpoints{};  ///< nothing: it has not said
};

/// An admin's change of a machine.
struct HostChange {
  std::optional<bool> drained{};
  Labels labels{};  ///< others stay; an empty text takes the label away
};

/// As users are shown it, at that time.
HostRow row_of(const HostEntry& host, HostState state, Duration now);

/// Takes a report of its own in, heard at that time. True: by another daemon than before.
bool take_report(HostEntry& host, const Report& report, Duration now);

/// An instance can take it into use.
bool is_free(const HostEntry& host, HostState state);

/// By when it was heard; `report`: the time between two reports.
HostState state_of(const HostEntry& host, Duration now, Duration report);

/// From the connector's start until the machines that went on reporting have been heard; `report`:
/// the time between two reports.
Duration first_reports(Duration report);

/// Whether somebody else than the machine's daemon reports with its key: the state folder was
/// copied. `state`: the machine's before the report; `early`: within first_reports().
enum class Reporter : std::uint8_t {
  machine,
  copy,
  unsure  ///< the machine has booted, or it is a copy: the machine itself may still be heard
};
Reporter reporter_of(const HostEntry& host, HostState state, const Report& report, bool early);

/// As the file has it. A reservation is not in it: nothing has come of it yet.
nlohmann::ordered_json to_row(const HostEntry& host);
HostEntry host_from_row(const nlohmann::ordered_json& row);

/// The largest type that fits; empty: no type does. Equal machines have equal amounts, as these are
/// rounded down, and so one type.
std::string type_for(const Catalog& catalog, const Measured& has);

/// "4 cores, 8 GiB of memory, 0 GPUs and 100 GiB of disk"
std::string amounts_text(const Measured& has);

}  // namespace muster::hosts
