#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "actors/cloud/connector_host.hpp"
#include "model/offering.hpp"
#include "storage/stores/cloud_store.hpp"

namespace muster {

/// Writes a connector's records into its store without waiting for the disk. Of one instance there
/// is one record at a time on its way: the next one is made from the one before, so whatever comes
/// for that instance waits here. Other instances go on meanwhile.
class CloudWriter {
 public:
  /// Called on a turn, when it is on record or could not be written.
  using Written = std::function<void(bool written)>;

  /// `settle` follows each record and the orders that have waited for it.
  CloudWriter(CloudStore& store, std::shared_ptr<ConnectorHost> host,
              std::function<void(InstanceId)> settle);

  /// No record of that instance is being written.
  void write(const RentedRecord& record, Written then);
  /// Drops the changes with those numbers, too.
  void write_change(const OfferingChange& change, const std::vector<std::uint64_t>& dropped,
                    Written then);
  bool is_writing(InstanceId id) const { return writing_.contains(id); }
  /// Whether the record on its way is the instance's last: nothing is charged after it.
  bool ends_bill(InstanceId id) const;
  /// Has the order run when the record of its instance is written; false: too many wait.
  bool defer(InstanceId id, std::function<void()> order);

  /// Why the store took nothing when it was last tried; empty when it did.
  const std::string& trouble() const { return trouble_; }
  /// Lets go of all that waits.
  void clear() { writing_.clear(); }

 private:
  struct Writing {
    Written then;
    bool ends_bill = false;
    std::vector<std::function<void()>> orders{};  ///< in the order in which they came
  };

  void on_written(InstanceId id, const std::string& trouble);
  void show_trouble(const std::string& trouble);
  CloudStore::Durable on_turn(std::function<void(const std::string& trouble)> then) const;

  CloudStore& store_;
  std::shared_ptr<ConnectorHost> host_;
  std::function<void(InstanceId)> settle_;
  std::map<InstanceId, Writing> writing_;
  std::string trouble_;
};

}  // namespace muster
