// What a hard pass looks up, and what a stretch of rows goes through.

#pragma once

#include <array>
#include <mutex>

#include "groups.hpp"

namespace {

using namespace catalpa;

constexpr std::size_t SLAB = 32;            // clusters whose sums fit the registers together
constexpr std::size_t ROWS_AT_ONCE = 512;   // rows whose keys stay in the first cache; a multiple of 8
constexpr int KEY_BITS = 30;                // of a key's 32: one for the sign, one so that margins cannot overflow
constexpr std::size_t MOST_LANES = 4096;    // beyond, the cluster's index would leave too few bits for the sum
constexpr int MOST_BYTE = 127;              // sums below it, with an index of eight bits, are 16-bit numbers
constexpr std::size_t MOST_BYTE_CLUSTERS = 256;
constexpr std::size_t FEW = 8;              // clusters whose keys fit one register in 16 bits:
constexpr int FEW_BITS = 3;                 // their index, ...
constexpr int MOST_SHORT = (1 << 12) - 1;   // ... and sums below it
constexpr double FARTHEST_NUMBER = 2.0;     // rows with a number beyond are summed in full; scaled ones are at most 1
constexpr std::int32_t LARGEST_KEY = std::numeric_limits<std::int32_t>::max();

template <bool squared>
inline double number_term(double number, double mean, double scale, double level) {
    const double away = std::fabs(number - mean);
    const double term = level + scale * (squared ? away * away : away);
    return away == away ? term : 0.0;
}

// How large the sums of rows can get, of entries above the least of their place and of what sums begin with.
struct Sums {
    Int128 range;              // no row's sum exceeds it
    std::int64_t used_bits = 0;
    int spare;                 // lowest bits that no entry has
    bool overflowed;           // an entry was too far above the least for 64 bits

    Sums(const std::vector<std::int64_t>& above, const std::vector<std::int64_t>& begin,
         const std::vector<std::size_t>& parts, std::size_t k)
        : range(*std::max_element(begin.begin(), begin.end())) {
        for (std::int64_t entry : begin) used_bits |= entry;
        for (std::size_t part = 0; part + 1 < parts.size(); ++part) {
            std::int64_t most = 0;
            for (std::size_t cell = parts[part] * k; cell < parts[part + 1] * k; ++cell) {
                most = std::max(most, above[cell]);
                used_bits |= above[cell];
            }
            range += most;
        }
        spare = used_bits ? trailing_zeros(static_cast<std::uint64_t>(used_bits)) : 62;
        overflowed = used_bits < 0;
    }
};

// What one pass looks up: the cost table over fused codes, in 64 and in 32 bits.
class Tables : public Groups {
   public:
    std::size_t k, numeric, lanes;       // clusters; numeric columns; clusters, rounded up to whole vectors
    std::vector<std::int64_t> anchor;    // (k,)
    std::vector<std::int64_t> plain;     // (length, k) the table as it came
    mutable std::vector<std::int64_t> wide;  // (places, k) its rows added up per fused place; see `widen`
    std::vector<std::int32_t> base;      // (lanes,) where keys begin: anchor << bits | cluster; empty if not usable
    Aligned<std::int32_t> narrow;    // slabs of (places, up to 32): sums << bits
    // Where small whole numbers tell it all, there is one of these instead:
    Aligned<std::int16_t> shorts;                     // (places, 8), keys of up to 8 clusters,
    std::array<std::int16_t, FEW> short_base;         // and where they begin; or
    Aligned<std::uint8_t> bytes;                      // slabs of (places, 32), the sums,
    std::vector<std::uint8_t> byte_base, byte_index;  // and of (32,), where sums begin and the clusters' numbers
    std::vector<float> constant, slope, curve;  // (numeric, lanes) of what a number adds to a key: a polynomial in it
    std::vector<float> constants;               // (lanes,) its constants added up, for rows that lack no number
    Aligned<double> means, scale, level;        // (numeric, k)
    std::vector<double> own_means, own_scale, own_level;  // (k, numeric) the same as they came
    std::int64_t tie;
    std::int32_t index_mask = 0, margin = 0;
    bool squared, root;
    bool curved = false;                 // whether the squares of numbers differ between clusters
    double limit, up, down;              // cap of the numeric part; 2 ** shift; 2 ** -shift

