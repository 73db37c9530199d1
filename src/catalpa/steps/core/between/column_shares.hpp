// Shares of categories in every cluster from counts in rows, compiled once per instruction set by each_level.hpp. Lanes are
// clusters. What is computed is what cluster/grove/columns computes, in the same order.

namespace CATALPA_LEVEL {

// Shares of one column without regard to an order, shrunk towards the centre.
CATALPA_TARGET inline void shrunk_shares(const ColumnPriors& p, ColumnShares& s, std::size_t column) {
    const std::size_t wide = s.wide, begin = p.begin_of[column], end = p.begin_of[column + 1];
    const double strength = p.strengths[column];
    const double* known = s.known.data() + column * wide;
    double *inverse = s.near.data(), *by = inverse + wide;
    double divisor = 0.0;
    if (!(strength < std::numeric_limits<double>::infinity())) {  // the same in all clusters
        for (std::size_t place = begin; place < end; ++place) {
            const double mean = p.overall[place];
            s.centre[place] = mean == 0.0 ? 0.0 : mean > LEAST_CENTRE ? mean : LEAST_CENTRE;
            for (std::size_t table = 0; table < s.tables; ++table)
                std::fill_n(s.shares.data() + (table * (p.places() + p.pairs()) + place) * wide, wide, s.centre[place]);
        }
        return;
    }
    for (std::size_t lane = 0; lane < wide; ++lane) {
        const double all = known[lane] + strength;
        inverse[lane] = 1.0 / (all > 0.0 ? all : 1.0);
    }
    for (std::size_t lane = 0; lane < s.k; ++lane) divisor += known[lane] * inverse[lane];
    for (std::size_t place = begin; place < end; ++place) {
        const double* own = s.cells.data() + place * wide;
        double credible = 0.0;
        for (std::size_t lane = 0; lane < s.k; ++lane) credible += own[lane] * inverse[lane];
        const double mean = divisor > 0.0 ? credible / divisor : p.overall[place];
        s.centre[place] = p.overall[place] == 0.0 ? 0.0 : mean > LEAST_CENTRE ? mean : LEAST_CENTRE;
    }
    for (std::size_t table = 0; table < s.tables; ++table) {
        for (std::size_t lane = 0; lane < wide; ++lane) {
            const double less = known[lane] - static_cast<double>(table), all = (less > 0.0 ? less : 0.0) + strength;
            by[lane] = all > 0.0 ? all : 1.0;
        }
        double* to = s.shares.data() + table * (p.places() + p.pairs()) * wide;
        for (std::size_t place = begin; place < end; ++place) {
            const double prior = strength * s.centre[place], left = static_cast<double>(table);
            const double* own = s.cells.data() + place * wide;
            for (std::size_t lane = 0; lane < wide; ++lane) {
                const double less = own[lane] - left;
                to[place * wide + lane] = ((less > 0.0 ? less : 0.0) + prior) / by[lane];
            }
        }
    }
}

// Sums with half of what lies one place away, a quarter of what lies two away and so on, among the first `length` places.
CATALPA_TARGET inline void with_neighbours(const double* cells, std::size_t size, std::size_t length, std::size_t wide, double* summed,
                                           double* run) {
    std::copy_n(cells, size * wide, summed);
    std::copy_n(cells, wide, run);
    for (std::size_t at = 1; at < length; ++at)
        for (std::size_t lane = 0; lane < wide; ++lane) {
            summed[at * wide + lane] += NEIGHBOUR * run[lane];
            run[lane] = cells[at * wide + lane] + NEIGHBOUR * run[lane];
        }
    std::copy_n(cells + (length - 1) * wide, wide, run);
    for (std::size_t at = length - 1; at-- > 0;)
        for (std::size_t lane = 0; lane < wide; ++lane) {
            summed[at * wide + lane] += NEIGHBOUR * run[lane];
            run[lane] = cells[at * wide + lane] + NEIGHBOUR * run[lane];
        }
}

// Shares of an ordered column, whose prior mean comes from the neighbours.
CATALPA_TARGET inline void ordered_shares(const ColumnPriors& p, ColumnShares& s, std::size_t column) {
    const std::size_t wide = s.wide, begin = p.begin_of[column], size = p.size(column), length = p.ordered[column];
    const double added = ORDER_STRENGTH * p.strengths[column];
    const double* centre = s.centre.data() + begin;
    std::vector<double> near_centre(size + 1), cells(size * wide);
    with_neighbours(centre, size, length, 1, near_centre.data(), near_centre.data() + size);
    double *near = s.near.data(), *run = near + size * wide, *known = run + wide;
    for (std::size_t table = 0; table < s.tables; ++table) {
        std::fill_n(known, wide, 0.0);
        for (std::size_t at = 0; at < size; ++at)
            for (std::size_t lane = 0; lane < wide; ++lane) {
                const double less = s.cells[(begin + at) * wide + lane] - static_cast<double>(table);
                cells[at * wide + lane] = less > 0.0 ? less : 0.0;
                known[lane] += cells[at * wide + lane];
            }
        with_neighbours(cells.data(), size, length, wide, near, run);
        std::fill_n(run, wide, 0.0);
        for (std::size_t at = 0; at < size; ++at) {
            const double by = near_centre[at] > 0.0 ? near_centre[at] : 1.0;
            for (std::size_t lane = 0; lane < wide; ++lane) {
                near[at * wide + lane] = centre[at] * near[at * wide + lane] / by;
                run[lane] += near[at * wide + lane];
            }
        }
        double* to = s.shares.data() + (table * (p.places() + p.pairs()) + begin) * wide;
        for (std::size_t at = 0; at < size; ++at)
            for (std::size_t lane = 0; lane < wide; ++lane) {
                const double expected = run[lane] > 0.0 ? near[at * wide + lane] / run[lane] : centre[at];
                to[at * wide + lane] = (cells[at * wide + lane] + added * expected + centre[at]) / (known[lane] + added + 1.0);
            }
    }
}

// Categories that no row has are as rare as their column's rarest.
CATALPA_TARGET inline void fill_absent(const ColumnPriors& p, ColumnShares& s, std::size_t column) {
    const std::size_t wide = s.wide, begin = p.begin_of[column], end = p.begin_of[column + 1];
    if (std::none_of(p.overall.begin() + begin, p.overall.begin() + end, [](double share) { return share == 0.0; })) return;
    for (std::size_t table = 0; table < s.tables; ++table) {
        double* to = s.shares.data() + table * (p.places() + p.pairs()) * wide;
        for (std::size_t lane = 0; lane < wide; ++lane) {
            double least = 1.0;
            for (std::size_t place = begin; place < end; ++place)
                if (p.overall[place] != 0.0) least = std::min(least, to[place * wide + lane]);
            for (std::size_t place = begin; place < end; ++place)
                if (p.overall[place] == 0.0) to[place * wide + lane] = least;
        }
    }
}

// Shares of a tied column given its parent's category: the independent pairs of a cluster times the common lift, scaled to
// the cluster's own shares.
CATALPA_TARGET inline void tied_shares(const ColumnPriors& p, ColumnShares& s, std::size_t column) {
    const std::size_t wide = s.wide, size = p.size(column), parent = static_cast<std::size_t>(p.parents[column]);
    const std::size_t above = p.size(parent), first = p.begin_of[column], first_above = p.begin_of[parent];
    const double* lift = p.lift.data() + p.pairs_of[column];
    double *joint = s.spare.data(), *sum = joint + above * size * wide;
    for (std::size_t table = 0; table < s.tables; ++table) {
        double* shares = s.shares.data() + table * (p.places() + p.pairs()) * wide;
        const double *own = shares + first * wide, *outer = shares + first_above * wide;
        for (std::size_t u = 0; u < above; ++u)
            for (std::size_t v = 0; v < size; ++v) {
                const bool there = p.overall[first_above + u] != 0.0 && p.overall[first + v] != 0.0;
                for (std::size_t lane = 0; lane < wide; ++lane)
                    joint[(u * size + v) * wide + lane] = there ? outer[u * wide + lane] * own[v * wide + lane] * lift[u * size + v] : 0.0;
            }
        for (int scaling = 0; scaling < SCALINGS; ++scaling) {
            for (std::size_t v = 0; v < size; ++v) {
                std::fill_n(sum, wide, 0.0);
                for (std::size_t u = 0; u < above; ++u)
                    for (std::size_t lane = 0; lane < wide; ++lane) sum[lane] += joint[(u * size + v) * wide + lane];
                for (std::size_t lane = 0; lane < wide; ++lane) sum[lane] = sum[lane] > 0.0 ? own[v * wide + lane] / sum[lane] : 0.0;
                for (std::size_t u = 0; u < above; ++u)
                    for (std::size_t lane = 0; lane < wide; ++lane) joint[(u * size + v) * wide + lane] *= sum[lane];
            }
            for (std::size_t u = 0; u < above; ++u) {
                std::fill_n(sum, wide, 0.0);
                for (std::size_t v = 0; v < size; ++v)
                    for (std::size_t lane = 0; lane < wide; ++lane) sum[lane] += joint[(u * size + v) * wide + lane];
                for (std::size_t lane = 0; lane < wide; ++lane) sum[lane] = sum[lane] > 0.0 ? outer[u * wide + lane] / sum[lane] : 0.0;
                for (std::size_t v = 0; v < size; ++v)
                    for (std::size_t lane = 0; lane < wide; ++lane) joint[(u * size + v) * wide + lane] *= sum[lane];
            }
        }
        double* to = shares + (p.places() + p.pairs_of[column]) * wide;
        for (std::size_t u = 0; u < above; ++u) {
            std::fill_n(sum, wide, 0.0);
            for (std::size_t v = 0; v < size; ++v)
                for (std::size_t lane = 0; lane < wide; ++lane) sum[lane] += joint[(u * size + v) * wide + lane];
            for (std::size_t v = 0; v < size; ++v) {
                const bool there = p.overall[first_above + u] != 0.0 && p.overall[first + v] != 0.0;
                for (std::size_t lane = 0; lane < wide; ++lane)
                    to[(u * size + v) * wide + lane] =
                        there ? joint[(u * size + v) * wide + lane] / sum[lane] : own[v * wide + lane];
            }
        }
    }
}

// All of them, from the cells and what is known of each column.
CATALPA_TARGET inline void column_shares(const ColumnPriors& p, ColumnShares& s) {
    for (std::size_t column = 0; column < p.columns(); ++column) {
        shrunk_shares(p, s, column);
        if (p.ordered[column] && p.strengths[column] < std::numeric_limits<double>::infinity()) ordered_shares(p, s, column);
        fill_absent(p, s, column);
    }
    for (std::size_t column = 0; column < p.columns(); ++column)
        if (p.parents[column] >= 0) tied_shares(p, s, column);
}

}  // namespace CATALPA_LEVEL
