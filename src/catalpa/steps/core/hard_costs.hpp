// What labelled rows cost, compiled with hard_rows.hpp.

namespace CATALPA_LEVEL {

// What the numbers of a row cost in its own cluster, in quanta.
CATALPA_TARGET inline std::int64_t own_numbers(const Tables& t, const double* numbers, std::size_t cluster) {
    const std::size_t first = cluster * t.numeric;
    const double *means = t.own_means.data() + first, *scale = t.own_scale.data() + first, *level = t.own_level.data() + first;
    double part = 0.0;
    if (t.squared)
        for (std::size_t column = 0; column < t.numeric; ++column)
            part += number_term<true>(numbers[column], means[column], scale[column], level[column]);
    else
        for (std::size_t column = 0; column < t.numeric; ++column)
            part += number_term<false>(numbers[column], means[column], scale[column], level[column]);
    return t.in_quanta(part);
}

#if CATALPA_WIDE
// number_term, four at a time.
template <bool squared>
CATALPA_TARGET inline FourDoubles four_terms(FourDoubles number, FourDoubles mean, FourDoubles scale, FourDoubles level) {
    const FourDoubles apart = number - mean;
    return zero_unless(apart, level + scale * (squared ? apart * apart : magnitude(apart)));
}

// What own_numbers finds, of four rows: the terms of a row are added column by column, as there.
template <bool squared, class Label>
CATALPA_TARGET inline void four_own_numbers(const Tables& t, const double* numbers, const Label* labels, std::int64_t* out) {
    const std::size_t numeric = t.numeric;
    const double *x[4], *mean[4], *scale[4], *level[4];
    for (std::size_t row = 0; row < 4; ++row) {
        const std::size_t first = labels[row] * numeric;
        x[row] = numbers + row * numeric;
        mean[row] = t.own_means.data() + first;
        scale[row] = t.own_scale.data() + first;
        level[row] = t.own_level.data() + first;
    }
    FourDoubles part = {};
    std::size_t column = 0;
    for (; column + 4 <= numeric; column += 4) {
        const auto of = [&](const double* from) CATALPA_TARGET { return load_four(from + column); };
        FourDoubles rows[4];
#pragma GCC unroll 4
        for (std::size_t row = 0; row < 4; ++row)
            rows[row] = four_terms<squared>(of(x[row]), of(mean[row]), of(scale[row]), of(level[row]));
        part = sum_of_columns(part, rows);
    }
    for (; column < numeric; ++column) {
        const auto of = [&](const double* const* from) CATALPA_TARGET {
            return FourDoubles{from[0][column], from[1][column], from[2][column], from[3][column]};
        };
        part = part + four_terms<squared>(of(x), of(mean), of(scale), of(level));
    }
    store_rounded(out, part, t.limit, t.up);
}
#endif

// Their sum over rows.
template <class Label>
CATALPA_TARGET Int128 summed_number_costs(const Tables& t, const double* numbers, const Label* labels,
                                          const std::int64_t* weights, std::size_t rows) {
    Int128 sum = 0;
    std::size_t row = 0;
#if CATALPA_WIDE
    std::int64_t low = 0, high = 0;  // a sum of 128 bits for every row would take as long as its terms
    for (std::int64_t own[4]; row + 4 <= rows; row += 4) {
        if (t.squared)
            four_own_numbers<true>(t, numbers + row * t.numeric, labels + row, own);
        else
            four_own_numbers<false>(t, numbers + row * t.numeric, labels + row, own);
        if (weights) {
            for (std::size_t i = 0; i < 4; ++i) sum += Int128(own[i]) * weights[row + i];
            continue;
        }
        for (std::int64_t each : own) {
            low += each & 0xFFFFFFFF;
            high += each >> 32;
        }
    }
    sum += Int128(high) * (std::int64_t{1} << 32) + low;
#endif
    for (; row < rows; ++row) {
        const Int128 own = own_numbers(t, numbers + row * t.numeric, labels[row]);
        sum += weights ? own * weights[row] : own;
    }
    return sum;
}

// By a divisor above zero.
inline std::int64_t floored(std::int64_t a, std::int64_t b) { return a / b - (a % b < 0); }

// The cost of a row of which only some cells are there, as if all of them were. A division takes longer than all else,
// so there is one, unless the total passes `room`.
inline std::int64_t rescaled(std::int64_t total, std::int64_t all, std::int64_t present, std::int64_t room) {
    if (total < room && total > -room) return floored(total * all, present);
    const std::int64_t whole = floored(total, present);
    return static_cast<std::int64_t>(static_cast<std::uint64_t>(times(whole, all)) +
                                     static_cast<std::uint64_t>(floored(times(total - whole * present, all), present)));
}

// Sum of what rows cost in their clusters: rescaled where cells were left out, rooted if asked.
template <class Code, class Label>
CATALPA_TARGET Int128 summed_costs(const Tables& t, const Code* codes, const double* numbers, const Label* labels,
                                   const std::int64_t* weights, const std::int64_t* present, std::size_t rows) {
    const std::size_t groups = t.groups(), k = t.k;
    const std::int64_t *wide = t.wide.data(), *anchor = t.anchor.data();
    // From group to group, so that compilers do not gather entries, which takes longer than to load them.
    std::vector<std::size_t> steps(groups);
    for (std::size_t group = 0; group < groups; ++group) steps[group] = t.width(group) * k;
    const auto all = static_cast<std::int64_t>(t.columns() + t.numeric);
    const std::int64_t room = std::numeric_limits<std::int64_t>::max() / std::max<std::int64_t>(all, 1);
    Int128 sum = 0;
    for (std::size_t row = 0; row < rows; ++row, codes += groups) {
        std::int64_t total = anchor[labels[row]];
        const std::int64_t* own = wide + labels[row];
        for (std::size_t group = 0; group < groups; own += steps[group++]) total += own[codes[group] * k];
        if (t.numeric) total += own_numbers(t, numbers + row * t.numeric, labels[row]);
        if (present && present[row] != all) total = rescaled(total, all, present[row], room);
        if (t.root) {
            const auto above = static_cast<double>(std::max<std::int64_t>(total, 0));
            total = static_cast<std::int64_t>(std::rint(std::sqrt(above * t.down) * t.up));
        }
        sum += weights ? Int128(total) * weights[row] : Int128(total);
    }
    return sum;
}

}  // namespace CATALPA_LEVEL
