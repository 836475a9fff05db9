#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <memory>
#include <string>
#include <utility>

#include "storage/stores/store.hpp"
#include "tests/support/builders.hpp"
#include "tests/support/temp_file.hpp"

namespace muster::test {

/// Opens a store, or a book in one; the test cannot go on when that does not work.
template <class Opened, class... Args>
std::unique_ptr<Opened> opened(Args&&... args) {
  auto made = Opened::open(std::forward<Args>(args)...);
  if (!made) {
    ADD_FAILURE() << made.error().message;
    std::abort();
  }
  return std::move(made).value();
}

/// A folder for a store that goes away with the object.
class TempStore {
 public:
  std::filesystem::path path() const { return file_.folder() / "store"; }
  StoreOptions options(const std::string& kind = "master m0") const {
    StoreOptions made;
    made.meta = {kind, "test", table3_catalog()};
    return made;
  }
  std::unique_ptr<Store> open() const { return opened<Store>(path(), options()); }

 private:
  TempFile file_{"beside", ""};
};

/// A batch with one change.
inline StoreBatch batch_of(Family family, const std::string& key, const std::string& value) {
  StoreBatch batch;
  batch.put(family, key, value);
  return batch;
}

}  // namespace muster::test
