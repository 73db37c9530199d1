// One soft pass over a block: the compiled twin of soft/reference.py, which says what every number here means.

#include <tuple>

#include "soft_tables.hpp"

#define CATALPA_KERNELS "soft_rows.hpp"
#include "each_level.hpp"

namespace {

// Sums by place of the columns, (length, lanes).
std::vector<std::uint64_t> by_column(const SoftSums& sums) {
    const SoftTables& t = sums.tables;
    const std::uint32_t *narrow = sums.narrow.data(), *owned = sums.owned.owners.empty() ? nullptr : sums.owned.counts.data();
    const std::uint64_t* wide = sums.wide.data();
    return t.by_column<std::uint64_t>(t.lanes, [=](std::size_t i) {
        return narrow[i] + (wide ? wide[i] : 0) + (owned ? std::uint64_t{owned[i]} << SHARE_BITS : 0);
    });
}

// Summed weight, none of them below zero.
std::uint64_t summed(const Ints& weights) {
    std::uint64_t sum = 0;
    std::int64_t signs = 0;
    for (std::size_t row = 0; row < weights.size(); ++row) {
        sum += static_cast<std::uint64_t>(weights.data()[row]);
        signs |= weights.data()[row];
    }
    require(signs >= 0, "A row cannot weigh less than nothing.");
    return sum;
}

// Whether counting in 32 bits pays: emptying them takes as long as there are places, and comes with weight.
bool counts_narrow(const SoftTables& t, std::size_t rows, std::uint64_t weight) {
    return static_cast<double>(weight) * static_cast<double>(t.places()) <=
           static_cast<double>(NARROW_WEIGHT) * static_cast<double>(rows) * static_cast<double>(t.groups());
}

// The sums of numbers and of their squares, and how much of each cluster has each number, (numeric, lanes): as Counts has them.
struct Moments {
    std::vector<std::int64_t> sums, squares, seen;

