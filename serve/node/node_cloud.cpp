#include "serve/node/node_cloud.hpp"

#include <fmt/format.h>

#include <chrono>
#include <utility>

#include "actors/cloud/providers.hpp"
#include "actors/time/clock_wall.hpp"
#include "model/rounded_text.hpp"
#include "serve/machines/computer.hpp"
#include "serve/node/machine_template.hpp"
#include "storage/records/record_codec.hpp"
#include "workers/process/progress.hpp"

namespace muster {
namespace {

constexpr const char* kHostsProvider = "hosts";

Failure<NodeError> unreadable(const Failure<StoreError>& error) {
  return {NodeError::store, error.message};
}

using Machines = Expected<std::unique_ptr<MachineBackend>, NodeError>;

Machines open_processes(const RoleContext& context) {
  MachineOptions machine = machine_template(context.setup, context.roster, context.state);
  if (std::string fault = task_user_fault(context.setup.config, context.state); !fault.empty()) {
    return Failure<NodeError>{NodeError::task_user, std::move(fault)};
  }
  auto machines = ProcessMachines::open(std::move(machine));
  if (!machines) return Failure<NodeError>{NodeError::machines, machines.error().message};
  return std::unique_ptr<MachineBackend>(std::move(machines).value());
}

/// Instances of the cloud's store that run on machines of one's own.
Expected<std::size_t, StoreError> on_hosts(const Store& store) {
  std::size_t count = 0;
  // Records that cannot be read have stopped the start before.
  const auto trouble =
      store.scan(Family::instance, {}, [&](std::string_view /*key*/, std::string_view bytes) {
        const auto record = decode_rented(bytes);
        if (record && !record->gone_at && record->machine.starts_with(kHostPrefix)) ++count;
        return true;
      });
  if (trouble) return *trouble;
  return count;
}

/// `rented`: instances on record that run on them.
Machines open_hosts(const RoleContext& context, std::size_t rented, CloudRole& role) {
  const auto& settings = context.setup.config.cloud.own.of<HostsCloudSettings>();
  hosts::HostBookSetup book;
  book.rented = rented;
  book.file = context.state / "hosts.json";
  book.catalog = &role.catalogs->own;
  book.lease = settings.lease;
  book.report = settings.report;
  book.wall_s = [] {
    return std::chrono::floor<std::chrono::seconds>(wall_now().time_since_epoch()).count();
  };
  book.since_boot = process::boot_time;
  book.note = context.note;
  // The book may outlive the role, and then has all of this still.
  book.settings = [setup = context.setup, roster = context.roster, catalogs = role.catalogs](
                      InstanceId instance, const InstanceType& type) {
    return remote_worker_settings(setup, roster, {instance, {}, type, Market::on_demand});
  };
  auto opened = hosts::HostBook::open(std::move(book));
  if (!opened) return Failure<NodeError>{NodeError::machines, opened.error().message};
  role.hosts = std::move(opened).value();
  return std::unique_ptr<MachineBackend>(std::make_unique<hosts::HostMachines>(role.hosts));
}

/// The config's settings of a loopback cloud.
LoopbackOptions cloud_options(const RoleContext& context) {
  LoopbackOptions options = loopback_options(context.setup.config.cloud);
  options.interruptions.seed = options.delays.seed = context.setup.config.seed;
  return options;
}

}  // namespace

std::optional<Failure<NodeError>> open_provider(const RoleContext& context, CloudRole& role) {
  const CloudConfig& config = context.setup.config.cloud;
  auto make = load_provider(config, context.catalog);
  if (!make) return Failure<NodeError>{NodeError::bad_catalog, make.error().message};
  role.catalogs = std::make_shared<const CatalogParts>(parts_of(context.catalog, config));
  const auto on_machines = on_hosts(*role.store);
  if (!on_machines) return unreadable(on_machines.error());
  std::unique_ptr<CloudProvider> own;
  if (config.takes_machines()) {
    auto machines = open_hosts(context, on_machines.value(), role);
    if (!machines) return machines.error();
    role.own_machines = std::move(machines).value();
    own = own_cloud(cloud_options(context), role.catalogs->own, *role.own_machines,
                    config.provider == kHostsProvider);
  } else if (on_machines.value() > 0) {
    // Their leases alone say when their tasks have ended.
    return Failure<NodeError>{
        NodeError::machines,
        fmt::format("{} of the cloud's store run on machines that have joined, and by the cluster "
                    "file no machine joins: have cloud.own_families, or cloud.provider = "
                    "\"hosts\", and node.join as they were until `muster hosts` shows no instance",
                    count_text(on_machines.value(), "instance"))};
  }
  if (config.provider == kHostsProvider) {
    role.provider = std::move(own);
    return std::nullopt;
  }
  auto machines = open_processes(context);
  if (!machines) return machines.error();
  role.machines = std::move(machines).value();
  LoopbackOptions rented = cloud_options(context);
  rented.catalog = &role.catalogs->rented;
  rented.machines = role.machines.get();
  rented.limits.instances =
      config.max_instances.value_or(machines::most_workers(machines::look_at_computer()));
  role.provider = make.value()(std::move(rented));
  if (own) {
    role.provider = beside_each_other(std::move(own), std::move(role.provider), role.catalogs->own);
  }
  return std::nullopt;
}

}  // namespace muster
