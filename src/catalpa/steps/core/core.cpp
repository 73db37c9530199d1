// One pass over a block: the compiled twin of reference.py, which says what every number here means.
//
// Everything that decides a label or a count is an integer, so results do not depend on the order of
// rows, the number of threads or the instruction set. See docs/performance.md for the design.

#include "core_arrays.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

using namespace catalpa;

namespace {

constexpr std::size_t SLAB = 32;            // clusters whose sums fit the registers together
constexpr std::size_t ROWS_AT_ONCE = 512;   // rows whose keys stay in the first cache; a multiple of 8
constexpr std::size_t STRETCH = 64;         // rows compared at once when looking for those that moved
constexpr int KEY_BITS = 30;                // of a key's 32: one for the sign, one so that margins cannot overflow
constexpr std::size_t MOST_LANES = 4096;    // beyond, the cluster's index would leave too few bits for the sum
constexpr std::int32_t LARGEST_KEY = std::numeric_limits<std::int32_t>::max();
alignas(32) constexpr std::int32_t LARGEST[8] = {LARGEST_KEY, LARGEST_KEY, LARGEST_KEY, LARGEST_KEY,
                                                 LARGEST_KEY, LARGEST_KEY, LARGEST_KEY, LARGEST_KEY};

template <bool squared>
inline double number_term(double number, double mean, double scale, double level) {
    const double away = std::fabs(number - mean);
    const double term = level + scale * (squared ? away * away : away);
    return away == away ? term : 0.0;
}

// What one pass looks up: the cost table over fused codes, in 64 and in 32 bits.
class Tables {
   public:
    std::size_t k, columns, length;      // clusters; categorical columns; places before fusing
    std::size_t numeric;                 // numeric columns
    std::size_t lanes;                   // k, rounded up to whole vectors
    std::vector<std::size_t> starts;     // (groups + 1,) first column of each group
    std::vector<std::size_t> widths;     // (columns,) places of each column
    std::vector<std::size_t> offsets;    // (groups + 1,) first fused place of each group
    std::vector<std::int64_t> anchor;    // (k,)
    std::vector<std::int64_t> plain;     // (length, k) the table as it came
    std::vector<std::int64_t> wide;      // (places, k) its rows added up per fused place
    std::vector<std::int32_t> narrow;    // slabs of (places, up to 32): sums << bits | cluster; empty if not usable
    std::vector<double> means, scale, level;  // (numeric, k)
    std::int64_t tie;
    std::int32_t index_mask = 0, margin = 0;
    bool squared, root;
    double limit, up, down;              // cap of the numeric part; 2 ** shift; 2 ** -shift

    Tables(Matrix<const std::int64_t> table, Vector<const std::int64_t> anchors, Vector<const std::int64_t> column_widths,
           Vector<const std::int64_t> group_starts, Matrix<const double> means_in, Matrix<const double> scale_in,
           Matrix<const double> level_in, int power, bool root_in, int shift, std::int64_t tie_in, double limit_in)
        : k(table.shape(1)), columns(column_widths.size()), length(table.shape(0)), numeric(means_in.shape(1)),
          lanes((k + 7) / 8 * 8), starts(group_starts.data(), group_starts.data() + group_starts.size()),
          widths(column_widths.data(), column_widths.data() + columns), anchor(anchors.data(), anchors.data() + k),
          plain(table.data(), table.data() + table.size()), means(transposed(means_in)), scale(transposed(scale_in)),
          level(transposed(level_in)), tie(tie_in), squared(power == 2), root(root_in), limit(limit_in), up(std::ldexp(1.0, shift)),
          down(std::ldexp(1.0, -shift)) {
        lay_out_groups();
        fuse();
        if (numeric == 0 && groups() > 0 && lanes <= MOST_LANES) narrow_down();
    }

    std::size_t groups() const { return starts.size() - 1; }
    std::size_t places() const { return offsets.back(); }

    std::int64_t in_quanta(double part) const {
        return static_cast<std::int64_t>(std::rint((limit < part ? limit : part) * up));
    }