    explicit Moments(std::size_t size) : sums(size), squares(size), seen(size) {}
    explicit Moments(const SoftSums& from) : Moments(from.numbers.size()) {
        const std::size_t lanes = from.tables.lanes;
        for (std::size_t at = 0; at < sums.size(); ++at) {
            const std::size_t lane = at % lanes;
            // A share of 2 ** 14 times a number of 2 ** 13, or of its distance from the middle, squared.
            sums[at] = times(from.numbers[at], 8);
            squares[at] = times(from.squares[at], 2) + sums[at] - times(from.rounded[lane] - from.absent[at], 1 << 14);
            seen[at] = static_cast<std::int64_t>(from.size_of(lane)) - from.missed[at];
        }
    }
};

SoftBlock block_of(const SoftTables& t, const Fused& codes, const SoftNumbers& numbers, const Ints& weights, std::uint64_t weight,
                   const std::int32_t* before, std::int32_t* shares, const void* former, void* leaders, std::size_t leader_bytes) {
    const bool owns = t.vectors <= MOST_LOOPED && weights.size() == 0;
    return {codes.rows, t.rows_inside(codes.rows), codes.data(), codes.itemsize, &numbers,
            weights.size() ? weights.data() : nullptr, before, shares, former, leaders, leader_bytes,
            counts_narrow(t, codes.rows, weight), owns, !owns || t.two || t.numeric || before || shares};
}

SoftSums shared_out(const SoftTables& t, const SoftBlock& block, Owned& owned, const std::string& level) {
    if (block.owns) owned.fit(t, block.rows);
    SoftSums sums(t, owned);
    CATALPA_AT_LEVEL(level, share_block, t, block, sums);
    return sums;
}

// Share rows out between clusters, fill what is given for the results, and return the sums of cost, log,
// gap and change, each as two halves of 128 bits, and how many leaders are not the former ones. `weights`,
// `before`, `former` and `shares` may be empty.
nb::tuple share(const SoftTables& t, const Fused& codes, const SoftNumbers& numbers, const Ints& weights,
                const Matrix<const std::int32_t>& before, const std::string& level, const AnyLabels& former,
                const AnyVector& leaders, const Matrix<std::int32_t>& shares, const Owned& owned_before, Owned& owned,
                const Cells& by_category, const Vector<std::int64_t>& sizes, const Cells& sums_in, const Cells& squares,
                const Cells& seen, const Vector<std::int64_t>& led) {
    const std::size_t rows = leaders.size();
    const Results results{by_category, sizes, sums_in, squares, seen};
    results.check(t, t.k, t.numeric);
    require(led.size() == t.k, "led must have one entry per cluster.");
    codes.check(t);
    require(rows == codes.rows, "leaders must have one entry per row.");
    require(is_unsigned(leaders.dtype()) && leaders.itemsize() <= 2, "leaders are unsigned integers of 8 or 16 bits.");
    require(leaders.itemsize() == 2 || t.k <= 256, "leaders must hold every cluster's number.");
    require(former.size() == 0 || (former.size() == rows && former.dtype() == leaders.dtype()),
            "The former leaders must be like the new ones.");
    require(numbers.rows == rows && numbers.numeric == t.numeric, "numbers must be rows by numeric columns.");
    check_weights(weights, rows);
    require(before.size() == 0 || has_shape(before, rows, t.k), "The shares before must be rows by clusters.");
    require(shares.size() == 0 || has_shape(shares, rows, t.k), "shares must be rows by clusters.");
    const std::uint64_t weight = weights.size() ? summed(weights) : rows;
    check_level(level);
    Int128 cost, log, behind, change;
    std::int64_t moved;
    {
        nb::gil_scoped_release unlocked;
        const SoftBlock block = block_of(t, codes, numbers, weights, weight, before.size() ? before.data() : nullptr,
                                         shares.size() ? shares.data() : nullptr, former.size() ? former.data() : nullptr,
                                         leaders.data(), leaders.itemsize());
        owned = owned_before;
        const SoftSums sums = shared_out(t, block, owned, level);
        results.clear();
        add_by_cluster(by_column(sums), t.lanes, by_category);
        const Moments moments(sums);
        add_by_cluster(moments.sums, t.lanes, sums_in);
        add_by_cluster(moments.squares, t.lanes, squares);
        add_by_cluster(moments.seen, t.lanes, seen);
        for (std::size_t j = 0; j < t.k; ++j) {
            sizes.data()[j] = static_cast<std::int64_t>(sums.size_of(j));
            led.data()[j] = sums.led_by(j);
        }
        std::tie(cost, log, behind, change, moved) = std::tie(sums.cost, sums.log, sums.behind, sums.change, sums.moved);
        // Where a row's cost is the sum of its entries: far clusters have no share, so it does not matter that their gap
        // is cut.
        if (!t.two && t.numeric == 0) behind = results.cost(t.plain.data(), t.anchor.data(), t.lanes) + -cost * WHOLE;
        behind = behind * (Int128{1} << t.coarser);
    }
    return nb::make_tuple(halves(cost), halves(log), halves(behind), halves(change), moved);
}

// Passes with two tables, one after the other. Counts, shares and tables stay here between them; all costs are sure to fit 32
// bits, or there are no such passes.
class SoftPasses {
   public:
    // `counts` (k, places), `sizes` (k,), and of numbers `sums`, `squares` and `seen` (k, numeric) are those to begin with, in
    // units of which `units`, a power of two, are a row. The codes of a tied column are those of its pairs with its parent.
    static std::optional<SoftPasses> begin(const Fused& codes, const SoftNumbers& numbers, const Ints& weights,
                                           const Matrix<const std::int64_t>& counts, const Ints& sizes,
                                           const Matrix<const std::int64_t>& sums, const Matrix<const std::int64_t>& squares,
                                           const Matrix<const std::int64_t>& seen, const ColumnPriors& columns,
                                           const NumberPriors& of_numbers, double units, bool released, double quanta, double room,
                                           const std::string& level) {
        const std::size_t k = sizes.size(), numeric = of_numbers.columns();
        require(k > 0 && has_shape(counts, k, columns.places()), "counts must be clusters by places.");
        require(columns.columns() == codes.groups.columns(), "There must be codes of every column.");
        for (std::size_t column = 0; column < columns.columns(); ++column)
            require(columns.joined(column) == codes.groups.widths[column], "Codes must have the categories of their columns.");
        require(numbers.rows == codes.rows && numbers.numeric == numeric, "numbers must be rows by numeric columns.");
        require(has_shape(sums, k, numeric) && has_shape(squares, k, numeric) && has_shape(seen, k, numeric),
                "sums, squares and seen must be clusters by numeric columns.");
        require(quanta > 0.0 && room * quanta <= 0x1p31 - 2, "Sums must stay below what integers of 32 bits hold.");
        check_weights(weights, codes.rows);
        check_level(level);
        const std::uint64_t weight = weights.size() ? summed(weights) : codes.rows;
        int exponent;
        const bool exact = weight < std::uint64_t{1} << 32 && std::frexp(units, &exponent) == 0.5;
        if (!exact || !all_exact(counts.data(), counts.size()) || !all_exact(sizes.data(), k) || !all_exact(seen.data(), seen.size()))
            return std::nullopt;
        const double rows = static_cast<double>(weight << SHARE_BITS) / units, total = rows + static_cast<double>(k) / 2.0;
        SoftPasses passes(codes, numbers, weights, weight, counts, sizes,
                          {columns, of_numbers, 1.0 / units, total, quanta, room, released}, level);
        for (std::size_t j = 0; j < k; ++j)
            for (std::size_t column = 0; column < numeric; ++column) {
                const std::size_t from = j * numeric + column, to = column * passes.t.lanes + j;
                passes.moments.sums[to] = sums.data()[from];
                passes.moments.squares[to] = squares.data()[from];
                passes.moments.seen[to] = seen.data()[from];
            }
        return passes;
    }

