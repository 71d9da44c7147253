// parcels/worker.cc - packs parcels: worker [--url URL] ...
#include <iostream>
#include <stdexcept>
#include <string>

#include "parcels_job.hpp"

using jobs::post::pack_parcel;
using jobs::post::pack_parcel_result;

namespace
{

// What the scales can carry.
constexpr std::uint64_t grams_max = 30000;

// Throws when it is too much, so that the run fails with that as its reason.
std::uint64_t weigh(const pack_parcel &parcel, std::uint64_t most)
{
    std::uint64_t grams = 0;
    for (const auto &item : parcel.items)
        grams += item.grams;
    if (grams > most)
        throw std::runtime_error(std::to_string(grams) + " g are too much for the scales");
    return grams;
}

std::string label(const pack_parcel &parcel)
{
    std::string text(parcel.to);
    if (parcel.speed == POST_SPEED_FAST)
        text += ", by air";
    if (parcel.note)
        text += " (" + std::string(*parcel.note) + ")";
    return text;
}

void set_up(culex::worker &worker)
{
    worker.on<pack_parcel>([most = grams_max](culex::run &run, const pack_parcel &parcel) {
        pack_parcel_result result;
        result.grams = weigh(parcel, most);
        result.label = run.keep(label(parcel)); // the string ends with the handler
        return result;
    });
}

} // namespace

int main(int argc, char **argv)
{
    return culex::worker_main(argc, argv, set_up);
}