   private:
    static std::vector<double> transposed(const Matrix<const double>& by_cluster) {
        const std::size_t rows = by_cluster.shape(0), columns = by_cluster.shape(1);
        std::vector<double> out(rows * columns);
        for (std::size_t j = 0; j < rows; ++j)
            for (std::size_t column = 0; column < columns; ++column)
                out[column * rows + j] = by_cluster.data()[j * columns + column];
        return out;
    }

    void lay_out_groups() {
        offsets.assign(1, 0);
        for (std::size_t group = 0; group < groups(); ++group) {
            std::size_t width = 1;
            for (std::size_t column = starts[group]; column < starts[group + 1]; ++column) width *= widths[column];
            offsets.push_back(offsets.back() + width);
        }
    }

    // A group's table grows column by column; the last column turns fastest, as in `fuse_codes`.
    void fuse() {
        wide.assign(places() * k, 0);
        std::vector<std::int64_t> so_far, next;
        const std::int64_t* column_table = plain.data();
        for (std::size_t group = 0; group < groups(); ++group) {
            so_far.assign(k, 0);
            for (std::size_t column = starts[group]; column < starts[group + 1]; ++column) {
                next.resize(so_far.size() * widths[column]);
                std::int64_t* out = next.data();
                for (std::size_t left = 0; left < so_far.size(); left += k)
                    for (std::size_t right = 0; right < widths[column] * k; right += k, out += k)
                        for (std::size_t j = 0; j < k; ++j) out[j] = so_far[left + j] + column_table[right + j];
                column_table += widths[column] * k;
                so_far.swap(next);
            }
            std::copy(so_far.begin(), so_far.end(), wide.begin() + offsets[group] * k);
        }
    }

    // Entries above the smallest one of their place, anchors in the first group's. Subtracting what all
    // clusters share changes no comparison between them, and leaves more bits.
    std::vector<std::int64_t> above_smallest() const {
        std::vector<std::int64_t> above = wide;
        for (std::size_t place = 0; place < places(); ++place) {
            std::int64_t* entry = above.data() + place * k;
            if (place < offsets[1])
                for (std::size_t j = 0; j < k; ++j) entry[j] += anchor[j];
            const std::int64_t smallest = *std::min_element(entry, entry + k);
            for (std::size_t j = 0; j < k; ++j) entry[j] -= smallest;
        }
        return above;
    }

    void narrow_down() {
        const std::vector<std::int64_t> above = above_smallest();
        Int128 range = 0;  // no row's sum exceeds it
        std::int64_t used_bits = 0;
        for (std::size_t group = 0; group < groups(); ++group) {
            std::int64_t most = 0;
            for (std::size_t cell = offsets[group] * k; cell < offsets[group + 1] * k; ++cell) {
                most = std::max(most, above[cell]);
                used_bits |= above[cell];
            }
            range += most;
        }
        int index_bits = 0, drop = 0;
        while ((std::size_t{1} << index_bits) < k) ++index_bits;
        while ((range >> drop) >> (KEY_BITS - index_bits)) ++drop;
        const int spare = used_bits ? __builtin_ctzll(static_cast<std::uint64_t>(used_bits)) : 62;
        const bool exact = spare >= drop;
        if (exact) drop = spare;
        if (set_margin(drop, index_bits, exact)) fill_narrow(above, drop, index_bits);
    }

    // How far apart two keys must be to decide: each entry lost less than one unit in `drop`.
    bool set_margin(int drop, int index_bits, bool exact) {
        const std::int64_t tied = tie >> drop, units = exact ? tied : tied + static_cast<std::int64_t>(groups()) + 1;
        if (units >> (KEY_BITS - index_bits)) return false;
        index_mask = static_cast<std::int32_t>((1u << index_bits) - 1);
        // With exact keys and no tolerance the smaller key is the answer: a margin below zero asks no second time.
        margin = units == 0 ? -(index_mask + 1) : static_cast<std::int32_t>(units << index_bits);
        return true;
    }

