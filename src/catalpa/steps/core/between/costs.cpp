// Logarithms, and from counts by share to the integers of the next soft pass: compiled twins of what soft/scores.py has.

#include <optional>

#include "logarithm.hpp"

namespace {

using namespace catalpa;

constexpr std::size_t PLACES = 64;       // that are rounded together
constexpr double FARTHEST = 0x1p24;      // a cost beyond is left to the reference
constexpr double INTEGERS = 0x1p31 - 2;  // what differences of costs stay below

// What clusters are drawn towards.
struct Shrunk {
    const double *prior, *masses;
    const std::int64_t* starts;
    std::size_t columns, places;
};

struct Rounding {
    const double *costs, *after;  // the second may be null
    std::size_t k, places;
    double quanta;
    std::int32_t *table, *rise;
    std::int64_t* least;
};

}  // namespace

#define CATALPA_KERNELS "between/costs_rows.hpp"
#include "../each_level.hpp"

namespace {

void logarithm(const Vector<const double>& from, const Vector<double>& to, const std::string& level) {
    require(to.size() == from.size(), "There must be as many logarithms as numbers.");
    check_level(level);
    nb::gil_scoped_release unlocked;
    CATALPA_AT_LEVEL(level, logarithms, from.data(), to.data(), from.size());
}

// Minus logarithms of shrunk shares, (k, places), and of the sizes, (k,); behind them, where `costs` has room for as many
// again, those of clusters that one row has left.
void shrunk_costs(const Matrix<const std::int64_t>& counts, const Ints& sizes, const Ints& starts,
                  const Vector<const double>& prior, const Vector<const double>& masses, double units,
                  const Matrix<double>& costs, const Vector<double>& anchors, const std::string& level) {
    const std::size_t k = counts.shape(0), places = counts.shape(1), columns = masses.size();
    require(sizes.size() == k, "sizes must have one entry per cluster.");
    check_columns(starts, columns, places);
    require(prior.size() == places, "prior must have one entry per place.");
    require(units > 0.0, "units must be above 0.");
    require(has_shape(costs, k, places) || has_shape(costs, 2 * k, places),
            "costs must be clusters by places, once or twice.");
    require(anchors.size() == costs.shape(0), "There must be as many anchors as clusters with costs.");
    check_level(level);
    const bool twice = costs.shape(0) != k;
    nb::gil_scoped_release unlocked;
    const Shrunk shrunk{prior.data(), masses.data(), starts.data(), columns, places};
    std::vector<double> cells(places), known(columns);
    std::uint64_t all = 0;
    for (std::size_t j = 0; j < k; ++j) all += static_cast<std::uint64_t>(sizes.data()[j]);
    const double total = static_cast<double>(static_cast<std::int64_t>(all)) / units + static_cast<double>(k) / 2.0;
    for (std::size_t j = 0; j < k; ++j) {
        const std::int64_t* own = counts.data() + j * places;
        for (std::size_t column = 0; column < columns; ++column) {
            std::uint64_t sum = 0;
            for (std::int64_t place = starts.data()[column]; place < starts.data()[column + 1]; ++place) {
                sum += static_cast<std::uint64_t>(own[place]);
                cells[place] = static_cast<double>(own[place]) / units;
            }
            known[column] = static_cast<double>(static_cast<std::int64_t>(sum)) / units;
        }
        double size = static_cast<double>(sizes.data()[j]) / units;
        CATALPA_AT_LEVEL(level, costs_of, shrunk, cells.data(), known.data(), costs.data() + j * places);
        anchors.data()[j] = -from_number((size + 0.5) / total);
        if (!twice) continue;
        CATALPA_AT_LEVEL(level, without_one, cells.data(), places);
        CATALPA_AT_LEVEL(level, without_one, known.data(), columns);
        CATALPA_AT_LEVEL(level, without_one, &size, 1);
        CATALPA_AT_LEVEL(level, costs_of, shrunk, cells.data(), known.data(), costs.data() + (k + j) * places);
        anchors.data()[k + j] = -from_number((size + 0.5) / total);
    }
}

// What clusters differ by in one entry per cluster, (anchors,), or (anchors, then second anchors).
double apart(const Numbers& anchors) {
    const std::size_t k = anchors.shape(1);
    double low = anchors.data()[0], high = low, most = 0.0;
    for (std::size_t j = 0; j < k; ++j) {
        low = std::min(low, anchors.data()[j]);
        high = std::max(high, anchors.data()[j]);
        if (anchors.shape(0) == 2) most = std::max(most, std::abs(anchors.data()[k + j] - anchors.data()[j]));
    }
    return high - low + most;
}

// Costs (k, places) in quanta above the least of their place, (places, k), and the rise to a second table where `after`
// is not empty; the same of the anchors (1 or 2, k). Gives the least anchor, or nothing where it is not sure, by the costs
// that lie farthest apart, that the sum over `columns` places and the anchors stays below `room`.
std::optional<std::int64_t> round_costs(const Numbers& costs, const Numbers& after, const Numbers& anchors, double quanta,
                                        double room, double columns, const Matrix<std::int32_t>& table,
                                        const Vector<std::int64_t>& least, const Matrix<std::int32_t>& rise,
                                        const Matrix<std::int32_t>& anchors_above, const std::string& level) {
    const std::size_t k = costs.shape(0), places = costs.shape(1);
    const bool two = anchors.shape(0) == 2;
    require(k > 0, "There must be a cluster.");
    require(has_shape(anchors, two ? 2 : 1, k), "anchors must have one entry per cluster, once or twice.");
    require(has_shape(anchors_above, two ? 2 : 1, k), "Rounded anchors must be like the anchors.");
    require(!two || has_shape(after, k, places), "The second costs must be like the first.");
    require(has_shape(table, places, k), "table must be places by clusters.");
    require(least.size() == places, "least must have one entry per place.");
    require(!two || has_shape(rise, places, k), "rise must be places by clusters.");
    require(quanta > 0.0 && quanta <= FARTHEST, "quanta must be above 0 and at most 2 ** 24.");
    require(room * quanta <= INTEGERS, "Sums must stay below what integers of 32 bits hold.");
    check_level(level);
    nb::gil_scoped_release unlocked;
    double low = FARTHEST, high = -FARTHEST;
    if (!CATALPA_AT_LEVEL(level, reach, anchors.data(), anchors.size(), low, high)) return std::nullopt;
    low = FARTHEST, high = -FARTHEST;
    if (!CATALPA_AT_LEVEL(level, reach, costs.data(), costs.size(), low, high)) return std::nullopt;
    if (two && !CATALPA_AT_LEVEL(level, reach, after.data(), after.size(), low, high)) return std::nullopt;
    const double widest = places ? (high - low) * std::max(columns, 1.0) : 0.0;
    if (!(widest + apart(anchors) < room)) return std::nullopt;
    const Rounding rounding{costs.data(), two ? after.data() : nullptr, k, places, quanta, table.data(), rise.data(), least.data()};
    for (std::size_t begin = 0; begin < places; begin += PLACES)
        CATALPA_AT_LEVEL(level, round_some, rounding, begin, std::min(PLACES, places - begin));
    std::int64_t lowest;
    // The anchors of all clusters are one more place.
    const Rounding one{anchors.data(), two ? anchors.data() + k : nullptr, k, 1, quanta, anchors_above.data(), anchors_above.data() + (two ? k : 0), &lowest};
    CATALPA_AT_LEVEL(level, round_some, one, 0, 1);
    return lowest;
}

}  // namespace

void catalpa::bind_costs(nb::module_& module) {
    module.def("logarithm", &logarithm);
    module.def("shrunk_costs", &shrunk_costs);
    module.def("round_costs", &round_costs);
}
