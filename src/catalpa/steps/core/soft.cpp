// One soft pass over a block: the compiled twin of soft/reference.py, which says what every number here means.

#include <tuple>

#include "soft_tables.hpp"

#define CATALPA_KERNELS "soft_rows.hpp"
#include "each_level.hpp"

namespace {

// Sums by place of the columns, (length, lanes).
std::vector<std::uint64_t> by_column(const SoftSums& sums) {
    const SoftTables& t = sums.tables;
    std::vector<std::uint64_t> out(t.length() * t.lanes), left;
    for (std::size_t group = 0; group < t.groups(); ++group) {
        const std::size_t begin = t.offsets[group] * t.lanes, end = t.offsets[group + 1] * t.lanes;
        left.assign(sums.narrow.data() + begin, sums.narrow.data() + end);
        if (sums.wide.size())
            for (std::size_t i = begin; i < end; ++i) left[i - begin] += sums.wide[i];
        if (sums.owned.owners.size())
            for (std::size_t i = begin; i < end; ++i)
                left[i - begin] += std::uint64_t{sums.owned.counts[i]} << SHARE_BITS;
        t.add_to_columns(group, t.lanes, left, out.data());
    }
    return out;
}

// Where sums go, as Counts has them: clusters first.
struct Results {
    Cells by_category;
    Vector<std::int64_t> sizes;
    Cells sums, squares, seen;
    Vector<std::int64_t> led;

    void check(const SoftTables& t) const {
        require(has_shape(by_category, t.k, t.length()), "by_category must be clusters by places.");
        require(sizes.size() == t.k && led.size() == t.k, "sizes and led must have one entry per cluster.");
        for (const Cells* cells : {&sums, &squares, &seen})
            require(has_shape(*cells, t.k, t.numeric), "sums, squares and seen must be clusters by numeric columns.");
    }

    void publish(const SoftSums& from) const {
        const SoftTables& t = from.tables;
        const std::vector<std::uint64_t> places = by_column(from);
        for (std::size_t j = 0; j < t.k; ++j) {
            std::int64_t* to = by_category.data() + j * t.length();
            for (std::size_t place = 0; place < t.length(); ++place)
                to[place] = static_cast<std::int64_t>(places[place * t.lanes + j]);
            const std::uint64_t owned = from.owned.owners.size() ? from.owned.sizes[j] : 0;
            sizes.data()[j] = static_cast<std::int64_t>(from.sizes[j] + (owned << SHARE_BITS));
            led.data()[j] = static_cast<std::int64_t>(owned);
            for (std::size_t copy = 0; copy < LED_COPIES; ++copy) led.data()[j] += from.led[copy * t.k + j];
            for (std::size_t column = 0; column < t.numeric; ++column) {
                sums.data()[j * t.numeric + column] = from.sums[column * t.lanes + j];
                squares.data()[j * t.numeric + column] = from.squares[column * t.lanes + j];
                seen.data()[j * t.numeric + column] = from.seen[column * t.lanes + j];
            }
        }
    }

    // Sum of share times gap where a row's cost is the sum of its entries: far clusters have no share, so
    // it does not matter that their gap is cut.
    Int128 behind(const SoftTables& t, Int128 cost) const {
        Int128 total = -cost * WHOLE;
        for (std::size_t j = 0; j < t.k; ++j) {
            total += static_cast<Int128>(sizes.data()[j]) * t.plain_anchor[j];
            const std::int64_t* counts = by_category.data() + j * t.length();
            for (std::size_t place = 0; place < t.length(); ++place)
                total += static_cast<Int128>(counts[place]) * t.plain[place * t.k + j];
        }
        return total;
    }
};

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

// Share rows out between clusters, fill what is given for the results, and return the sums of cost, log,
// gap and change, each as two halves of 128 bits, and how many leaders are not the former ones. `weights`,
// `before`, `former` and `shares` may be empty.
nb::tuple share(const SoftTables& t, const Fused& codes, const Numbers& numbers, const Ints& weights,
                const Matrix<const std::int32_t>& before, const std::string& level, const AnyLabels& former,
                const AnyVector& leaders, const Matrix<std::int32_t>& shares, const Owned& owned_before, Owned& owned,
                const Cells& by_category, const Vector<std::int64_t>& sizes, const Cells& sums_in, const Cells& squares,
                const Cells& seen, const Vector<std::int64_t>& led) {
    const std::size_t rows = leaders.size();
    const Results results{by_category, sizes, sums_in, squares, seen, led};
    results.check(t);
    codes.check(t);
    require(rows == codes.rows, "leaders must have one entry per row.");
    require(is_unsigned(leaders.dtype()) && leaders.itemsize() <= 2, "leaders are unsigned integers of 8 or 16 bits.");
    require(leaders.itemsize() == 2 || t.k <= 256, "leaders must hold every cluster's number.");
    require(former.size() == 0 || (former.size() == rows && former.dtype() == leaders.dtype()),
            "The former leaders must be like the new ones.");
    check_numbers(numbers, rows, t.numeric);
    check_weights(weights, rows);
    require(before.size() == 0 || has_shape(before, rows, t.k), "The shares before must be rows by clusters.");
    require(shares.size() == 0 || has_shape(shares, rows, t.k), "shares must be rows by clusters.");
    const std::uint64_t weight = weights.size() ? summed(weights) : rows;
    check_level(level);
    Int128 cost, log, behind, change;
    std::int64_t moved;
    {
        nb::gil_scoped_release unlocked;
        const bool owns = t.vectors <= MOST_LOOPED && weights.size() == 0;
        const SoftBlock block{rows,
                              t.rows_inside(rows),
                              codes.data(),
                              codes.itemsize,
                              numbers.data(),
                              weights.size() ? weights.data() : nullptr,
                              before.size() ? before.data() : nullptr,
                              shares.size() ? shares.data() : nullptr,
                              former.size() ? former.data() : nullptr,
                              leaders.data(),
                              leaders.itemsize(),
                              counts_narrow(t, rows, weight),
                              owns,
                              !owns || t.two || t.numeric || before.size() || shares.size()};
        owned = owned_before;
        if (block.owns) owned.fit(t, rows);
        SoftSums sums(t, owned);
        CATALPA_AT_LEVEL(level, share_block, t, block, sums);
        results.publish(sums);
        std::tie(cost, log, change, moved) = std::tie(sums.cost, sums.log, sums.change, sums.moved);
        behind = (t.two || t.numeric ? sums.behind : results.behind(t, sums.cost)) * (Int128{1} << t.coarser);
    }
    return nb::make_tuple(halves(cost), halves(log), halves(behind), halves(change), moved);
}

}  // namespace

void catalpa::bind_soft(nb::module_& module) {
    nb::class_<SoftTables>(module, "SoftTables")
        .def(nb::init<const Matrix<const std::int32_t>&, const Vector<const std::int32_t>&, const Ints&, const Ints&,
                      const Numbers&, const Numbers&, const Numbers&, const Matrix<const std::int32_t>&,
                      const Vector<const std::int32_t>&, int>());
    // A memory that is put away or sent keeps nothing of what the core prepared: rows are counted again.
    nb::class_<Owned>(module, "Owned").def(nb::init<>()).def("__reduce__", [](nb::handle self) {
        return nb::make_tuple(self.type(), nb::make_tuple());
    });
    module.def("share", &share);
}
