// The kernels of the soft pass, compiled once per instruction set by each_level.hpp, in the order in which a row meets
// them: what the rows of a chunk cost in every cluster; their shares; what is added up.

namespace CATALPA_LEVEL {

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

// Shares of one row over all its lanes.
template <int V>
CATALPA_INLINE const std::int32_t* spread_out(const SoftTables& t, Chunk& chunk, std::size_t row) {
    if constexpr (V != 0) {
        return chunk.share.data() + row * (V * 8);
    } else {
        std::int32_t* full = chunk.full.data();
        std::fill_n(full, t.lanes, 0);
        for (std::uint32_t i = chunk.first[row]; i < chunk.first[row + 1]; ++i)
            store(full + chunk.listed[i].lane, load(chunk.share.data() + 8 * i));
        return full;
    }
}

// The numbers of a chunk's rows in the forms that the kernels below read.
CATALPA_TARGET inline void take_numbers(const double* numbers, std::size_t cells, Chunk& chunk) {
    constexpr double magic = 6755399441055744.0;  // 1.5 * 2 ** 52: the sum's low bits are the rounded number
    std::int64_t known = 0, scaled = 0;
    for (std::size_t cell = 0; cell < cells; ++cell) known += numbers[cell] == numbers[cell] ? 1 : 0;
    for (std::size_t cell = 0; cell < cells; ++cell) scaled += (numbers[cell] >= 0.0) & (numbers[cell] <= 1.0) ? 1 : 0;
    chunk.missing = known < static_cast<std::int64_t>(cells);
    chunk.scaled = scaled == known;
    chunk.numbers = numbers;
    std::int32_t *tick = chunk.tick.data(), *square = chunk.square.data(), *held = chunk.held.data();
    if (chunk.missing) {
        double *number = chunk.number.data(), *there = chunk.there.data();
        chunk.numbers = number;
        for (std::size_t cell = 0; cell < cells; ++cell) {
            const bool is_known = numbers[cell] == numbers[cell];
            number[cell] = is_known ? numbers[cell] : 0.0;
            there[cell] = is_known ? 1.0 : 0.0;
        }
        for (std::size_t cell = 0; cell < cells; ++cell) held[cell] = static_cast<std::int32_t>(there[cell]) << SUM_DROP;
    }
    if (!chunk.scaled) return;
    numbers = chunk.numbers;
    for (std::size_t cell = 0; cell < cells; ++cell) {
        const double shifted = numbers[cell] * (1 << TICK_BITS) + magic;
        std::uint64_t form;
        std::memcpy(&form, &shifted, sizeof form);
        const auto whole = static_cast<std::uint32_t>(form);
        tick[cell] = static_cast<std::int32_t>(whole);
        square[cell] = static_cast<std::int32_t>(std::uint64_t{whole} * whole >> (2 * TICK_BITS - SQUARE_BITS));
    }
}

// Add what the numbers of `at_once` rows cost in eight clusters: doubles in the columns' order, capped, and rounded
// once to the nearest even.
template <int at_once, bool missing>
CATALPA_INLINE void add_numbers(const SoftTables& t, std::size_t row, std::size_t lane, Chunk& chunk) {
    Doubles part[at_once];
#pragma GCC unroll 2
    for (int r = 0; r < at_once; ++r) part[r] = every(0.0);
    for (std::size_t column = 0; column < t.numeric; ++column) {
        const std::size_t at = column * t.lanes + lane;
        const Doubles mean = load(t.means.data() + at), scale = load(t.scale.data() + at), level = load(t.level.data() + at);
#pragma GCC unroll 2
        for (int r = 0; r < at_once; ++r) {
            const std::size_t cell = (row + r) * t.numeric + column;
            const Doubles away = every(chunk.numbers[cell]) - mean;
            Doubles term = level + scale * (away * away);
            if constexpr (missing) term = term * every(chunk.there[cell]);
            part[r] = part[r] + term;
        }
    }
#pragma GCC unroll 2
    for (int r = 0; r < at_once; ++r) {
        std::int32_t* cost = chunk.cost.data() + (row + r) * t.lanes + lane;
        store(cost, load(cost) + rounded(least(part[r], every(NUMBER_CAP))));
    }
}

template <bool missing>
CATALPA_TARGET void add_numbers(const SoftTables& t, std::size_t rows, Chunk& chunk) {
    for (std::size_t lane = 0; lane < t.lanes; lane += 8) {
        std::size_t row = 0;
        for (; row + 2 <= rows; row += 2) add_numbers<2, missing>(t, row, lane, chunk);
        if (row < rows) add_numbers<1, missing>(t, row, lane, chunk);
    }
}

// Sums, squares and presence of the numbers of one row; the shift comes before the weight.
CATALPA_TARGET inline void count_numbers(const SoftTables& t, const double* numbers, const std::int32_t* share,
                                         std::int64_t weight, SoftSums& sums) {
    for (std::size_t column = 0; column < t.numeric; ++column) {
        if (numbers[column] != numbers[column]) continue;
        const auto tick = static_cast<std::int64_t>(std::rint(numbers[column] * (1 << TICK_BITS)));
        const std::int64_t square = times(tick, tick) >> (2 * TICK_BITS - SQUARE_BITS);
        for (std::size_t j = 0; j < t.lanes; ++j) {
            const std::size_t at = column * t.lanes + j;
            sums.sums[at] += times(times(share[j], tick) >> SUM_DROP, weight);
            sums.squares[at] += times(times(share[j], square) >> SQUARE_DROP, weight);
            sums.seen[at] += times(share[j], weight);
        }
    }
}

// Shares of some rows in eight clusters, from one row to the next `stride` apart.
struct SharesOf {
    const std::int32_t* first;
    std::size_t stride, rows;
    const std::int64_t* weights;  // or null
};

// Add to `to` the sum over rows of (share * number >> drop) * weight, in eight clusters; numbers are `step` apart.
template <int drop>
CATALPA_INLINE void add_products(SharesOf shares, const std::int32_t* numbers, std::size_t step, std::int64_t* to) {
    Products sum = Products{};
    if (shares.weights == nullptr)
        for (std::size_t row = 0; row < shares.rows; ++row)
            sum = sum + (product(load(shares.first + row * shares.stride), every(numbers[row * step])) >> drop);
    else
        for (std::size_t row = 0; row < shares.rows; ++row)
            sum = sum + (product(load(shares.first + row * shares.stride), every(numbers[row * step])) >> drop) *
                            static_cast<std::uint32_t>(shares.weights[row]);
    std::int64_t more[8];
    store(more, sum);
    for (int j = 0; j < 8; ++j) to[j] += more[j];
}

// The sums of numbers on [0, 1] in the clusters from `lane` on, of rows from `row` on.
CATALPA_TARGET inline void count_numbers(const SoftTables& t, SharesOf shares, std::size_t row, std::size_t lane,
                                         const Chunk& chunk, SoftSums& sums) {
    std::int64_t all[8] = {};
    if (!chunk.missing) {
        const std::int32_t whole = 1 << SUM_DROP;
        add_products<SUM_DROP>(shares, &whole, 0, all);
    }
    for (std::size_t column = 0; column < t.numeric; ++column) {
        const std::size_t cell = row * t.numeric + column, at = column * t.lanes + lane;
        add_products<SUM_DROP>(shares, chunk.tick.data() + cell, t.numeric, sums.sums.data() + at);
        add_products<SQUARE_DROP>(shares, chunk.square.data() + cell, t.numeric, sums.squares.data() + at);
        if (chunk.missing)
            add_products<SUM_DROP>(shares, chunk.held.data() + cell, t.numeric, sums.seen.data() + at);
        else
            for (int j = 0; j < 8; ++j) sums.seen[at + j] += all[j];
    }
}

// Sums, squares and presence of the numbers of a chunk, whose rows weigh `weight` together.
template <int V>
CATALPA_TARGET void count_numbers(const SoftTables& t, const double* numbers, const std::int64_t* weights,
                                  std::uint64_t weight, std::size_t rows, Chunk& chunk, SoftSums& sums) {
    if (!chunk.scaled || weight >> 32) {
        for (std::size_t row = 0; row < rows; ++row)
            count_numbers(t, numbers + row * t.numeric, spread_out<V>(t, chunk, row), weights ? weights[row] : 1, sums);
        return;
    }
    const std::int32_t* share = chunk.share.data();
    if constexpr (V == 0) {
        for (std::uint32_t i = 0; i < chunk.first[rows]; ++i) {
            const std::size_t row = chunk.listed[i].row;
            count_numbers(t, {share + 8 * i, 8, 1, weights ? weights + row : nullptr}, row, chunk.listed[i].lane, chunk, sums);
        }
    } else {
        for (std::size_t lane = 0; lane < t.lanes; lane += 8)
            count_numbers(t, {share + lane, t.lanes, rows, weights}, 0, lane, chunk, sums);
    }
}

}  // namespace CATALPA_LEVEL

#include "soft_shares.hpp"
#include "soft_few.hpp"
#include "soft_sums.hpp"
#include "between/next_tables.hpp"
