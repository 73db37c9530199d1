// Cost tables from counts, and costs to integers, compiled once per instruction set by each_level.hpp.

#include "column_shares.hpp"
#include "logarithm_rows.hpp"
#include "gains.hpp"

namespace CATALPA_LEVEL {

// Least and largest of numbers, together with those so far; false where one is too far from 0, or none.
CATALPA_TARGET inline bool reach(const double* numbers, std::size_t size, double& low, double& high) {
    constexpr std::size_t at_once = 8;  // in lanes of their own, since every comparison waits for the one before
    double least[at_once], most[at_once], none[at_once] = {};
    std::fill_n(least, at_once, low);
    std::fill_n(most, at_once, high);
    const auto take = [&](const double* own, std::size_t lanes) CATALPA_TARGET {
        for (std::size_t i = 0; i < lanes; ++i) {
            least[i] = own[i] < least[i] ? own[i] : least[i];
            most[i] = own[i] > most[i] ? own[i] : most[i];
            none[i] += own[i] - own[i];  // 0 unless it is infinite or no number
        }
    };
    std::size_t i = 0;
    for (; i + at_once <= size; i += at_once) take(numbers + i, at_once);
    take(numbers + i, size - i);
    low = *std::min_element(least, least + at_once);
    high = *std::max_element(most, most + at_once);
    return low >= -FARTHEST && high <= FARTHEST && std::all_of(none, none + at_once, [](double own) { return own == 0.0; });
}

// Costs above the least of their place, and the rise to the second table, in quanta; `some` places from `begin` on.
CATALPA_TARGET inline void round_some(const Rounding& r, std::size_t begin, std::size_t some) {
    double least[PLACES];
    for (std::size_t i = 0; i < some; ++i) least[i] = FARTHEST;
    for (std::size_t j = 0; j < r.k; ++j) {
        const double* costs = r.costs + j * r.places + begin;
        for (std::size_t i = 0; i < some; ++i) least[i] = costs[i] < least[i] ? costs[i] : least[i];
    }
    for (std::size_t i = 0; i < some; ++i) {
        least[i] = nearest_whole(least[i] * r.quanta);  // as the least of the rounded, since rounding keeps the order
        r.least[begin + i] = static_cast<std::int64_t>(least[i]);
    }
    for (std::size_t j = 0; j < r.k; ++j) {
        std::int32_t above[PLACES], rise[PLACES];
        const double* costs = r.costs + j * r.places + begin;
        for (std::size_t i = 0; i < some; ++i)
            above[i] = static_cast<std::int32_t>(nearest_whole(costs[i] * r.quanta) - least[i]);
        for (std::size_t i = 0; i < some; ++i) r.table[(begin + i) * r.k + j] = above[i];
        if (!r.after) continue;
        const double* after = r.after + j * r.places + begin;
        for (std::size_t i = 0; i < some; ++i)
            rise[i] = static_cast<std::int32_t>(nearest_whole(after[i] * r.quanta) - nearest_whole(costs[i] * r.quanta));
        for (std::size_t i = 0; i < some; ++i) r.rise[(begin + i) * r.k + j] = rise[i];
    }
}

}  // namespace CATALPA_LEVEL
