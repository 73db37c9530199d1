// The Gamma function's logarithm, and what speaks for a law of its own of two columns, compiled once per instruction set by
// each_level.hpp. The operations are those of cluster/grove/special.py and cluster/grove/ties.py, in the same order.

namespace CATALPA_LEVEL {

// ln Gamma of positive numbers, by Stirling's series.
CATALPA_TARGET inline void log_gammas(const double* from, double* to, std::size_t size) {
    constexpr std::size_t at_once = 64;
    constexpr double half_log_two_pi = 1.8378770664093453 / 2.0;
    double first[at_once], second[at_once], large[at_once], logs[at_once];
    for (std::size_t at = 0; at < size; at += at_once) {
        const std::size_t some = std::min(at_once, size - at);
        bool any_small = false;
        for (std::size_t i = 0; i < some; ++i) {
            const double x = from[at + i];
            const bool small = x < 10.0;
            any_small |= small;
            const double near = small ? x : 1.0;
            first[i] = near * (near + 1.0) * (near + 2.0) * (near + 3.0) * (near + 4.0);
            const double five = near + 5.0;
            second[i] = five * (five + 1.0) * (five + 2.0) * (five + 3.0) * (five + 4.0);
            large[i] = small ? x + 10.0 : x;
        }
        if (any_small) {
            logarithms(first, first, some);
            logarithms(second, second, some);
        }
        logarithms(large, logs, some);
        for (std::size_t i = 0; i < some; ++i) {
            const double x = large[i], inverse = 1.0 / x, square = inverse * inverse;
            const double series = inverse * (1.0 / 12.0 - square * (1.0 / 360.0 - square * (1.0 / 1260.0 - square / 1680.0)));
            const double far = (x - 0.5) * logs[i] - x + half_log_two_pi + series;
            to[at + i] = from[at + i] < 10.0 ? far - (first[i] + second[i]) : far;
        }
    }
}

// Expected shares of pairs of categories, `weights` (k,) adding up to 1, scaled to a sum of 1.
CATALPA_TARGET inline void expected_pairs(const double* one, const double* other, const double* weights, std::size_t k, std::size_t places,
                                          std::size_t size_one, std::size_t size_other, double* expected) {
    std::fill_n(expected, size_one * size_other, 0.0);
    for (std::size_t j = 0; j < k; ++j)
        for (std::size_t u = 0; u < size_one; ++u) {
            const double weight = weights[j] * one[j * places + u];
            const double* own = other + j * places;
            double* to = expected + u * size_other;
            for (std::size_t v = 0; v < size_other; ++v) to[v] += weight * own[v];
        }
    double sum = 0.0;
    for (std::size_t i = 0; i < size_one * size_other; ++i) sum += expected[i];
    for (std::size_t i = 0; i < size_one * size_other; ++i) expected[i] /= sum;
}

// Evidence for a law of its own of two columns, given the rows and their likelihood by the expected shares; `room` has twice
// the pairs.
CATALPA_TARGET inline double exact_gain(const double* counts, const double* expected, std::size_t pairs, double rows, double likelihood,
                                        double strength, double price, double* room) {
    double *above = room, *prior = room + pairs;
    for (std::size_t i = 0; i < pairs; ++i) {
        prior[i] = strength * expected[i];
        above[i] = counts[i] + prior[i];
    }
    log_gammas(above, above, pairs);
    log_gammas(prior, prior, pairs);
    double gained = 0.0;
    for (std::size_t i = 0; i < pairs; ++i) gained += above[i] - prior[i];
    double ends[2] = {rows + strength, strength};
    log_gammas(ends, ends, 2);
    return gained - ends[0] + ends[1] - likelihood - price;
}

// Evidence for a law of its own of two columns, with `room` for four times the pairs; a bound of it where that is below `price`.
CATALPA_TARGET inline double pair_gain(const double* counts, const double* expected, std::size_t pairs, double strength, double price,
                                       double* room) {
    double *logs = room, *above = room + pairs, *prior = above + pairs, *many = prior + pairs;
    double rows = 0.0;
    for (std::size_t i = 0; i < pairs; ++i) {
        rows += counts[i];
        many[i] = counts[i] > 0.0 ? counts[i] : 1.0;
    }
    logarithms(expected, logs, pairs);
    logarithms(many, many, pairs);
    double likelihood = 0.0, bound = 0.0;
    for (std::size_t i = 0; i < pairs; ++i) {
        likelihood += counts[i] * logs[i];
        bound += counts[i] * many[i];
    }
    bound = bound - rows * from_number(rows) - likelihood - price;
    if (!(bound > 0.0)) return bound;
    return exact_gain(counts, expected, pairs, rows, likelihood, strength, price, above);
}

// Shares (k, places) without those of categories that no row has.
inline std::vector<double> present_shares(const ColumnShares& shares, const ColumnPriors& priors) {
    std::vector<double> present(shares.k * priors.places());
    for (std::size_t j = 0; j < shares.k; ++j)
        for (std::size_t place = 0; place < priors.places(); ++place)
            present[j * priors.places() + place] = priors.overall[place] > 0.0 ? shares.shares[place * shares.wide + j] : 0.0;
    return present;
}

// M of pairs of which these are the counts, at least 1.
inline double strength_of(const double* counts, std::size_t size_one, std::size_t size_other) {
    std::size_t one = 0, other = 0;
    for (std::size_t u = 0; u < size_one; ++u) one += std::any_of(counts + u * size_other, counts + (u + 1) * size_other, [](double c) { return c > 0.0; });
    for (std::size_t v = 0; v < size_other; ++v) {
        bool any = false;
        for (std::size_t u = 0; u < size_one; ++u) any |= counts[u * size_other + v] > 0.0;
        other += any;
    }
    return one < 2 || other < 2 ? 1.0 : static_cast<double>((one - 1) * (other - 1));
}

// The lift of every tied column that pooled pairs show.
CATALPA_TARGET inline void lift_of_pairs(const TiedCounts& counts, const ColumnShares& shares, ColumnPriors& priors) {
    const std::vector<double> present = present_shares(shares, priors);
    std::vector<double> expected;
    for (std::size_t column = 0; column < priors.columns(); ++column) {
        if (priors.parents[column] < 0) continue;
        const auto parent = static_cast<std::size_t>(priors.parents[column]);
        const std::size_t above = priors.size(parent), size = priors.size(column), first = priors.pairs_of[column];
        expected.resize(above * size);
        expected_pairs(present.data() + priors.begin_of[parent], present.data() + priors.begin_of[column], counts.weights.data(), counts.k,
                       counts.places, above, size, expected.data());
        const double *pooled = counts.pooled.data() + first, strength = strength_of(pooled, above, size);
        double rows = 0.0;
        for (std::size_t i = 0; i < above * size; ++i) rows += pooled[i];
        for (std::size_t i = 0; i < above * size; ++i)
            priors.lift[first + i] = (pooled[i] / (expected[i] > 0.0 ? expected[i] : 1.0) + strength) / (rows + strength);
    }
}

// What tied columns gain: the gain of their pooled pairs, and what the lift gains inside clusters beyond that.
CATALPA_TARGET inline void gains_inside(const TiedCounts& counts, const ColumnShares& shares, const ColumnPriors& priors, double price,
                                        double* gains) {
    const std::vector<double> present = present_shares(shares, priors);
    std::vector<double> expected, room, logs, given;
    for (std::size_t column = 0; column < priors.columns(); ++column) {
        if (priors.parents[column] < 0) continue;
        const auto parent = static_cast<std::size_t>(priors.parents[column]);
        const std::size_t above = priors.size(parent), size = priors.size(column), first = priors.pairs_of[column], pairs = above * size;
        expected.resize(pairs), room.resize(2 * pairs), logs.resize(std::max(pairs, size)), given.resize(pairs);
        expected_pairs(present.data() + priors.begin_of[parent], present.data() + priors.begin_of[column], counts.weights.data(), counts.k,
                       counts.places, above, size, expected.data());
        std::vector<double> pooled(pairs);
        for (std::size_t j = 0; j < counts.k; ++j)
            for (std::size_t i = 0; i < pairs; ++i) pooled[i] += counts.inside[j * counts.pairs + first + i];
        logarithms(expected.data(), logs.data(), pairs);
        double rows = 0.0, likelihood = 0.0;
        for (std::size_t i = 0; i < pairs; ++i) {
            rows += pooled[i];
            likelihood += pooled[i] * logs[i];
        }
        const double gain = exact_gain(pooled.data(), expected.data(), pairs, rows, likelihood, strength_of(pooled.data(), above, size), price, room.data());
        double inside = 0.0;
        for (std::size_t j = 0; j < counts.k; ++j) {
            const double* own = present.data() + j * counts.places + priors.begin_of[column];
            for (std::size_t v = 0; v < size; ++v) logs[v] = own[v] > 0.0 ? own[v] : 1.0;
            logarithms(logs.data(), logs.data(), size);
            for (std::size_t i = 0; i < pairs; ++i) given[i] = shares.shares[(priors.places() + first + i) * shares.wide + j];
            logarithms(given.data(), given.data(), pairs);
            for (std::size_t i = 0; i < pairs; ++i) inside += counts.inside[j * counts.pairs + first + i] * (given[i] - logs[i % size]);
        }
        logarithms(priors.lift.data() + first, logs.data(), pairs);
        double lifted = 0.0;
        for (std::size_t i = 0; i < pairs; ++i) lifted += pooled[i] * logs[i];
        *gains++ = gain + inside - lifted;
    }
}

}  // namespace CATALPA_LEVEL
