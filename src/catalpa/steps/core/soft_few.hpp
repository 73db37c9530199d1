// Shares where there are at most eight clusters, compiled once per instruction set by each_level.hpp. Lanes are rows:
// eight rows by eight clusters are transposed.
//
// Most rows have no second cluster near, and go to their foremost cluster whole. Powers are found for the others
// alone, which are listed.

namespace CATALPA_LEVEL {

// Least costs and foremost clusters of eight rows by their costs; what each cluster's lies below the least.
template <int K>
CATALPA_INLINE void few_lows(Eight cost[8], std::int32_t* lows, std::int32_t* leaders) {
    Eight low = cost[0], leader = every(K - 1);
#pragma GCC unroll 8
    for (int j = 1; j < K; ++j) low = least(low, cost[j]);
#pragma GCC unroll 8
    for (int j = K - 2; j >= 0; --j) leader = choose(equal(cost[j], low), every(j), leader);
#pragma GCC unroll 8
    for (int j = 0; j < K; ++j) cost[j] = low - cost[j];
    store(lows, low);
    store(leaders, leader);
}

// Every row on the list, where most have a second cluster near.
template <int K>
CATALPA_TARGET void few_all(Chunk& chunk, std::size_t rows) {
    for (std::size_t row = 0; row < rows; row += 8) {
        Eight cost[8];
#pragma GCC unroll 8
        for (int r = 0; r < 8; ++r) cost[r] = load(chunk.cost.data() + (row + r) * 8);
        transpose(cost);
        few_lows<K>(cost, chunk.low.data() + row, chunk.near_leader.data() + row);
        store(chunk.leader.data() + row, load(chunk.near_leader.data() + row));
#pragma GCC unroll 8
        for (int j = 0; j < K; ++j) store(chunk.near_below.data() + (row + j) * 8, cost[j]);
        store(chunk.owner.data() + row, every(Owned::NOBODY));
    }
    chunk.nears = rows;
}

// Least costs, foremost clusters, and shares as if no row had a second cluster near; a list of those that have one.
template <int K>
CATALPA_TARGET void few_leaders(const SoftTables& t, Chunk& chunk, std::size_t rows) {
    const Eight reach = every(NEAR >> t.coarser);
    std::uint8_t* near = chunk.near.data();
    for (std::size_t row = 0; row < rows; row += 8) {
        Eight cost[8];
#pragma GCC unroll 8
        for (int r = 0; r < 8; ++r) cost[r] = load(chunk.cost.data() + (row + r) * 8);
        transpose(cost);
        Eight low = cost[0], leader = Eight{}, second = every(std::numeric_limits<std::int32_t>::max());
#pragma GCC unroll 8
        for (int j = 1; j < K; ++j) {
            const Eight lower = least(low, cost[j]);
            second = least(second, most(low, cost[j]));
            leader = choose(equal(lower, low), leader, every(j));
            low = lower;
        }
        store(chunk.low.data() + row, low);
        store(chunk.leader.data() + row, leader);
        store(chunk.log.data() + row, Eight{});
        const Eight gap = second - low;
        const Eight far = K > 1 ? equal(most(gap, reach), gap) : every(-1);
        store(chunk.owner.data() + row, choose(far, leader, every(Owned::NOBODY)));
        near = LANE_LISTS.append(255 - lanes_of(far), row, near);
    }
    chunk.nears = static_cast<std::size_t>(near - chunk.near.data());
    if (chunk.nears) std::fill_n(near, 8, near[-1]);  // rows come in eights: the last one several times
    const std::int32_t* leader = chunk.leader.data();
    std::int32_t* shares = chunk.share.data();
    for (std::size_t row = 0; row < rows && chunk.spread; ++row) store(shares + row * 8, load(WHOLE_AT[leader[row]]));
    for (std::size_t at = 0; at < chunk.nears; at += 8) {
        Eight cost[8];
#pragma GCC unroll 8
        for (int r = 0; r < 8; ++r) cost[r] = load(chunk.cost.data() + chunk.near[at + r] * std::size_t{8});
        transpose(cost);
        std::int32_t lows[8];
        few_lows<K>(cost, lows, chunk.near_leader.data() + at);
#pragma GCC unroll 8
        for (int j = 0; j < K; ++j) store(chunk.near_below.data() + (at + j) * 8, cost[j]);
    }
}

// Powers of the listed rows, and what follows from their sums.
template <int K, bool coarse>
CATALPA_TARGET void few_powers(const SoftTables& t, Chunk& chunk) {
    const Reach<coarse> reach(t);
    for (std::size_t at = 0; at < chunk.nears; at += 8) {
        Eight whole = Eight{};
#pragma GCC unroll 8
        for (int j = 0; j < K; ++j) {
            const Singles own = power(reach.cut(load(chunk.near_below.data() + (at + j) * 8)));
            store(chunk.near_power.data() + (at + j) * 8, bits(own));
            whole = whole + rounded(own);
        }
        store(chunk.near_whole.data() + at, whole);
    }
    std::size_t alone = 0;
    for (std::size_t at = 0; at < chunk.nears; at += 8) {
        const Eight whole = load(chunk.near_whole.data() + at);
        store(chunk.factor.data() + at, bits(every(static_cast<float>(WHOLE)) / converted(whole)));
        store(chunk.near_log.data() + at, logarithm(whole));
        alone += LANE_LISTS.counts[lanes_of(equal(whole, every(WHOLE)))];
    }
    chunk.alone = alone;
}

// Shares of the listed rows, what rounding leaves to the leader.
template <int K, bool all, bool behind>
CATALPA_TARGET void few_shares(Chunk& chunk) {
    for (std::size_t at = 0; at < chunk.nears; at += 8) {
        const Singles factor = singles(load(chunk.factor.data() + at));
        const Eight leader = load(chunk.near_leader.data() + at);
        Eight share[8] = {}, given = Eight{};
#pragma GCC unroll 8
        for (int j = 0; j < K; ++j) {
            share[j] = rounded(singles(load(chunk.near_power.data() + (at + j) * 8)) * factor);
            given = given + share[j];
        }
        const Eight rest = every(WHOLE) - given;
        Products sum = Products{};
#pragma GCC unroll 8
        for (int j = 0; j < K; ++j) {
            share[j] = share[j] + (equal(leader, every(j)) & rest);
            if constexpr (behind)
                sum = with_product(sum, share[j], Eight{} - load(chunk.near_below.data() + (at + j) * 8));
        }
        transpose(share);
        if constexpr (all) {
            store(chunk.log.data() + at, load(chunk.near_log.data() + at));
            if constexpr (behind) store(chunk.behind.data() + at, sum);
#pragma GCC unroll 8
            for (int r = 0; r < 8; ++r) store(chunk.share.data() + (at + r) * 8, share[r]);
        } else {
            std::int64_t gaps[8];
            if constexpr (behind) store(gaps, sum);
#pragma GCC unroll 8
            for (int r = 0; r < 8; ++r) {
                const std::size_t row = chunk.near[at + r];
                store(chunk.share.data() + row * 8, share[r]);
                chunk.log[row] = chunk.near_log[at + r];
                if constexpr (behind) chunk.behind[row] = gaps[r];
            }
        }
    }
}

template <int K, bool coarse>
CATALPA_TARGET void share_few(const SoftTables& t, Chunk& chunk, std::size_t rows) {
    for (int round = 0; round < (t.two ? 2 : 1); ++round) {
        if (round == 1) raise_costs<1>(t, chunk, rows);
        const bool all = chunk.nears - chunk.alone > rows / 2, behind = round == t.two && (t.two || t.numeric);
        if (behind && !all) std::fill_n(chunk.behind.data(), rows, 0);
        if (all)
            few_all<K>(chunk, rows);
        else
            few_leaders<K>(t, chunk, rows);
        few_powers<K, coarse>(t, chunk);
        if (all)
            behind ? few_shares<K, true, true>(chunk) : few_shares<K, true, false>(chunk);
        else
            behind ? few_shares<K, false, true>(chunk) : few_shares<K, false, false>(chunk);
    }
}

// Share a chunk's rows out. Few clusters are a constant, so that loops over them vanish.
template <int V, bool coarse>
CATALPA_TARGET void share_out(const SoftTables& t, Chunk& chunk, std::size_t rows) {
    if constexpr (V == 1) {
        switch (t.k) {
            case 1: return share_few<1, coarse>(t, chunk, rows);
            case 2: return share_few<2, coarse>(t, chunk, rows);
            case 3: return share_few<3, coarse>(t, chunk, rows);
            case 4: return share_few<4, coarse>(t, chunk, rows);
            case 5: return share_few<5, coarse>(t, chunk, rows);
            case 6: return share_few<6, coarse>(t, chunk, rows);
            case 7: return share_few<7, coarse>(t, chunk, rows);
            default: return share_few<8, coarse>(t, chunk, rows);
        }
    } else {
        share_many<V, coarse>(t, chunk, rows);
    }
}

}  // namespace CATALPA_LEVEL
