// What a file and its overrides are told when they are wrong: the place, the key, and what would be
// right. The cluster's file stands for every config that has a table of keys.

#include "config/key_reader.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>

#include "config/worker_config.hpp"
#include "tests/support/cluster_file.hpp"
#include "tests/support/golden.hpp"
#include "tests/support/message_of.hpp"

namespace muster {
namespace {

using config::TomlError;
using test::errors_of;
using test::IsGolden;
using test::IsGoldenAt;
using test::kTop;
using test::message_of;
using test::TempFile;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

/// MUSTER_DATA has this value while the object is there.
class DataFolder {
 public:
  explicit DataFolder(const char* value) {
    const char* before = std::getenv("MUSTER_DATA");
    if (before != nullptr) before_ = before;
    set(value);
  }
  ~DataFolder() { set(before_ ? before_->c_str() : nullptr); }
  DataFolder(const DataFolder&) = delete;
  DataFolder& operator=(const DataFolder&) = delete;

 private:
  static void set(const char* value) {
    if (value == nullptr) {
      unsetenv("MUSTER_DATA");
    } else {
      setenv("MUSTER_DATA", value, 1);
    }
  }
  std::optional<std::string> before_;
};

TEST(ReadToml, SaysWhyAFileCannotBeRead) {
  const TempFile file("a.toml", "x = 1\n");
  EXPECT_TRUE(config::read_toml(file.path()));
  EXPECT_THAT(message_of(config::read_toml(file.folder()), TomlError::unreadable), IsGolden());
  EXPECT_THAT(message_of(config::read_toml(file.folder() / "b.toml"), TomlError::unreadable),
              IsGolden());
  EXPECT_THAT(message_of(config::read_toml(file.path() / "c.toml"), TomlError::unreadable),
              HasSubstr("c.toml: cannot be read: "));
}

TEST(ReadToml, NamesTheLineAndTheColumnOfWhatIsNone) {
  const TempFile file("a.toml", "x = 1\ny = [1,, 2]\n");
  EXPECT_THAT(message_of(config::read_toml(file.path()), TomlError::malformed),
              HasSubstr("a.toml:2:8: "));
  const TempFile twice("a.toml", "x = 1\nx = 2\n");
  EXPECT_THAT(message_of(config::read_toml(twice.path()), TomlError::malformed),
              HasSubstr("a.toml:2:5: "));
}

TEST(ReadToml, KnowsTextOfTwoBytesACharacterInEitherOrder) {
  for (const char* mark : {"\xFF\xFE", "\xFE\xFF"}) {
    const TempFile file("a.toml", std::string(mark) + std::string("x\0=\0", 4));
    EXPECT_THAT(message_of(config::read_toml(file.path()), TomlError::malformed), IsGolden());
  }
  const TempFile marked("a.toml", "\xEF\xBB\xBFx = 1\n");
  EXPECT_TRUE(config::read_toml(marked.path()));
}

TEST(KeyReader, OffersTheKeysOfASectionAndThoseOfOthersThatEndSo) {
  EXPECT_THAT(errors_of({.sections = "[link]\nheartbeet = 1\n"}),
              ElementsAre(IsGoldenAt("local.toml:19:1: link.heartbeet")));
  EXPECT_THAT(errors_of({.sections = "[link]\nlog_bytes = 1\n"}),
              ElementsAre(HasSubstr("(there is worker.log_bytes)")));
  EXPECT_THAT(errors_of({.sections = "[link]\nzzzzzzzzzzzzzzz = 1\n"}),
              ElementsAre(Not(HasSubstr("did you mean"))));
  // What is near is enough: the key of another section is not offered beside it.
  EXPECT_THAT(errors_of({.sections = "[site]\nmax_waitin = 1\n"}),
              ElementsAre(Not(HasSubstr("there is"))));
}

TEST(KeyReader, TellsKeysFromSections) {
  EXPECT_THAT(errors_of({.top = "site = \"tokyo\"\n" + kTop}),
              ElementsAre(IsGoldenAt("local.toml:1:8: site")));
  EXPECT_THAT(errors_of({.sections = "[link.timeout]\ns = 3\n"}),
              ElementsAre(IsGoldenAt("local.toml:18:1: link.timeout")));
  EXPECT_THAT(errors_of({.sections = "[link.more]\ns = 3\n"}),
              ElementsAre(IsGoldenAt("local.toml:18:7: link.more")));
  EXPECT_THAT(errors_of({.sections = "[lnk]\ntimeout = 3\n"}),
              ElementsAre(IsGoldenAt("local.toml:18:2: lnk")));
}

TEST(KeyReader, TellsOldKeysOfASectionThatIsNoneAnyMoreOneByOne) {
  EXPECT_THAT(
      errors_of({.sections = "[sort]\nby = \"svm\"\neps = 0.1\nnever_was = 1\n"}),
      ElementsAre(IsGoldenAt("local.toml:19:1: sort.by"), IsGoldenAt("local.toml:20:1: sort.eps"),
                  IsGoldenAt("local.toml:21:1: sort.never_was")));
  EXPECT_THAT(errors_of({.top = "sort = 3\n" + kTop}),
              ElementsAre(IsGoldenAt("local.toml:1:1: sort")));
}

TEST(KeyReader, SaysWhereAnOverrideIsWrong) {
  const auto error_of = [](const std::string& text) { return errors_of({}, {text}); };
  EXPECT_THAT(error_of("link.timeout"), ElementsAre(IsGoldenAt("--set link.timeout")));
  EXPECT_THAT(error_of("=3"), ElementsAre(IsGoldenAt("--set =3")));
  EXPECT_THAT(error_of("link.timeout="),
              ElementsAre(IsGoldenAt("--set link.timeout=: link.timeout")));
  EXPECT_THAT(error_of("lnk.timeout=3"), ElementsAre(IsGoldenAt("lnk.timeout")));
  EXPECT_THAT(error_of("link.tmeout=3"), ElementsAre(IsGoldenAt("link.tmeout")));
  EXPECT_THAT(error_of("seeed=3"), ElementsAre(IsGoldenAt("seeed")));
  EXPECT_THAT(error_of("sort.by=svm"), ElementsAre(IsGoldenAt("--set sort.by=svm: sort.by")));
}

TEST(KeyReader, AnOverrideIsTheFaultOfWhatItMakesWrong) {
  EXPECT_THAT(errors_of({.sections = "[link]\nheartbeat = \"2s\"\ntimeout = \"8s\"\n"},
                        {"link.timeout=3s"}),
              ElementsAre(IsGoldenAt("--set link.timeout=3s: link.timeout")));
  EXPECT_THAT(errors_of({.sections = "[link]\nheartbeat = \"2s\"\ntimeout = \"3s\"\n"},
                        {"link.timeout=8s"}),
              ElementsAre("no error"));
}

TEST(KeyReader, PathsBeginWithNoVariableButThatOfTheData) {
  const DataFolder folder("/the/data");
  const auto catalog = [](const std::string& path) {
    return test::load({.top = test::changed(kTop, "types.csv", path)});
  };
  EXPECT_EQ(catalog("${MUSTER_DATA}/x/../types.csv")->catalog, "/the/data/types.csv");
  EXPECT_EQ(catalog("/else/types.csv")->catalog, "/else/types.csv");
  for (const char* other : {"${HOME}/types.csv", "a/${MUSTER_DATA}", "${MUSTER_DATA}/${X}"}) {
    EXPECT_THAT(errors_of({.top = test::changed(kTop, "types.csv", other)}),
                ElementsAre(IsGoldenAt("local.toml:4:11: catalog")))
        << other;
  }
}

TEST(KeyReader, WithoutAFolderOfTheDataItIsThatBesideTheProject) {
  const auto beside = (std::filesystem::current_path() / "../shared/data/t.csv").lexically_normal();
  for (const char* unset : {static_cast<const char*>(nullptr), ""}) {
    const DataFolder folder(unset);
    const auto config =
        test::load({.top = test::changed(kTop, "types.csv", "${MUSTER_DATA}/t.csv")});
    EXPECT_EQ(config->catalog, beside);
  }
}

TEST(KeyReader, SaysOfWhatIsMissingWhatItHasToBe) {
  const auto missing = [](const std::string& line) {
    return errors_of({.top = test::changed(kTop, line, "")});
  };
  EXPECT_THAT(missing("name = \"local\"\n"), ElementsAre(IsGoldenAt("local.toml: name")));
  EXPECT_THAT(missing("catalog = \"types.csv\"\n"), ElementsAre(IsGoldenAt("local.toml: catalog")));
  EXPECT_THAT(missing("pki = \"pki\"\n"), ElementsAre(IsGoldenAt("local.toml: pki")));
  // A key with a value that is wrong is there: nothing says besides that it is missing.
  EXPECT_THAT(errors_of({.top = test::changed(kTop, "\"types.csv\"", "3")}),
              ElementsAre(IsGoldenAt("local.toml:4:11: catalog")));
}

TEST(KeyReader, AWorkersFileAndItsOverridesAreToldAlike) {
  const TempFile file("w.toml", "instnce = 1\n[link]\nheartbeat = \"1h\"\n");
  const std::string errors =
      message_of(load_worker_config(file.path(), {"tasks.uid=-1"}), ConfigError::invalid);
  EXPECT_THAT(errors, IsGoldenAt("w.toml:1:1: instnce", "w.toml:3:13: link.heartbeat",
                                 "--set tasks.uid=-1: tasks.uid", "w.toml: instance"));
}

}  // namespace
}  // namespace muster
