// Devices that a rank was asked for and opened.
#include "check.hpp"
#include "harness/devices.hpp"

using assay::device_word;
using assay::misopened;
using assay::test::contains;

namespace {

void a_device_is_known_by_its_address_its_uuid_or_its_name() {
    const std::vector<assay::OpenedDevice> opened{{"cuda:H100", "0000:81:00.0", "GPU-1"}};
    CHECK(misopened({"0000:81:00.0"}, opened).empty());
    CHECK(misopened({"GPU-1"}, opened).empty());
    CHECK(misopened({"cuda:H100"}, opened).empty());
    CHECK(misopened({}, opened).empty());
}

void another_device_a_missing_one_and_another_order_are_told() {
    const std::vector<assay::OpenedDevice> two{{"", "0000:01:00.0", ""}, {"", "0000:81:00.0", ""}};
    CHECK(misopened({"0000:01:00.0", "0000:81:00.0"}, two).empty());
    CHECK(contains(misopened({"0000:81:00.0", "0000:01:00.0"}, two), "opened 0000:01:00.0, 0000:81:00.0"));
    CHECK(contains(misopened({"0000:01:00.0"}, two), "asked for 0000:01:00.0 and opened"));
    CHECK(contains(misopened({"GPU-2"}, {{"cuda:H100", "0000:81:00.0", "GPU-1"}}), "opened GPU-1"));
    CHECK(contains(misopened({"GPU-1"}, {}), "reports no device"));
}

void an_unknown_part_of_an_identity_equals_nothing() {
    CHECK(!misopened({""}, {{"cpu", "", ""}}).empty());
    CHECK(contains(misopened({"0000:81:00.0"}, {{"opencl:cpu", "", ""}}), "opened opencl:cpu"));
}

void a_name_becomes_one_word() {
    CHECK(device_word("pthread-Intel(R) Xeon(R), 2/3") == "pthread-Intel_R__Xeon_R___2_3");
    CHECK(device_word("H100 80GB\xC2\xB5") == "H100_80GB__");
}

}  // namespace

int main() {
    a_device_is_known_by_its_address_its_uuid_or_its_name();
    another_device_a_missing_one_and_another_order_are_told();
    an_unknown_part_of_an_identity_equals_nothing();
    a_name_becomes_one_word();
    return assay::test::failures == 0 ? 0 : 1;
}
