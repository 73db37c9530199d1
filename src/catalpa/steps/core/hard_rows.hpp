// The two row kernels of the hard pass, compiled once per instruction set by each_level.hpp.

namespace CATALPA_LEVEL {

// The smallest and the second smallest key seen in each lane.
struct Two {
    Eight first, second;
};

CATALPA_TARGET inline Two merge(Two a, Two b) {
    return {least(a.first, b.first), least(least(a.second, b.second), most(a.first, b.first))};
}

CATALPA_TARGET inline Two with(Two a, Eight key) {
    return {least(a.first, key), least(a.second, most(a.first, key))};
}

// Keys of eight rows in V * 8 clusters: sums of table entries whose low bits carry the cluster.
template <class Code, int V>
CATALPA_TARGET inline void two_smallest(const Code* codes, std::size_t groups, const std::size_t* offsets,
                                        const std::int32_t* table, Two out[8]) {
    // As many rows at once as leave their sums in registers.
    constexpr int at_once = V == 1 ? 8 : V == 2 ? 4 : 2;
    const Eight largest = load(LARGEST);
#pragma GCC unroll 4
    for (int row = 0; row < 8; row += at_once) {
        Eight sums[at_once][V] = {};
        const Code* own = codes + row * groups;
        for (std::size_t group = 0; group < groups; ++group) {
            const std::int32_t* entries = table + offsets[group] * (V * 8);
#pragma GCC unroll 8
            for (int r = 0; r < at_once; ++r) {
                const std::int32_t* entry = entries + static_cast<std::size_t>(own[r * groups + group]) * (V * 8);
#pragma GCC unroll 4
                for (int v = 0; v < V; ++v) sums[r][v] = sums[r][v] + load(entry + 8 * v);
            }
        }
#pragma GCC unroll 8
        for (int r = 0; r < at_once; ++r) {
            Two best = {sums[r][0], largest};
#pragma GCC unroll 4
            for (int v = 1; v < V; ++v) best = with(best, sums[r][v]);
            out[row + r] = best;
        }
    }
}

CATALPA_TARGET inline Two across(const Two rows[8]) {
    Two four[4], two[2];
#pragma GCC unroll 4
    for (int i = 0; i < 4; ++i) {
        const Two &a = rows[2 * i], &b = rows[2 * i + 1];
        four[i] = merge({front1(a.first, b.first), front1(a.second, b.second)},
                        {back1(a.first, b.first), back1(a.second, b.second)});
    }
#pragma GCC unroll 2
    for (int i = 0; i < 2; ++i) {
        const Two &a = four[2 * i], &b = four[2 * i + 1];
        two[i] = merge({front2(a.first, b.first), front2(a.second, b.second)},
                       {back2(a.first, b.first), back2(a.second, b.second)});
    }
    return merge({front3(two[0].first, two[1].first), front3(two[0].second, two[1].second)},
                 {back3(two[0].first, two[1].first), back3(two[0].second, two[1].second)});
}

// One slab of clusters for `rows` rows (a multiple of 8); later slabs add to what the first one found.
template <class Code, int V>
CATALPA_TARGET void scan_slab(const Code* codes, std::size_t rows, std::size_t groups, const std::size_t* offsets,
                              const std::int32_t* table, bool is_first, Keys& keys) {
    for (std::size_t row = 0; row < rows; row += 8) {
        Two lanes[8];
        two_smallest<Code, V>(codes + row * groups, groups, offsets, table, lanes);
        Two best = across(lanes);
        if (!is_first) best = merge(best, {load(keys.first + row), load(keys.second + row)});
        store(keys.first + row, best.first);
        store(keys.second + row, best.second);
    }
}

// The two smallest keys of each row over all clusters.
template <class Code>
CATALPA_TARGET void scan(const Tables& tables, const Code* codes, std::size_t rows, Keys& keys) {
    const std::size_t *offsets = tables.offsets.data(), groups = tables.groups();
    for (std::size_t lane = 0; lane < tables.lanes; lane += SLAB) {
        const std::int32_t* table = tables.narrow.data() + lane * tables.places();
        const bool is_first = lane == 0;
        switch (std::min(tables.lanes - lane, SLAB) / 8) {
            case 1: scan_slab<Code, 1>(codes, rows, groups, offsets, table, is_first, keys); break;
            case 2: scan_slab<Code, 2>(codes, rows, groups, offsets, table, is_first, keys); break;
            case 3: scan_slab<Code, 3>(codes, rows, groups, offsets, table, is_first, keys); break;
            default: scan_slab<Code, 4>(codes, rows, groups, offsets, table, is_first, keys);
        }
    }
}

// Full 64-bit sums of one row in every cluster, numbers included.
template <class Code>
CATALPA_TARGET void exact_sums(const Tables& tables, const Code* codes, const double* numbers, Scratch& scratch) {
    const std::size_t k = tables.k;
    std::int64_t* sums = scratch.sums.data();
    std::copy(tables.anchor.begin(), tables.anchor.end(), sums);
    for (std::size_t group = 0; group < tables.groups(); ++group) {
        const std::int64_t* entry = tables.wide.data() + (tables.offsets[group] + codes[group]) * k;
        for (std::size_t j = 0; j < k; ++j) sums[j] += entry[j];
    }
    if (tables.numeric == 0) return;
    double* part = scratch.part.data();
    std::fill_n(part, k, 0.0);
    for (std::size_t column = 0; column < tables.numeric; ++column) {
        const double number = numbers[column];
        if (number != number) continue;
        const double *means = tables.means.data() + column * k, *scale = tables.scale.data() + column * k;
        const double* level = tables.level.data() + column * k;
        if (tables.squared)
            for (std::size_t j = 0; j < k; ++j) part[j] += number_term<true>(number, means[j], scale[j], level[j]);
        else
            for (std::size_t j = 0; j < k; ++j) part[j] += number_term<false>(number, means[j], scale[j], level[j]);
    }
    for (std::size_t j = 0; j < k; ++j) sums[j] += tables.in_quanta(part[j]);
}

// Lowest cluster within `tie` of the smallest sum.
template <class Code>
CATALPA_TARGET std::uint32_t exact_nearest(const Tables& tables, const Code* codes, const double* numbers,
                                           Scratch& scratch) {
    exact_sums(tables, codes, numbers, scratch);
    const std::int64_t* sums = scratch.sums.data();
    std::int64_t smallest = sums[0];
    for (std::size_t j = 1; j < tables.k; ++j) smallest = std::min(smallest, sums[j]);
    // Costs that are no numbers make the bar wrap below all sums; then the lowest cluster wins, as in NumPy's argmax.
    for (std::uint32_t label = 0; label < tables.k; ++label)
        if (sums[label] <= smallest + tables.tie) return label;
    return 0;
}

// Labels of some rows (at most ROWS_AT_ONCE): fast keys first, full sums where they cannot decide.
template <class Code>
CATALPA_TARGET void label_rows(const Tables& tables, const Code* codes, const double* numbers, std::size_t rows,
                               Scratch& scratch, std::uint32_t* labels) {
    const std::size_t groups = tables.groups();
    if (tables.narrow.empty()) {
        for (std::size_t row = 0; row < rows; ++row)
            labels[row] = exact_nearest(tables, codes + row * groups, numbers + row * tables.numeric, scratch);
        return;
    }
    Keys& keys = scratch.keys;
    scan(tables, codes, (rows + 7) / 8 * 8, keys);
    const std::int32_t mask = tables.index_mask, margin = tables.margin;
    std::size_t unsure = 0;
    for (std::size_t row = 0; row < rows; ++row) {
        labels[row] = static_cast<std::uint32_t>(keys.first[row] & mask);
        unsure += keys.second[row] <= (keys.first[row] | mask) + margin;
    }
    if (unsure == 0) return;
    for (std::size_t row = 0; row < rows; ++row)
        if (keys.second[row] <= (keys.first[row] | mask) + margin)
            labels[row] = exact_nearest(tables, codes + row * groups, nullptr, scratch);
}

}  // namespace CATALPA_LEVEL
