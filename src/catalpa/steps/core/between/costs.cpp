// Logarithms, and from counts by share to the integers of the next soft pass: compiled twins of what soft/scores.py has.

#include <optional>

#include "column_priors.hpp"
#include "logarithm.hpp"

namespace {

using namespace catalpa;

constexpr std::size_t PLACES = 64;       // that are rounded together
constexpr double FARTHEST = 0x1p24;      // a cost beyond is left to the reference
constexpr double INTEGERS = 0x1p31 - 2;  // what differences of costs stay below

// Soft counts of tied pairs of categories in clusters.
struct TiedCounts {
    std::size_t k, pairs, places;
    std::vector<double> weights;  // (k,) sizes that add up to 1
    std::vector<double> inside;   // (k, pairs) in rows
    std::vector<double> pooled;   // (pairs,) in rows

    TiedCounts(const std::int64_t* sizes, const std::int64_t* counts, std::size_t k_in, std::size_t pairs_in, std::size_t places_in, double units)
        : k(k_in), pairs(pairs_in), places(places_in), weights(k_in), inside(k_in * pairs_in), pooled(pairs_in) {
        std::uint64_t all = 0;
        for (std::size_t j = 0; j < k; ++j) all += static_cast<std::uint64_t>(sizes[j]);
        const auto whole = static_cast<double>(static_cast<std::int64_t>(all));
        for (std::size_t j = 0; j < k; ++j) weights[j] = static_cast<double>(sizes[j]) / whole;
        for (std::size_t at = 0; at < pairs; ++at) {
            std::uint64_t sum = 0;
            for (std::size_t j = 0; j < k; ++j) {
                sum += static_cast<std::uint64_t>(counts[j * pairs + at]);
                inside[j * pairs + at] = static_cast<double>(counts[j * pairs + at]) / units;
            }
            pooled[at] = static_cast<double>(static_cast<std::int64_t>(sum)) / units;
        }
    }
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

// Counts (k, places) as rows of clusters side by side.
void take_counts(const std::int64_t* counts, const ColumnPriors& priors, double units, ColumnShares& shares) {
    for (std::size_t j = 0; j < shares.k; ++j) {
        const std::int64_t* own = counts + j * priors.places();
        for (std::size_t column = 0; column < priors.columns(); ++column) {
            std::uint64_t sum = 0;
            for (std::size_t place = priors.begin_of[column]; place < priors.begin_of[column + 1]; ++place) {
                sum += static_cast<std::uint64_t>(own[place]);
                shares.cells[place * shares.wide + j] = static_cast<double>(own[place]) / units;
            }
            shares.known[column * shares.wide + j] = static_cast<double>(static_cast<std::int64_t>(sum)) / units;
        }
    }
}

// Minus logarithms of the shares of categories, (k, places), of those of tied columns given their parent's category, (k,
// pairs), and of the sizes, (k,); behind them, where `costs` has room for as many again, the leave-one-out ones. Without `logs`
// the shares themselves.
void category_costs(const Matrix<const std::int64_t>& counts, const Ints& sizes, const ColumnPriors& priors, double units, bool logs,
                    const Matrix<double>& costs, const Matrix<double>& pairs, const Vector<double>& anchors,
                    const std::string& level) {
    const std::size_t k = counts.shape(0), places = counts.shape(1), columns = priors.columns();
    require(sizes.size() == k, "sizes must have one entry per cluster.");
    require(places == priors.places(), "counts must be clusters by places.");
    require(units > 0.0, "units must be above 0.");
    require(has_shape(costs, k, places) || has_shape(costs, 2 * k, places),
            "costs must be clusters by places, once or twice.");
    require(has_shape(pairs, costs.shape(0), priors.pairs()), "pairs must be clusters by pairs, as often as costs.");
    require(anchors.size() == costs.shape(0), "There must be as many anchors as clusters with costs.");
    check_level(level);
    nb::gil_scoped_release unlocked;
    ColumnShares shares(priors, k, k && costs.shape(0) != k ? 2 : 1);
    take_counts(counts.data(), priors, units, shares);
    CATALPA_AT_LEVEL(level, column_shares, priors, shares);
    if (logs) CATALPA_AT_LEVEL(level, logarithms, shares.shares.data(), shares.shares.data(), shares.shares.size());
    const double sign = logs ? -1.0 : 1.0;
    const std::size_t all = places + priors.pairs();
    for (std::size_t table = 0; table < shares.tables; ++table)
        for (std::size_t j = 0; j < k; ++j) {
            const double* from = shares.shares.data() + table * all * shares.wide + j;
            double *to = costs.data() + (table * k + j) * places, *to_pairs = pairs.data() + (table * k + j) * priors.pairs();
            for (std::size_t place = 0; place < places; ++place) to[place] = sign * from[place * shares.wide];
            for (std::size_t pair = 0; pair < priors.pairs(); ++pair) to_pairs[pair] = sign * from[(places + pair) * shares.wide];
        }
    std::uint64_t weight = 0;
    for (std::size_t j = 0; j < k; ++j) weight += static_cast<std::uint64_t>(sizes.data()[j]);
    const double total = static_cast<double>(static_cast<std::int64_t>(weight)) / units + static_cast<double>(k) / 2.0;
    for (std::size_t j = 0; j < anchors.size(); ++j) {
        const double size = static_cast<double>(sizes.data()[j % k]) / units, less = size - static_cast<double>(j / k);
        anchors.data()[j] = -from_number(((less > 0.0 ? less : 0.0) + 0.5) / total);
    }
}

void log_gamma(const Vector<const double>& from, const Vector<double>& to, const std::string& level) {
    require(to.size() == from.size(), "There must be as many logarithms as numbers.");
    check_level(level);
    nb::gil_scoped_release unlocked;
    CATALPA_AT_LEVEL(level, log_gammas, from.data(), to.data(), from.size());
}

// Evidence for a law of its own of every two of some columns, (columns, columns), above the diagonal; minus infinity of those
// that have too many pairs of categories for their rows. `counts` (places, places) are in rows, `weights` (k,) add up to 1.
void pair_gains(const Numbers& counts, const Numbers& shares, const Vector<const double>& weights, const Ints& starts, const Ints& columns,
                double price, const Matrix<double>& gains, const std::string& level) {
    const std::size_t k = shares.shape(0), places = shares.shape(1), some = columns.size();
    require(starts.size() > 0, "starts must have one entry per column, and the end.");
    check_columns(starts, starts.size() - 1, places);
    require(has_shape(counts, places, places), "counts must be places by places.");
    require(weights.size() == k, "weights must have one entry per cluster.");
    require(has_shape(gains, some, some), "gains must be columns by columns.");
    for (std::size_t at = 0; at < some; ++at)
        require(columns.data()[at] >= 0 && columns.data()[at] + 1 < static_cast<std::int64_t>(starts.size()), "There is no such column.");
    check_level(level);
    nb::gil_scoped_release unlocked;
    std::fill_n(gains.data(), gains.size(), -std::numeric_limits<double>::infinity());
    std::vector<double> own, expected, room;
    for (std::size_t at = 0; at < some; ++at)
        for (std::size_t to = at + 1; to < some; ++to) {
            const auto one = static_cast<std::size_t>(starts.data()[columns.data()[at]]), other = static_cast<std::size_t>(starts.data()[columns.data()[to]]);
            const std::size_t size_one = static_cast<std::size_t>(starts.data()[columns.data()[at] + 1]) - one;
            const std::size_t size_other = static_cast<std::size_t>(starts.data()[columns.data()[to] + 1]) - other;
            const std::size_t pairs = size_one * size_other;
            own.resize(pairs), expected.resize(pairs), room.resize(4 * pairs);
            std::size_t seen_one = 0, seen_other = 0;
            double rows = 0.0;
            for (std::size_t u = 0; u < size_one; ++u) {
                std::copy_n(counts.data() + (one + u) * places + other, size_other, own.data() + u * size_other);
                seen_one += counts.data()[(one + u) * places + one + u] > 0.0;
            }
            for (std::size_t v = 0; v < size_other; ++v) seen_other += counts.data()[(other + v) * places + other + v] > 0.0;
            for (double pair : own) rows += pair;
            if (seen_one < 2 || seen_other < 2) continue;
            const auto strength = static_cast<double>((seen_one - 1) * (seen_other - 1));
            if (strength > rows) continue;
            CATALPA_AT_LEVEL(level, expected_pairs, shares.data() + one, shares.data() + other, weights.data(), k, places, size_one, size_other, expected.data());
            gains.data()[at * some + to] = CATALPA_AT_LEVEL(level, pair_gain, own.data(), expected.data(), pairs, strength, price, room.data());
        }
}

// What every tied column gains over an independent one, (tied columns,), in nats: of the pooled pairs, and of the lift inside
// clusters beyond that. `counts` (k, places), `sizes` (k,) and `pairs` (k, pairs) are soft counts; the lift is that of these pairs.
void tie_gains(const Matrix<const std::int64_t>& counts, const Ints& sizes, const Matrix<const std::int64_t>& pairs, const ColumnPriors& priors,
               double units, double price, const Vector<double>& gains, const std::string& level) {
    const std::size_t k = counts.shape(0), places = counts.shape(1), n_pairs = priors.pairs();
    require(k > 0 && sizes.size() == k, "sizes must have one entry per cluster.");
    require(places == priors.places(), "counts must be clusters by places.");
    require(has_shape(pairs, k, n_pairs), "pairs must be clusters by pairs.");
    require(units > 0.0, "units must be above 0.");
    const auto tied = std::count_if(priors.parents.begin(), priors.parents.end(), [](std::int64_t parent) { return parent >= 0; });
    require(gains.size() == static_cast<std::size_t>(tied), "There must be a gain per tied column.");
    check_level(level);
    nb::gil_scoped_release unlocked;
    ColumnPriors own = priors;
    ColumnShares shares(own, k, 1);
    take_counts(counts.data(), own, units, shares);
    CATALPA_AT_LEVEL(level, column_shares, own, shares);
    const TiedCounts soft(sizes.data(), pairs.data(), k, n_pairs, places, units);
    CATALPA_AT_LEVEL(level, lift_of_pairs, soft, shares, own);
    CATALPA_AT_LEVEL(level, column_shares, own, shares);
    CATALPA_AT_LEVEL(level, gains_inside, soft, shares, own, price, gains.data());
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
    nb::class_<ColumnPriors>(module, "ColumnPriors")
        .def(nb::init<const Ints&, const Vector<const double>&, const Vector<const double>&, const Ints&, const Ints&,
                      const Vector<const double>&>());
    module.def("category_costs", &category_costs);
    module.def("log_gamma", &log_gamma);
    module.def("pair_gains", &pair_gains);
    module.def("tie_gains", &tie_gains);
    module.def("round_costs", &round_costs);
}