    void fill_narrow(const std::vector<std::int64_t>& above, int drop, int index_bits) {
        narrow.reserve(places() * lanes);
        for (std::size_t lane = 0; lane < lanes; lane += SLAB) {
            const std::size_t end = std::min(lane + SLAB, lanes), used = std::min(end, k);
            for (std::size_t place = 0; place < places(); ++place) {
                const bool first_group = place < offsets[1];
                for (std::size_t j = lane; j < used; ++j)
                    narrow.push_back(static_cast<std::int32_t>(above[place * k + j] >> drop << index_bits) |
                                     static_cast<std::int32_t>(first_group ? j : 0));
                narrow.resize(narrow.size() + end - used, first_group ? LARGEST_KEY : 0);
            }
        }
    }
};

struct Keys {
    alignas(32) std::int32_t first[ROWS_AT_ONCE];
    alignas(32) std::int32_t second[ROWS_AT_ONCE];
};

struct Scratch {
    Keys keys;
    std::vector<std::int64_t> sums;
    std::vector<double> part;
    explicit Scratch(std::size_t k) : sums(k), part(k) {}
};

#define CATALPA_LEVEL baseline
#define CATALPA_TARGET
#define CATALPA_WIDE 0
#include "core_lanes.hpp"
#include "core_rows.hpp"
#undef CATALPA_LEVEL
#undef CATALPA_TARGET
#undef CATALPA_WIDE

#if defined(__x86_64__)
#define CATALPA_LEVEL avx2
#define CATALPA_TARGET __attribute__((target("avx2")))
#define CATALPA_WIDE 1
#include "core_lanes.hpp"
#include "core_rows.hpp"
#undef CATALPA_LEVEL
#undef CATALPA_TARGET
#undef CATALPA_WIDE
#endif

template <class Code>
void label_some(const std::string& level, const Tables& tables, const Code* codes, const double* numbers,
                std::size_t rows, Scratch& scratch, std::uint32_t* labels) {
#if defined(__x86_64__)
    if (level == "AVX2") return avx2::label_rows(tables, codes, numbers, rows, scratch, labels);
#endif
    baseline::label_rows(tables, codes, numbers, rows, scratch, labels);
}

template <class Code, class Label>
std::int64_t label_block(const std::string& level, const Tables& tables, const Code* codes, const double* numbers,
                         const Label* before, Label* labels, std::size_t rows) {
    Scratch scratch(tables.k);
    std::uint32_t found[ROWS_AT_ONCE];
    std::int64_t moved = 0;
    for (std::size_t row = 0; row < rows; row += ROWS_AT_ONCE) {
        const std::size_t some = std::min(ROWS_AT_ONCE, rows - row);
        label_some(level, tables, codes + row * tables.groups(), numbers + row * tables.numeric, some, scratch, found);
        for (std::size_t i = 0; i < some; ++i) labels[row + i] = static_cast<Label>(found[i]);
        std::int32_t differ = 0;
        if (before != nullptr)
            for (std::size_t i = 0; i < some; ++i) differ += labels[row + i] != before[row + i];
        moved += before != nullptr ? differ : static_cast<std::int32_t>(some);
    }
    return moved;
}

// Fill `labels`; how many differ from `before` (all, where that is empty).
std::int64_t label(const Tables& tables, const AnyCodes& codes, const Matrix<const double>& numbers,
                   const AnyLabels& before, const AnyVector& labels, const std::string& level) {
    nb::gil_scoped_release unlocked;
    return with_type(codes, [&](auto* code) {
        return with_type(labels, [&](auto* out) {
            using Label = std::remove_const_t<std::remove_pointer_t<decltype(out)>>;
            const auto* old = before.size() ? static_cast<const Label*>(before.data()) : nullptr;
            return label_block(level, tables, code, numbers.data(), old, const_cast<Label*>(out), labels.size());
        });
    });
}

// Sums per cluster over fused places, before they are spread over columns.
struct Tally {
    const Tables& tables;
    std::vector<std::int64_t> by_place, sizes, sums, squares, seen;

