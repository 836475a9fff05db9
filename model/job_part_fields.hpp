#pragma once

#include "model/field_key.hpp"
#include "model/job.hpp"

// The members of the smaller parts of a job; model/fields.hpp has those of the job.

namespace muster {

void fields(auto& a, Like<FamilyDemand> auto& v) {
  a("family", v.family);
  a("amount", v.amount);
  a("speed", v.speed);
}

void fields(auto& a, Like<GeoPoint> auto& v) {
  a("latitude_deg", v.latitude_deg);
  a("longitude_deg", v.longitude_deg);
}

void fields(auto& a, Like<AfterJob> auto& v) {
  a.optional_id("job", v.job);
  a.unless_default("end", v.end, AfterEnd::ok);
  a.unless_default("place", v.place, 0u);
  a.unless_default("met", v.met, false);
  a.unless_default("by_index", v.by_index, false);
  a.optional_id("again", v.again);
  a.optional_id("first", v.first);
}

void fields(auto& a, Like<Delays> auto& v) {
  a("fetch_s", v.fetch);
  a("build_s", v.build);
  a("init_s", v.init);
  a("stop_s", v.stop);
  a("upload_s", v.upload);
}

}  // namespace muster
