// What a soft pass looks up, what a stretch of rows goes through, and what is added up.

#pragma once

#include <memory>
#include <new>
#include <numeric>
#include <optional>

#include "between/column_priors.hpp"
#include "between/logarithm.hpp"
#include "between/number_priors.hpp"
#include "groups.hpp"
#include "soft_numbers.hpp"

namespace {

using namespace catalpa;

constexpr int SHARE_BITS = 20;
constexpr std::int32_t WHOLE = 1 << SHARE_BITS;      // the shares of a row add up to this
constexpr std::int32_t FARTHEST = 24 << 16;          // no gap is larger
constexpr std::int32_t NEAR = 21 << 16;              // a cluster this far behind gets no share and adds nothing
constexpr std::uint64_t NARROW_WEIGHT = (1u << 12) - 1;  // of full rows that 32 bits hold in one place
constexpr std::size_t MOST_LOOPED = 4;               // vectors per row up to which no list of near ones is made
constexpr std::size_t CHUNK_BYTES = 1 << 13;         // of the shares of the rows treated together ...
constexpr std::size_t LISTED_BYTES = 1 << 15;        // ... and where few of them are listed
constexpr std::size_t MOST_ROWS = CHUNK_BYTES / 32;  // of a chunk where no list is made
constexpr std::size_t LED_COPIES = 4;                // so that rows of one cluster in a row do not wait for each other
constexpr int MOMENT_DROP = 6;                       // low bits of a share that sums of numbers are rounded by
alignas(32) constexpr std::int32_t FIRST_LANES[16] = {-1, -1, -1, -1, -1, -1, -1, -1, 0, 0, 0, 0, 0, 0, 0, 0};

// 2 ** f and log2(1 + f) on [0, 1): the least-squares fits of soft/reference.py, good to 2e-6 and 4e-6. They carry
// the factor 2 ** 20 of the shares, and those of the power 2 ** -16 for each f; powers of two change no rounding.
constexpr float POWER[5] = {0x1p20f, static_cast<float>(0.69304484 * 0x1p4), static_cast<float>(0.2412802 * 0x1p-12),
                            static_cast<float>(0.05224247 * 0x1p-28), static_cast<float>(0.01342668 * 0x1p-44)};
constexpr float LOGARITHM[6] = {
    static_cast<float>(1.44255314 * 0x1p20),  static_cast<float>(-0.71828192 * 0x1p20),
    static_cast<float>(0.45827079 * 0x1p20),  static_cast<float>(-0.27953811 * 0x1p20),
    static_cast<float>(0.12345146 * 0x1p20),  static_cast<float>(-0.02645744 * 0x1p20)};

// The cost table over fused codes, every place's clusters padded to whole vectors.
class SoftTables : public Groups {
   public:
    std::size_t k, numeric;                         // clusters; numeric columns
    std::size_t vectors, lanes;                     // of eight clusters; clusters with padding
    int coarser;
    bool two;                                       // rows are shared out twice
    std::vector<std::uint32_t> begins;              // (8, groups) first entry of each group, eight times
    Aligned<std::int32_t> anchor, plain, table;     // (lanes,), (length, lanes) and, over fused codes, (places, lanes)
    Aligned<std::int32_t> anchor_rise, plain_rise, rise;  // the same of the second table minus the first
    Aligned<std::int32_t> cap;                      // (lanes,) what keeps the padding far behind
    Aligned<float> curve, slope;                    // (numeric, k) cost of a number that is u away: (curve u + slope) u
    Aligned<std::int32_t> constant;                 // (numeric, lanes) cost of a number that is there; the anchor has it

    // Of no costs so far, twice for rows that are shared out twice.
    SoftTables(const Groups& columns, std::size_t k_in, std::size_t numeric_in, bool two_in, int coarser_in)
        : Groups(columns), k(k_in), numeric(numeric_in), vectors((k + 7) / 8), lanes(vectors * 8), coarser(coarser_in), two(two_in) {
        // Above 1447 clusters the rounded shares of a row could add up to more than the whole.
        require(k >= 1 && k <= 1447, "A soft pass takes 1 to 1447 clusters.");
        // An entry's index takes 32 bits.
        require(places() <= std::numeric_limits<std::uint32_t>::max() / lanes, "All groups of columns must fit a table.");
        for (int row = 0; row < 8; ++row)
            for (std::size_t group = 0; group < groups(); ++group)
                begins.push_back(static_cast<std::uint32_t>(offsets[group] * lanes));
        plain = Aligned<std::int32_t>::cleared(length() * lanes);
        table = Aligned<std::int32_t>(places() * lanes);
        if (two) plain_rise = Aligned<std::int32_t>::cleared(plain.size());
        if (two) rise = Aligned<std::int32_t>(table.size());
        const std::vector<std::int32_t> none(k, 0), no_cap(k, std::numeric_limits<std::int32_t>::max());
        // The cost of a padding lane is the largest there is, so that it is never the least ...
        anchor = padded(none.data(), std::numeric_limits<std::int32_t>::max());
        if (two) anchor_rise = padded(none.data(), 0);
        // ... and since its difference from a cost below zero would wrap, that is capped.
        cap = padded(no_cap.data(), std::numeric_limits<std::int32_t>::min());
        curve = Aligned<float>::cleared(numeric * k);
        slope = Aligned<float>::cleared(numeric * k);
        constant = Aligned<std::int32_t>::cleared(numeric * lanes);
    }

