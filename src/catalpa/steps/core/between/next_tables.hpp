// The tables of the next soft pass from the counts of the last one, compiled once per instruction set by each_level.hpp.
// Lanes are clusters, as in the pass. The costs are those of `category_costs` in costs.cpp.

#include "column_shares.hpp"
#include "logarithm_rows.hpp"
#include "next_numbers.hpp"

namespace CATALPA_LEVEL {

// Rows of counts. A count below 2 ** 52 becomes the last bits of 2 ** 52, since no instruction turns eight bytes into a double.
CATALPA_TARGET inline void in_rows(const std::uint64_t* counts, std::size_t lanes, double per_unit, double* rows) {
    for (std::size_t lane = 0; lane < lanes; ++lane) {
        const std::uint64_t raised = counts[lane] | 0x4330000000000000;
        double number;
        std::memcpy(&number, &raised, sizeof number);
        rows[lane] = (number - 0x1p52) * per_unit;
    }
}

// Costs of shares (2, wide) in whole quanta above the least one, and what they rise by. Gives the least, and how far apart
// costs of both tables are.
CATALPA_TARGET inline std::pair<double, double> round_shares(double* shares, std::size_t k, std::size_t wide, double quanta,
                                                             std::int32_t* above, std::int32_t* rise) {
    logarithms(shares, shares, 2 * wide);
    for (std::size_t i = 0; i < 2 * wide; ++i) shares[i] = nearest_whole(shares[i] * quanta);
    for (std::size_t lane = k; lane < wide; ++lane) shares[lane] = shares[wide + lane] = shares[0];
    double most[4], high[4], low[4];
    std::copy_n(shares, 4, most);
    std::copy_n(shares, 4, high);
    std::copy_n(shares, 4, low);
    for (std::size_t lane = 4; lane < wide; lane += 4)
        for (std::size_t i = 0; i < 4; ++i) most[i] = shares[lane + i] > most[i] ? shares[lane + i] : most[i];
    for (std::size_t lane = 0; lane < 2 * wide; lane += 4)
        for (std::size_t i = 0; i < 4; ++i) {
            high[i] = shares[lane + i] > high[i] ? shares[lane + i] : high[i];
            low[i] = shares[lane + i] < low[i] ? shares[lane + i] : low[i];
        }
    const double largest = *std::max_element(most, most + 4), apart = *std::max_element(high, high + 4) - *std::min_element(low, low + 4);
    if (!(apart < 0x1p30)) return {0.0, apart};
    for (std::size_t lane = 0; lane < wide; ++lane) above[lane] = static_cast<std::int32_t>(largest - shares[lane]);
    for (std::size_t lane = 0; lane < wide; ++lane) rise[lane] = static_cast<std::int32_t>(shares[lane] - shares[wide + lane]);
    for (std::size_t lane = k; lane < wide; ++lane) above[lane] = 0;
    return {-largest, apart};
}

// Fill both tables from the counts (places, lanes); the least cost of every place goes to `least`, that of the anchors is given
// back, or nothing where rows may cost more than there is room for.
CATALPA_TARGET inline std::optional<double> next_tables(const SoftPriors& p, ColumnShares& s, const std::uint64_t* counts,
                                                        const std::uint64_t* sizes, const MomentRows& of_numbers, SoftTables& t,
                                                        double* least) {
    const std::size_t lanes = t.lanes, wide = s.wide, all = p.columns.places() + p.columns.pairs();
    std::vector<double> both(2 * wide);
    std::vector<std::uint64_t> known(wide);
    for (std::size_t column = 0; column < t.columns(); ++column) {
        std::fill(known.begin(), known.end(), 0);
        for (std::size_t place = p.columns.begin_of[column]; place < p.columns.begin_of[column + 1]; ++place) {
            for (std::size_t lane = 0; lane < wide; ++lane) known[lane] += counts[place * lanes + lane];
            in_rows(counts + place * lanes, wide, p.per_unit, s.cells.data() + place * wide);
        }
        in_rows(known.data(), wide, p.per_unit, s.known.data() + column * wide);
    }
    column_shares(p.columns, s);
    double farthest = 0.0;
    for (std::size_t column = 0; column < t.columns(); ++column) {
        const std::size_t from = p.columns.parents[column] < 0 ? p.columns.begin_of[column] : p.columns.places() + p.columns.pairs_of[column];
        double widest = 0.0;
        for (std::size_t at = 0; at < t.widths[column]; ++at) {
            const std::size_t place = t.begin_of[column] + at;
            for (std::size_t table = 0; table < 2; ++table)
                std::copy_n(s.shares.data() + (table * all + from + at) * wide, wide, both.data() + table * wide);
            const auto [own, apart] = round_shares(both.data(), t.k, wide, p.quanta, t.plain.data() + place * lanes, t.plain_rise.data() + place * lanes);
            least[place] = own;
            widest = std::max(widest, apart);
        }
        farthest += widest;
    }
    std::fill_n(both.data(), 2 * wide, from_number(static_cast<double>(t.k)));
    if (p.released) {
        in_rows(sizes, wide, p.per_unit, both.data());
        for (std::size_t lane = 0; lane < wide; ++lane) {
            const double less = both[lane] - 1.0;
            both[wide + lane] = ((less > 0.0 ? less : 0.0) + 0.5) / p.total;
            both[lane] = (both[lane] + 0.5) / p.total;
        }
        logarithms(both.data(), both.data(), 2 * wide);
        for (double& one : both) one = -one;
    }
    farthest += next_numbers(p, of_numbers, sizes, t, wide, both.data());
    double lowest = std::numeric_limits<double>::infinity(), low = lowest, high = -lowest;
    for (std::size_t i = 0; i < 2 * wide; ++i) {
        if (i % wide >= t.k) continue;
        both[i] = nearest_whole(both[i] * p.quanta);
        low = std::min(low, both[i]);
        high = std::max(high, both[i]);
        if (i < wide) lowest = std::min(lowest, both[i]);
    }
    farthest += 2.0 * (high - low);
    if (!(farthest + static_cast<double>(t.columns() + t.numeric) + 2.0 < p.room * p.quanta)) return std::nullopt;
    for (std::size_t lane = 0; lane < t.k; ++lane) {
        t.anchor[lane] = static_cast<std::int32_t>(both[lane] - lowest);
        if (t.two) t.anchor_rise[lane] = static_cast<std::int32_t>(both[wide + lane] - both[lane]);
    }
    t.add_constants();
    t.fuse();
    return lowest;
}

}  // namespace CATALPA_LEVEL
