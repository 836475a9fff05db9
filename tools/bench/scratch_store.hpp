#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <utility>

#include "model/check.hpp"
#include "storage/stores/store.hpp"

namespace muster::bench {

/// A new store in a folder NAME.tmp of the working folder; both go away with the
/// object, which outlives all that uses the store.
class ScratchStore {
 public:
  ScratchStore(const std::string& name, const Catalog& catalog) : folder_(name + ".tmp") {
    std::filesystem::remove_all(folder_);
    StoreOptions options;
    options.meta = {"bench", "bench", catalog};
    auto opened = Store::open(folder_, options);
    MUSTER_CHECK(opened, "the bench has a folder to write to");
    store_ = std::move(opened).value();
  }
  ~ScratchStore() {
    store_.reset();
    std::filesystem::remove_all(folder_);
  }
  ScratchStore(const ScratchStore&) = delete;
  ScratchStore& operator=(const ScratchStore&) = delete;

  Store& operator*() const { return *store_; }

 private:
  std::filesystem::path folder_;
  std::unique_ptr<Store> store_;
};

}  // namespace muster::bench