    // One more pass: the sums of cost, log and change, moved rows, clusters that lead somewhere, and the least anchor; what
    // all clusters share of the costs of a place goes to `least`, of those of a number to `number_least`. Nothing where costs
    // may not fit 32 bits: then no pass is made.
    std::optional<nb::tuple> next(const Vector<double>& least, const Vector<double>& number_least) {
        require(least.size() == t.length(), "least must have one entry per place.");
        require(number_least.size() == t.numeric, "number_least must have one entry per numeric column.");
        std::optional<double> lowest;
        {
            nb::gil_scoped_release unlocked;
            const MomentRows of_numbers{moments.sums.data(), moments.squares.data(), moments.seen.data(), number_least.data()};
            lowest = CATALPA_AT_LEVEL(level, next_tables, priors, shares_of, counts.data(), sizes.data(), of_numbers, t, least.data());
            if (lowest) share_out();
        }
        if (!lowest) return std::nullopt;
        const auto clusters = t.k - static_cast<std::size_t>(std::count(led.begin(), led.end(), 0));
        return nb::make_tuple(halves(cost), halves(log), halves(change), moved, clusters, *lowest);
    }

    // Fill in the sums of the last pass, and return those of log and gap.
    nb::tuple counted(const Cells& by_category, const Vector<std::int64_t>& sizes_in, const Cells& sums, const Cells& squares,
                      const Cells& seen, const Vector<std::int64_t>& led_in) const {
        require(has_shape(by_category, t.k, t.length()), "by_category must be clusters by places.");
        require(sizes_in.size() == t.k && led_in.size() == t.k, "sizes and led must have one entry per cluster.");
        for (const Cells* each : {&sums, &squares, &seen})
            require(has_shape(*each, t.k, t.numeric), "sums, squares and seen must be clusters by numeric columns.");
        for (const Cells* each : {&by_category, &sums, &squares, &seen}) std::fill_n(each->data(), each->size(), 0);
        add_by_cluster(joined, t.lanes, by_category);
        add_by_cluster(moments.sums, t.lanes, sums);
        add_by_cluster(moments.squares, t.lanes, squares);
        add_by_cluster(moments.seen, t.lanes, seen);
        std::copy_n(sizes.data(), t.k, sizes_in.data());
        std::copy_n(led.data(), t.k, led_in.data());
        return nb::make_tuple(halves(log), halves(behind));
    }

   private:
    const Fused& codes;
    const SoftNumbers& numbers;
    Ints weights;
    std::uint64_t weight;
    SoftPriors priors;
    std::string level;
    SoftTables t;
    ColumnShares shares_of;
    Owned owned;
    std::vector<std::uint64_t> counts, joined, sizes;  // (places, lanes), the same with pairs (length, lanes), and (lanes,)
    Moments moments;
    std::vector<std::int64_t> led;             // (k,)
    Aligned<std::int32_t> shares, before;      // (rows, k)
    std::vector<std::uint16_t> leaders, former;
    Int128 cost = 0, log = 0, behind = 0, change = 0;
    std::int64_t moved = 0;
    bool first = true;