    SoftTables(const Matrix<const std::int32_t>& table_in, const Vector<const std::int32_t>& anchor_in,
               const Ints& widths_in, const Ints& members_in, const Ints& starts_in, const Matrix<const float>& curve_in,
               const Matrix<const float>& slope_in, const Matrix<const std::int32_t>& constant_in,
               const Matrix<const std::int32_t>& rise_in, const Vector<const std::int32_t>& anchor_rise_in, int coarser_in)
        : SoftTables(Groups(widths_in, members_in, starts_in), table_in.shape(1), curve_in.shape(1), anchor_rise_in.size() > 0,
                     coarser_in) {
        require(coarser >= 0 && coarser <= 16, "Costs may be coarser by 0 to 16 bits.");
        require(has_shape(table_in, length(), k), "table must have one row per place of the columns.");
        require(anchor_in.size() == k, "anchor must have one entry per cluster.");
        require(has_shape(curve_in, k, numeric) && has_shape(slope_in, k, numeric) && has_shape(constant_in, k, numeric),
                "curve, slope and constant must be clusters by numeric columns.");
        require(!two || (anchor_rise_in.size() == k && has_shape(rise_in, length(), k)),
                "The second table must have the shape of the first.");
        std::copy_n(anchor_in.data(), k, anchor.data());
        if (two) std::copy_n(anchor_rise_in.data(), k, anchor_rise.data());
        for (std::size_t place = 0; place < length(); ++place) {
            std::copy_n(table_in.data() + place * k, k, plain.data() + place * lanes);
            if (two) std::copy_n(rise_in.data() + place * k, k, plain_rise.data() + place * lanes);
        }
        fuse();
        for (std::size_t j = 0; j < k; ++j)
            for (std::size_t column = 0; column < numeric; ++column) {
                curve[column * k + j] = curve_in.data()[j * numeric + column];
                slope[column * k + j] = slope_in.data()[j * numeric + column];
                constant[column * lanes + j] = constant_in.data()[j * numeric + column];
            }
        add_constants();
    }

    // Add the constants of numbers to the anchor. Sums wrap: only those of all parts must fit.
    void add_constants() {
        for (std::size_t column = 0; column < numeric; ++column)
            for (std::size_t j = 0; j < k; ++j)
                anchor[j] = static_cast<std::int32_t>(static_cast<std::uint32_t>(anchor[j]) + static_cast<std::uint32_t>(constant[column * lanes + j]));
    }

    // Make the fused tables of the plain ones.
    void fuse() {
        Groups::fuse(plain.data(), lanes, table.data());
        if (two) Groups::fuse(plain_rise.data(), lanes, rise.data());
    }

    std::size_t rows_inside(std::size_t rows) const { return rows - std::min(rows, (lanes - 1) / k); }
    std::size_t chunk_rows() const {
        const std::size_t bytes = vectors <= MOST_LOOPED ? CHUNK_BYTES : LISTED_BYTES;
        return std::max<std::size_t>(bytes / (lanes * 4) / TOGETHER * TOGETHER, TOGETHER);
    }

   private:
    Aligned<std::int32_t> padded(const std::int32_t* values, std::int32_t padding) const {
        Aligned<std::int32_t> out(lanes);
        std::fill(std::copy_n(values, k, out.data()), out.data() + lanes, padding);
        return out;
    }

};

// How costs follow from counts from one pass to the next, and how they are rounded.
struct SoftPriors {
    ColumnPriors columns;
    NumberPriors numbers;
    double per_unit, total;  // rows of one unit of the counts; rows in all, and half a one for every cluster
    double quanta, room;     // of a nat; nats that the costs of a row stay below
    bool released;           // whether clusters weigh by their size
};

// Sums of numbers of the last pass, (numeric, lanes), and where the least cost of each number goes.
struct MomentRows {
    const std::int64_t *sums, *squares, *seen;
    double* least;
};

// A block of rows, and where its shares and foremost clusters go.
struct SoftBlock {
    std::size_t rows;
    std::size_t inside;           // rows whose shares, read or written as whole vectors, stay inside the array
    const void* codes;            // (rows rounded up to 8, groups) unsigned
    std::size_t code_bytes;       // 1, 2 or 4 each
    const SoftNumbers* numbers;   // or null where there are none
    const std::int64_t* weights;  // (rows,) or null
    const std::int32_t* before;   // (rows, k) shares of the pass before, or null
    std::int32_t* shares;         // (rows, k) or null
    const void* former;           // (rows,) foremost clusters of the pass before, or null
    void* leaders;                // (rows,) those of this one
    std::size_t leader_bytes;     // 1 or 2 each
    bool narrow;                  // whether counting in 32 bits pays
    bool owns;                    // whether rows that one cluster has whole are counted apart
    bool spread;                  // whether the shares of such rows are asked for
};

// Which of eight lanes a mask of bits has, and how many.
struct LaneLists {
    std::uint8_t lanes[256][8] = {};
    std::uint8_t counts[256] = {};

