// What numbers cost in the next soft pass, from the sums of the last one, compiled once per instruction set by each_level.hpp.
// The operations are those of cluster/grove/columns/normal.py and missing.py, and of soft/scores.py, in the same order.

namespace CATALPA_LEVEL {

// The sums of one column in every cluster, of standardised numbers; of a common column those of all clusters together.
struct Standardised {
    std::vector<double> rows, totals, squares;  // (k,)

    explicit Standardised(std::size_t k) : rows(k), totals(k), squares(k) {}

    void fill(const SoftPriors& p, const MomentRows& from, std::size_t column, std::size_t lanes) {
        const double middle = p.numbers.middle[column], spread = p.numbers.spread[column], fine = p.per_unit * 0x1p-10;
        for (std::size_t j = 0; j < rows.size(); ++j) {
            const std::size_t at = column * lanes + j;
            const double own = static_cast<double>(from.seen[at]) * p.per_unit, sum = static_cast<double>(from.sums[at]) * fine;
            const double around = static_cast<double>(from.squares[at]) * fine - 2.0 * middle * sum + own * (middle * middle);
            const double scaled = around / (spread * spread);
            rows[j] = own;
            totals[j] = (sum - own * middle) / spread;
            squares[j] = scaled > 0.0 ? scaled : 0.0;
        }
        if (!p.numbers.common[column]) return;
        for (std::vector<double>* each : {&rows, &totals, &squares}) {
            double sum = 0.0;
            for (double one : *each) sum += one;
            std::fill(each->begin(), each->end(), sum);
        }
    }
};

// Costs of missing numbers are added to both anchors (2, wide); what a present one costs more goes to `level` (k,).
CATALPA_TARGET inline void add_indicator(const SoftPriors& p, const MomentRows& from, const std::uint64_t* sizes, std::size_t column,
                                         const SoftTables& t, std::size_t wide, double* anchors, double* level) {
    const double strength = 2.0 * p.numbers.prior;
    double weights = 0.0, absent = 0.0, present = 0.0;
    const auto seen = [&](std::size_t j) { return static_cast<double>(from.seen[column * t.lanes + j]) * p.per_unit; };
    const auto size = [&](std::size_t j) { return static_cast<double>(sizes[j]) * p.per_unit; };
    const auto positive = [](double number) { return number > 0.0 ? number : 0.0; };
    for (std::size_t j = 0; j < t.k; ++j) {
        const double without = positive(size(j) - seen(j)), all = without + seen(j), inverse = 1.0 / (all + strength);
        weights += all * inverse;
        absent += without * inverse;
        present += seen(j) * inverse;
    }
    double centre[2] = {p.numbers.missing[column], 1.0 - p.numbers.missing[column]};
    if (weights > 0.0) {
        centre[0] = std::max(absent / weights, LEAST_CENTRE);
        centre[1] = std::max(present / weights, LEAST_CENTRE);
    }
    for (std::size_t table = 0; table < 2; ++table)
        for (std::size_t j = 0; j < t.k; ++j) {
            const double less = positive(size(j) - static_cast<double>(table)), reach = less + strength;
            const double one = -from_number((positive(less - seen(j)) + strength * centre[0]) / reach);
            const double other = -from_number((seen(j) + strength * centre[1]) / reach);
            anchors[table * wide + j] += one;
            if (table == 0) level[j] += other - one;
        }
}

// Fill in what numbers cost, and add the costs of missing ones to the anchors (2, wide) in nats. Gives how far costs are apart,
// in quanta.
CATALPA_TARGET inline double next_numbers(const SoftPriors& p, const MomentRows& from, const std::uint64_t* sizes, SoftTables& t,
                                          std::size_t wide, double* anchors) {
    const double prior = p.numbers.prior;
    Standardised own(t.k);
    std::vector<double> means(t.k), variances(t.k), level(t.k), constant(t.k);
    double farthest = 0.0;
    for (std::size_t column = 0; column < t.numeric; ++column) {
        own.fill(p, from, column, t.lanes);
        const double middle = p.numbers.middle[column], spread = p.numbers.spread[column];
        for (std::size_t j = 0; j < t.k; ++j) {
            const double reach = prior + own.rows[j], off = own.squares[j] - own.totals[j] * own.totals[j] / reach;
            const double scatter = 2.0 * prior + BLUR * own.rows[j] + (off > 0.0 ? off : 0.0);
            means[j] = own.totals[j] / reach;
            variances[j] = scatter / (2.0 * prior + own.rows[j]);
        }
        logarithms(variances.data(), level.data(), t.k);
        for (std::size_t j = 0; j < t.k; ++j) level[j] = BLUR / (2.0 * variances[j]) + 0.5 * level[j];
        if (p.numbers.missing[column] != 0.0 && !p.numbers.common[column])
            add_indicator(p, from, sizes, column, t, wide, anchors, level.data());
        double least = std::numeric_limits<double>::infinity(), least_level = least, most = 0.0;
        for (std::size_t j = 0; j < t.k; ++j) least_level = std::min(least_level, level[j]);
        for (std::size_t j = 0; j < t.k; ++j) {
            const double mean = middle + means[j] * spread, scale = 1.0 / (2.0 * variances[j] * (spread * spread));
            const double centre = 2.0 * mean - 1.0, curve = scale * (p.quanta * 0.25);
            constant[j] = level[j] * p.quanta + curve * centre * centre;
            least = std::min(least, constant[j]);
            const double reach = std::max(std::fabs(mean), std::fabs(1.0 - mean));
            most = std::max(most, (reach * reach * scale + level[j] - least_level) * p.quanta);
            t.curve[column * t.k + j] = static_cast<float>(curve);
            t.slope[column * t.k + j] = static_cast<float>(-2.0 * curve * centre);
        }
        farthest += most;
        if (!(farthest < 0x1p31)) return farthest;
        from.least[column] = nearest_whole(least);
        for (std::size_t j = 0; j < t.k; ++j)
            t.constant[column * t.lanes + j] = static_cast<std::int32_t>(nearest_whole(constant[j]) - nearest_whole(least));
    }
    return farthest;
}

}  // namespace CATALPA_LEVEL
