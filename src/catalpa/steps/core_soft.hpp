// The row kernels of the soft pass, compiled once per instruction set after core_lanes.hpp. Every operation
// between integers is one that soft_reference.py names, or equal to it to the bit.

namespace CATALPA_LEVEL {

// 2 ** 20 times 2 ** -gap. The constants carry the 2 ** 20, which changes no rounding.
CATALPA_INLINE Singles power(Eight gap) {
    const Eight below = Eight{} - gap;
    const Singles f = converted(below & every(0xFFFF));
    const Singles inner = every(POWER[3]) + f * every(POWER[4]);
    const Singles grown = every(POWER[0]) + f * (every(POWER[1]) + f * (every(POWER[2]) + f * inner));
    return singles(bits(grown) + ((below >> 16) << 23));
}

// log2 of summed powers, in 2 ** -20.
CATALPA_INLINE Eight logarithm(Eight whole) {
    const Eight form = bits(converted(whole));
    const Singles f = singles((form & every(0x7FFFFF)) | every(0x3F800000)) - every(1.0f);
    Singles value = every(LOGARITHM[5]);
#pragma GCC unroll 5
    for (int i = 4; i >= 0; --i) value = every(LOGARITHM[i]) + f * value;
    return (((form >> 23) - every(147)) << SHARE_BITS) + rounded(f * value);
}

// The second cost minus the first, as far as a row's share goes.
CATALPA_INLINE Eight risen(Eight rise, Eight share) {
    return rounded(converted(rise) * converted(share) * every(1.0f / WHOLE));
}

struct Reach {
    Eight limit;  // the farthest gap, in the table's quanta
    int coarser;
    CATALPA_INLINE Eight gap(Eight above) const { return shifted_up(lesser(above, limit), coarser); }
};

CATALPA_INLINE Reach reach_of(const SoftTables& t) { return {every(FARTHEST >> t.coarser), t.coarser}; }

// Lane c of vector r becomes lane r of vector c.
CATALPA_INLINE void transpose(Eight x[8]) {
    Eight one[8], two[8];
#pragma GCC unroll 4
    for (int i = 0; i < 8; i += 2) {
        one[i] = front1(x[i], x[i + 1]);
        one[i + 1] = back1(x[i], x[i + 1]);
    }
#pragma GCC unroll 2
    for (int i = 0; i < 8; i += 4) {
        two[i] = front2(one[i], one[i + 2]);
        two[i + 1] = back2(one[i], one[i + 2]);
        two[i + 2] = front2(one[i + 1], one[i + 3]);
        two[i + 3] = back2(one[i + 1], one[i + 3]);
    }
#pragma GCC unroll 4
    for (int i = 0; i < 4; ++i) {
        x[i] = front3(two[i], two[i + 4]);
        x[i + 4] = back3(two[i], two[i + 4]);
    }
}

// Lane r is the sum over the lanes of vector r, or their minimum.
CATALPA_INLINE Eight summed_across(const Eight x[8]) {
    Eight four[4], two[2];
#pragma GCC unroll 4
    for (int i = 0; i < 4; ++i) four[i] = front1(x[2 * i], x[2 * i + 1]) + back1(x[2 * i], x[2 * i + 1]);
#pragma GCC unroll 2
    for (int i = 0; i < 2; ++i) two[i] = front2(four[2 * i], four[2 * i + 1]) + back2(four[2 * i], four[2 * i + 1]);
    return front3(two[0], two[1]) + back3(two[0], two[1]);
}

CATALPA_INLINE Eight least_across(const Eight x[8]) {
    Eight four[4], two[2];
#pragma GCC unroll 4
    for (int i = 0; i < 4; ++i) four[i] = least(front1(x[2 * i], x[2 * i + 1]), back1(x[2 * i], x[2 * i + 1]));
#pragma GCC unroll 2
    for (int i = 0; i < 2; ++i)
        two[i] = least(front2(four[2 * i], four[2 * i + 1]), back2(four[2 * i], four[2 * i + 1]));
    return least(front3(two[0], two[1]), back3(two[0], two[1]));
}

// --- Costs -------------------------------------------------------------------------------------------

// Sums of entries of `rows` rows (a multiple of 8) in V * 8 clusters.
template <class Code, int V>
CATALPA_TARGET void look_up(const SoftTables& t, const Aligned<std::int32_t>& table,
                            const Aligned<std::int32_t>& anchor, const Code* codes, std::size_t rows,
                            std::int32_t* out) {
    constexpr int at_once = V == 1 ? 8 : V == 2 ? 4 : 2;  // rows whose sums stay in registers
    const std::size_t groups = t.groups(), *offsets = t.offsets.data();
    for (std::size_t row = 0; row < rows; row += at_once) {
        Eight sums[at_once][V];
#pragma GCC unroll 8
        for (int r = 0; r < at_once; ++r)
#pragma GCC unroll 4
            for (int v = 0; v < V; ++v) sums[r][v] = load(anchor.data() + 8 * v);
        const Code* own = codes + row * groups;
        for (std::size_t group = 0; group < groups; ++group) {
            const std::int32_t* entries = table.data() + offsets[group] * (V * 8);
#pragma GCC unroll 8
            for (int r = 0; r < at_once; ++r) {
                const std::int32_t* entry = entries + static_cast<std::size_t>(own[r * groups + group]) * (V * 8);
#pragma GCC unroll 4
                for (int v = 0; v < V; ++v) sums[r][v] = sums[r][v] + load(entry + 8 * v);
            }
        }
#pragma GCC unroll 8
        for (int r = 0; r < at_once; ++r)
#pragma GCC unroll 4
            for (int v = 0; v < V; ++v) store(out + (row + r) * (V * 8) + 8 * v, sums[r][v]);
    }
}

// Where the entries of each row's places begin.
template <class Code>
CATALPA_TARGET void find_places(const SoftTables& t, const Code* codes, std::size_t rows, std::uint32_t* places) {
    const std::size_t groups = t.groups();
    for (std::size_t row = 0; row < rows; ++row)
        for (std::size_t group = 0; group < groups; ++group)
            places[row * groups + group] = static_cast<std::uint32_t>(
                (t.offsets[group] + static_cast<std::size_t>(codes[row * groups + group])) * t.lanes);
}

// Sums of entries of two rows in the V * 8 clusters from `lane` on.
template <int V>
CATALPA_INLINE void look_up_two(const SoftTables& t, const std::uint32_t* places, std::size_t lane, std::int32_t* out) {
    const std::size_t groups = t.groups();
    Eight sums[2][V];
#pragma GCC unroll 4
    for (int v = 0; v < V; ++v) sums[0][v] = sums[1][v] = load(t.anchor.data() + lane + 8 * v);
    for (std::size_t group = 0; group < groups; ++group)
#pragma GCC unroll 2
        for (int r = 0; r < 2; ++r) {
            const std::int32_t* entry = t.table.data() + places[r * groups + group] + lane;
#pragma GCC unroll 4
            for (int v = 0; v < V; ++v) sums[r][v] = sums[r][v] + load(entry + 8 * v);
        }
#pragma GCC unroll 2
    for (int r = 0; r < 2; ++r)
#pragma GCC unroll 4
        for (int v = 0; v < V; ++v) store(out + r * t.lanes + lane + 8 * v, sums[r][v]);
}

CATALPA_TARGET inline void look_up_many(const SoftTables& t, const std::uint32_t* places, std::size_t rows,
                                        std::int32_t* out) {
    for (std::size_t row = 0; row < rows; row += 2) {
        const std::uint32_t* own = places + row * t.groups();
        std::int32_t* to = out + row * t.lanes;
        std::size_t lane = 0;
        for (; lane + 32 <= t.lanes; lane += 32) look_up_two<4>(t, own, lane, to);
        switch ((t.lanes - lane) / 8) {
            case 1: look_up_two<1>(t, own, lane, to); break;
            case 2: look_up_two<2>(t, own, lane, to); break;
            case 3: look_up_two<3>(t, own, lane, to); break;
            default: break;
        }
    }
}

// Add what the numbers cost: doubles in the columns' order, capped, and rounded once to the nearest even.
CATALPA_TARGET inline void add_numbers(const SoftTables& t, const double* numbers, std::size_t rows, Chunk& chunk) {
    constexpr double magic = 6755399441055744.0;  // 1.5 * 2 ** 52: the sum's low bits are the rounded number
    double* part = chunk.part.data();
    for (std::size_t row = 0; row < rows; ++row) {
        std::fill_n(part, t.lanes, 0.0);
        for (std::size_t column = 0; column < t.numeric; ++column) {
            const double number = numbers[row * t.numeric + column];
            if (number != number) continue;
            const double *means = t.means.data() + column * t.lanes, *scale = t.scale.data() + column * t.lanes;
            const double* level = t.level.data() + column * t.lanes;
            for (std::size_t j = 0; j < t.lanes; ++j) {
                const double away = number - means[j];
                part[j] += level[j] + scale[j] * (away * away);
            }
        }
        std::int32_t* cost = chunk.cost.data() + row * t.lanes;
        for (std::size_t j = 0; j < t.lanes; ++j) {
            const double capped = (NUMBER_CAP < part[j] ? NUMBER_CAP : part[j]) + magic;
            std::int64_t form;
            std::memcpy(&form, &capped, sizeof form);
            cost[j] += static_cast<std::int32_t>(form);
        }
    }
}

// --- Shares of up to eight clusters: lanes are rows ----------------------------------------------------

struct Outcome {
    Eight low, leader, whole;
};

// Share eight rows out between K clusters.
template <int K>
CATALPA_INLINE Outcome share_out(const Eight cost[8], const Reach& reach, Eight gap[8], Eight share[8]) {
    Eight low = cost[0];
#pragma GCC unroll 8
    for (int j = 1; j < K; ++j) low = least(low, cost[j]);
    Eight leader = every(K - 1), whole = Eight{}, given = Eight{};
#pragma GCC unroll 8
    for (int j = K - 2; j >= 0; --j) leader = choose(equal(cost[j], low), every(j), leader);
    Singles powers[K];
#pragma GCC unroll 8
    for (int j = 0; j < K; ++j) {
        gap[j] = reach.gap(cost[j] - low);
        powers[j] = power(gap[j]);
        whole = whole + rounded(powers[j]);
    }
    const Singles factor = every(static_cast<float>(WHOLE)) / converted(whole);
#pragma GCC unroll 8
    for (int j = 0; j < K; ++j) {
        share[j] = rounded(powers[j] * factor);
        given = given + share[j];
    }
    const Eight rest = every(WHOLE) - given;
#pragma GCC unroll 8
    for (int j = 0; j < K; ++j) share[j] = share[j] + (equal(leader, every(j)) & rest);
    return {low, leader, whole};
}

template <int K, bool two, bool behind>
CATALPA_TARGET void share_few(const SoftTables& t, Chunk& chunk, std::size_t rows) {
    const Reach reach = reach_of(t);
    for (std::size_t row = 0; row < rows; row += 8) {
        Eight cost[8], gap[8], share[8] = {};
#pragma GCC unroll 8
        for (int r = 0; r < 8; ++r) cost[r] = load(chunk.cost.data() + (row + r) * 8);
        transpose(cost);
        Outcome found = share_out<K>(cost, reach, gap, share);
        if constexpr (two) {
            Eight rise[8];
#pragma GCC unroll 8
            for (int r = 0; r < 8; ++r) rise[r] = load(chunk.rise.data() + (row + r) * 8);
            transpose(rise);
#pragma GCC unroll 8
            for (int j = 0; j < K; ++j) cost[j] = cost[j] + risen(rise[j], share[j]);
            found = share_out<K>(cost, reach, gap, share);
        }
        if constexpr (behind) {
            Products sum = no_products();
#pragma GCC unroll 8
            for (int j = 0; j < K; ++j) sum = with_product(sum, share[j], gap[j]);
            store(chunk.behind.data() + row, sum);
        }
        store(chunk.low.data() + row, found.low);
        store(chunk.leader.data() + row, found.leader);
        store(chunk.log.data() + row, logarithm(found.whole));
        transpose(share);
#pragma GCC unroll 8
        for (int r = 0; r < 8; ++r) store(chunk.share.data() + (row + r) * 8, share[r]);
    }
}

template <int K>
CATALPA_TARGET void share_few(const SoftTables& t, Chunk& chunk, std::size_t rows) {
    if (t.two)
        share_few<K, true, true>(t, chunk, rows);
    else if (t.numeric)
        share_few<K, false, true>(t, chunk, rows);
    else
        share_few<K, false, false>(t, chunk, rows);
}

// --- Shares of more clusters: lanes are clusters. V vectors per row; 0: those on the row's list --------------

// List the vectors of a row that hold a cluster with a share.
CATALPA_INLINE std::uint32_t list_near(const SoftTables& t, const std::int32_t* cost, Eight low, std::uint16_t* list) {
    const Eight far = every(NEAR >> t.coarser);
    std::uint32_t listed = 0;
    for (std::size_t v = 0; v < t.vectors; ++v) {
        const Eight above = load(cost + 8 * v) - low;
        list[listed] = static_cast<std::uint16_t>(v);
        listed += lanes_of(equal(lesser(above, far), far)) != 0xFF;
    }
    return listed;
}

// One row's view of a chunk.
template <int V>
struct Row {
    std::int32_t *cost, *share;
    const std::uint16_t* list;
    std::uint32_t listed;

