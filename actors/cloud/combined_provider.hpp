#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "actors/cloud/cloud_provider.hpp"

namespace muster {

/// Several clouds that one connector rents from, each with instance types of its own. A cloud that
/// says that it does not know holds up no instance of another one; one that never says anything,
/// which no provider may, holds up all looks.
class CombinedProvider final : public CloudProvider {
 public:
  struct Part {
    /// Whether an order, or an instance on record, is this cloud's. The first part that says yes
    /// has it; the last one has what no other wants.
    std::function<bool(const RentedRecord&)> has;
    std::unique_ptr<CloudProvider> cloud;
  };
  /// At least one part.
  explicit CombinedProvider(std::vector<Part> parts);

  void watch(std::shared_ptr<CloudHost> host, const std::vector<RentedRecord>& rented) override;
  void unwatch() override;
  std::vector<Offering> offerings() const override;
  void launch(const RentedRecord& order, std::function<void(LaunchAnswer)> done) override;
  void terminate(InstanceId instance, std::function<void(EndResult)> done) override;
  void forget(InstanceId instance) override;
  /// Complete when one cloud has answered; instances of others are `unknown` then.
  void list(std::function<void(FoundInstances)> done) override;
  bool interrupt(InstanceId instance) override;
  std::optional<Instant> all_ended_at() const override;

 private:
  struct Listing;
  struct Ends;

  std::size_t part_of(const RentedRecord& record) const;
  void gather(std::size_t part, const FoundInstances& found, Listing& listing) const;

  std::vector<Part> parts_;
  std::shared_ptr<CloudHost> host_;
  std::map<InstanceId, std::size_t> owners_;  ///< the part of each that was ordered and is not over
};

}  // namespace muster
