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

}  // namespace CATALPA_LEVEL