    explicit Tally(const Tables& t)
        : tables(t), by_place(t.places() * t.k), sizes(t.k), sums(t.k * t.numeric), squares(sums.size()),
          seen(sums.size()) {}

    template <class Code>
    void add(const Code* codes, const double* numbers, std::size_t cluster, std::int64_t weight) {
        for (std::size_t group = 0; group < tables.groups(); ++group)
            by_place[(tables.offsets[group] + codes[group]) * tables.k + cluster] += weight;
        sizes[cluster] += weight;
        for (std::size_t column = 0; column < tables.numeric; ++column) {
            if (numbers[column] != numbers[column]) continue;
            const std::size_t cell = cluster * tables.numeric + column;
            const auto whole = static_cast<std::int64_t>(std::rint(numbers[column] * (1 << TICK_BITS)));
            sums[cell] += times(whole, weight);
            squares[cell] += times(times(whole, whole) >> (2 * TICK_BITS - SQUARE_BITS), weight);
            seen[cell] += weight;
        }
    }

    // Add up over the other columns of each group.
    std::vector<std::int64_t> by_category() const {
        const std::size_t k = tables.k;
        std::vector<std::int64_t> out(tables.length * k);
        std::size_t offset = 0;
        for (std::size_t group = 0; group < tables.groups(); ++group) {
            std::size_t inner = tables.offsets[group + 1] - tables.offsets[group];
            for (std::size_t column = tables.starts[group]; column < tables.starts[group + 1]; ++column) {
                const std::size_t width = tables.widths[column];
                inner /= width;
                for (std::size_t place = tables.offsets[group]; place < tables.offsets[group + 1]; ++place) {
                    const std::size_t code = (place - tables.offsets[group]) / inner % width;
                    std::int64_t* to = out.data() + (offset + code) * k;
                    const std::int64_t* from = by_place.data() + place * k;
                    for (std::size_t j = 0; j < k; ++j) to[j] += from[j];
                }
                offset += width;
            }
        }
        return out;
    }
};

using Cells = Matrix<std::int64_t>;

void add_into(const Cells& to, const std::vector<std::int64_t>& from) {
    for (std::size_t i = 0; i < from.size(); ++i) to.data()[i] += from[i];
}

void publish(const Tally& tally, const Cells& by_category, const Vector<std::int64_t>& sizes, const Cells& sums,
             const Cells& squares, const Cells& seen) {
    const std::size_t k = tally.tables.k, length = tally.tables.length;
    const std::vector<std::int64_t> by_place = tally.by_category();
    for (std::size_t j = 0; j < k; ++j) {
        sizes.data()[j] += tally.sizes[j];
        for (std::size_t place = 0; place < length; ++place)
            by_category.data()[j * length + place] += by_place[place * k + j];
    }
    add_into(sums, tally.sums);
    add_into(squares, tally.squares);
    add_into(seen, tally.seen);
}

// Add to the counts every row under its label.
void count_all(const Tables& tables, const AnyCodes& codes, const Matrix<const double>& numbers,
               const Vector<const std::int64_t>& weights, const AnyLabels& labels, const Cells& by_category,
               const Vector<std::int64_t>& sizes, const Cells& sums, const Cells& squares, const Cells& seen) {
    nb::gil_scoped_release unlocked;
    Tally tally(tables);
    const std::size_t rows = labels.size(), groups = tables.groups();
    const std::int64_t* weight = weights.size() ? weights.data() : nullptr;
    with_type(codes, [&](auto* code) {
        with_type(labels, [&](auto* label) {
            for (std::size_t row = 0; row < rows; ++row)
                tally.add(code + row * groups, numbers.data() + row * tables.numeric, label[row],
                          weight ? weight[row] : 1);
        });
    });
    publish(tally, by_category, sizes, sums, squares, seen);
}

// Take the rows whose label changed out of their old cluster's counts and add them to the new one's.
void count_moved(const Tables& tables, const AnyCodes& codes, const Matrix<const double>& numbers,
                 const Vector<const std::int64_t>& weights, const AnyLabels& before, const AnyLabels& labels,
                 const Cells& by_category, const Vector<std::int64_t>& sizes, const Cells& sums, const Cells& squares,
                 const Cells& seen) {
    nb::gil_scoped_release unlocked;
    Tally tally(tables);
    const std::size_t rows = labels.size(), groups = tables.groups();
    const std::int64_t* weight = weights.size() ? weights.data() : nullptr;
    with_type(codes, [&](auto* code) {
        with_type(labels, [&](auto* label) {
            const auto* old = static_cast<decltype(label)>(before.data());
            for (std::size_t begin = 0; begin < rows; begin += STRETCH) {
                const std::size_t end = std::min(begin + STRETCH, rows);
                if (std::memcmp(old + begin, label + begin, (end - begin) * sizeof *label) == 0) continue;
                for (std::size_t row = begin; row < end; ++row) {
                    if (old[row] == label[row]) continue;
                    const double* own = numbers.data() + row * tables.numeric;
                    const std::int64_t w = weight ? weight[row] : 1;
                    tally.add(code + row * groups, own, old[row], -w);
                    tally.add(code + row * groups, own, label[row], w);
                }
            }
        });
    });
    publish(tally, by_category, sizes, sums, squares, seen);
}

std::int64_t floored(std::int64_t a, std::int64_t b) { return a / b - (a % b != 0 && (a < 0) != (b < 0)); }

// Reported cost of a row's sum: rescaled where cells were left out, rooted if asked.
std::int64_t reported(const Tables& tables, std::int64_t total, std::int64_t present) {
    const auto all = static_cast<std::int64_t>(tables.columns + tables.numeric);
    if (present != all) {
        const std::int64_t whole = floored(total, present);
        total = static_cast<std::int64_t>(static_cast<std::uint64_t>(times(whole, all)) +
                                          static_cast<std::uint64_t>(floored(times(total - whole * present, all), present)));
    }
    if (!tables.root) return total;
    const auto above = static_cast<double>(std::max<std::int64_t>(total, 0));
    return static_cast<std::int64_t>(std::rint(std::sqrt(above * tables.down) * tables.up));
}

template <class Code>
std::int64_t own_sum(const Tables& tables, const Code* codes, const double* numbers, std::size_t cluster) {
    std::int64_t total = tables.anchor[cluster];
    for (std::size_t group = 0; group < tables.groups(); ++group)
        total += tables.wide[(tables.offsets[group] + codes[group]) * tables.k + cluster];
    double part = 0.0;
    for (std::size_t column = 0; column < tables.numeric; ++column) {
        if (numbers[column] != numbers[column]) continue;
        const std::size_t at = column * tables.k + cluster;
        const double mean = tables.means[at], scale = tables.scale[at], level = tables.level[at];
        part += tables.squared ? number_term<true>(numbers[column], mean, scale, level)
                               : number_term<false>(numbers[column], mean, scale, level);
    }
    return tables.numeric ? total + tables.in_quanta(part) : total;
}

// Sum of the rows' reported costs, as two halves of 128 bits.
nb::tuple cost_by_rows(const Tables& tables, const AnyCodes& codes, const Matrix<const double>& numbers,
                       const Vector<const std::int64_t>& weights, const Vector<const std::int64_t>& present,
                       const AnyLabels& labels) {
    Int128 sum = 0;
    {
        nb::gil_scoped_release unlocked;
        const auto all = static_cast<std::int64_t>(tables.columns + tables.numeric);
        const std::int64_t* weight = weights.size() ? weights.data() : nullptr;
        const std::int64_t* cells = present.size() ? present.data() : nullptr;
        with_type(codes, [&](auto* code) {
            with_type(labels, [&](auto* label) {
                for (std::size_t row = 0; row < labels.size(); ++row) {
                    const std::int64_t total = own_sum(tables, code + row * tables.groups(),
                                                       numbers.data() + row * tables.numeric, label[row]);
                    sum += static_cast<Int128>(reported(tables, total, cells ? cells[row] : all)) *
                           (weight ? weight[row] : 1);
                }
            });
        });
    }
    return halves(sum);
}

// The same sum from counts, where every row's cost is the plain sum of its entries.
nb::tuple cost_by_counts(const Tables& tables, const Matrix<const std::int64_t>& by_category,
                         const Vector<const std::int64_t>& sizes) {
    Int128 sum = 0;
    for (std::size_t j = 0; j < tables.k; ++j) {
        sum += static_cast<Int128>(sizes.data()[j]) * tables.anchor[j];
        const std::int64_t* counts = by_category.data() + j * tables.length;
        for (std::size_t place = 0; place < tables.length; ++place)
            sum += static_cast<Int128>(counts[place]) * tables.plain[place * tables.k + j];
    }
    return halves(sum);
}

// Fuse neighbouring columns' codes; whether every code lies below its column's width.
template <class From, class To>
bool fuse_block(const From* codes, std::size_t rows, const std::int64_t* widths, std::size_t columns,
                const std::int64_t* starts, std::size_t groups, To* out) {
    bool inside = true;
    for (std::size_t begin = 0; begin < rows; begin += STRETCH) {
        const std::size_t some = std::min(STRETCH, rows - begin);
        for (std::size_t group = 0; group < groups; ++group) {
            std::uint32_t fused[STRETCH] = {};
            for (std::int64_t column = starts[group]; column < starts[group + 1]; ++column) {
                const From* cell = codes + begin * columns + column;
                const auto width = static_cast<std::uint32_t>(widths[column]);
                std::uint32_t largest = 0;
                for (std::size_t i = 0; i < some; ++i) {
                    const std::uint32_t code = cell[i * columns];
                    largest = std::max(largest, code);
                    fused[i] = fused[i] * width + code;
                }
                inside &= largest < width;
            }
            for (std::size_t i = 0; i < some; ++i) out[(begin + i) * groups + group] = static_cast<To>(fused[i]);
        }
    }
    return inside;
}

bool fuse_codes(const AnyCodes& codes, const Vector<const std::int64_t>& widths, const Vector<const std::int64_t>& starts,
                const nb::ndarray<nb::ndim<2>, nb::c_contig, nb::device::cpu>& fused) {
    nb::gil_scoped_release unlocked;
    return with_type(codes, [&](auto* from) {
        return with_type(fused, [&](auto* to) {
            using To = std::remove_const_t<std::remove_pointer_t<decltype(to)>>;
            return fuse_block(from, codes.shape(0), widths.data(), widths.size(), starts.data(), starts.size() - 1,
                              const_cast<To*>(to));
        });
    });
}

}  // namespace

std::vector<std::string> catalpa::levels() {
    std::vector<std::string> found;
#if defined(__x86_64__)
    __builtin_cpu_init();
    if (__builtin_cpu_supports("avx2")) found.push_back("AVX2");
#endif
    found.push_back("baseline");
    return found;
}

NB_MODULE(_core, module) {
    module.doc() = "The compiled core; catalpa.steps.compiled is its only caller.";
    nb::class_<Tables>(module, "Tables")
        .def(nb::init<Matrix<const std::int64_t>, Vector<const std::int64_t>, Vector<const std::int64_t>,
                      Vector<const std::int64_t>, Matrix<const double>, Matrix<const double>, Matrix<const double>, int, bool,
                      int, std::int64_t, double>());
    module.def("levels", &levels);
    module.def("fuse_codes", &fuse_codes);
    module.def("label", &label);
    module.def("count_all", &count_all);
    module.def("count_moved", &count_moved);
    module.def("cost_by_rows", &cost_by_rows);
    module.def("cost_by_counts", &cost_by_counts);
    bind_soft(module);
}
