// What is added up of the rows of a soft pass, compiled once per instruction set by each_level.hpp.

namespace CATALPA_LEVEL {

// Least costs, log terms and gaps of some rows, whose weights add up to `weight`, and who leads in them.
CATALPA_TARGET inline void add_rows(const Chunk& chunk, std::size_t rows, const std::int64_t* weights,
                                    std::uint64_t weight, bool by_gaps, bool owns, SoftSums& sums) {
    const std::int32_t *low = chunk.low.data(), *log = chunk.log.data(), *leader = chunk.leader.data();
    const std::int64_t* behind = chunk.behind.data();
    std::int64_t* led = sums.led.data();
    const std::size_t k = sums.tables.k;
    std::size_t at = owns ? rows : 0;
    for (; at + LED_COPIES <= rows; at += LED_COPIES)
#pragma GCC unroll 4
        for (std::size_t copy = 0; copy < LED_COPIES; ++copy) ++led[copy * k + leader[at + copy]];
    for (; at < rows; ++at) ++led[leader[at]];
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

// Sum of the absolute differences of two rows of shares, lane by lane; `last` masks the last vector.
template <int V>
CATALPA_INLINE Eight differences(const std::int32_t* share, const std::int32_t* before, std::size_t lanes, Eight last) {
    const std::size_t end = (V ? V * 8 : lanes) - 8;
    Eight sum = magnitude(load(share + end) - (load(before + end) & last));
#pragma GCC unroll 4
    for (std::size_t lane = 0; lane < end; lane += 8) sum = sum + magnitude(load(share + lane) - load(before + lane));
    return sum;
}

// Former shares of a row, of which whole vectors can be read.
CATALPA_INLINE const std::int32_t* former(const SoftTables& t, const SoftBlock& block, std::size_t row, Chunk& chunk) {
    const std::int32_t* own = block.before + row * t.k;
    if (row < block.inside) return own;
    std::copy_n(own, t.k, chunk.tail.data());
    return chunk.tail.data();
}

// Add up how much the shares of rows from `begin` on changed; 32 bits hold what the rows weigh.
template <int V, bool weighted>
CATALPA_TARGET void add_changes(const SoftTables& t, const SoftBlock& block, std::size_t begin, std::size_t rows,
                                Chunk& chunk, SoftSums& sums) {
    const Eight last = load(FIRST_LANES + (t.lanes - t.k));
    Eight sum = Eight{};
    for (std::size_t row = 0; row < rows; ++row) {
        const std::int32_t* before = former(t, block, begin + row, chunk);
        const Eight changed = differences<V>(spread_out<V>(t, chunk, row), before, t.lanes, last);
        sum = sum + (weighted ? changed * every(static_cast<std::int32_t>(block.weights[begin + row])) : changed);
    }
    std::uint32_t lanes[8];
    std::memcpy(lanes, &sum, sizeof lanes);
    for (const std::uint32_t lane : lanes) sums.change += lane;
}

template <int V>
CATALPA_TARGET void add_changes(const SoftTables& t, const SoftBlock& block, std::size_t begin, std::size_t rows,
                                std::uint64_t weight, Chunk& chunk, SoftSums& sums) {
    if (block.weights == nullptr) return add_changes<V, false>(t, block, begin, rows, chunk, sums);
    if (weight <= NARROW_WEIGHT) return add_changes<V, true>(t, block, begin, rows, chunk, sums);
    const Eight last = load(FIRST_LANES + (t.lanes - t.k));
    for (std::size_t row = 0; row < rows; ++row) {
        const std::int32_t* before = former(t, block, begin + row, chunk);
        const Eight changed = differences<V>(spread_out<V>(t, chunk, row), before, t.lanes, last);
        std::int32_t lanes[8];
        store(lanes, changed);
        for (const std::int32_t lane : lanes) sums.change += static_cast<Int128>(block.weights[begin + row]) * lane;
    }
}

// Write the shares of rows from `begin` on. Vectors reach into the next row, which is written later.
template <int V>
CATALPA_TARGET void keep_shares(const SoftTables& t, const SoftBlock& block, std::size_t begin, std::size_t rows,
                                Chunk& chunk) {
    const std::size_t lanes = V ? V * 8 : t.lanes;
    std::int32_t* to = block.shares + begin * t.k;
    for (std::size_t row = 0; row < rows; ++row, to += t.k) {
        const std::int32_t* share = spread_out<V>(t, chunk, row);
        if (begin + row >= block.inside) {
            std::copy_n(share, t.k, to);
            continue;
        }
#pragma GCC unroll 4
        for (std::size_t lane = 0; lane < lanes; lane += 8) store(to + lane, load(share + lane));
    }
}

// Rows of a chunk that are counted together.
struct Run {
    std::size_t begin, end;
};

// How many of them several clusters share, and how many one has whole.
struct Parted {
    std::size_t shared, owned;
};

// Part the rows by whether one cluster has them whole: then no other power was more than nothing.
CATALPA_TARGET inline Parted part(Run run, Chunk& chunk) {
    std::uint32_t *shared = chunk.shared.data(), *owned = chunk.owned.data();
    const std::int32_t* whole = chunk.whole.data();
    for (std::size_t row = run.begin; row < run.end; ++row) {
        *shared = *owned = static_cast<std::uint32_t>(row);
        const bool one = whole[row] == WHOLE;
        shared += !one;
        owned += one;
    }
    return {static_cast<std::size_t>(shared - chunk.shared.data()), static_cast<std::size_t>(owned - chunk.owned.data())};
}

// Add the shares of a row of V vectors, weighed, to its places and to the sizes.
template <int V>
CATALPA_INLINE void count_row(const std::int32_t* own, const std::int64_t* weight, const std::uint32_t* place,
                              std::size_t groups, std::int32_t* counts, Eight sizes[V]) {
    Eight share[V];
#pragma GCC unroll 4
    for (int v = 0; v < V; ++v) {
        share[v] = load(own + 8 * v);
        if (weight) share[v] = share[v] * every(static_cast<std::int32_t>(*weight));
        sizes[v] = sizes[v] + share[v];
    }
    const std::uint32_t* end = place + groups;
    for (; place + 4 <= end; place += 4)
#pragma GCC unroll 4
        for (int g = 0; g < 4; ++g)
#pragma GCC unroll 4
            for (int v = 0; v < V; ++v) {
                std::int32_t* to = counts + place[g] + 8 * v;
                store(to, load(to) + share[v]);
            }
    for (; place < end; ++place)
#pragma GCC unroll 4
        for (int v = 0; v < V; ++v) {
            std::int32_t* to = counts + *place + 8 * v;
            store(to, load(to) + share[v]);
        }
}

// Add a row that one cluster has whole.
CATALPA_INLINE void count_owned(std::uint32_t all, const std::uint32_t* place, std::size_t groups,
                                std::uint32_t* counts) {
    const std::uint32_t* end = place + groups;
    for (; place + 4 <= end; place += 4)
#pragma GCC unroll 4
        for (int g = 0; g < 4; ++g) counts[place[g]] += all;
    for (; place < end; ++place) counts[*place] += all;
}

// Add weighed rows of V vectors. From two vectors on it pays to treat the rows apart that one cluster has whole.
template <int V>
CATALPA_TARGET void count_looped(const SoftTables& t, const std::int64_t* weights, Run run, Chunk& chunk,
                                 SoftSums& sums) {
    auto *counts = sums.narrow.data(), *sizes = sums.run_sizes.data();
    const std::uint32_t* places = chunk.places.data();
    const std::size_t groups = t.groups();
    const Parted parted = V == 1 ? Parted{run.end - run.begin, 0} : part(run, chunk);
    Eight total[V] = {};
    for (std::size_t i = 0; i < parted.shared; ++i) {
        const std::size_t row = V == 1 ? run.begin + i : chunk.shared[i];
        count_row<V>(chunk.share.data() + row * (V * 8), weights ? weights + row : nullptr, places + row * groups, groups,
                     reinterpret_cast<std::int32_t*>(counts), total);
    }
#pragma GCC unroll 4
    for (int v = 0; v < V; ++v) store(reinterpret_cast<std::int32_t*>(sizes) + 8 * v, total[v]);
    for (std::size_t i = 0; i < parted.owned; ++i) {
        const std::size_t row = chunk.owned[i], leader = static_cast<std::size_t>(chunk.leader[row]);
        const std::uint32_t all = static_cast<std::uint32_t>(weights ? weights[row] : 1) << SHARE_BITS;
        sizes[leader] += all;
        count_owned(all, places + row * groups, groups, counts + leader);
    }
}

CATALPA_INLINE void narrowed(const std::int32_t* __restrict from, std::size_t size, std::uint8_t* __restrict to) {
    for (std::size_t i = 0; i < size; ++i) to[i] = static_cast<std::uint8_t>(from[i]);
}

// Add rows of V vectors that weigh alike: those on the list, and of the others those whose owner is not the one of the
// pass before.
template <int V>
CATALPA_TARGET void count_by_owner(const SoftTables& t, std::size_t begin, std::size_t rows, Chunk& chunk,
                                   SoftSums& sums) {
    const std::size_t groups = t.groups(), k = t.k;
    const std::uint32_t* places = chunk.places.data();
    std::uint8_t *near = chunk.near.data(), *before = sums.owned.owners.data() + begin, now[MOST_ROWS];
    narrowed(chunk.owner.data(), rows, now);
    std::uint8_t* end = near;
    for (std::size_t row = 0; row < rows; row += 8)
        end = LANE_LISTS.append(lanes_of(equal(load(chunk.owner.data() + row), every(Owned::NOBODY))), row, end);
    while (end != near && end[-1] >= rows) --end;
    const auto shared = static_cast<std::size_t>(end - near);
    const std::int32_t* leader = chunk.leader.data();
    std::int64_t* led = sums.led.data();
    std::size_t i = 0;
    for (; i + LED_COPIES <= shared; i += LED_COPIES)
#pragma GCC unroll 4
        for (std::size_t copy = 0; copy < LED_COPIES; ++copy) ++led[copy * k + leader[near[i + copy]]];
    for (; i < shared; ++i) ++led[leader[near[i]]];
    for (std::size_t row = 0; row < rows; ++row) {
        if (row % 8 == 0 && row + 8 <= rows && std::memcmp(now + row, before + row, 8) == 0)
            row += 7;
        else if (now[row] != before[row])
            sums.owned.move(before[row], now[row], places + row * groups, groups);
    }
    std::copy_n(now, rows, before);
    sums.make_room(rows);
    Eight total[V] = {};
    auto* counts = reinterpret_cast<std::int32_t*>(sums.narrow.data());
    const std::int32_t* shares = chunk.share.data();
    for (i = 0; i < shared; ++i) {
        const std::size_t row = near[i];
        count_row<V>(shares + row * (V * 8), nullptr, places + row * groups, groups, counts, total);
    }
#pragma GCC unroll 4
    for (int v = 0; v < V; ++v) store(reinterpret_cast<std::int32_t*>(sums.run_sizes.data()) + 8 * v, total[v]);
    sums.add_sizes();
}

// Add the listed vectors.
CATALPA_TARGET inline void count_listed(const SoftTables& t, const std::int64_t* weights, Run run, const Chunk& chunk,
                                        SoftSums& sums) {
    auto* counts = reinterpret_cast<std::int32_t*>(sums.narrow.data());
    auto* sizes = reinterpret_cast<std::int32_t*>(sums.run_sizes.data());
    const std::size_t groups = t.groups();
    const std::uint32_t end = chunk.first[run.end];
    sums.run_sizes.clear();
    for (std::uint32_t i = chunk.first[run.begin]; i < end; ++i) {
        const Listed at = chunk.listed[i];
        const std::uint32_t* places = chunk.places.data() + at.row * groups;
        Eight share = load(chunk.share.data() + 8 * i);
        if (weights) share = share * every(static_cast<std::int32_t>(weights[at.row]));
        store(sizes + at.lane, load(sizes + at.lane) + share);
        for (std::size_t group = 0; group < groups; ++group) {
            std::int32_t* to = counts + at.lane + places[group];
            store(to, load(to) + share);
        }
    }
}

// Weight times share, modulo 2 ** 64 as NumPy has it.
CATALPA_INLINE void weigh_heavy(const std::int32_t* share, std::uint64_t weight, std::size_t lanes, std::uint64_t* out) {
    const auto low = static_cast<std::uint32_t>(weight);
    for (std::size_t j = 0; j < lanes; ++j) out[j] = std::uint64_t{static_cast<std::uint32_t>(share[j])} * low;
    if (weight >> 32)
        for (std::size_t j = 0; j < lanes; ++j)
            out[j] += std::uint64_t{static_cast<std::uint32_t>(share[j])} * (weight >> 32) << 32;
}

// Count in 64 bits, for weights that 32 do not hold.
template <int V>
CATALPA_TARGET void count_heavy(const SoftTables& t, const std::int64_t* weights, Run run, Chunk& chunk,
                                SoftSums& sums) {
    const std::size_t lanes = V ? V * 8 : t.lanes, groups = t.groups();
    sums.make_wide();
    std::uint64_t *own = chunk.heavy.data(), *counts = sums.wide.data();
    for (std::size_t row = run.begin; row < run.end; ++row) {
        weigh_heavy(spread_out<V>(t, chunk, row), weights ? static_cast<std::uint64_t>(weights[row]) : 1, lanes, own);
        add_longs(own, lanes, sums.sizes.data());
        const std::uint32_t* places = chunk.places.data() + row * groups;
        for (std::size_t group = 0; group < groups; ++group) add_longs(own, lanes, counts + places[group]);
    }
}

// --- A chunk, and a block --------------------------------------------------------------------------------

template <int V>
CATALPA_TARGET void share_chunk(const SoftTables& t, const SoftBlock& block, std::size_t begin, std::size_t rows,
                                Chunk& chunk) {
    const std::size_t whole = (rows + 7) / 8 * 8, cell = begin * t.groups();
    with_type(block.code_bytes, block.codes, [&](auto* codes) { find_places(t, codes + cell, whole, chunk.places.data()); });
    if constexpr (V == 0)
        look_up_many(t, whole, chunk);
    else if (t.two)
        look_up<V, true>(t, whole, 0, chunk);
    else
        look_up<V, false>(t, whole, 0, chunk);
    if (t.numeric) add_numbers(t, *block.numbers, begin, whole, chunk);
    if (t.coarser)
        share_out<V, true>(t, chunk, whole);
    else
        share_out<V, false>(t, chunk, whole);
}

// Rows from `begin` on that 32 bits hold together, or one that they do not hold; what they weigh.
CATALPA_INLINE std::uint64_t next_run(const std::int64_t* weights, std::size_t rows, Run& run) {
    run.begin = run.end;
    std::uint64_t weight = 0;
    do
        weight += static_cast<std::uint64_t>(weights[run.end++]);
    while (run.end < rows && weight + static_cast<std::uint64_t>(weights[run.end]) <= NARROW_WEIGHT);
    return weight;
}

template <int V>
CATALPA_TARGET void count_run(const SoftTables& t, const std::int64_t* weights, Run run, std::uint64_t weight,
                              Chunk& chunk, SoftSums& sums) {
    sums.make_room(weight);
    if constexpr (V == 0)
        count_listed(t, weights, run, chunk, sums);
    else
        count_looped<V>(t, weights, run, chunk, sums);
    sums.add_sizes();
}

template <int V>
CATALPA_TARGET void count_chunk(const SoftTables& t, const SoftBlock& block, std::size_t begin, std::size_t rows,
                                Chunk& chunk, SoftSums& sums) {
    const std::int64_t* weights = block.weights ? block.weights + begin : nullptr;
    const std::uint64_t weight = weights ? std::accumulate(weights, weights + rows, std::uint64_t{0}) : rows;
    add_rows(chunk, rows, weights, weight, t.two || t.numeric, block.owns, sums);
    if (block.before != nullptr) add_changes<V>(t, block, begin, rows, weight, chunk, sums);
    if (block.shares != nullptr) keep_shares<V>(t, block, begin, rows, chunk);
    if (t.numeric) count_numbers<V>(t, *block.numbers, begin, weights, rows, chunk, sums);
    if constexpr (V != 0)
        if (block.owns) return count_by_owner<V>(t, begin, rows, chunk, sums);
    if (!block.narrow) return count_heavy<V>(t, weights, {0, rows}, chunk, sums);
    if (weight <= NARROW_WEIGHT) return count_run<V>(t, weights, {0, rows}, weight, chunk, sums);
    for (Run run{0, 0}; run.end < rows;) {
        const std::uint64_t own = next_run(weights, rows, run);
        if (own <= NARROW_WEIGHT)
            count_run<V>(t, weights, run, own, chunk, sums);
        else
            count_heavy<V>(t, weights, run, chunk, sums);
    }
}

// Write the foremost clusters of rows from `begin` on; how many are not those of the pass before.
template <class Leader>
CATALPA_TARGET std::int64_t move_leaders(const Chunk& chunk, std::size_t rows, std::size_t begin, const void* former,
                                         Leader* leaders) {
    const std::int32_t* found = chunk.leader.data();
    Leader* to = leaders + begin;
    for (std::size_t row = 0; row < rows; ++row) to[row] = static_cast<Leader>(found[row]);
    if (former == nullptr) return static_cast<std::int64_t>(rows);
    const Leader* from = static_cast<const Leader*>(former) + begin;
    std::int32_t moved = 0;
    for (std::size_t row = 0; row < rows; ++row) moved += from[row] != to[row];
    return moved;
}

template <int V>
CATALPA_TARGET void share_rows(const SoftTables& t, const SoftBlock& block, SoftSums& sums) {
    Chunk chunk(t, block.spread);
    const std::size_t at_once = t.chunk_rows();
    for (std::size_t begin = 0; begin < block.rows; begin += at_once) {
        const std::size_t rows = std::min(at_once, block.rows - begin);
        share_chunk<V>(t, block, begin, rows, chunk);
        count_chunk<V>(t, block, begin, rows, chunk, sums);
        if (block.leader_bytes == 1)
            sums.moved += move_leaders(chunk, rows, begin, block.former, static_cast<std::uint8_t*>(block.leaders));
        else
            sums.moved += move_leaders(chunk, rows, begin, block.former, static_cast<std::uint16_t*>(block.leaders));
    }
}

CATALPA_TARGET inline void share_block(const SoftTables& t, const SoftBlock& block, SoftSums& sums) {
    switch (t.vectors) {
        case 1: return share_rows<1>(t, block, sums);
        case 2: return share_rows<2>(t, block, sums);
        case 3: return share_rows<3>(t, block, sums);
        case 4: return share_rows<4>(t, block, sums);
        default: return share_rows<0>(t, block, sums);
    }
}

}  // namespace CATALPA_LEVEL
