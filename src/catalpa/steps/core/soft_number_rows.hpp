// Numbers in a soft pass, compiled once per instruction set by each_level.hpp: what they cost, where lanes are rows, and
// their sums by share.

namespace CATALPA_LEVEL {

// Add what the numbers of eight rows cost in K clusters from `lane` on: single precision in the columns' order, rounded
// once to the nearest even.
template <int K>
CATALPA_TARGET void add_numbers(const SoftTables& t, const float* away, std::size_t lane, std::int32_t* cost) {
    Singles part[K];
#pragma GCC unroll 8
    for (int j = 0; j < K; ++j) part[j] = every(0.0f);
    const float *curve = t.curve.data() + lane, *slope = t.slope.data() + lane;
    for (std::size_t column = 0; column < t.numeric; ++column, away += 8, curve += t.k, slope += t.k) {
        const Singles own = load(away);
#pragma GCC unroll 8
        for (int j = 0; j < K; ++j) part[j] = part[j] + (every(curve[j]) * own + every(slope[j])) * own;
    }
    Eight more[8] = {};
#pragma GCC unroll 8
    for (int j = 0; j < K; ++j) more[j] = rounded(part[j]);
    transpose(more);
#pragma GCC unroll 8
    for (int row = 0; row < 8; ++row) store(cost + row * t.lanes + lane, load(cost + row * t.lanes + lane) + more[row]);
}

CATALPA_TARGET inline void add_numbers(const SoftTables& t, const float* away, std::size_t lane, std::size_t some, std::int32_t* cost) {
    switch (some) {
        case 1: return add_numbers<1>(t, away, lane, cost);
        case 2: return add_numbers<2>(t, away, lane, cost);
        case 3: return add_numbers<3>(t, away, lane, cost);
        case 4: return add_numbers<4>(t, away, lane, cost);
        case 5: return add_numbers<5>(t, away, lane, cost);
        case 6: return add_numbers<6>(t, away, lane, cost);
        case 7: return add_numbers<7>(t, away, lane, cost);
        default: return add_numbers<8>(t, away, lane, cost);
    }
}

// The same of all rows of a chunk from row `begin` on; `rows` is a multiple of 8.
CATALPA_TARGET inline void add_numbers(const SoftTables& t, const SoftNumbers& numbers, std::size_t begin, std::size_t rows, Chunk& chunk) {
    for (std::size_t row = 0; row < rows; row += 8)
        for (std::size_t lane = 0; lane < t.k; lane += 8)
            add_numbers(t, numbers.away.data() + (begin + row) * t.numeric, lane, std::min<std::size_t>(t.k - lane, 8),
                        chunk.cost.data() + row * t.lanes);
    const auto [first, last] = numbers.missing_in(begin, begin + rows);
    for (const MissingCell* cell = first; cell != last; ++cell) {
        std::int32_t* cost = chunk.cost.data() + (cell->row - begin) * t.lanes;
        const std::int32_t* constant = t.constant.data() + cell->column * t.lanes;
        for (std::size_t lane = 0; lane < t.lanes; lane += 8) store(cost + lane, load(cost + lane) - load(constant + lane));
    }
}

// Shares in units that sums of numbers are made with.
CATALPA_INLINE Eight coarse_share(Eight share) { return (share + every(1 << (MOMENT_DROP - 1))) >> MOMENT_DROP; }

// Rounded shares of sixteen rows by cluster, two rows in each lane.
CATALPA_TARGET inline void pair_up(const SoftTables& t, std::size_t groups, std::size_t group, Chunk& chunk) {
    const std::int32_t* share = chunk.share.data() + group * TOGETHER * t.lanes;
    for (std::size_t lane = 0; lane < t.k; lane += 8) {
        Eight low[8], high[8];
#pragma GCC unroll 8
        for (int row = 0; row < 8; ++row) {
            low[row] = coarse_share(load(share + row * t.lanes + lane));
            high[row] = coarse_share(load(share + (row + 8) * t.lanes + lane));
        }
        transpose(low);
        transpose(high);
#pragma GCC unroll 8
        for (int j = 0; j < 8; ++j)
            store(chunk.rounded.data() + ((lane + j) * groups + group) * 8, low[j] | (high[j] << 16));
    }
}

// Sums over some groups of sixteen rows of one cluster's shares times numbers and squares of four columns at most. Each
// product takes 27 bits, so that eight times two of them fit 32 without a sign.
template <int columns>
CATALPA_TARGET void add_products(const std::int32_t* shares, const std::int32_t* parts, std::size_t step, std::size_t groups,
                                 std::int64_t* numbers, std::int64_t* squares, std::size_t lanes) {
    for (std::size_t begin = 0; begin < groups; begin += 8) {
        Eight first[columns], second[columns];
#pragma GCC unroll 4
        for (int c = 0; c < columns; ++c) first[c] = second[c] = every(0);
        const std::size_t end = std::min<std::size_t>(begin + 8, groups);
        for (std::size_t group = begin; group < end; ++group) {
            const Eight share = load(shares + group * 8);
            const std::int32_t* own = parts + group * step;
#pragma GCC unroll 4
            for (int c = 0; c < columns; ++c) {
                first[c] = first[c] + paired_products(share, load(own + 16 * c));
                second[c] = second[c] + paired_products(share, load(own + 16 * c + 8));
            }
        }
#pragma GCC unroll 4
        for (int c = 0; c < columns; ++c) {
            std::uint32_t one[8], other[8];
            std::memcpy(one, &first[c], sizeof one);
            std::memcpy(other, &second[c], sizeof other);
            std::uint64_t sum = 0, square = 0;
            for (int i = 0; i < 8; ++i) sum += one[i];
            for (int i = 0; i < 8; ++i) square += other[i];
            numbers[c * lanes] += static_cast<std::int64_t>(sum);
            squares[c * lanes] += static_cast<std::int64_t>(square);
        }
    }
}

// Rows that weigh one each, whose shares lie side by side; padding rows have numbers of 0.
CATALPA_TARGET inline void count_numbers(const SoftTables& t, const SoftNumbers& numbers, std::size_t begin, std::size_t rows, Chunk& chunk,
                                         SoftSums& sums) {
    const std::size_t groups = (rows + TOGETHER - 1) / TOGETHER, step = t.numeric * 16;
    for (std::size_t group = 0; group < groups; ++group) pair_up(t, groups, group, chunk);
    const std::int32_t* parts = numbers.parts.data() + begin / TOGETHER * step;
    for (std::size_t j = 0; j < t.k; ++j) {
        const std::int32_t* shares = chunk.rounded.data() + j * groups * 8;
        std::size_t column = 0;
        for (; column + 4 <= t.numeric; column += 4)
            add_products<4>(shares, parts + column * 16, step, groups, sums.numbers.data() + column * t.lanes + j,
                            sums.squares.data() + column * t.lanes + j, t.lanes);
        for (; column < t.numeric; ++column)
            add_products<1>(shares, parts + column * 16, step, groups, sums.numbers.data() + column * t.lanes + j,
                            sums.squares.data() + column * t.lanes + j, t.lanes);
    }
    for (std::size_t row = 0; row < rows; ++row)
        for (std::size_t lane = 0; lane < t.lanes; lane += 8) {
            std::int32_t own[8];
            store(own, coarse_share(load(chunk.share.data() + row * t.lanes + lane)));
            for (int i = 0; i < 8; ++i) sums.rounded[lane + i] += own[i];
        }
}

// One row of any weight in the clusters from `lane` on.
CATALPA_TARGET inline void count_numbers(const SoftTables& t, const SoftNumbers& numbers, std::size_t row, std::size_t lane,
                                         const std::int32_t* share, std::int64_t weight, SoftSums& sums) {
    std::int32_t own[8];
    store(own, coarse_share(load(share)));
    for (int i = 0; i < 8; ++i) sums.rounded[lane + i] += times(own[i], weight);
    for (std::size_t column = 0; column < t.numeric; ++column) {
        const std::int32_t number = numbers.number(row, column), square = numbers.square(row, column);
        std::int64_t *to = sums.numbers.data() + column * t.lanes + lane, *to_square = sums.squares.data() + column * t.lanes + lane;
        for (int i = 0; i < 8; ++i) to[i] += times(std::int64_t{own[i]} * number, weight);
        for (int i = 0; i < 8; ++i) to_square[i] += times(std::int64_t{own[i]} * square, weight);
    }
}

// Sums of the numbers of a chunk from row `begin` on.
template <int V>
CATALPA_TARGET void count_numbers(const SoftTables& t, const SoftNumbers& numbers, std::size_t begin, const std::int64_t* weights,
                                  std::size_t rows, Chunk& chunk, SoftSums& sums) {
    if constexpr (V == 0) {
        for (std::uint32_t i = 0; i < chunk.first[rows]; ++i) {
            const Listed at = chunk.listed[i];
            count_numbers(t, numbers, begin + at.row, at.lane, chunk.share.data() + 8 * i, weights ? weights[at.row] : 1, sums);
        }
    } else if (weights == nullptr) {
        count_numbers(t, numbers, begin, rows, chunk, sums);
    } else {
        for (std::size_t row = 0; row < rows; ++row)
            for (std::size_t lane = 0; lane < t.lanes; lane += 8)
                count_numbers(t, numbers, begin + row, lane, chunk.share.data() + row * t.lanes + lane, weights[row], sums);
    }
    const auto [first, last] = numbers.missing_in(begin, begin + rows);
    for (const MissingCell* cell = first; cell != last; ++cell) {
        const std::size_t row = cell->row - begin;
        const std::int32_t* share = spread_out<V>(t, chunk, row);
        const std::int64_t weight = weights ? weights[row] : 1;
        std::int64_t *absent = sums.absent.data() + cell->column * t.lanes, *missed = sums.missed.data() + cell->column * t.lanes;
        for (std::size_t lane = 0; lane < t.lanes; ++lane) {
            absent[lane] += times((share[lane] + (1 << (MOMENT_DROP - 1))) >> MOMENT_DROP, weight);
            missed[lane] += times(share[lane], weight);
        }
    }
}

}  // namespace CATALPA_LEVEL
