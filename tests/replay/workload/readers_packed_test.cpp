#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>

#include "config/text_file.hpp"
#include "tests/replay/workload/workload_compare.hpp"
#include "tests/support/golden.hpp"
#include "tests/support/message_of.hpp"
#include "tests/support/temp_file.hpp"

namespace muster::replay {
namespace {

using muster::test::IsGoldenAt;
using muster::test::message_of;
using muster::test::TempFile;
using test::reading;
using testing::HasSubstr;

/// "0 1 3 3\n" as gzip packs it.
std::string packed() {
  const unsigned char bytes[] = {0x1f, 0x8b, 0x08, 0x00, 0x00, 0x00, 0x00, 0x00, 0x02, 0x03,
                                 0x33, 0x50, 0x30, 0x54, 0x30, 0x56, 0x30, 0xe6, 0x02, 0x00,
                                 0x05, 0xd3, 0xd8, 0xef, 0x08, 0x00, 0x00, 0x00};
  return {reinterpret_cast<const char*>(bytes), sizeof bytes};
}

TEST(PackedFiles, AreReadAsWhatTheyHold) {
  const TempFile file("jobs.tr.gz", packed());
  const Workload workload = read_workload(reading("tr", file.path()), 1).value();
  ASSERT_EQ(workload.jobs.size(), 1U);
  EXPECT_EQ(workload.jobs[0].truth.iterations, 3);
}

TEST(PackedFiles, MayBeCalledAnything) {
  const TempFile file("jobs.tr", packed());
  EXPECT_EQ(read_workload(reading("tr", file.path()), 1).value().jobs.size(), 1U);
}

TEST(PackedFiles, ThatEndEarlyOrAreDamagedAreRejected) {
  const TempFile cut("cut.tr.gz", packed().substr(0, 22));
  EXPECT_EQ(read_workload(reading("tr", cut.path()), 1).error().code, WorkloadError::malformed);
  std::string wrong = packed();
  wrong[wrong.size() - 6] ^= 1;  // the checksum
  std::string errors;
  for (const char* format : {"tr", "swf", "muster-csv", "eva-json", "google-2011"}) {
    const TempFile file("wrong.gz", wrong);
    errors += message_of(read_workload(reading(format, file.path()), 1), WorkloadError::malformed) +
              " (" + format + ")\n";
  }
  EXPECT_THAT(errors, IsGoldenAt("wrong.gz"));
}

TEST(PackedFiles, MayBeSeveralOneAfterTheOther) {
  const TempFile file("jobs.tr.gz", packed() + packed());
  EXPECT_EQ(read_text_file(file.path()).value(), "0 1 3 3\n0 1 3 3\n");
}

TEST(PackedFiles, FollowedBySomethingElseAreRejected) {
  for (const std::string& garbage :
       {std::string("garbage"), std::string("1 1 2 2\n"), std::string(8, '\0'), std::string("x")}) {
    const TempFile file("jobs.tr.gz", packed() + garbage);
    const auto result = read_workload(reading("tr", file.path()), 1);
    ASSERT_FALSE(result.has_value()) << garbage;
    EXPECT_EQ(result.error().code, WorkloadError::malformed);
    EXPECT_THAT(result.error().message, HasSubstr("jobs.tr.gz: is damaged: "));
  }
}

TEST(PackedFiles, OfManyPiecesAreReadWhole) {
  std::string text;
  for (int i = 0; i < 100'000; ++i) text += std::to_string(i) + "\n";
  const TempFile file("numbers", text);
  EXPECT_EQ(read_text_file(file.path()).value(), text);
}

TEST(TextFiles, WithoutEndAreRefusedBeforeTheyAreRead) {
  std::string errors;
  for (const char* format : {"muster-csv", "tr", "eva-json", "swf"}) {
    errors += message_of(read_workload(reading(format, "/dev/zero"), 1), WorkloadError::malformed) +
              " (" + format + ")\n";
  }
  EXPECT_THAT(errors, IsGoldenAt("/dev/zero"));
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  EXPECT_LT(usage.ru_maxrss, 512L * 1024) << "KiB";
}

TEST(TextFiles, MayNotBeLargerThanTheBoundEither) {
  const TempFile file("jobs.tr", std::string(1'000'000, 'x'));
  EXPECT_EQ(read_text_file(file.path(), 999'999).error().code, TextFileError::too_large);
  EXPECT_TRUE(read_text_file(file.path(), 1'000'000).has_value());
}

TEST(PackedFiles, MayNotUnpackToMoreThanTheBound) {
  const TempFile file("jobs.tr.gz", packed());
  EXPECT_TRUE(read_text_file(file.path(), 8).has_value());
  EXPECT_EQ(read_text_file(file.path(), 7).error().code, TextFileError::too_large);
}

}  // namespace
}  // namespace muster::replay