    Tables(const Matrix<const std::int64_t>& table, const Ints& anchors, const Ints& column_widths,
           const Ints& group_members, const Ints& group_starts, const Numbers& means_in, const Numbers& scale_in, const Numbers& level_in,
           int power, bool root_in, int shift, std::int64_t tie_in, double limit_in)
        : Groups(column_widths, group_members, group_starts), k(table.shape(1)), numeric(means_in.shape(1)), lanes((k + 7) / 8 * 8),
          anchor(anchors.data(), anchors.data() + anchors.size()), plain(table.data(), table.data() + table.size()),
          means(transposed(means_in)), scale(transposed(scale_in)), level(transposed(level_in)),
          own_means(means_in.data(), means_in.data() + means_in.size()),
          own_scale(scale_in.data(), scale_in.data() + scale_in.size()),
          own_level(level_in.data(), level_in.data() + level_in.size()), tie(tie_in), squared(power == 2),
          root(root_in), limit(limit_in), up(std::ldexp(1.0, shift)), down(std::ldexp(1.0, -shift)) {
        // A label takes at most 31 bits.
        require(k >= 1 && k <= std::numeric_limits<std::int32_t>::max(), "A table must have at least one cluster.");
        check_costs(*this, table, anchors, means_in, scale_in, level_in);
        require(tie >= 0, "tie must not be below zero.");
        if (numeric == 0 && places() > 0 && k <= MOST_BYTE_CLUSTERS && fill_whole()) return;
        widen();
        if (lanes <= MOST_LANES && (squared || numeric == 0)) narrow_down();
    }

    // Have the table in 64 bits, which small whole numbers do without until full sums are asked for.
    void widen() const {
        std::call_once(widened, [this] {
            wide.resize(places() * k);
            fuse(plain.data(), k, wide.data());
        });
    }

    std::int64_t in_quanta(double part) const {
        return static_cast<std::int64_t>(std::rint((limit < part ? limit : part) * up));
    }

   private:
    mutable std::once_flag widened;

    // Entries above the smallest one of their row. Subtracting what all clusters share changes no comparison between
    // them, and leaves more bits.
    std::vector<std::int64_t> above_smallest(const std::vector<std::int64_t>& entries) const {
        std::vector<std::int64_t> above = entries;
        for (std::int64_t* entry = above.data(); entry != above.data() + above.size(); entry += k) {
            const std::int64_t smallest = *std::min_element(entry, entry + k);
            for (std::size_t j = 0; j < k; ++j) entry[j] -= smallest;
        }
        return above;
    }

    // Whether costs are whole numbers so small that they can be fused as they are; then they are.
    bool fill_whole() {
        const std::vector<std::int64_t> above = above_smallest(plain), begin = above_smallest(anchor);
        const Sums sums(above, begin, begin_of, k);
        const Int128 units = sums.range >> sums.spare;
        if (sums.overflowed || tie >> sums.spare || units >> 62) return false;
        if (static_cast<std::int64_t>(units) >= (k <= FEW ? MOST_SHORT : MOST_BYTE)) return false;
        k <= FEW ? fill_shorts(above, begin, sums.spare) : fill_bytes(above, begin, sums.spare);
        return true;
    }

    void narrow_down() {
        const std::vector<std::int64_t> above = above_smallest(wide), begin = above_smallest(anchor);
        const NumberParts parts(*this);
        if (!parts.usable) return;
        const Sums sums(above, begin, offsets, k);
        Int128 range = sums.range;
        range += parts.reach;
        int index_bits = 0, drop = 0;
        while ((std::size_t{1} << index_bits) < k) ++index_bits;
        while (drop < 62 && (range >> drop) >> (KEY_BITS - index_bits)) ++drop;
        const bool exact = numeric == 0 && sums.spare >= drop;
        if (exact) drop = sums.spare;
        if (!set_margin(drop, index_bits, exact, parts.error)) return;
        fill_base(begin, drop, index_bits);
        fill_narrow(above, drop, index_bits);
        fill_numbers(parts, std::ldexp(up, index_bits - drop));
    }

