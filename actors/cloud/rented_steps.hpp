#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>

#include "actors/cloud/cloud_offerings.hpp"
#include "actors/cloud/cloud_provider.hpp"
#include "actors/cloud/cloud_writer.hpp"
#include "actors/cloud/connector_setup.hpp"
#include "actors/cloud/master_reports.hpp"
#include "actors/cloud/rented_book.hpp"
#include "actors/messages/messages.hpp"
#include "model/expected.hpp"

namespace muster {

/// The parts that steps and orders of instances go through.
struct RentedParts {
  RentedBook& book;
  CloudWriter& writer;
  CloudOfferings& offerings;
  MasterReports& reports;
};

/// How rented instances go on. A provider's answers and news become due steps of an instance, which
/// are written in the order of Due and one at a time, whatever the order in which they came. Only
/// what is on record is told to masters, or done.
class RentedSteps {
 public:
  /// The records that are to be written of an instance, in their order.
  enum class Due : std::uint8_t { end, up, machine, notice, ending, refused, gone, price };
  /// The instance when its notice is on record, or why it gets no notice.
  using InterruptAnswer = std::function<void(const Expected<InstanceId, ActorError>&)>;

  struct Host {
    std::shared_ptr<ConnectorHost> connector;
    /// That the instance is to end is on record: the cloud is told.
    std::function<void(InstanceId)> terminate;
    /// The instance is not rented any more.
    std::function<void(InstanceId)> forget;
  };

  RentedSteps(const ConnectorSetup& setup, const RentedParts& parts, Host host);

  /// Has it written down when its turn has come. The first news of a kind counts: repeated news is
  /// already due or outdated.
  void take(InstanceId id, Due due, ProviderNews news);
  /// Writes down what is due of the instance, one after the other.
  void settle(InstanceId id);
  /// Has the instance's record written anew, with its newest price, after this turn.
  void renew(InstanceId id);
  /// Has the cloud take a spot instance back. Answers once, before this returns or later.
  void interrupt(InstanceId id, const InterruptAnswer& answer);
  /// The instance is not rented any more; nothing of it is due.
  RentedBook::Rented remove(InstanceId id);
  /// Nothing of the instance is due or being written.
  bool is_idle(InstanceId id) const;
  /// Lets go of those who wait for an interruption.
  void clear() { interrupting_.clear(); }

 private:
  using Rented = RentedBook::Rented;
  struct Pending {
    std::map<Due, ProviderNews> due{};
    bool retries_write = false;  ///< due news is written after a pause
  };

  void step(Rented& rented, Due due, const ProviderNews& news);
  void advance(const RentedRecord& record, Due due, const ProviderNews& news,
               std::function<void(Rented&)> then);
  Rented& accept(const RentedRecord& record);
  void retry_write(InstanceId id);
  void end(Rented& rented, const ProviderNews& news);
  void come_up(Rented& rented, const ProviderNews& news);
  void give_notice(Rented& rented, const ProviderNews& news);
  void begin_end(Rented& rented, const ProviderNews& news);
  void refuse(Rented& rented, const ProviderNews& news);
  void gone(Rented& rented, const ProviderNews& news);
  void answer_interruption(InstanceId id, bool written);
  Instant now() const { return host_.connector->billed_now(); }

  const ConnectorSetup& setup_;
  RentedParts parts_;
  Host host_;
  std::map<InstanceId, Pending> pending_;
  std::map<InstanceId, InterruptAnswer> interrupting_;  ///< their notice is being written down
};

}  // namespace muster