    SoftPasses(const Fused& codes_in, const SoftNumbers& numbers_in, const Ints& weights_in, std::uint64_t weight_in,
               const Matrix<const std::int64_t>& counts_in, const Ints& sizes_in, SoftPriors priors_in, const std::string& level_in)
        : codes(codes_in), numbers(numbers_in), weights(weights_in), weight(weight_in), priors(std::move(priors_in)), level(level_in),
          t(codes.groups, sizes_in.size(), numbers.numeric, rises(priors), 0), shares_of(priors.columns, t.k, 2), counts(priors.columns.places() * t.lanes),
          joined(t.length() * t.lanes), sizes(t.lanes), moments(t.numeric * t.lanes), led(t.k), shares(codes.rows * t.k), before(shares.size()), leaders(codes.rows), former(codes.rows) {
        const std::size_t places = priors.columns.places();
        for (std::size_t j = 0; j < t.k; ++j) {
            sizes[j] = static_cast<std::uint64_t>(sizes_in.data()[j]);
            for (std::size_t place = 0; place < places; ++place)
                counts[place * t.lanes + j] = static_cast<std::uint64_t>(counts_in.data()[j * places + place]);
        }
        if (priors.columns.pairs() == 0) joined = counts;  // how pairs are shared is not known before the first pass
    }

    // Whether the second table differs from the first: numbers cost the same in both.
    static bool rises(const SoftPriors& priors) {
        return priors.columns.columns() > 0 || priors.released || priors.numbers.any_indicator();
    }

    // Counts of categories from those with pairs.
    void split_pairs() {
        const ColumnPriors& columns = priors.columns;
        std::fill(counts.begin(), counts.end(), 0);
        for (std::size_t column = 0; column < columns.columns(); ++column)
            for (std::size_t at = 0; at < t.widths[column]; ++at) {
                const std::uint64_t* from = joined.data() + (t.begin_of[column] + at) * t.lanes;
                std::uint64_t* to = counts.data() + (columns.begin_of[column] + at % columns.size(column)) * t.lanes;
                for (std::size_t lane = 0; lane < t.lanes; ++lane) to[lane] += from[lane];
            }
    }

    // Doubles hold every count, and sums over a column.
    static bool all_exact(const std::int64_t* counts, std::size_t size) {
        return std::all_of(counts, counts + size, [](std::int64_t one) { return one >= 0 && one < std::int64_t{1} << 52; });
    }

    void share_out() {
        std::swap(shares, before);
        std::swap(leaders, former);
        const SoftBlock block = block_of(t, codes, numbers, weights, weight, first ? nullptr : before.data(), shares.data(),
                                         first ? nullptr : former.data(), leaders.data(), sizeof leaders[0]);
        first = false;
        const SoftSums sums = shared_out(t, block, owned, level);
        joined = by_column(sums);
        split_pairs();
        moments = Moments(sums);
        for (std::size_t j = 0; j < t.k; ++j) {
            sizes[j] = sums.size_of(j);
            led[j] = sums.led_by(j);
        }
        std::tie(cost, log, behind, change, moved) = std::tie(sums.cost, sums.log, sums.behind, sums.change, sums.moved);
    }
};

}  // namespace

void catalpa::bind_soft(nb::module_& module) {
    nb::class_<SoftTables>(module, "SoftTables")
        .def(nb::init<const Matrix<const std::int32_t>&, const Vector<const std::int32_t>&, const Ints&, const Ints&, const Ints&,
                      const Matrix<const float>&, const Matrix<const float>&, const Matrix<const std::int32_t>&,
                      const Matrix<const std::int32_t>&, const Vector<const std::int32_t>&, int>());
    // A process that is sent numbers lays them out anew.
    nb::class_<SoftNumbers>(module, "SoftNumbers").def(nb::init<const Numbers&>()).def("__reduce__", [](nb::handle) {
        return nb::make_tuple(nb::none().type(), nb::make_tuple());
    });
    nb::class_<NumberPriors>(module, "NumberPriors")
        .def(nb::init<const Vector<const double>&, const Vector<const double>&, const Vector<const double>&, const Ints&, double>());
    // A memory that is put away or sent keeps nothing of what the core prepared: rows are counted again.
    nb::class_<Owned>(module, "Owned").def(nb::init<>()).def("__reduce__", [](nb::handle self) {
        return nb::make_tuple(self.type(), nb::make_tuple());
    });
    module.def("share", &share);
    nb::class_<SoftPasses>(module, "SoftPasses").def("next", &SoftPasses::next).def("counted", &SoftPasses::counted);
    module.def("soft_passes", &SoftPasses::begin, nb::keep_alive<0, 1>(), nb::keep_alive<0, 2>());
}
