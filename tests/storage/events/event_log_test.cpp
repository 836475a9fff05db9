#include "storage/events/event_log.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "tests/support/golden.hpp"
#include "tests/support/message_of.hpp"

namespace muster {
namespace {

using test::IsGoldenAt;
using testing::HasSubstr;
using testing::StartsWith;

LogHeader header() {
  InstanceType type;
  type.name = "c7i.large";
  type.family = "c7i";
  type.capacity = Resources::of(0, 2, 4);
  type.on_demand = Price::from_usd_h(0.08925);
  return {"no-packing", 1, Catalog{{type}}};
}

Event up(std::uint64_t instance) {
  return {Instant{from_seconds(static_cast<double>(instance))}, InstanceUp{InstanceId{instance}}};
}

const std::string kHeaderLine =
    "{\"muster_events\":1,\"policy\":\"no-packing\",\"seed\":1,\"types\":[{\"name\":\"c7i.large\","
    "\"family\":\"c7i\",\"capacity\":{\"cpu\":2,\"memory\":4},\"on_demand_usd_h\":0.08925,"
    "\"acquire_s\":0,\"setup_s\":0,\"terminate_s\":0}]}\n";

TEST(EventLog, the_digest_is_the_sha256_of_the_bytes_written) {
  const LogHeader head = header();
  std::ostringstream out;
  EventLogWriter writer(&out, head);
  writer.write(up(3));
  const auto digest = writer.finish();

  EXPECT_EQ(out.str(), kHeaderLine + "{\"t\":3,\"event\":\"instance_up\",\"instance\":3}\n");
  ASSERT_TRUE(digest);
  // From sha256sum on those bytes.
  EXPECT_EQ(digest.value(), "3bf644cd96235d1352a437c185fb4fa4c538eac2b46f694dbfff7f97a7351e34");
  EXPECT_EQ(writer.count(), 1u);
}

TEST(EventLog, the_digest_does_not_need_a_stream_and_does_not_depend_on_buffering) {
  const LogHeader head = header();
  std::ostringstream out;
  EventLogWriter with_stream(&out, head);
  EventLogWriter without_stream(nullptr, head);
  for (std::uint64_t i = 0; i < 5000; ++i) {  // several buffers full
    with_stream.write(up(i));
    without_stream.write(up(i));
  }
  EXPECT_EQ(with_stream.finish().value(), without_stream.finish().value());
  EXPECT_GT(out.str().size(), 200'000u);
}

TEST(EventLog, another_event_gives_another_digest) {
  const LogHeader head = header();
  EventLogWriter one(nullptr, head);
  EventLogWriter two(nullptr, head);
  one.write(up(1));
  two.write(up(2));
  EXPECT_NE(one.finish().value(), two.finish().value());
}

TEST(EventLog, what_was_written_reads_back) {
  const LogHeader head = header();
  std::stringstream file;
  EventLogWriter writer(&file, head);
  for (std::uint64_t i = 0; i < 100; ++i) writer.write(up(i));
  ASSERT_TRUE(writer.finish());

  const auto log = read_event_log(file, "log");
  ASSERT_TRUE(log) << log.error().message;
  EXPECT_EQ(log.value().header.policy, "no-packing");
  EXPECT_EQ(log.value().header.catalog[TypeId{0}].name, "c7i.large");
  ASSERT_EQ(log.value().events.size(), 100u);
  EXPECT_EQ(std::get<InstanceUp>(log.value().events[99].body).instance, InstanceId{99});
}

TEST(EventLog, a_full_disk_is_reported) {
  std::ofstream full("/dev/full");
  if (!full) GTEST_SKIP() << "this system has no /dev/full";
  const LogHeader head = header();
  EventLogWriter writer(&full, head);
  const auto digest = writer.finish();
  ASSERT_FALSE(digest);
  EXPECT_EQ(digest.error().code, EventLogError::unwritable);
}

std::string error_of(const std::string& text) {
  std::istringstream file(text);
  return test::message_of(read_event_log(file, "runs/log.jsonl"), EventLogError::malformed);
}

TEST(EventLog, errors_name_file_and_line) {
  EXPECT_THAT(error_of(""), IsGoldenAt("runs/log.jsonl:1"));
  EXPECT_THAT(error_of("job,gpu\n"), StartsWith("runs/log.jsonl:1: column 1: syntax error"));
  EXPECT_EQ(error_of("{\"runs\":[]}\n"), "runs/log.jsonl:1: field \"muster_events\" is missing");
  EXPECT_THAT(error_of(kHeaderLine + "{\"t\":3,\"event\":\"instance_up\",\"instance\":3}\n"
                                     "{\"t\":3,\"event\":\"instance_up\",\"instance\":\"x\"}\n"),
              IsGoldenAt("runs/log.jsonl:3: field \"instance\""));
}

TEST(EventLog, a_log_that_breaks_off_within_a_line_is_reported_at_that_line) {
  EXPECT_THAT(error_of(kHeaderLine + "{\"t\":3,\"event\":\"inst"),
              HasSubstr("runs/log.jsonl:2: column"));
}

TEST(EventLog, a_file_that_cannot_be_opened_is_unreadable) {
  const auto missing = read_event_log("no/such/file.jsonl");
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().code, EventLogError::unreadable);
  EXPECT_THAT(missing.error().message, IsGoldenAt("no/such/file.jsonl"));

  const auto folder = read_event_log(std::filesystem::temp_directory_path());
  ASSERT_FALSE(folder);
  EXPECT_THAT(folder.error().message, HasSubstr("is a directory"));
}

TEST(EventLog, a_device_that_never_ends_a_line_is_not_read) {
  const auto zeros = read_event_log("/dev/zero");
  ASSERT_FALSE(zeros);
  EXPECT_EQ(zeros.error().code, EventLogError::unreadable);
}

TEST(EventLog, amounts_are_those_that_a_catalog_may_have) {
  for (const char* amount : {"-4", "1e10"}) {
    std::string header = kHeaderLine;
    const std::size_t at = header.find("\"cpu\":") + 6;
    header.replace(at, header.find_first_of(",}", at) - at, amount);
    const std::string said = error_of(header);
    EXPECT_THAT(said, StartsWith("runs/log.jsonl:1: field \"types[0].capacity.cpu\": expected "))
        << amount;
  }
}

}  // namespace
}  // namespace muster
