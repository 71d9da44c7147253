// parcels/parcels.cc - the counter's side: parcels pack TO ITEM=GRAMS..., parcels label ID
#include <iostream>
#include <stdexcept>
#include <string>
#include <vector>

#include "parcels_job.hpp"

using jobs::post::item;
using jobs::post::pack_parcel;

namespace
{

// Its name shows the text.
item item_read(std::string_view text)
{
    const std::size_t end = text.find('=');
    if (end == text.npos)
        throw std::invalid_argument(std::string(text) + " has no weight");
    item made;
    made.name = text.substr(0, end);
    made.grams = static_cast<std::uint32_t>(std::stoul(std::string(text.substr(end + 1))));
    return made;
}

void pack(culex::client &client, const std::vector<std::string_view> &words)
{
    std::vector<item> items;
    for (std::size_t i = 1; i < words.size(); i++)
        items.push_back(item_read(words[i]));

    pack_parcel parcel;
    parcel.to = words[0];
    parcel.items = items;
    if (items.size() == 1)
        parcel.speed = POST_SPEED_FAST;
    if (items.empty())
        parcel.note = "nothing in it";
    std::cout << culex::to_string(client.enqueue(parcel)) << '\n';
}

void label(const culex::client &client, const char *text)
{
    culex_uuid id;
    if (!culex_uuid_parse(text, &id))
        throw std::invalid_argument(std::string(text) + " is no id");
    const auto run = client.get<pack_parcel>(id);
    if (const auto result = run.result())
        std::cout << result->label << ", " << result->grams << " g\n";
    else
        std::cout << culex_run_state_name(run->state) << ": " << run->error_text << '\n';
}

} // namespace

int main(int argc, char **argv)
{
    const std::vector<std::string_view> words(argv + 1, argv + argc);
    if (words.size() < 2 || (words[0] != "pack" && words[0] != "label")) {
        std::cerr << "usage: parcels pack TO [ITEM=GRAMS]... | parcels label ID\n";
        return 2;
    }
    try {
        culex::client client;
        if (words[0] == "pack")
            pack(client, {words.begin() + 1, words.end()});
        else
            label(client, argv[2]);
    } catch (const std::exception &error) { // culex::error too
        std::cerr << "parcels: " << error.what() << '\n';
        return 1;
    }
    return 0;
}
