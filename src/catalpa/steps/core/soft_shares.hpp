// Costs and shares of the rows of a chunk, compiled once per instruction set after core_lanes.hpp. Every operation
// between integers is one that soft_reference.py names, or equal to it to the bit.

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

// Where the entries of each row's places begin, for `rows` rows (a multiple of 8).
template <class Code>
CATALPA_TARGET void find_places(const SoftTables& t, const Code* codes, std::size_t rows, std::uint32_t* places) {
    const std::size_t groups = t.groups();
    const auto* begins = reinterpret_cast<const std::int32_t*>(t.begins.data());
    auto* out = reinterpret_cast<std::int32_t*>(places);
    const Eight lanes = every(static_cast<std::int32_t>(t.lanes));
    for (std::size_t row = 0; row < rows; row += 8, codes += 8 * groups, out += 8 * groups)
        for (std::size_t cell = 0; cell < 8 * groups; cell += 8)
            store(out + cell, load(begins + cell) + widened(codes + cell) * lanes);
}

// Sums of entries of `rows` rows (a multiple of 8) in the V * 8 clusters from `lane` on: costs, and with a second
// table what they rise by.
template <int V, bool two>
CATALPA_TARGET void look_up(const SoftTables& t, std::size_t rows, std::size_t lane, Chunk& chunk) {
    constexpr int sums_per_row = two ? 2 * V : V;
    constexpr int at_once = sums_per_row == 1 ? 8 : sums_per_row <= 3 ? 4 : sums_per_row <= 6 ? 2 : 1;  // in registers
    const std::size_t groups = t.groups();
    const std::int32_t *entries = t.table.data() + lane, *rises = two ? t.rise.data() + lane : nullptr;
    const std::uint32_t* own = chunk.places.data();
    std::int32_t *costs = chunk.cost.data() + lane, *raises = two ? chunk.rise.data() + lane : nullptr;
    const std::size_t lanes = t.lanes;
    for (std::size_t row = 0; row < rows; row += at_once, own += at_once * groups) {
        Eight sums[at_once][V], risen[at_once][V];
#pragma GCC unroll 8
        for (int r = 0; r < at_once; ++r)
#pragma GCC unroll 4
            for (int v = 0; v < V; ++v) {
                sums[r][v] = load(t.anchor.data() + lane + 8 * v);
                if constexpr (two) risen[r][v] = load(t.anchor_rise.data() + lane + 8 * v);
            }
        for (std::size_t group = 0; group < groups; ++group)
#pragma GCC unroll 8
            for (int r = 0; r < at_once; ++r) {
                const std::uint32_t place = own[r * groups + group];
#pragma GCC unroll 4
                for (int v = 0; v < V; ++v) {
                    sums[r][v] = sums[r][v] + load(entries + place + 8 * v);
                    if constexpr (two) risen[r][v] = risen[r][v] + load(rises + place + 8 * v);
                }
            }
#pragma GCC unroll 8
        for (int r = 0; r < at_once; ++r)
#pragma GCC unroll 4
            for (int v = 0; v < V; ++v) {
                store(costs + r * lanes + 8 * v, sums[r][v]);
                if constexpr (two) store(raises + r * lanes + 8 * v, risen[r][v]);
            }
        costs += at_once * lanes;
        if constexpr (two) raises += at_once * lanes;
    }
}

