// What the shares of categories in clusters are estimated with: the table's shares, prior strengths, orders and ties.

#pragma once

#include "../arrays.hpp"

namespace catalpa {

constexpr double LEAST_CENTRE = 1e-7;  // of a category that some row has
constexpr double NEIGHBOUR = 0.5, ORDER_STRENGTH = 3.0;  // as columns/ordered.py has them
constexpr int SCALINGS = 3;                              // as columns/tied.py has them

struct ColumnPriors {
    std::vector<std::size_t> begin_of;    // (columns + 1,) first place of each column
    std::vector<double> overall;          // (places,) shares in the whole table; 0 of a category that no row has
    std::vector<double> strengths;        // (columns,) in rows
    std::vector<std::size_t> ordered;     // (columns,) how many of the first categories are ordered
    std::vector<std::int64_t> parents;    // (columns,) the column that each is tied to; -1 for none
    std::vector<std::size_t> pairs_of;    // (columns + 1,) first pair of each column; without parent it has none
    std::vector<double> lift;             // (pairs,) by the parent's category, then by its own

    ColumnPriors(const Ints& starts, const Vector<const double>& overall_in, const Vector<const double>& strengths_in,
                 const Ints& ordered_in, const Ints& parents_in, const Vector<const double>& lift_in)
        : overall(overall_in.data(), overall_in.data() + overall_in.size()),
          strengths(strengths_in.data(), strengths_in.data() + strengths_in.size()), pairs_of{0},
          lift(lift_in.data(), lift_in.data() + lift_in.size()) {
        check_columns(starts, columns(), overall.size());
        begin_of.assign(starts.data(), starts.data() + starts.size());
        require(ordered_in.size() == columns(), "ordered must have one entry per column.");
        require(parents_in.size() == columns(), "parents must have one entry per column.");
        for (std::size_t column = 0; column < columns(); ++column) {
            require(strengths[column] >= 0.0, "No prior strength is below 0.");
            const std::int64_t length = ordered_in.data()[column], parent = parents_in.data()[column];
            require(length >= 0 && length <= static_cast<std::int64_t>(size(column)), "No more categories are ordered than a column has.");
            require(parent >= -1 && parent < static_cast<std::int64_t>(columns()) && parent != static_cast<std::int64_t>(column),
                    "A parent is another column, or -1.");
            ordered.push_back(static_cast<std::size_t>(length));
            parents.push_back(parent);
            pairs_of.push_back(pairs_of.back() + (parent < 0 ? 0 : size(static_cast<std::size_t>(parent)) * size(column)));
        }
        require(lift.size() == pairs(), "lift must have one entry per pair of tied categories.");
        for (double share : overall) require(share >= 0.0, "No share is below 0.");
        for (double one : lift) require(one > 0.0 && one <= std::numeric_limits<double>::max(), "Every lift is above 0, and finite.");
    }

    std::size_t columns() const { return strengths.size(); }
    std::size_t places() const { return overall.size(); }
    std::size_t pairs() const { return pairs_of.back(); }
    std::size_t size(std::size_t column) const { return begin_of[column + 1] - begin_of[column]; }
    std::size_t joined(std::size_t column) const {  // places of a column that is coded together with its parent
        return parents[column] < 0 ? size(column) : pairs_of[column + 1] - pairs_of[column];
    }
};

// Shares of all places, and of the pairs behind them: (tables, places + pairs, wide), wide being the clusters in fours.
struct ColumnShares {
    std::size_t k, wide, tables;
    std::vector<double> cells, known;   // (places, wide) and (columns, wide), in rows
    std::vector<double> centre;         // (places,)
    std::vector<double> shares;
    std::vector<double> near, spare;    // room for one column

    ColumnShares(const ColumnPriors& priors, std::size_t k_in, std::size_t tables_in)
        : k(k_in), wide((k + 3) / 4 * 4), tables(tables_in), cells(priors.places() * wide), known(priors.columns() * wide),
          centre(priors.places()), shares(tables * (priors.places() + priors.pairs()) * wide) {
        std::size_t widest = 1, most = 1;
        for (std::size_t column = 0; column < priors.columns(); ++column) {
            widest = std::max(widest, priors.size(column));
            most = std::max(most, priors.joined(column));
        }
        near.resize((2 * widest + 2) * wide);
        spare.resize(most * wide + 2 * wide);
    }
};

}  // namespace catalpa