    // How far apart two keys must be to decide: each entry lost less than one unit in `drop`, and numbers are not
    // exact in either cluster.
    bool set_margin(int drop, int index_bits, bool exact, double error) {
        const std::int64_t tied = tie >> drop, lost = static_cast<std::int64_t>(groups()) + 1;
        const std::int64_t wrong = numeric ? 4 + static_cast<std::int64_t>(std::ldexp(error, 1 - drop)) : 0;
        const std::int64_t units = exact ? tied : tied + lost + wrong;
        if (units >> (KEY_BITS - index_bits)) return false;
        index_mask = static_cast<std::int32_t>((1u << index_bits) - 1);
        // With exact keys and no tolerance the smallest key is the answer: no other one lies below it.
        margin = units == 0 ? -(index_mask + 1) : static_cast<std::int32_t>(units << index_bits);
        return true;
    }

    void fill_base(const std::vector<std::int64_t>& begin, int drop, int index_bits) {
        base.assign(lanes, LARGEST_KEY);
        for (std::size_t j = 0; j < k; ++j)
            base[j] = static_cast<std::int32_t>(begin[j] >> drop << index_bits) | static_cast<std::int32_t>(j);
    }

    void fill_narrow(const std::vector<std::int64_t>& above, int drop, int index_bits) {
        narrow = Aligned<std::int32_t>::cleared(places() * lanes);
        for (std::size_t lane = 0; lane < lanes; lane += SLAB) {
            const std::size_t together = std::min(SLAB, lanes - lane), used = std::min(together, k - lane);
            std::int32_t* to = narrow.data() + lane * places();
            for (std::size_t place = 0; place < places(); ++place, to += together)
                for (std::size_t j = 0; j < used; ++j)
                    to[j] = static_cast<std::int32_t>(above[place * k + lane + j] >> drop << index_bits);
        }
    }

    void fill_shorts(const std::vector<std::int64_t>& above, const std::vector<std::int64_t>& begin, int drop) {
        short_base.fill(std::numeric_limits<std::int16_t>::max());  // which no cluster's key reaches
        for (std::size_t j = 0; j < k; ++j) short_base[j] = static_cast<std::int16_t>(begin[j] >> drop << FEW_BITS | j);
        std::vector<std::int16_t> entries(length() * FEW);
        for (std::size_t place = 0; place < length(); ++place)
            for (std::size_t j = 0; j < k; ++j)
                entries[place * FEW + j] = static_cast<std::int16_t>(above[place * k + j] >> drop << FEW_BITS);
        shorts = Aligned<std::int16_t>(places() * FEW);
        fuse(entries.data(), FEW, shorts.data());
    }

    void fill_bytes(const std::vector<std::int64_t>& above, const std::vector<std::int64_t>& begin, int drop) {
        const std::size_t slabs = (k + SLAB - 1) / SLAB;
        bytes = Aligned<std::uint8_t>(slabs * SLAB * places());
        byte_base.assign(slabs * SLAB, MOST_BYTE);  // which no row's sum reaches, so that no cluster beyond k is nearest
        byte_index.assign(slabs * SLAB, 0);
        for (std::size_t j = 0; j < k; ++j) {
            byte_base[j] = static_cast<std::uint8_t>(begin[j] >> drop);
            byte_index[j] = static_cast<std::uint8_t>(j);
        }
        std::vector<std::uint8_t> entries(length() * SLAB);
        for (std::size_t lane = 0; lane < k; lane += SLAB) {
            for (std::size_t place = 0; place < length(); ++place)
                for (std::size_t j = 0; j < SLAB; ++j)
                    entries[place * SLAB + j] =
                        lane + j < k ? static_cast<std::uint8_t>(above[place * k + lane + j] >> drop) : 0;
            fuse(entries.data(), SLAB, bytes.data() + lane * places());
        }
    }

    // What the numbers of a row cost, as polynomials in them: level + scale * (number - mean) ** 2, less what all
    // clusters share, and how far from it single precision may end.
    struct NumberParts {
        std::vector<double> constant, slope, curve;  // (numeric, k)
        bool usable = true, curved = false;
        std::int64_t reach = 0;  // no row's part is farther from zero, in quanta
        double error = 0.0;      // of a row's part, in quanta