    constexpr LaneLists() {
        for (unsigned mask = 0; mask < 256; ++mask)
            for (std::uint8_t lane = 0; lane < 8; ++lane)
                if (mask >> lane & 1) lanes[mask][counts[mask]++] = lane;
    }

    // Write `row` plus each lane of a mask to a list of bytes that has room for eight; its new end.
    std::uint8_t* append(unsigned mask, std::size_t row, std::uint8_t* end) const {
        std::uint64_t listed;
        std::memcpy(&listed, lanes[mask], sizeof listed);
        listed += 0x0101010101010101 * row;
        std::memcpy(end, &listed, sizeof listed);
        return end + counts[mask];
    }
};
constexpr LaneLists LANE_LISTS;

// Shares of a row that one of eight clusters has whole.
alignas(32) constexpr std::int32_t WHOLE_AT[8][8] = {
    {WHOLE, 0, 0, 0, 0, 0, 0, 0}, {0, WHOLE, 0, 0, 0, 0, 0, 0}, {0, 0, WHOLE, 0, 0, 0, 0, 0},
    {0, 0, 0, WHOLE, 0, 0, 0, 0}, {0, 0, 0, 0, WHOLE, 0, 0, 0}, {0, 0, 0, 0, 0, WHOLE, 0, 0},
    {0, 0, 0, 0, 0, 0, WHOLE, 0}, {0, 0, 0, 0, 0, 0, 0, WHOLE}};

// Rows of a block that one cluster has whole, and how many of them have each place: from one pass to the next few of
// them change, and the others need not be counted again.
struct Owned {
    static constexpr std::uint8_t NOBODY = 255;
    std::vector<std::uint8_t> owners;          // (rows,)
    std::vector<std::uint32_t> counts, sizes;  // (places, lanes) and (lanes,)

    // Nobody has any rows where those known are of other columns or clusters.
    void fit(const SoftTables& t, std::size_t rows) {
        if (groups && t.same_as(*groups) && owners.size() == rows && sizes.size() == t.lanes) return;
        groups = t;
        owners.assign(rows, NOBODY);
        counts.assign(t.places() * t.lanes, 0);
        sizes.assign(t.lanes, 0);
    }

    // A row with these places changes hands.
    void move(std::uint8_t from, std::uint8_t to, const std::uint32_t* places, std::size_t n_places) {
        if (from != NOBODY) add(from, ~std::uint32_t{0}, places, n_places);
        if (to != NOBODY) add(to, 1, places, n_places);
    }

   private:
    std::optional<Groups> groups;  // that counts are by

    void add(std::uint8_t owner, std::uint32_t all, const std::uint32_t* places, std::size_t n_places) {
        sizes[owner] += all;
        std::uint32_t* own = counts.data() + owner;
        for (std::size_t i = 0; i < n_places; ++i) own[places[i]] += all;
    }
};

// One vector of clusters of one row.
struct Listed {
    std::uint32_t row, lane;
};

// The rows that are treated together, small enough for the first cache.
struct Chunk {
    Aligned<std::int32_t> cost, rise, share;  // (rows, lanes); with a list, share holds its vectors only
    Aligned<std::int32_t> low, log, leader;   // (rows,)
    Aligned<std::int32_t> whole;              // (rows,) summed powers
    Aligned<std::int32_t> owner;              // (rows,) the cluster that has the whole row, or nobody
    Aligned<std::int32_t> factor;             // (rows,) single precision: from powers to shares
    Aligned<std::int64_t> behind;             // (rows,) sum of share times gap
    Aligned<std::uint64_t> heavy;             // (lanes,) weight times share of one row, where that passes 32 bits
    Aligned<std::int32_t> rounded;            // (k, rows / 16, 8) shares that sums of numbers are made with, in pairs of rows
    Aligned<std::int32_t> tail;               // (lanes,) former shares of a row at the end of the block
    Aligned<std::uint32_t> shared, owned;     // (rows,) rows that several clusters share, and that one has whole
    Aligned<std::uint32_t> places;            // (rows, groups) first entry of each place in the tables
    Aligned<Listed> listed;                   // vectors with a cluster that is near, row by row
    Aligned<std::uint32_t> first;             // (rows + 1,) where each row's begin
    Aligned<std::int32_t> full;               // (lanes,) the shares of one row, spread out
    Aligned<std::uint8_t> near;               // of few clusters: the rows with a second cluster near, and of these ...
    Aligned<std::int32_t> near_below, near_power;    // ... in eights, (clusters, rows)
    Aligned<std::int32_t> near_leader, near_whole, near_log;
    std::size_t nears = 0, alone = 0;         // rows on the list; those that have no second cluster all the same
    bool spread;                              // whether the shares of rows that one cluster has whole are asked for