    CATALPA_INLINE Row(const SoftTables& t, Chunk& chunk, std::size_t row)
        : cost(chunk.cost.data() + row * t.lanes), share(chunk.share.data() + row * t.lanes),
          list(V ? nullptr : chunk.list.data() + row * t.vectors), listed(V ? V : chunk.listed[row]) {}
    CATALPA_INLINE std::uint32_t size() const { return V ? V : listed; }
    CATALPA_INLINE std::uint32_t vector(std::uint32_t i) const { return V ? i : list[i]; }
};

// Powers of one row into its shares; their sum, lane by lane; where the foremost cluster stands among them.
template <int V>
CATALPA_INLINE Eight row_powers(const Row<V>& row, Eight low, const Reach& reach, std::int32_t& leader) {
    Eight whole = Eight{};
    std::uint32_t zeros = 0;
    const std::uint32_t size = row.size();
#pragma GCC unroll 4
    for (std::uint32_t i = 0; i < size; ++i) {
        const Eight above = load(row.cost + 8 * row.vector(i)) - low;
        const Singles own = power(reach.gap(above));
        store(row.share + 8 * i, bits(own));
        whole = whole + rounded(own);
        const std::uint32_t zero = lanes_of(equal(above, Eight{}));
        if constexpr (V != 0)
            zeros |= zero << (8 * i);
        else if (zero != 0 && zeros == 0) {
            zeros = zero;
            leader = static_cast<std::int32_t>(8 * i) + __builtin_ctz(zero);
        }
    }
    if constexpr (V != 0) leader = __builtin_ctz(zeros);
    return whole;
}

// Share eight rows out, by their costs.
template <int V>
CATALPA_INLINE void share_eight(const SoftTables& t, Chunk& chunk, std::size_t row, const Reach& reach) {
    Eight across[8];
    alignas(32) std::int32_t leader[8], rest[8];
    alignas(32) float factor[8];
    const std::size_t vectors = V ? V : t.vectors;
#pragma GCC unroll 8
    for (int r = 0; r < 8; ++r) {
        const std::int32_t* cost = chunk.cost.data() + (row + r) * t.lanes;
        across[r] = load(cost);
#pragma GCC unroll 4
        for (std::size_t v = 1; v < vectors; ++v) across[r] = least(across[r], load(cost + 8 * v));
    }
    store(chunk.low.data() + row, least_across(across));
    for (int r = 0; r < 8; ++r) {
        const Eight low = every(chunk.low[row + r]);
        if constexpr (V == 0)
            chunk.listed[row + r] = list_near(t, chunk.cost.data() + (row + r) * t.lanes, low,
                                              chunk.list.data() + (row + r) * t.vectors);
        across[r] = row_powers(Row<V>(t, chunk, row + r), low, reach, leader[r]);
    }
    const Eight whole = summed_across(across);
    const Singles factors = every(static_cast<float>(WHOLE)) / converted(whole);
    std::memcpy(factor, &factors, sizeof factor);
    store(chunk.log.data() + row, logarithm(whole));
    for (int r = 0; r < 8; ++r) {
        const Row<V> own(t, chunk, row + r);
        const Singles by = every(factor[r]);
        across[r] = Eight{};
        const std::uint32_t size = own.size();
#pragma GCC unroll 4
        for (std::uint32_t i = 0; i < size; ++i) {
            const Eight share = rounded(singles(load(own.share + 8 * i)) * by);
            store(own.share + 8 * i, share);
            across[r] = across[r] + share;
        }
    }
    store(rest, every(WHOLE) - summed_across(across));
    for (int r = 0; r < 8; ++r) {
        const Row<V> own(t, chunk, row + r);
        own.share[leader[r]] += rest[r];
        chunk.leader[row + r] = static_cast<std::int32_t>(8 * own.vector(leader[r] / 8)) + leader[r] % 8;
    }
}

// Second costs of one row in place of its first ones.
template <int V>
CATALPA_INLINE void raise(const SoftTables& t, Chunk& chunk, std::size_t row) {
    const Row<V> own(t, chunk, row);
    const std::uint32_t size = own.size();
#pragma GCC unroll 4
    for (std::uint32_t i = 0; i < size; ++i) {
        const std::uint32_t lane = 8 * own.vector(i);
        Eight rise;
        if constexpr (V != 0) {
            rise = load(chunk.rise.data() + row * t.lanes + lane);
        } else {
            const std::uint32_t* places = chunk.places.data() + row * t.groups();
            rise = load(t.anchor_rise.data() + lane);
            for (std::size_t group = 0; group < t.groups(); ++group)
                rise = rise + load(t.rise.data() + places[group] + lane);
        }
        store(own.cost + lane, load(own.cost + lane) + risen(rise, load(own.share + 8 * i)));
    }
}

// Sum of share times gap over the clusters of one row.
template <int V>
CATALPA_INLINE std::int64_t row_behind(const SoftTables& t, Chunk& chunk, std::size_t row, const Reach& reach) {
    const Row<V> own(t, chunk, row);
    const Eight low = every(chunk.low[row]);
    Products sum = no_products();
    const std::uint32_t size = own.size();
#pragma GCC unroll 4
    for (std::uint32_t i = 0; i < size; ++i)
        sum = with_product(sum, load(own.share + 8 * i), reach.gap(load(own.cost + 8 * own.vector(i)) - low));
    std::int64_t lanes[8], total = 0;
    store(lanes, sum);
    for (const std::int64_t lane : lanes) total += lane;
    return total;
}

template <int V>
CATALPA_TARGET void share_many(const SoftTables& t, Chunk& chunk, std::size_t rows) {
    const Reach reach = reach_of(t);
    for (std::size_t row = 0; row < rows; row += 8) {
        share_eight<V>(t, chunk, row, reach);
        if (t.two) {
            for (std::size_t r = row; r < row + 8; ++r) raise<V>(t, chunk, r);
            share_eight<V>(t, chunk, row, reach);
        }
        if (t.two || t.numeric)
            for (std::size_t r = row; r < row + 8; ++r) chunk.behind[r] = row_behind<V>(t, chunk, r, reach);
    }
}

// --- Sums ------------------------------------------------------------------------------------------

// Least costs, log terms and gaps of some rows, whose weights add up to `weight`, and who leads in them.
CATALPA_TARGET inline void add_rows(const Chunk& chunk, std::size_t rows, const std::int64_t* weights,
                                    std::uint64_t weight, bool by_gaps, SoftSums& sums) {
    const std::int32_t *low = chunk.low.data(), *log = chunk.log.data(), *leader = chunk.leader.data();
    const std::int64_t* behind = chunk.behind.data();
    for (std::size_t row = 0; row < rows; ++row) ++sums.led[row % LED_COPIES * sums.tables.k + leader[row]];
    if (weights != nullptr && weight >> 22) {
        for (std::size_t row = 0; row < rows; ++row) {
            sums.cost += static_cast<Int128>(weights[row]) * low[row];
            sums.log += static_cast<Int128>(weights[row]) * log[row];
            if (by_gaps) sums.behind += static_cast<Int128>(weights[row]) * behind[row];
        }
        return;
    }
    std::int64_t costs = 0, logs = 0, gaps = 0;  // a gap takes 41 bits, all weights 22
    if (weights == nullptr) {
        for (std::size_t row = 0; row < rows; ++row) costs += low[row];
        for (std::size_t row = 0; row < rows; ++row) logs += log[row];
        for (std::size_t row = 0; row < rows && by_gaps; ++row) gaps += behind[row];
    } else {
        for (std::size_t row = 0; row < rows; ++row) costs += weights[row] * low[row];
        for (std::size_t row = 0; row < rows; ++row) logs += weights[row] * log[row];
        for (std::size_t row = 0; row < rows && by_gaps; ++row) gaps += weights[row] * behind[row];
    }
    sums.cost += costs;
    sums.log += logs;
    sums.behind += gaps;
}

// Shares of one row over all its lanes.
template <int V>
CATALPA_INLINE const std::int32_t* spread_out(const SoftTables& t, Chunk& chunk, std::size_t row) {
    if constexpr (V != 0) {
        return chunk.share.data() + row * (V * 8);
    } else {
        const Row<V> own(t, chunk, row);
        std::int32_t* full = chunk.full.data();
        std::fill_n(full, t.lanes, 0);
        for (std::uint32_t i = 0; i < own.size(); ++i) store(full + 8 * own.vector(i), load(own.share + 8 * i));
        return full;
    }
}

alignas(32) constexpr std::int32_t FIRST_LANES[16] = {-1, -1, -1, -1, -1, -1, -1, -1, 0, 0, 0, 0, 0, 0, 0, 0};

// Write shares of rows from `begin` on, and add up how much they changed. Vectors reach into the next row,
// which is written later; near the end of the block there is none, and a copy takes their place.
template <int V>
CATALPA_TARGET void remember(const SoftTables& t, const SoftBlock& block, std::size_t begin, std::size_t rows,
                             std::uint64_t weight, Chunk& chunk, SoftSums& sums) {
    const std::size_t k = t.k, vectors = V ? V : t.vectors;
    const Eight last = load(FIRST_LANES + (t.lanes - k));
    const bool heavy = weight > NARROW_WEIGHT;
    Eight light = Eight{};
    std::vector<std::int32_t> copy(block.before != nullptr ? t.lanes : 0);
    for (std::size_t row = begin; row < begin + rows; ++row) {
        const std::int32_t* share = spread_out<V>(t, chunk, row - begin);
        const bool inside = row * k + t.lanes <= block.rows * k;
        if (block.shares != nullptr) {
            std::int32_t* to = block.shares + row * k;
            if (inside)
#pragma GCC unroll 4
                for (std::size_t v = 0; v < vectors; ++v) store(to + 8 * v, load(share + 8 * v));
            else
                std::copy_n(share, k, to);
        }
        if (block.before == nullptr) continue;
        const std::int32_t* old = block.before + row * k;
        if (!inside) old = (std::copy_n(old, k, copy.data()), copy.data());
        Eight changed = magnitude(load(share + 8 * (vectors - 1)) - (load(old + 8 * (vectors - 1)) & last));
#pragma GCC unroll 4
        for (std::size_t v = 0; v + 1 < vectors; ++v)
            changed = changed + magnitude(load(share + 8 * v) - load(old + 8 * v));
        if (heavy) {
            std::int32_t lanes[8];
            store(lanes, changed);
            std::int64_t total = 0;
            for (const std::int32_t lane : lanes) total += lane;
            sums.change += static_cast<Int128>(block.weights[row]) * total;
        } else {
            light = light + (block.weights ? changed * every(static_cast<std::int32_t>(block.weights[row])) : changed);
        }
    }
    std::uint32_t lanes[8];
    std::memcpy(lanes, &light, sizeof lanes);
    for (const std::uint32_t lane : lanes) sums.change += lane;
}

// Sums, squares and presence of the numbers of one row; the shift comes before the weight.
CATALPA_TARGET inline void count_numbers(const SoftTables& t, const double* numbers, const std::int32_t* share,
                                         std::int64_t weight, SoftSums& sums) {
    for (std::size_t column = 0; column < t.numeric; ++column) {
        if (numbers[column] != numbers[column]) continue;
        const auto tick = static_cast<std::int64_t>(std::rint(numbers[column] * (1 << TICK_BITS)));
        const std::int64_t square = times(tick, tick) >> (2 * TICK_BITS - SQUARE_BITS);
        std::int64_t* sum = sums.sums.data() + column * t.lanes;
        std::int64_t* squares = sums.squares.data() + column * t.lanes;
        std::int64_t* seen = sums.seen.data() + column * t.lanes;
        if (tick >= 0 && tick <= 1 << TICK_BITS && weight >> 32 == 0) {
            const auto x = static_cast<std::uint32_t>(tick), xx = static_cast<std::uint32_t>(square);
            const auto w = static_cast<std::uint32_t>(weight);
            for (std::size_t j = 0; j < t.lanes; ++j) {
                const std::uint64_t own = static_cast<std::uint32_t>(share[j]);
                sum[j] += static_cast<std::int64_t>(std::uint64_t{static_cast<std::uint32_t>(own * x >> SUM_DROP)} * w);
                squares[j] +=
                    static_cast<std::int64_t>(std::uint64_t{static_cast<std::uint32_t>(own * xx >> SQUARE_DROP)} * w);
                seen[j] += static_cast<std::int64_t>(own * w);
            }
            continue;
        }
        for (std::size_t j = 0; j < t.lanes; ++j) {
            sum[j] += times(times(share[j], tick) >> SUM_DROP, weight);
            squares[j] += times(times(share[j], square) >> SQUARE_DROP, weight);
            seen[j] += times(share[j], weight);
        }
    }
}

// Weigh shares in 32 bits, and add up sizes.
template <int V>
CATALPA_TARGET void weigh(const SoftTables& t, const std::int64_t* weights, std::size_t rows, Chunk& chunk,
                          SoftSums& sums) {
    auto* sizes = reinterpret_cast<std::int32_t*>(sums.chunk_sizes.data());
    sums.chunk_sizes.clear();
    for (std::size_t row = 0; row < rows; ++row) {
        const Row<V> own(t, chunk, row);
        const Eight weight = every(weights ? static_cast<std::int32_t>(weights[row]) : 1);
        const std::uint32_t size = own.size();
#pragma GCC unroll 4
        for (std::uint32_t i = 0; i < size; ++i) {
            Eight share = load(own.share + 8 * i);
            if (weights) store(own.share + 8 * i, share = share * weight);
            std::int32_t* size = sizes + 8 * own.vector(i);
            store(size, load(size) + share);
        }
    }
    sums.add_sizes();
}

// Add shares of G groups of V * 8 clusters; more groups than one, so that rows of equal codes wait less for each other.
template <class Code, int V, int G>
CATALPA_INLINE void count_groups(const Code* codes, std::size_t groups, const std::size_t* offsets, std::size_t rows,
                                 const std::int32_t* share, std::int32_t* counts) {
    std::int32_t* base[G];
    for (int g = 0; g < G; ++g) base[g] = counts + offsets[g] * (V * 8);
    for (std::size_t row = 0; row < rows; ++row) {
        Eight own[V];
#pragma GCC unroll 4
        for (int v = 0; v < V; ++v) own[v] = load(share + row * (V * 8) + 8 * v);
#pragma GCC unroll 4
        for (int g = 0; g < G; ++g) {
            std::int32_t* to = base[g] + static_cast<std::size_t>(codes[row * groups + g]) * (V * 8);
#pragma GCC unroll 4
            for (int v = 0; v < V; ++v) store(to + 8 * v, load(to + 8 * v) + own[v]);
        }
    }
}

template <class Code, int V>
CATALPA_TARGET void count_few(const SoftTables& t, const Code* codes, std::size_t rows, const Chunk& chunk,
                              SoftSums& sums) {
    auto* counts = reinterpret_cast<std::int32_t*>(sums.narrow.data());
    const std::size_t groups = t.groups(), *offsets = t.offsets.data();
    std::size_t group = 0;
    for (; group + 4 <= groups; group += 4)
        count_groups<Code, V, 4>(codes + group, groups, offsets + group, rows, chunk.share.data(), counts);
    for (; group < groups; ++group)
        count_groups<Code, V, 1>(codes + group, groups, offsets + group, rows, chunk.share.data(), counts);
}

// Add the listed shares of every row.
CATALPA_TARGET inline void count_listed(const SoftTables& t, std::size_t rows, Chunk& chunk, SoftSums& sums) {
    auto* counts = reinterpret_cast<std::int32_t*>(sums.narrow.data());
    const std::size_t groups = t.groups();
    for (std::size_t row = 0; row < rows; ++row) {
        const Row<0> own(t, chunk, row);
        const std::uint32_t* places = chunk.places.data() + row * groups;
        for (std::uint32_t i = 0; i < own.size(); ++i) {
            const Eight share = load(own.share + 8 * i);
            std::int32_t* to = counts + 8 * own.vector(i);
            for (std::size_t group = 0; group < groups; ++group)
                store(to + places[group], load(to + places[group]) + share);
        }
    }
}

// Count in 64 bits, for weights that 32 do not hold.
template <int V, class Code>
CATALPA_TARGET void count_heavy(const SoftTables& t, const Code* codes, const std::int64_t* weights, std::size_t rows,
                                Chunk& chunk, SoftSums& sums) {
    const std::size_t lanes = V ? V * 8 : t.lanes, groups = t.groups();
    if (chunk.heavy.size() == 0) chunk.heavy = Aligned<std::uint64_t>(lanes);
    std::uint64_t *own = chunk.heavy.data(), *sizes = sums.sizes.data();
    for (std::size_t row = 0; row < rows; ++row) {
        const std::int32_t* share = spread_out<V>(t, chunk, row);
        const std::uint64_t weight = weights ? static_cast<std::uint64_t>(weights[row]) : 1;
        if (weight >> 32)
            for (std::size_t j = 0; j < lanes; ++j) own[j] = static_cast<std::uint32_t>(share[j]) * weight;
        else
            for (std::size_t j = 0; j < lanes; ++j)
                own[j] = std::uint64_t{static_cast<std::uint32_t>(share[j])} * static_cast<std::uint32_t>(weight);
        for (std::size_t j = 0; j < lanes; ++j) sizes[j] += own[j];
        for (std::size_t group = 0; group < groups; ++group) {
            const std::size_t place = t.offsets[group] + static_cast<std::size_t>(codes[row * groups + group]);
            std::uint64_t* to = sums.wide.data() + place * lanes;
            for (std::size_t j = 0; j < lanes; ++j) to[j] += own[j];
        }
    }
}

// --- A chunk, and a block --------------------------------------------------------------------------------

template <int V, class Code>
CATALPA_TARGET void share_chunk(const SoftTables& t, const Code* codes, const double* numbers, std::size_t rows,
                                Chunk& chunk) {
    const std::size_t whole = (rows + 7) / 8 * 8;
    if constexpr (V != 0) {
        look_up<Code, V>(t, t.table, t.anchor, codes, whole, chunk.cost.data());
        if (t.two) look_up<Code, V>(t, t.rise, t.anchor_rise, codes, whole, chunk.rise.data());
    } else {
        find_places(t, codes, whole, chunk.places.data());
        look_up_many(t, chunk.places.data(), whole, chunk.cost.data());
    }
    if (t.numeric) add_numbers(t, numbers, rows, chunk);
    if constexpr (V == 1) {
        switch (t.k) {
            case 1: return share_few<1>(t, chunk, whole);
            case 2: return share_few<2>(t, chunk, whole);
            case 3: return share_few<3>(t, chunk, whole);
            case 4: return share_few<4>(t, chunk, whole);
            case 5: return share_few<5>(t, chunk, whole);
            case 6: return share_few<6>(t, chunk, whole);
            case 7: return share_few<7>(t, chunk, whole);
            default: return share_few<8>(t, chunk, whole);
        }
    } else {
        share_many<V>(t, chunk, whole);
    }
}

template <int V, class Code>
CATALPA_TARGET void count_chunk(const SoftTables& t, const SoftBlock& block, const Code* codes, std::size_t begin,
                                std::size_t rows, Chunk& chunk, SoftSums& sums) {
    const std::int64_t* weights = block.weights ? block.weights + begin : nullptr;
    std::uint64_t weight = rows;
    if (weights) {
        weight = 0;
        for (std::size_t row = 0; row < rows; ++row) weight += static_cast<std::uint64_t>(weights[row]);
    }
    add_rows(chunk, rows, weights, weight, t.two || t.numeric, sums);
    if (block.shares != nullptr || block.before != nullptr)
        remember<V>(t, block, begin, rows, weight, chunk, sums);
    if (t.numeric)
        for (std::size_t row = 0; row < rows; ++row)
            count_numbers(t, block.numbers + (begin + row) * t.numeric, spread_out<V>(t, chunk, row),
                          weights ? weights[row] : 1, sums);
    if (!block.narrow || weight > NARROW_WEIGHT) return count_heavy<V>(t, codes, weights, rows, chunk, sums);
    sums.make_room(weight);
    weigh<V>(t, weights, rows, chunk, sums);
    if constexpr (V != 0)
        count_few<Code, V>(t, codes, rows, chunk, sums);
    else
        count_listed(t, rows, chunk, sums);
}

template <int V, class Code>
CATALPA_TARGET void share_rows(const SoftTables& t, const SoftBlock& block, const Code* codes, SoftSums& sums) {
    Chunk chunk(t);
    const std::size_t at_once = t.chunk_rows();
    for (std::size_t begin = 0; begin < block.rows; begin += at_once) {
        const std::size_t rows = std::min(at_once, block.rows - begin);
        const Code* own = codes + begin * t.groups();
        share_chunk<V>(t, own, block.numbers + begin * t.numeric, rows, chunk);
        count_chunk<V>(t, block, own, begin, rows, chunk, sums);
        for (std::size_t row = 0; row < rows; ++row)
            block.leaders[begin + row] = static_cast<std::uint16_t>(chunk.leader[row]);
    }
}

template <class Code>
CATALPA_TARGET void share_block(const SoftTables& t, const SoftBlock& block, const Code* codes, SoftSums& sums) {
    switch (t.vectors) {
        case 1: return share_rows<1>(t, block, codes, sums);
        case 2: return share_rows<2>(t, block, codes, sums);
        case 3: return share_rows<3>(t, block, codes, sums);
        case 4: return share_rows<4>(t, block, codes, sums);
        default: return share_rows<0>(t, block, codes, sums);
    }
}

}  // namespace CATALPA_LEVEL
