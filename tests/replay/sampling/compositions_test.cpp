#include "replay/sampling/compositions.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "schedulers/registry.hpp"
#include "tests/schedulers/sampling/group_builders.hpp"

namespace muster::sampling {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

std::unique_ptr<Composition> composed(const std::string& text) {
  const PolicySpec spec = parse_policy(text).value();
  const PolicyModule& module = *find_module(spec.name).value();
  return make_composition(module.composition, module.read(spec).value());
}

TEST(Compositions, are_there_for_every_group_that_is_described_and_no_other) {
  for (const PolicyModule& module : known_groups()) {
    EXPECT_THAT(composition_names(), Contains(module.composition));
    EXPECT_NE(composed(module.name), nullptr);
  }
  EXPECT_THAT(composition_names(), SizeIs(known_groups().size()));
  EXPECT_EQ(make_composition("eva", std::any{}), nullptr);
}

TEST(Compositions, say_what_fleet_they_need) {
  for (const char* name : {"sparrow", "eagle", "pigeon"}) {
    EXPECT_THAT(composed(name)->fault(0), HasSubstr("master.fleet")) << name;
  }
  EXPECT_THAT(composed("sparrow")->fault(1), IsEmpty());
  EXPECT_THAT(composed("eagle")->fault(1), HasSubstr("two workers"));
  EXPECT_THAT(composed("eagle")->fault(2), IsEmpty());
  EXPECT_THAT(composed("pigeon,groups=5")->fault(4), HasSubstr("5 groups"));
  EXPECT_THAT(composed("pigeon,groups=5")->fault(5), IsEmpty());
}

TEST(Compositions, send_long_jobs_of_eagle_to_its_central_scheduler_and_no_others) {
  const SharedJob short_job = test::job(1, 1, 10), long_job = test::job(2, 1, 1000, true);
  for (const char* name : {"sparrow", "eagle", "pigeon"}) {
    EXPECT_EQ(composed(name)->scheduler_for(*short_job), 0U) << name;
    EXPECT_EQ(composed(name)->scheduler_for(*long_job), name == std::string("eagle") ? 1U : 0U);
  }
}

TEST(Compositions, reserve_workers_for_short_tasks_where_the_paper_does) {
  EXPECT_FALSE(composed("sparrow")->is_reserved(0, 10));
  EXPECT_TRUE(composed("eagle,short_partition=0.2")->is_reserved(1, 10));
  EXPECT_FALSE(composed("eagle,short_partition=0.2")->is_reserved(2, 10));
  const auto pigeon = composed("pigeon,groups=2,reserved=0.2");
  EXPECT_TRUE(pigeon->is_reserved(0, 10) && pigeon->is_reserved(5, 10)) << "one of each group";
  EXPECT_FALSE(pigeon->is_reserved(1, 10) || pigeon->is_reserved(6, 10));
}

TEST(Compositions, have_a_scheduler_for_each_part) {
  EXPECT_THAT(composed("sparrow")->make_schedulers(1), SizeIs(1));
  EXPECT_THAT(composed("eagle")->make_schedulers(1), SizeIs(2));
  EXPECT_THAT(composed("pigeon,groups=3")->make_schedulers(1), SizeIs(4));
  EXPECT_TRUE(composed("pigeon")->schedulers_end_jobs());
  EXPECT_FALSE(composed("eagle")->schedulers_end_jobs());
}

}  // namespace
}  // namespace muster::sampling