        explicit NumberParts(const Tables& t) : constant(t.numeric * t.k), slope(constant.size()), curve(constant.size()) {
            double raw = 0.0, left = 0.0;  // bounds of the sums, before and after what is shared is taken out
            for (std::size_t column = 0; column < t.numeric; ++column) {
                const std::size_t first = column * t.k;
                double most = 0.0;
                for (std::size_t cell = first; cell < first + t.k; ++cell) {
                    const double mean = t.means[cell], scale = t.scale[cell], farthest = FARTHEST_NUMBER + std::fabs(mean);
                    const double term = std::fabs(t.level[cell]) + std::fabs(scale) * farthest * farthest;
                    usable &= term < std::numeric_limits<double>::infinity();  // which what is no number is not, either
                    most = std::max(most, term);
                    constant[cell] = t.level[cell] + scale * mean * mean;
                    slope[cell] = -2.0 * scale * mean;
                    curve[cell] = scale;
                }
                raw += most;
                left += about_middle(constant, first, t.k) + about_middle(slope, first, t.k) * FARTHEST_NUMBER +
                        about_middle(curve, first, t.k) * FARTHEST_NUMBER * FARTHEST_NUMBER;
                for (std::size_t j = 0; j < t.k; ++j) curved |= curve[first + j] != 0.0;
            }
            // Beyond the cap all clusters cost the same, which polynomials do not know.
            usable &= raw <= t.limit && raw * t.up < 0x1p60;
            if (!usable) return;
            reach = static_cast<std::int64_t>(left * t.up) + 1;
            // Seven roundings of a term in single precision and one for every term added, twice that to be safe; and
            // those of double precision, here and in the exact sums.
            const double roundings = 14.0 + 2.0 * static_cast<double>(t.numeric);
            error = roundings * (left * 0x1p-24 + raw * 0x1p-50) * t.up;
        }

        // Take the middle of k numbers from all of them; the largest magnitude that is left.
        static double about_middle(std::vector<double>& numbers, std::size_t first, std::size_t k) {
            const auto [low, high] = std::minmax_element(numbers.begin() + first, numbers.begin() + first + k);
            const double middle = *low == *high ? *low : *low / 2 + *high / 2;
            double most = 0.0;
            for (std::size_t cell = first; cell < first + k; ++cell) {
                numbers[cell] -= middle;
                most = std::max(most, std::fabs(numbers[cell]));
            }
            return most;
        }
    };

    void fill_numbers(const NumberParts& parts, double unit) {
        curved = parts.curved;
        constant = singles(parts.constant, unit);
        constants.assign(lanes, 0.0f);
        for (std::size_t j = 0; j < k; ++j) {
            double sum = 0.0;
            for (std::size_t column = 0; column < numeric; ++column) sum += parts.constant[column * k + j];
            constants[j] = static_cast<float>(sum * unit);
        }
        slope = singles(parts.slope, unit);
        curve = singles(parts.curve, unit);
    }

    std::vector<float> singles(const std::vector<double>& from, double unit) const {
        std::vector<float> out(numeric * lanes);
        for (std::size_t column = 0; column < numeric; ++column)
            for (std::size_t j = 0; j < k; ++j)
                out[column * lanes + j] = static_cast<float>(from[column * k + j] * unit);
        return out;
    }
};

struct Keys {
    alignas(32) std::int32_t first[ROWS_AT_ONCE];
    alignas(32) std::int32_t second[ROWS_AT_ONCE];
};

// Some rows' numbers in single precision.
struct Cells32 {
    std::vector<float> number;        // (ROWS_AT_ONCE, numeric) zero where it is missing, or beyond the farthest
    std::vector<std::int32_t> there;  // the same shape: all bits where it is not missing
    bool missing = false, beyond = false;
    explicit Cells32(std::size_t numeric) : number(ROWS_AT_ONCE * numeric), there(number.size()) {}
};

struct Scratch {
    Keys keys;
    Cells32 cells;
    std::vector<std::int64_t> sums;
    std::vector<double> part;
    explicit Scratch(const Tables& t) : cells(t.base.empty() ? 0 : t.numeric), sums(t.k), part(t.k) {}
};

}  // namespace
