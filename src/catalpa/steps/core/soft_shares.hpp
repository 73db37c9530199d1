// Shares of the rows of a chunk by their costs, compiled once per instruction set by each_level.hpp. Every operation
// between integers is one that soft/reference.py names, or equal to it to the bit.

namespace CATALPA_LEVEL {

// 2 ** 20 times 2 ** below, for `below` from -24 bits to 0. The constants carry the 2 ** 20, which changes no
// rounding.
CATALPA_INLINE Singles power(Eight below) {
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

// How far costs lie below a row's least one, cut to 24 bits.
template <bool coarse>
struct Reach {
    Eight farthest;
    int coarser;

    CATALPA_INLINE explicit Reach(const SoftTables& t) : farthest(every(-(FARTHEST >> t.coarser))), coarser(t.coarser) {}
    CATALPA_INLINE Eight cut(Eight below) const {
        const Eight near = most(below, farthest);
        return coarse ? shifted_up(near, coarser) : near;
    }
};

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

struct Sum {
    CATALPA_INLINE static Eight of(Eight a, Eight b) { return a + b; }
};

struct Minimum {
    CATALPA_INLINE static Eight of(Eight a, Eight b) { return least(a, b); }
};

// Lane r is what the lanes of vector r come to together.
template <class Join>
CATALPA_INLINE Eight across(const Eight x[8]) {
    Eight four[4], two[2];
#pragma GCC unroll 4
    for (int i = 0; i < 4; ++i) four[i] = Join::of(front1(x[2 * i], x[2 * i + 1]), back1(x[2 * i], x[2 * i + 1]));
#pragma GCC unroll 2
    for (int i = 0; i < 2; ++i)
        two[i] = Join::of(front2(four[2 * i], four[2 * i + 1]), back2(four[2 * i], four[2 * i + 1]));
    return Join::of(front3(two[0], two[1]), back3(two[0], two[1]));
}

// --- Shares ----------------------------------------------------------------------------------------------
// Each step goes over all rows of the chunk before the next one begins: within a row every operation waits
// for the one before, and only other rows can fill the time.

// What follows from the summed powers of each row.
CATALPA_TARGET inline void use_wholes(Chunk& chunk, std::size_t rows) {
    for (std::size_t row = 0; row < rows; row += 8) {
        const Eight whole = load(chunk.whole.data() + row);
        store(chunk.factor.data() + row, bits(every(static_cast<float>(WHOLE)) / converted(whole)));
        store(chunk.log.data() + row, logarithm(whole));
    }
}

// --- More clusters: lanes are clusters. A row has V vectors, or (V = 0), where there would be many, only those that
// hold a cluster with a share, in one list for the chunk.

template <int V>
CATALPA_INLINE std::size_t first_vector(const Chunk& chunk, std::size_t row) {
    return V ? row * V : chunk.first[row];
}

// Where a vector's clusters begin.
template <int V>
CATALPA_INLINE std::size_t lane_of(const Chunk& chunk, std::size_t vector) {
    return V ? vector % (V ? V : 1) * 8 : chunk.listed[vector].lane;
}

template <int V>
CATALPA_INLINE void find_lows(const SoftTables& t, Chunk& chunk, std::size_t rows) {
    const std::size_t vectors = V ? V : t.vectors;
    for (std::size_t row = 0; row < rows; row += 8) {
        Eight lows[8];
        for (int r = 0; r < 8; ++r) {
            const std::int32_t* cost = chunk.cost.data() + (row + r) * t.lanes;
            lows[r] = load(cost);
#pragma GCC unroll 4
            for (std::size_t v = 1; v < vectors; ++v) lows[r] = least(lows[r], load(cost + 8 * v));
        }
        store(chunk.low.data() + row, across<Minimum>(lows));
    }
}

CATALPA_TARGET inline void list_near(const SoftTables& t, Chunk& chunk, std::size_t rows) {
    constexpr std::int32_t largest = std::numeric_limits<std::int32_t>::max();
    const std::int32_t reach = (NEAR >> t.coarser) - 1;
    const std::int32_t* cost = chunk.cost.data();
    Listed* end = chunk.listed.data();
    const auto lanes = static_cast<std::uint32_t>(t.lanes);
    for (std::uint32_t row = 0; row < rows; ++row) {
        const std::int32_t low = chunk.low[row];
        const Eight far = every(low > largest - reach ? largest : low + reach);
        chunk.first[row] = static_cast<std::uint32_t>(end - chunk.listed.data());
        for (std::uint32_t lane = 0; lane < lanes; lane += 8, cost += 8) {
            *end = {row, lane};
            end += lanes_of(equal(most(load(cost), far), far)) != 0;
        }
    }
    chunk.first[rows] = static_cast<std::uint32_t>(end - chunk.listed.data());
}

// Powers, in place of shares. As leaders stand for now where their shares are.
template <int V, bool coarse>
CATALPA_TARGET void find_powers(const SoftTables& t, Chunk& chunk, std::size_t rows) {
    const Reach<coarse> reach(t);
    const std::int32_t *cost = chunk.cost.data(), *cap = t.cap.data();
    const Eight last = load(cap + t.lanes - 8);
    std::int32_t* shares = chunk.share.data();
    for (std::size_t row = 0; row < rows; row += 8) {
        Eight sums[8];
        for (int r = 0; r < 8; ++r, cost += V ? V * 8 : t.lanes) {
            const Eight low = every(chunk.low[row + r]);
            const std::size_t first = first_vector<V>(chunk, row + r);
            const std::size_t vectors = V ? V : chunk.first[row + r + 1] - first;
            std::int32_t* share = shares + 8 * first;
            std::uint32_t leader = std::numeric_limits<std::uint32_t>::max(), looped = 0;
            sums[r] = Eight{};
#pragma GCC unroll 4
            for (std::size_t v = 0; v < vectors; ++v) {
                const std::size_t lane = V ? 8 * v : chunk.listed[first + v].lane;
                Eight below = low - load(cost + lane);
                // Only the last vector of a row has padding.
                if constexpr (V == 0)
                    below = least(below, load(cap + lane));
                else if (v == V - 1)
                    below = least(below, last);
                const Singles own = power(reach.cut(below));
                store(share + 8 * v, bits(own));
                sums[r] = sums[r] + rounded(own);
                const std::uint32_t zeros = lanes_of(equal(below, Eight{}));
                if constexpr (V != 0) {
                    looped |= zeros << (8 * v);
                } else {
                    // Where the first lane without a gap is; beyond all where there is none. A branch would be a guess.
                    const std::uint32_t none = (zeros - 1) & 0x80000000;
                    leader = std::min(leader, static_cast<std::uint32_t>(8 * v) + trailing_zeros(zeros | 0x100) + none);
                }
            }
            if constexpr (V != 0) leader = static_cast<std::uint32_t>(trailing_zeros(looped));
            chunk.leader[row + r] = static_cast<std::int32_t>(8 * first + leader);
        }
        store(chunk.whole.data() + row, across<Sum>(sums));
    }
    use_wholes(chunk, rows);
}

// Share rows out by their costs: from powers to shares, what rounding leaves to the leader.
template <int V, bool coarse>
CATALPA_TARGET void find_shares(const SoftTables& t, Chunk& chunk, std::size_t rows) {
    find_powers<V, coarse>(t, chunk, rows);
    alignas(32) std::int32_t rest[8];
    std::int32_t* shares = chunk.share.data();
    for (std::size_t row = 0; row < rows; row += 8) {
        Eight given[8];
        for (int r = 0; r < 8; ++r) {
            const Singles factor = singles(every(chunk.factor[row + r]));
            const std::size_t first = first_vector<V>(chunk, row + r);
            const std::size_t vectors = V ? V : chunk.first[row + r + 1] - first;
            given[r] = Eight{};
#pragma GCC unroll 4
            for (std::size_t v = 0; v < vectors; ++v) {
                std::int32_t* own = shares + 8 * (first + v);
                const Eight share = rounded(singles(load(own)) * factor);
                store(own, share);
                given[r] = given[r] + share;
            }
        }
        store(rest, every(WHOLE) - across<Sum>(given));
        for (int r = 0; r < 8; ++r) {
            const auto leader = static_cast<std::size_t>(chunk.leader[row + r]);
            shares[leader] += rest[r];
            chunk.leader[row + r] = static_cast<std::int32_t>(lane_of<V>(chunk, leader / 8) + leader % 8);
            chunk.owner[row + r] = chunk.whole[row + r] == WHOLE ? chunk.leader[row + r] : Owned::NOBODY;
        }
    }
}

// Second costs in place of the first ones. Of many clusters only the listed ones' rises are looked up.
template <int V>
CATALPA_TARGET void raise_costs(const SoftTables& t, Chunk& chunk, std::size_t rows) {
    const std::size_t groups = t.groups();
    for (std::size_t row = 0; row < rows; ++row) {
        const std::uint32_t* places = chunk.places.data() + row * groups;
        const std::size_t end = first_vector<V>(chunk, row + 1);
        for (std::size_t vector = first_vector<V>(chunk, row); vector < end; ++vector) {
            const std::size_t lane = lane_of<V>(chunk, vector);
            Eight rise = load(V ? chunk.rise.data() + 8 * vector : t.anchor_rise.data() + lane);
            for (std::size_t group = 0; V == 0 && group < groups; ++group)
                rise = rise + load(t.rise.data() + places[group] + lane);
            std::int32_t* cost = chunk.cost.data() + row * t.lanes + lane;
            store(cost, load(cost) + risen(rise, load(chunk.share.data() + 8 * vector)));
        }
    }
}

// Sum of share times gap, row by row. Where the gap would be cut there is no share.
template <int V>
CATALPA_TARGET void find_behind(const SoftTables& t, Chunk& chunk, std::size_t rows) {
    for (std::size_t row = 0; row < rows; ++row) {
        const Eight low = every(chunk.low[row]);
        const std::int32_t* cost = chunk.cost.data() + row * t.lanes;
        const std::size_t end = first_vector<V>(chunk, row + 1);
        Products sum = Products{};
        for (std::size_t vector = first_vector<V>(chunk, row); vector < end; ++vector)
            sum = with_product(sum, load(chunk.share.data() + 8 * vector), load(cost + lane_of<V>(chunk, vector)) - low);
        std::int64_t lanes[8];
        store(lanes, sum);
        chunk.behind[row] = std::accumulate(lanes, lanes + 8, std::int64_t{0});
    }
}

template <int V, bool coarse>
CATALPA_TARGET void share_many(const SoftTables& t, Chunk& chunk, std::size_t rows) {
    for (int round = 0; round < (t.two ? 2 : 1); ++round) {
        if (round == 1) raise_costs<V>(t, chunk, rows);
        find_lows<V>(t, chunk, rows);
        if constexpr (V == 0) list_near(t, chunk, rows);
        find_shares<V, coarse>(t, chunk, rows);
    }
    if (t.two || t.numeric) find_behind<V>(t, chunk, rows);
}

}  // namespace CATALPA_LEVEL
