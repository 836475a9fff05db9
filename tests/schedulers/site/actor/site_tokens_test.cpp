#include "model/submission_key.hpp"
#include "tests/schedulers/site/actor/site_actor_fixture.hpp"
#include "tests/support/golden.hpp"

// Submissions' tokens of several users of the API, at a site.

namespace muster {
namespace {

using test::IsGolden;
using test::SiteActorTest;

TEST_F(SiteActorTest, TheSameTokenOfAnotherApiUserIsAnotherJobAndKeepsItsNameInRefusals) {
  const SiteActor site = spawn_site(site_store_);
  system_.run_until_s(0.5);
  submit(site, {with_token("ann", scoped_token("ann", "once"))});
  submit(site, {with_token("ann", scoped_token("ci", "once"))});
  EXPECT_THAT(said(), ::testing::IsSupersetOf({"promised 1", "promised 2"}));
  Job other = with_token("bob", scoped_token("ci", "once"));
  submit(site, {other});
  EXPECT_THAT(said(),
              ::testing::ElementsAre(::testing::AllOf(::testing::HasSubstr("\"once\""),
                                                      ::testing::HasSubstr("job 2"), IsGolden())));
  system_.end(site);
}

}  // namespace
}  // namespace muster
