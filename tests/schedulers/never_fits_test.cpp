#include "schedulers/packing/never_fits.hpp"

#include <gtest/gtest.h>

#include "tests/schedulers/catalogs.hpp"
#include "tests/support/builders.hpp"

namespace muster {
namespace {

using testing::table_3;
using testing::type_of;

Job asking(const Resources& amount, MarketChoice markets = MarketChoice::any) {
  Job job = test::JobBuilder(1).tasks(3).demand(amount).build();
  job.markets = markets;
  return job;
}

TEST(NeverFits, says_nothing_of_what_fits_somewhere) {
  EXPECT_FALSE(why_never_fits(asking(Resources::of(4, 16, 244)), table_3(), {}));
}

TEST(NeverFits, names_what_there_is_not_enough_of_and_the_largest_type) {
  EXPECT_EQ(why_never_fits(asking(Resources::of(1000, 1, 1)), table_3(), {}),
            "no instance type on offer has 1000 gpus; the largest has 4 (it1)");
  EXPECT_EQ(why_never_fits(asking(Resources::of(0, 1, 999.5)), table_3(), {}),
            "no instance type on offer has 999.5 GiB of memory; the largest has 244 (it1)");
}

TEST(NeverFits, says_when_it_is_the_combination_that_there_is_not) {
  const Catalog catalog({type_of("wide", "a", Resources::of(0, 64, 8), 1),
                         type_of("deep", "b", Resources::of(1, 4, 8), 1)});
  EXPECT_EQ(why_never_fits(asking(Resources::of(1, 64, 8)), catalog, {}),
            "no instance type on offer has 64 cpus beside what else is asked for; the largest of "
            "those has 4 (deep)");
}

TEST(NeverFits, looks_only_at_markets_that_the_job_takes) {
  const Catalog catalog = table_3();
  EXPECT_EQ(why_never_fits(asking(Resources::of(0, 1, 1), MarketChoice::spot), catalog, {}),
            "there is no instance type on offer on the spot market");
  const Fleet fleet{{TypeId{3}, Market::on_demand, 2}};
  EXPECT_EQ(why_never_fits(asking(Resources::of(0, 1, 1), MarketChoice::spot), catalog, fleet),
            "there is no instance of the fleet on the spot market");
  EXPECT_FALSE(
      why_never_fits(asking(Resources::of(0, 1, 1), MarketChoice::on_demand), catalog, fleet));
}

TEST(NeverFits, looks_only_at_the_fleet_where_there_is_one) {
  const Fleet fleet{{TypeId{3}, Market::on_demand, 2}};
  EXPECT_EQ(why_never_fits(asking(Resources::of(1, 1, 1)), table_3(), fleet),
            "no instance of the fleet has gpus");
  EXPECT_EQ(why_never_fits(asking(Resources::of(0, 1000, 1)), table_3(), fleet),
            "no instance of the fleet has 1000 cpus; the largest has 4 (it4)");
}

TEST(NeverFits, names_no_largest_type_of_what_no_type_has_any_of) {
  const Catalog catalog({type_of("small", "a", Resources::of(0, 4, 8), 1),
                         type_of("large", "a", Resources::of(0, 64, 128), 9)});
  EXPECT_EQ(why_never_fits(asking(Resources::of(1000, 1, 1)), catalog, {}),
            "no instance type on offer has gpus");
  Resources disk = Resources::of(0, 1, 1);
  disk[Resource::storage] = 5;
  EXPECT_EQ(why_never_fits(asking(disk), catalog, {}), "no instance type on offer has storage");
}

}  // namespace
}  // namespace muster
