// Each speaker holds an interface of its own: what it can send to an actor is in that interface's
// list, and in no other place.

#include "actors/messages/interfaces.hpp"

#include <gtest/gtest.h>

#include "actors/messages/orders_first.hpp"

namespace muster {
namespace {

/// Whether a handle of `Interface` may be used where one of `Part` is wanted.
template <class Interface, class Part>
constexpr bool kHolds =
    caf::detail::tl_subset_of<typename Part::signatures, typename Interface::signatures>::value;

template <class Interface>
constexpr std::size_t kMessages = caf::detail::tl_size<typename Interface::signatures>::value;

TEST(Interfaces, AMasterIsAllOfItsInterfacesAndNoMore) {
  EXPECT_TRUE((kHolds<MasterActor, MasterForSites>));
  EXPECT_TRUE((kHolds<MasterActor, MasterForWorkers>));
  EXPECT_TRUE((kHolds<MasterActor, MasterForCloud>));
  EXPECT_TRUE((kHolds<MasterActor, MasterForNode>));
  EXPECT_TRUE((kHolds<MasterActor, MasterForUsers>));
  // A cancel is one message, of sites and of users.
  constexpr std::size_t kCancels = 1;
  EXPECT_EQ(kMessages<MasterActor>, kMessages<MasterForSites> + kMessages<MasterForWorkers> +
                                        kMessages<MasterForCloud> + kMessages<MasterForNode> +
                                        kMessages<MasterOrders> + kMessages<MasterQueries> +
                                        kMessages<OwnSteps> - kCancels);
}

TEST(Interfaces, AWorkerACloudAndAUserCannotSendAMasterWhatIsNotTheirs) {
  EXPECT_FALSE((kHolds<MasterForWorkers, caf::typed_actor<HandJobs>>));
  EXPECT_FALSE((kHolds<MasterForWorkers, MasterOrders>));
  EXPECT_FALSE((kHolds<MasterForWorkers, MasterForCloud>));
  EXPECT_FALSE((kHolds<MasterForCloud, MasterForWorkers>));
  EXPECT_FALSE((kHolds<MasterForUsers, MasterForWorkers>));
  EXPECT_FALSE((kHolds<MasterForUsers, caf::typed_actor<HandJobs>>));
  EXPECT_FALSE((kHolds<MasterForUsers, OwnSteps>));
  EXPECT_FALSE((kHolds<CloudForMasters, CloudUserOrders>));
  EXPECT_FALSE((kHolds<CloudForUsers, CloudForMasters>));
  EXPECT_FALSE((kHolds<SiteForSites, SiteForSubmitters>));
  EXPECT_FALSE((kHolds<SiteQueries, SiteForSubmitters>));
}

TEST(Interfaces, AHandleConvertsByItselfToEachOfItsInterfaces) {
  const MasterActor master;
  const MasterForWorkers of_workers = master;
  const MasterForUsers of_users = master;
  const MasterOrders orders = of_users;
  EXPECT_FALSE(of_workers || orders);
}

TEST(Interfaces, AMessageIsOfAnInterfaceByItsTypesAndItsWords) {
  const auto is_order = [](const caf::message& message) { return IsOf<MasterOrders>::is(message); };
  EXPECT_TRUE(is_order(caf::make_message(hold_atom_v, JobId{1}, true)));
  EXPECT_TRUE(is_order(caf::make_message(drain_atom_v, InstanceId{1})));
  EXPECT_TRUE(is_order(caf::make_message(cancel_atom_v, std::vector<JobId>{})));
  EXPECT_FALSE(is_order(caf::make_message(cancel_atom_v, JobId{1}))) << "of other types";
  EXPECT_FALSE(is_order(caf::make_message(instances_atom_v, InstanceId{1}))) << "of another word";
  EXPECT_FALSE(is_order(caf::make_message(hold_atom_v, JobId{1}))) << "of fewer elements";
  EXPECT_FALSE(is_order(caf::make_message()));
}

/// Whether no message of an interface goes first at an actor whose orders are `Orders`.
template <class Orders, class... Signatures>
constexpr bool waits_its_turn(caf::typed_actor<Signatures...>* /*interface*/) {
  return (!caf::detail::tl_contains<typename Orders::signatures, Signatures>::value && ...);
}

TEST(Interfaces, NoQuestionAndNothingOfAWorkerOrTheCloudIsAnOrderOfUsers) {
  EXPECT_TRUE(waits_its_turn<MasterOrders>(static_cast<MasterQueries*>(nullptr)));
  EXPECT_TRUE(waits_its_turn<MasterOrders>(static_cast<MasterForWorkers*>(nullptr)));
  EXPECT_TRUE(waits_its_turn<MasterOrders>(static_cast<MasterForCloud*>(nullptr)));
  EXPECT_TRUE(waits_its_turn<MasterOrders>(static_cast<OwnSteps*>(nullptr)));
  EXPECT_TRUE(waits_its_turn<SiteOrders>(static_cast<SiteQueries*>(nullptr)));
  EXPECT_TRUE(waits_its_turn<SiteOrders>(static_cast<JobListener*>(nullptr)));
}

}  // namespace
}  // namespace muster
