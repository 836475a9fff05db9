#include "model/submission_key.hpp"
#include "tests/schedulers/site/actor/site_actor_fixture.hpp"

// Submissions' tokens of several users of the API, at a site.

namespace muster {
namespace {

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
              ::testing::Contains(::testing::HasSubstr("the token \"once\" is that of job 2")));
  system_.end(site);
}

}  // namespace
}  // namespace muster
