// The row kernels of the hard pass, compiled once per instruction set by each_level.hpp.

namespace CATALPA_LEVEL {

// The smallest and the second smallest key seen in each lane.
struct Two {
    Eight first, second;
};

CATALPA_INLINE Two merge(Two a, Two b) {
    return {least(a.first, b.first), least(least(a.second, b.second), most(a.first, b.first))};
}

// Some rows' numbers in single precision.
CATALPA_TARGET inline void make_single(const double* numbers, std::size_t cells, Cells32& out) {
    float* number = out.number.data();
    std::uint64_t strange = 0;
    for (std::size_t cell = 0; cell < cells; ++cell) {
        number[cell] = static_cast<float>(numbers[cell]);
        strange |= !(std::fabs(numbers[cell]) <= FARTHEST_NUMBER);
    }
    out.missing = out.beyond = false;
    if (!strange) return;
    std::int32_t there = -1, beyond = 0;
    for (std::size_t cell = 0; cell < cells; ++cell) {
        const double own = numbers[cell];
        out.there[cell] = own == own ? -1 : 0;
        there &= out.there[cell];
        beyond |= std::fabs(own) > FARTHEST_NUMBER ? -1 : 0;
        number[cell] = std::fabs(own) <= FARTHEST_NUMBER ? number[cell] : 0.0f;
    }
    out.missing = !there;
    out.beyond = beyond;
}

// As many rows of V vectors as leave their sums in registers together.
template <int V>
constexpr int AT_ONCE = V == 1 ? 8 : V == 2 ? 4 : 2;

// What the numbers of eight rows add to their keys in V * 8 clusters, from `lane` on; and where keys begin.
template <int V, bool curved, bool missing>
CATALPA_TARGET inline void begin_keys(const Tables& t, std::size_t lane, const float* number, const std::int32_t* there,
                                      std::int32_t* out) {
    const std::size_t numeric = t.numeric;
    const Eight whole = every(~t.index_mask);
#pragma GCC unroll 4
    for (int row = 0; row < 8; row += AT_ONCE<V>) {
        Singles sums[AT_ONCE<V>][V];
        for_each_vector<AT_ONCE<V>, V>([&](int r, int v) CATALPA_INLINED {
            sums[r][v] = missing ? Singles{} : load(t.constants.data() + lane + 8 * v);
        });
        for (std::size_t column = 0; column < numeric; ++column) {
            const std::size_t first = column * t.lanes + lane;
#pragma GCC unroll 4
            for (int v = 0; v < V; ++v) {
                const Singles slope = load(t.slope.data() + first + 8 * v);
                Singles constant, curve;
                if constexpr (missing) constant = load(t.constant.data() + first + 8 * v);
                if constexpr (curved) curve = load(t.curve.data() + first + 8 * v);
#pragma GCC unroll 8
                for (int r = 0; r < AT_ONCE<V>; ++r) {
                    const std::size_t cell = (row + r) * numeric + column;
                    const Singles x = every(number[cell]);
                    Singles term = slope;
                    if constexpr (curved) term = term + curve * x;
                    term = term * x;
                    if constexpr (missing) term = singles(bits(constant + term) & every(there[cell]));
                    sums[r][v] = sums[r][v] + term;
                }
            }
        }
        for_each_vector<AT_ONCE<V>, V>([&](int r, int v) CATALPA_INLINED {
            store(out + ((row + r) * V + v) * 8, load(t.base.data() + lane + 8 * v) + (rounded(sums[r][v]) & whole));
        });
    }
}

// Keys of eight rows in V * 8 clusters: sums of table entries on top of `begin`, whose low bits carry the cluster.
template <class Code, int V>
CATALPA_TARGET inline void two_smallest(const Code* codes, std::size_t groups, const std::size_t* offsets,
                                        const std::int32_t* table, const std::int32_t* begin, std::size_t stride,
                                        Two out[8]) {
    const Eight largest = every(LARGEST_KEY);
#pragma GCC unroll 4
    for (int row = 0; row < 8; row += AT_ONCE<V>) {
        Eight sums[AT_ONCE<V>][V];
        for_each_vector<AT_ONCE<V>, V>([&](int r, int v) CATALPA_INLINED { sums[r][v] = load(begin + (row + r) * stride + 8 * v); });
        const Code* own = codes + row * groups;
        for (std::size_t group = 0; group < groups; ++group) {
            const std::int32_t* entries = table + offsets[group] * (V * 8);
            for_each_vector<AT_ONCE<V>, V>([&](int r, int v) CATALPA_INLINED {
                sums[r][v] = sums[r][v] + load(entries + static_cast<std::size_t>(own[r * groups + group]) * (V * 8) + 8 * v);
            });
        }
#pragma GCC unroll 8
        for (int r = 0; r < AT_ONCE<V>; ++r) {
            Two best = {sums[r][0], largest};
#pragma GCC unroll 4
            for (int v = 1; v < V; ++v) best = {least(best.first, sums[r][v]), least(best.second, most(best.first, sums[r][v]))};
            out[row + r] = best;
        }
    }
}

// A call of it would go through memory and take a tenth of a pass.
CATALPA_INLINE Two across(const Two rows[8]) {
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

// One slab of clusters for `rows` rows (a multiple of 8), from `lane` on; later slabs add to what the first one found.
template <class Code, int V, bool numeric>
CATALPA_TARGET void scan_slab(const Tables& t, const Code* codes, std::size_t rows, std::size_t lane, const Cells32& cells,
                              Keys& keys) {
    const std::size_t groups = t.groups();
    const std::int32_t* table = t.narrow.data() + lane * t.places();
    alignas(32) std::int32_t begins[8 * V * 8];
    for (std::size_t row = 0; row < rows; row += 8) {
        const std::int32_t* begin = t.base.data() + lane;
        if constexpr (numeric) {
            const float* number = cells.number.data() + row * t.numeric;
            const std::int32_t* there = cells.there.data() + row * t.numeric;
            if (cells.missing)
                begin_keys<V, true, true>(t, lane, number, there, begins);
            else if (t.curved)
                begin_keys<V, true, false>(t, lane, number, there, begins);
            else
                begin_keys<V, false, false>(t, lane, number, there, begins);
            begin = begins;
        }
        Two lanes[8];
        two_smallest<Code, V>(codes + row * groups, groups, t.offsets.data(), table, begin, numeric ? V * 8 : 0, lanes);
        Two best = across(lanes);
        if (lane > 0) best = merge(best, {load(keys.first + row), load(keys.second + row)});
        store(keys.first + row, best.first);
        store(keys.second + row, best.second);
    }
}

// The two smallest keys of each row over all clusters.
template <class Code, bool numeric>
CATALPA_TARGET void scan(const Tables& tables, const Code* codes, std::size_t rows, const Cells32& cells, Keys& keys) {
    for (std::size_t lane = 0; lane < tables.lanes; lane += SLAB)
        switch (std::min(tables.lanes - lane, SLAB) / 8) {
            case 1: scan_slab<Code, 1, numeric>(tables, codes, rows, lane, cells, keys); break;
            case 2: scan_slab<Code, 2, numeric>(tables, codes, rows, lane, cells, keys); break;
            case 3: scan_slab<Code, 3, numeric>(tables, codes, rows, lane, cells, keys); break;
            default: scan_slab<Code, 4, numeric>(tables, codes, rows, lane, cells, keys);
        }
}

// Labels of `rows` rows (a multiple of 8) where keys of 16 bits tell them: the smallest carries the cluster.
template <class Code>
CATALPA_TARGET void label_by_shorts(const Tables& t, const Code* codes, std::size_t rows, std::uint32_t* labels) {
    const std::size_t groups = t.groups(), *offsets = t.offsets.data();
    const Shorts begin = load(t.short_base.data());
    for (std::size_t row = 0; row < rows; row += 8, codes += 8 * groups) {
        Shorts keys[8];
#pragma GCC unroll 8
        for (int r = 0; r < 8; ++r) keys[r] = begin;
        for (std::size_t group = 0; group < groups; ++group) {
            const std::int16_t* entries = t.shorts.data() + offsets[group] * FEW;
#pragma GCC unroll 8
            for (int r = 0; r < 8; ++r)
                keys[r] = keys[r] + load(entries + static_cast<std::size_t>(codes[r * groups + group]) * FEW);
        }
        std::int16_t found[8];
        store(found, smallest_of_each(keys));
        for (int r = 0; r < 8; ++r) labels[row + r] = static_cast<std::uint32_t>(found[r] & (FEW - 1));
    }
}

// Labels of `rows` rows (a multiple of 8) where sums of bytes tell them.
template <class Code>
CATALPA_TARGET void label_by_bytes(const Tables& t, const Code* codes, std::size_t rows, std::uint32_t* labels) {
    const std::size_t groups = t.groups(), *offsets = t.offsets.data(), clusters = t.byte_base.size();
    for (std::size_t row = 0; row < rows; row += 8, codes += 8 * groups) {
        Shorts best[8] = {};
        for (std::size_t lane = 0; lane < clusters; lane += SLAB) {
            const std::uint8_t* table = t.bytes.data() + lane * t.places();
            const Bytes begin = load(t.byte_base.data() + lane), index = load(t.byte_index.data() + lane);
            Bytes sums[8];
#pragma GCC unroll 8
            for (int r = 0; r < 8; ++r) sums[r] = begin;
            for (std::size_t group = 0; group < groups; ++group) {
                const std::uint8_t* entries = table + offsets[group] * SLAB;
#pragma GCC unroll 8
                for (int r = 0; r < 8; ++r)
                    sums[r] = sums[r] + load(entries + static_cast<std::size_t>(codes[r * groups + group]) * SLAB);
            }
#pragma GCC unroll 8
            for (int r = 0; r < 8; ++r) {
                const Shorts own = shorts(smallest_of(sums[r], index));
                best[r] = lane == 0 ? own : least(best[r], own);
            }
        }
        std::int16_t found[8];
        store(found, smallest_of_each(best));
        for (int r = 0; r < 8; ++r) labels[row + r] = static_cast<std::uint32_t>(found[r] & 0xFF);
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
    const std::size_t groups = tables.groups(), numeric = tables.numeric;
    const auto in_full = [&](std::size_t row) {
        labels[row] = exact_nearest(tables, codes + row * groups, numbers + row * numeric, scratch);
    };
    const std::size_t whole = (rows + 7) / 8 * 8;
    if (tables.shorts.size()) return label_by_shorts(tables, codes, whole, labels);
    if (tables.bytes.size()) return label_by_bytes(tables, codes, whole, labels);
    if (tables.base.empty()) {
        for (std::size_t row = 0; row < rows; ++row) in_full(row);
        return;
    }
    Keys& keys = scratch.keys;
    Cells32& cells = scratch.cells;
    const std::int32_t mask = tables.index_mask, margin = tables.margin;
    if (numeric) {
        make_single(numbers, rows * numeric, cells);
        scan<Code, true>(tables, codes, whole, cells, keys);
    } else {
        scan<Code, false>(tables, codes, whole, cells, keys);
    }
    std::size_t unsure = 0;
    for (std::size_t row = 0; row < rows; ++row) {
        labels[row] = static_cast<std::uint32_t>(keys.first[row] & mask);
        unsure += keys.second[row] <= (keys.first[row] | mask) + margin;
    }
    for (std::size_t row = 0; row < rows && unsure; ++row)
        if (keys.second[row] <= (keys.first[row] | mask) + margin) in_full(row);
    if (!cells.beyond) return;
    for (std::size_t row = 0; row < rows; ++row)
        if (std::any_of(numbers + row * numeric, numbers + (row + 1) * numeric,
                        [](double number) { return std::fabs(number) > FARTHEST_NUMBER; }))
            in_full(row);
}

}  // namespace CATALPA_LEVEL

#include "hard_costs.hpp"