    Chunk(const SoftTables& t, bool spread_in) : Chunk(t, t.chunk_rows(), t.vectors > MOST_LOOPED, spread_in) {}

   private:
    Chunk(const SoftTables& t, std::size_t rows, bool lists, bool spread_in)
        : cost(rows * t.lanes), rise(t.two && !lists ? rows * t.lanes : 0), share(rows * t.lanes), low(rows), log(rows),
          leader(rows), whole(rows), owner(rows), factor(rows), behind(rows), heavy(t.lanes),
          rounded(t.numeric ? (t.k + 7) / 8 * 8 * (rows / TOGETHER) * 8 : 0),
          tail(Aligned<std::int32_t>::cleared(t.lanes)), shared(rows + 1), owned(rows + 1), places(rows * t.groups()),
          listed(lists ? rows * t.vectors + 1 : 0), first(rows + 1), full(t.lanes), near(rows + 8),
          near_below(rows * 8), near_power(rows * 8), near_leader(rows), near_whole(rows), near_log(rows), spread(spread_in) {}
};

// Sums over rows, on fused places, before they are spread over columns.
struct SoftSums {
    const SoftTables& tables;
    Owned& owned;
    Aligned<std::uint32_t> narrow;               // (places, lanes) of the latest rows, while 32 bits hold them
    Aligned<std::uint64_t> wide;                 // (places, lanes) of those before, if there are any
    Aligned<std::uint32_t> run_sizes;            // (lanes,)
    std::vector<std::uint64_t> recent, sizes;    // (lanes,) summed shares since `narrow` was emptied, and all
    // Sums of rounded shares times numbers and squares, and of the rounded and of the full shares of rows without the number.
    std::vector<std::int64_t> numbers, squares, absent, missed;  // (numeric, lanes)
    std::vector<std::int64_t> rounded;           // (lanes,) summed rounded shares of all rows
    std::vector<std::int64_t> led;               // (LED_COPIES, k)
    Int128 cost = 0, log = 0, behind = 0, change = 0;
    std::int64_t moved = 0;

    SoftSums(const SoftTables& t, Owned& owned_in)
        : tables(t), owned(owned_in), narrow(Aligned<std::uint32_t>::cleared(t.places() * t.lanes)), run_sizes(t.lanes),
          recent(t.lanes), sizes(t.lanes), numbers(t.numeric * t.lanes), squares(numbers.size()), absent(numbers.size()),
          missed(numbers.size()), rounded(t.lanes), led(LED_COPIES * t.k) {}

    std::uint64_t size_of(std::size_t j) const { return sizes[j] + (std::uint64_t{owned_by(j)} << SHARE_BITS); }
    std::int64_t led_by(std::size_t j) const {
        std::int64_t sum = owned_by(j);
        for (std::size_t copy = 0; copy < LED_COPIES; ++copy) sum += led[copy * tables.k + j];
        return sum;
    }

    // Make room in the 32-bit sums for rows of this much weight: a cluster's entries never add up to
    // more than its size, so its size says when one of them might be full.
    void make_room(std::uint64_t weight) {
        const std::uint64_t largest = *std::max_element(recent.begin(), recent.end());
        if (largest + (weight << SHARE_BITS) <= std::numeric_limits<std::uint32_t>::max()) return;
        make_wide();
        const std::uint32_t* from = narrow.data();
        std::uint64_t* to = wide.data();
        for (std::size_t i = 0; i < narrow.size(); ++i) to[i] += from[i];
        narrow.clear();
        std::fill(recent.begin(), recent.end(), 0);
    }

    void make_wide() {
        if (wide.size() == 0) wide = Aligned<std::uint64_t>::cleared(narrow.size());
    }

    void add_sizes() {
        for (std::size_t j = 0; j < tables.lanes; ++j) {
            recent[j] += run_sizes[j];
            sizes[j] += run_sizes[j];
        }
    }

   private:
    std::uint32_t owned_by(std::size_t j) const { return owned.owners.empty() ? 0 : owned.sizes[j]; }
};

}  // namespace
