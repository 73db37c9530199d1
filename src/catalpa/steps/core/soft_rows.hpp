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

}  // namespace CATALPA_LEVEL

#include "soft_shares.hpp"
#include "soft_number_rows.hpp"
#include "soft_few.hpp"
#include "soft_sums.hpp"
#include "between/next_tables.hpp"