CATALPA_TARGET inline void look_up_many(const SoftTables& t, std::size_t rows, Chunk& chunk) {
    std::size_t lane = 0;
    for (; lane + 32 <= t.lanes; lane += 32) look_up<4, false>(t, rows, lane, chunk);
    switch ((t.lanes - lane) / 8) {
        case 1: return look_up<1, false>(t, rows, lane, chunk);
        case 2: return look_up<2, false>(t, rows, lane, chunk);
        case 3: return look_up<3, false>(t, rows, lane, chunk);
        default: return;
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

// --- Up to eight clusters: lanes are rows. Eight rows by eight clusters are transposed where they lie.

// Least costs and foremost clusters.
template <int K>
CATALPA_INLINE void few_lows(const Eight cost[8], Chunk& chunk, std::size_t row) {
    Eight low = cost[0], leader = every(K - 1);
#pragma GCC unroll 8
    for (int j = 1; j < K; ++j) low = least(low, cost[j]);
#pragma GCC unroll 8
    for (int j = K - 2; j >= 0; --j) leader = choose(equal(cost[j], low), every(j), leader);
    store(chunk.low.data() + row, low);
    store(chunk.leader.data() + row, leader);
}

// Powers, in place of shares.
template <int K, bool coarse>
CATALPA_TARGET void few_powers(const SoftTables& t, Chunk& chunk, std::size_t rows) {
    const Reach<coarse> reach(t);
    const std::int32_t* costs = chunk.cost.data();
    std::int32_t *shares = chunk.share.data(), *wholes = chunk.whole.data();
    for (std::size_t row = 0; row < rows; row += 8) {
        const Eight low = load(chunk.low.data() + row);
        Eight whole = Eight{};
#pragma GCC unroll 8
        for (int j = 0; j < K; ++j) {
            const std::size_t at = (row + j) * 8;
            const Singles own = power(reach.cut(low - load(costs + at)));
            store(shares + at, bits(own));
            whole = whole + rounded(own);
        }
        store(wholes + row, whole);
    }
    use_wholes(chunk, rows);
}

template <int K>
CATALPA_INLINE void few_powers(const SoftTables& t, Chunk& chunk, std::size_t rows) {
    if (t.coarser)
        few_powers<K, true>(t, chunk, rows);
    else
        few_powers<K, false>(t, chunk, rows);
}

template <int K>
CATALPA_INLINE void few_shares(const Chunk& chunk, std::size_t row, Eight share[8]) {
    const Singles factor = singles(load(chunk.factor.data() + row));
    const Eight leader = load(chunk.leader.data() + row);
    Eight given = Eight{};
#pragma GCC unroll 8
    for (int j = 0; j < K; ++j) {
        share[j] = rounded(singles(load(chunk.share.data() + (row + j) * 8)) * factor);
        given = given + share[j];
    }
    const Eight rest = every(WHOLE) - given;
#pragma GCC unroll 8
    for (int j = 0; j < K; ++j) share[j] = share[j] + (equal(leader, every(j)) & rest);
}

CATALPA_INLINE void load_eight(const std::int32_t* from, Eight to[8]) {
#pragma GCC unroll 8
    for (int r = 0; r < 8; ++r) to[r] = load(from + r * 8);
}

template <int K>
CATALPA_TARGET void few_first(const SoftTables& t, Chunk& chunk, std::size_t rows) {
    for (std::size_t row = 0; row < rows; row += 8) {
        Eight cost[8];
        load_eight(chunk.cost.data() + row * 8, cost);
        transpose(cost);
#pragma GCC unroll 8
        for (int j = 0; j < K; ++j) store(chunk.cost.data() + (row + j) * 8, cost[j]);
        few_lows<K>(cost, chunk, row);
    }
    few_powers<K>(t, chunk, rows);
}

template <int K>
CATALPA_TARGET void few_second(const SoftTables& t, Chunk& chunk, std::size_t rows) {
    for (std::size_t row = 0; row < rows; row += 8) {
        Eight share[8], rise[8], cost[8];
        few_shares<K>(chunk, row, share);
        load_eight(chunk.rise.data() + row * 8, rise);
        transpose(rise);
#pragma GCC unroll 8
        for (int j = 0; j < K; ++j) {
            std::int32_t* first = chunk.cost.data() + (row + j) * 8;
            store(first, cost[j] = load(first) + risen(rise[j], share[j]));
        }
        few_lows<K>(cost, chunk, row);
    }
    few_powers<K>(t, chunk, rows);
}

template <int K, bool behind>
CATALPA_TARGET void few_last(Chunk& chunk, std::size_t rows) {
    std::int32_t* shares = chunk.share.data();
    for (std::size_t row = 0; row < rows; row += 8) {
        Eight share[8] = {};
        few_shares<K>(chunk, row, share);
        if constexpr (behind) {
            const Eight low = load(chunk.low.data() + row);
            Products sum = no_products();
#pragma GCC unroll 8
            for (int j = 0; j < K; ++j)
                sum = with_product(sum, share[j], load(chunk.cost.data() + (row + j) * 8) - low);
            store(chunk.behind.data() + row, sum);
        }
        transpose(share);
#pragma GCC unroll 8
        for (int r = 0; r < 8; ++r) store(shares + (row + r) * 8, share[r]);
    }
}

template <int K>
CATALPA_TARGET void share_few(const SoftTables& t, Chunk& chunk, std::size_t rows) {
    few_first<K>(t, chunk, rows);
    if (t.two) few_second<K>(t, chunk, rows);
    if (t.two || t.numeric)
        few_last<K, true>(chunk, rows);
    else
        few_last<K, false>(chunk, rows);
}

// --- More clusters: lanes are clusters.

template <int V>
CATALPA_INLINE void find_lows(const SoftTables& t, Chunk& chunk, std::size_t rows) {
    const std::size_t vectors = V ? V : t.vectors;
    for (std::size_t row = 0; row < rows; row += 8) {
        Eight across[8];
        for (int r = 0; r < 8; ++r) {
            const std::int32_t* cost = chunk.cost.data() + (row + r) * t.lanes;
            across[r] = load(cost);
#pragma GCC unroll 4
            for (std::size_t v = 1; v < vectors; ++v) across[r] = least(across[r], load(cost + 8 * v));
        }
        store(chunk.low.data() + row, least_across(across));
    }
}

// Powers of rows of V vectors, in place of shares.
template <int V, bool coarse>
CATALPA_TARGET void looped_powers(const SoftTables& t, Chunk& chunk, std::size_t rows) {
    const Reach<coarse> reach(t);
    const Eight last = load(t.cap.data() + 8 * (V - 1));
    const std::int32_t *cost = chunk.cost.data(), *lows = chunk.low.data();
    std::int32_t *share = chunk.share.data(), *leaders = chunk.leader.data();
    for (std::size_t row = 0; row < rows; row += 8) {
        Eight across[8];
        for (int r = 0; r < 8; ++r, cost += V * 8, share += V * 8) {
            const Eight low = every(lows[row + r]);
            std::uint32_t zeros = 0;
            across[r] = Eight{};
#pragma GCC unroll 4
            for (int v = 0; v < V; ++v) {
                Eight below = low - load(cost + 8 * v);
                if (v == V - 1) below = least(below, last);
                const Singles own = power(reach.cut(below));
                store(share + 8 * v, bits(own));
                across[r] = across[r] + rounded(own);
                zeros |= lanes_of(equal(below, Eight{})) << (8 * v);
            }
            leaders[row + r] = __builtin_ctz(zeros);
        }
        store(chunk.whole.data() + row, summed_across(across));
    }
    use_wholes(chunk, rows);
}

// Share rows of V vectors out, by their costs.
template <int V>
CATALPA_TARGET void share_looped(const SoftTables& t, Chunk& chunk, std::size_t rows) {
    if (t.coarser)
        looped_powers<V, true>(t, chunk, rows);
    else
        looped_powers<V, false>(t, chunk, rows);
    alignas(32) std::int32_t rest[8];
    std::int32_t* shares = chunk.share.data();
    for (std::size_t row = 0; row < rows; row += 8, shares += V * 64) {
        Eight across[8];
        for (int r = 0; r < 8; ++r) {
            const Singles factor = singles(every(chunk.factor[row + r]));
            std::int32_t* own = shares + r * (V * 8);
            across[r] = Eight{};
#pragma GCC unroll 4
            for (int v = 0; v < V; ++v) {
                const Eight share = rounded(singles(load(own + 8 * v)) * factor);
                store(own + 8 * v, share);
                across[r] = across[r] + share;
            }
        }
        store(rest, every(WHOLE) - summed_across(across));
        for (int r = 0; r < 8; ++r) shares[r * (V * 8) + chunk.leader[row + r]] += rest[r];
    }
}

// Second costs in place of the first ones.
template <int V>
CATALPA_INLINE void raise_looped(Chunk& chunk, std::size_t rows) {
    for (std::size_t at = 0; at < rows * (V * 8); at += 8) {
        const Eight rise = risen(load(chunk.rise.data() + at), load(chunk.share.data() + at));
        store(chunk.cost.data() + at, load(chunk.cost.data() + at) + rise);
    }
}

CATALPA_INLINE std::int64_t total(Products sum) {
    std::int64_t lanes[8], all = 0;
    store(lanes, sum);
    for (const std::int64_t lane : lanes) all += lane;
    return all;
}

CATALPA_INLINE std::int64_t total(Eight sum) {
    std::int32_t lanes[8];
    store(lanes, sum);
    std::int64_t all = 0;
    for (const std::int32_t lane : lanes) all += lane;
    return all;
}

// Sum of share times gap, row by row. Where the gap would be cut there is no share.
template <int V>
CATALPA_INLINE void find_behind_looped(Chunk& chunk, std::size_t rows) {
    for (std::size_t row = 0; row < rows; ++row) {
        const Eight low = every(chunk.low[row]);
        Products sum = no_products();
#pragma GCC unroll 4
        for (int v = 0; v < V; ++v) {
            const std::size_t at = row * (V * 8) + 8 * v;
            sum = with_product(sum, load(chunk.share.data() + at), load(chunk.cost.data() + at) - low);
        }
        chunk.behind[row] = total(sum);
    }
}

// --- Many clusters: only the vectors that hold a cluster with a share, in one list for the chunk.

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

// Powers of the listed vectors, in place of shares.
template <bool coarse>
CATALPA_TARGET void listed_powers(const SoftTables& t, Chunk& chunk, std::size_t rows) {
    const Reach<coarse> reach(t);
    const Listed* listed = chunk.listed.data();
    const std::int32_t *costs = chunk.cost.data(), *cap = t.cap.data();
    std::int32_t* share = chunk.share.data();
    for (std::size_t row = 0; row < rows; ++row, costs += t.lanes) {
        const Eight low = every(chunk.low[row]);
        const std::uint32_t end = chunk.first[row + 1];
        Eight whole = Eight{};
        std::uint32_t leader = std::numeric_limits<std::uint32_t>::max();
        for (std::uint32_t i = chunk.first[row]; i < end; ++i) {
            const std::uint32_t lane = listed[i].lane;
            const Eight below = least(low - load(costs + lane), load(cap + lane));
            const Singles own = power(reach.cut(below));
            store(share + 8 * i, bits(own));
            whole = whole + rounded(own);
            // Where the first lane without a gap is; beyond all where there is none. A branch would be a guess.
            const std::uint32_t zeros = lanes_of(equal(below, Eight{})), none = (zeros - 1) & 0x80000000;
            leader = std::min(leader, 8 * i + __builtin_ctz(zeros | 0x100) + none);
        }
        chunk.leader[row] = static_cast<std::int32_t>(leader);
        store(chunk.across.data() + 8 * row, whole);
    }
}

CATALPA_TARGET inline void share_listed(const SoftTables& t, Chunk& chunk, std::size_t rows) {
    if (t.coarser)
        listed_powers<true>(t, chunk, rows);
    else
        listed_powers<false>(t, chunk, rows);
    std::int32_t *across = chunk.across.data(), *shares = chunk.share.data();
    for (std::size_t row = 0; row < rows; row += 8) {
        Eight eight[8];
        load_eight(across + row * 8, eight);
        store(chunk.whole.data() + row, summed_across(eight));
    }
    use_wholes(chunk, rows);
    for (std::size_t row = 0; row < rows; ++row) {
        const Singles factor = singles(every(chunk.factor[row]));
        const std::uint32_t end = chunk.first[row + 1];
        Eight given = Eight{};
        for (std::uint32_t i = chunk.first[row]; i < end; ++i) {
            const Eight share = rounded(singles(load(shares + 8 * i)) * factor);
            store(shares + 8 * i, share);
            given = given + share;
        }
        store(across + 8 * row, given);
    }
    alignas(32) std::int32_t rest[8];
    for (std::size_t row = 0; row < rows; row += 8) {
        Eight eight[8];
        load_eight(across + row * 8, eight);
        store(rest, every(WHOLE) - summed_across(eight));
        for (int r = 0; r < 8; ++r) {
            const std::int32_t leader = chunk.leader[row + r];
            shares[leader] += rest[r];
            chunk.leader[row + r] = static_cast<std::int32_t>(chunk.listed[leader / 8].lane) + leader % 8;
        }
    }
}

CATALPA_INLINE void raise_listed(const SoftTables& t, Chunk& chunk, std::size_t rows) {
    const std::size_t groups = t.groups();
    for (std::uint32_t i = 0; i < chunk.first[rows]; ++i) {
        const Listed at = chunk.listed[i];
        const std::uint32_t* places = chunk.places.data() + at.row * groups;
        Eight rise = load(t.anchor_rise.data() + at.lane);
        for (std::size_t group = 0; group < groups; ++group)
            rise = rise + load(t.rise.data() + places[group] + at.lane);
        std::int32_t* cost = chunk.cost.data() + at.row * t.lanes + at.lane;
        store(cost, load(cost) + risen(rise, load(chunk.share.data() + 8 * i)));
    }
}

CATALPA_INLINE void find_behind_listed(const SoftTables& t, Chunk& chunk, std::size_t rows) {
    std::fill_n(chunk.behind.data(), rows, 0);
    for (std::uint32_t i = 0; i < chunk.first[rows]; ++i) {
        const Listed at = chunk.listed[i];
        const Eight above = load(chunk.cost.data() + at.row * t.lanes + at.lane) - every(chunk.low[at.row]);
        chunk.behind[at.row] += total(with_product(no_products(), load(chunk.share.data() + 8 * i), above));
    }
}

template <int V>
CATALPA_TARGET void share_many(const SoftTables& t, Chunk& chunk, std::size_t rows) {
    find_lows<V>(t, chunk, rows);
    if constexpr (V != 0) {
        share_looped<V>(t, chunk, rows);
        if (t.two) {
            raise_looped<V>(chunk, rows);
            find_lows<V>(t, chunk, rows);
            share_looped<V>(t, chunk, rows);
        }
        if (t.two || t.numeric) find_behind_looped<V>(chunk, rows);
    } else {
        list_near(t, chunk, rows);
        share_listed(t, chunk, rows);
        if (t.two) {
            raise_listed(t, chunk, rows);
            find_lows<V>(t, chunk, rows);
            list_near(t, chunk, rows);
            share_listed(t, chunk, rows);
        }
        if (t.two || t.numeric) find_behind_listed(t, chunk, rows);
    }
}

}  // namespace CATALPA_LEVEL
