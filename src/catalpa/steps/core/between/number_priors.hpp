// What the normal distributions of numbers in clusters are estimated with.

#pragma once

#include "column_priors.hpp"

namespace catalpa {

constexpr double BLUR = 0.1;  // as columns/normal.py has it

struct NumberPriors {
    std::vector<double> middle, spread;  // (numeric,) mean and standard deviation in the whole table
    std::vector<double> missing;         // (numeric,) share of missing numbers; 0 of a column without an indicator
    std::vector<bool> common;            // (numeric,) whether all clusters have the same distribution
    double prior;                        // a: pseudo-counts per category

    NumberPriors(const Vector<const double>& middle_in, const Vector<const double>& spread_in, const Vector<const double>& missing_in,
                 const Ints& common_in, double prior_in)
        : middle(middle_in.data(), middle_in.data() + middle_in.size()), spread(spread_in.data(), spread_in.data() + spread_in.size()),
          missing(missing_in.data(), missing_in.data() + missing_in.size()), common(middle_in.size()), prior(prior_in) {
        require(spread.size() == columns() && missing.size() == columns(), "There must be one spread and one share per numeric column.");
        require(prior > 0.0, "The prior strength is above 0.");
        for (double one : spread) require(one > 0.0, "Every spread is above 0.");
        for (std::size_t at = 0; at < common_in.size(); ++at) {
            const std::int64_t column = common_in.data()[at];
            require(column >= 0 && column < static_cast<std::int64_t>(columns()), "There is no such numeric column.");
            common[static_cast<std::size_t>(column)] = true;
        }
    }

    std::size_t columns() const { return middle.size(); }
    bool any_indicator() const {
        return std::any_of(missing.begin(), missing.end(), [](double share) { return share != 0.0; });
    }
};

}  // namespace catalpa
