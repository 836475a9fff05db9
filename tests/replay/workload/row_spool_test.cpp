#include "replay/workload/row_spool.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

#include "tests/replay/workload/workload_compare.hpp"
#include "tests/support/temp_file.hpp"

namespace muster::replay {
namespace {

using muster::test::TempFile;
using test::reading;
using testing::HasSubstr;
using testing::Not;

std::string spooled(const WorkloadConfig& config, std::uint64_t max_jobs = 0) {
  RowSpool rows;
  const auto facts = stream_trace(config.format, config, rows);
  if (!facts) return facts.error().message;
  std::ostringstream out;
  EXPECT_TRUE(rows.write(facts.value(), max_jobs, out)) << rows.failure();
  return std::move(out).str();
}

TEST(RowSpool, WritesWhatTheWorkloadIsWrittenAs) {
  for (const auto& [format, name] :
       {std::pair{"eva-json", "eva-jobs.json"}, std::pair{"openb-csv", "openb-pods.csv"},
        std::pair{"tr", "yahoo-tiny10.tr"}}) {
    WorkloadConfig config = reading(format, test::data_file(name));
    EXPECT_EQ(spooled(config), test::csv_of(read_workload(config, 1).value())) << format;
    config.max_jobs = 3;
    EXPECT_EQ(spooled(config, 3), test::csv_of(read_workload(config, 1).value())) << format;
  }
}

TEST(RowSpool, HasAColumnForDistinctInstancesWhereOneOfItsRowsNeedsIt) {
  const TempFile file("j.csv",
                      "id,submit_s,user,name,tasks,gpu,cpu,memory_gib,duration_s,class,"
                      "distinct_instances\n"
                      "1,9,u,n,2,0,1,1,60,x,true\n2,0,u,n,2,0,1,1,60,x,\n");
  const WorkloadConfig config = reading("muster-csv", file.path());
  EXPECT_EQ(spooled(config), test::csv_of(read_workload(config, 1).value()));
  EXPECT_THAT(spooled(config), HasSubstr("distinct_instances"));
  EXPECT_THAT(spooled(config, 1), Not(HasSubstr("distinct_instances")));
}

TEST(RowSpool, HasAColumnForTheMostOfAJobOnAnInstanceWhereOneOfItsRowsNeedsIt) {
  const TempFile file("j.csv",
                      "id,submit_s,user,name,tasks,gpu,cpu,memory_gib,duration_s,class,"
                      "most_an_instance\n"
                      "1,9,u,n,3,0,1,1,60,x,2\n2,0,u,n,2,0,1,1,60,x,\n");
  const WorkloadConfig config = reading("muster-csv", file.path());
  EXPECT_EQ(spooled(config), test::csv_of(read_workload(config, 1).value()));
  EXPECT_THAT(spooled(config), HasSubstr("most_an_instance"));
  EXPECT_THAT(spooled(config), Not(HasSubstr("distinct_instances")));
  EXPECT_THAT(spooled(config, 1), Not(HasSubstr("most_an_instance")));
}

}  // namespace
}  // namespace muster::replay
