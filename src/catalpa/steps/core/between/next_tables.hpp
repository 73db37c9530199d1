// The tables of the next soft pass from the counts of the last one, compiled once per instruction set by each_level.hpp.
// Lanes are clusters, as in the pass. What is computed is what costs_rows.hpp computes, in the same order.

#include "logarithm_rows.hpp"

namespace CATALPA_LEVEL {

// Rows of a count, and of the same count without one row. A count below 2 ** 52 becomes the last bits of 2 ** 52, since no
// instruction turns eight bytes into a double.
CATALPA_TARGET inline void in_rows(const std::uint64_t* counts, std::size_t lanes, double per_unit, double* both) {
    for (std::size_t lane = 0; lane < lanes; ++lane) {
        const std::uint64_t raised = counts[lane] | 0x4330000000000000;
        double number;
        std::memcpy(&number, &raised, sizeof number);
        const double rows = (number - 0x1p52) * per_unit, less = rows - 1.0;
        both[lane] = rows;
        both[lanes + lane] = less > 0.0 ? less : 0.0;
    }
}

// Costs of shares (2, wide) in whole quanta above the least one, and what they rise by; gives the least.
CATALPA_TARGET inline double round_shares(double* shares, std::size_t k, std::size_t wide, double quanta, std::int32_t* above,
                                          std::int32_t* rise) {
    plain_logarithms(shares, shares, 2 * wide);
    for (std::size_t i = 0; i < 2 * wide; ++i) shares[i] = nearest_whole(shares[i] * quanta);
    for (std::size_t lane = k; lane < wide; ++lane) shares[lane] = shares[wide + lane] = shares[0];
    double most[4];
    std::copy_n(shares, 4, most);
    for (std::size_t lane = 4; lane < wide; lane += 4)
        for (std::size_t i = 0; i < 4; ++i) most[i] = shares[lane + i] > most[i] ? shares[lane + i] : most[i];
    const double largest = *std::max_element(most, most + 4);
    for (std::size_t lane = 0; lane < wide; ++lane) above[lane] = static_cast<std::int32_t>(largest - shares[lane]);
    for (std::size_t lane = 0; lane < wide; ++lane) rise[lane] = static_cast<std::int32_t>(shares[lane] - shares[wide + lane]);
    for (std::size_t lane = k; lane < wide; ++lane) above[lane] = 0;
    return -largest;
}

// Fill both tables; the least cost of every place goes to `least`, that of the anchors is given back.
CATALPA_TARGET inline double next_tables(const Shrinking& s, const std::uint64_t* counts, const std::uint64_t* sizes, SoftTables& t,
                                         double* least) {
    const std::size_t lanes = t.lanes, wide = (t.k + 3) / 4 * 4;  // four doubles are treated at once
    std::vector<double> of_column(2 * wide), shares(2 * wide);
    std::vector<std::uint64_t> known(wide);
    for (std::size_t column = 0; column < t.columns(); ++column) {
        const std::size_t begin = t.begin_of[column], end = t.begin_of[column + 1];
        std::fill(known.begin(), known.end(), 0);
        for (std::size_t place = begin; place < end; ++place)
            for (std::size_t lane = 0; lane < wide; ++lane) known[lane] += counts[place * lanes + lane];
        in_rows(known.data(), wide, s.per_unit, of_column.data());
        for (double& rows : of_column) rows += s.masses[column];
        for (std::size_t place = begin; place < end; ++place) {
            in_rows(counts + place * lanes, wide, s.per_unit, shares.data());
            for (std::size_t i = 0; i < 2 * wide; ++i) shares[i] = (shares[i] + s.prior[place]) / of_column[i];
            least[place] = round_shares(shares.data(), t.k, wide, s.quanta, t.plain.data() + place * lanes, t.plain_rise.data() + place * lanes);
        }
    }
    t.fuse();
    if (!s.released) return nearest_whole(from_number(static_cast<double>(t.k)) * s.quanta);
    in_rows(sizes, wide, s.per_unit, shares.data());
    for (double& rows : shares) rows = (rows + 0.5) / s.total;
    std::vector<std::int32_t> above(wide), rise(wide);
    const double lowest = round_shares(shares.data(), t.k, wide, s.quanta, above.data(), rise.data());
    std::copy_n(above.data(), t.k, t.anchor.data());
    std::copy_n(rise.data(), t.k, t.anchor_rise.data());
    return lowest;
}

}  // namespace CATALPA_LEVEL
