#include "actors/cloud/combined_provider.hpp"

#include <algorithm>
#include <utility>

#include "model/check.hpp"

// Instances and offerings of different parts never meet: each part is asked for its own alone, and
// tells the connector by itself.

namespace muster {

/// Answers of the parts to one look, until all are there. They may come from any thread, and are
/// put together on turns of the connector.
struct CombinedProvider::Listing {
  FoundInstances found;
  std::size_t missing = 0;
  std::function<void(FoundInstances)> done;
};

/// Likewise, to the order to end an instance that no order is known of.
struct CombinedProvider::Ends {
  EndResult result = EndResult::absent;
  std::size_t missing = 0;
  std::function<void(EndResult)> done;
};

CombinedProvider::CombinedProvider(std::vector<Part> parts) : parts_(std::move(parts)) {
  MUSTER_CHECK(!parts_.empty(), "a combined provider of no cloud");
}

std::size_t CombinedProvider::part_of(const RentedRecord& record) const {
  const auto last = std::prev(parts_.end());
  const auto found =
      std::find_if(parts_.begin(), last, [&](const Part& part) { return part.has(record); });
  return static_cast<std::size_t>(found - parts_.begin());
}

void CombinedProvider::watch(std::shared_ptr<CloudHost> host,
                             const std::vector<RentedRecord>& rented) {
  host_ = std::move(host);
  std::vector<std::vector<RentedRecord>> of_part(parts_.size());
  for (const RentedRecord& record : rented) {
    const std::size_t part = part_of(record);
    owners_[record.instance] = part;
    of_part[part].push_back(record);
  }
  for (std::size_t i = 0; i < parts_.size(); ++i) parts_[i].cloud->watch(host_, of_part[i]);
}

void CombinedProvider::unwatch() {
  for (const Part& part : parts_) part.cloud->unwatch();
}

std::vector<Offering> CombinedProvider::offerings() const {
  std::vector<Offering> all;
  for (const Part& part : parts_) {
    std::vector<Offering> some = part.cloud->offerings();
    std::move(some.begin(), some.end(), std::back_inserter(all));
  }
  return all;
}

void CombinedProvider::launch(const RentedRecord& order, std::function<void(LaunchAnswer)> done) {
  // The answer may come late, and whatever it is, the instance is that part's to end.
  const std::size_t part = owners_.try_emplace(order.instance, part_of(order)).first->second;
  parts_[part].cloud->launch(order, std::move(done));
}

void CombinedProvider::terminate(InstanceId instance, std::function<void(EndResult)> done) {
  const auto owner = owners_.find(instance);
  if (owner != owners_.end()) {
    return parts_[owner->second].cloud->terminate(instance, std::move(done));
  }
  // It is on no record, and was found by a look: the cloud in which it is ends it.
  const auto ends = std::make_shared<Ends>(Ends{EndResult::absent, parts_.size(), std::move(done)});
  for (const Part& part : parts_) {
    part.cloud->terminate(instance, [ends, host = host_](EndResult result) {
      host->run([ends, result] {
        // One that accepts has it; one that fails may have it.
        const bool says_more = ends->result == EndResult::absent || result == EndResult::accepted;
        if (says_more) ends->result = result;
        if (--ends->missing == 0) ends->done(ends->result);
      });
    });
  }
}

void CombinedProvider::forget(InstanceId instance) {
  const auto owner = owners_.extract(instance);
  if (!owner.empty()) parts_[owner.mapped()].cloud->forget(instance);
}

void CombinedProvider::gather(std::size_t part, const FoundInstances& found,
                              Listing& listing) const {
  FoundInstances& all = listing.found;
  all.complete = all.complete || found.complete;
  all.partial = all.partial || found.partial || !found.complete;
  if (found.complete) {
    all.instances.insert(all.instances.end(), found.instances.begin(), found.instances.end());
    all.unknown.insert(found.unknown.begin(), found.unknown.end());
  } else {
    for (const auto& [instance, owner] : owners_) {
      if (owner == part) all.unknown.insert(instance);
    }
  }
  if (--listing.missing == 0) listing.done(std::move(all));
}

void CombinedProvider::list(std::function<void(FoundInstances)> done) {
  const auto listing = std::make_shared<Listing>();
  listing->missing = parts_.size();
  listing->done = std::move(done);
  for (std::size_t i = 0; i < parts_.size(); ++i) {
    parts_[i].cloud->list([this, i, listing, host = host_](FoundInstances found) {
      host->run([this, i, listing, found = std::move(found)] { gather(i, found, *listing); });
    });
  }
}

bool CombinedProvider::interrupt(InstanceId instance) {
  const auto owner = owners_.find(instance);
  return owner != owners_.end() && parts_[owner->second].cloud->interrupt(instance);
}

std::optional<Instant> CombinedProvider::all_ended_at() const {
  std::optional<Instant> latest;
  for (const Part& part : parts_) {
    // An absent time is less than any other.
    latest = std::max(latest, part.cloud->all_ended_at());
  }
  return latest;
}

}  // namespace muster
