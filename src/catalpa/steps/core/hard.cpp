// One pass over a block: the compiled twin of reference.py, which says what every number here means.
//
// Everything that decides a label or a count is an integer, so results do not depend on the order of
// rows, the number of threads or the instruction set. See docs/inside/performance.md for the design.

#include "hard_tables.hpp"

#define CATALPA_KERNELS "hard_rows.hpp"
#include "each_level.hpp"

namespace {

constexpr std::size_t STRETCH = 64;  // rows compared at once when looking for those that moved

template <class Code, class Label>
std::int64_t label_block(const std::string& level, const Tables& tables, const Code* codes, const double* numbers,
                         const Label* before, Label* labels, std::size_t rows) {
    Scratch scratch(tables);
    std::uint32_t found[ROWS_AT_ONCE];
    std::int64_t moved = 0;
    for (std::size_t row = 0; row < rows; row += ROWS_AT_ONCE) {
        const std::size_t some = std::min(ROWS_AT_ONCE, rows - row);
        CATALPA_AT_LEVEL(level, label_rows, tables, codes + row * tables.groups(), numbers + row * tables.numeric, some,
                         scratch, found);
        for (std::size_t i = 0; i < some; ++i) labels[row + i] = static_cast<Label>(found[i]);
        std::int32_t differ = 0;
        if (before != nullptr)
            for (std::size_t i = 0; i < some; ++i) differ += labels[row + i] != before[row + i];
        moved += before != nullptr ? differ : static_cast<std::int32_t>(some);
    }
    return moved;
}

// Labels may have a sign, as NumPy's int32 has; none is below zero.
void check_labels(const AnyLabels& labels, std::size_t rows) {
    require(is_unsigned(labels.dtype()) || (is_integer(labels.dtype(), nb::dlpack::dtype_code::Int) && labels.itemsize() == 4),
            "Labels are unsigned integers of at most 32 bits, or int32.");
    require(labels.size() == rows, "Labels must have one entry per row.");
}

// Fill `labels`; how many differ from `before` (all, where that is empty).
std::int64_t label(const Tables& tables, const Fused& codes, const Numbers& numbers, const AnyLabels& before,
                   const AnyVector& labels, const std::string& level) {
    codes.check(tables);
    check_numbers(numbers, codes.rows, tables.numeric);
    check_labels(AnyLabels(labels), codes.rows);
    require(labels.itemsize() == 4 || tables.k <= std::size_t{1} << (8 * labels.itemsize()),
            "Labels must hold every cluster's number.");
    require(before.size() == 0 || (before.size() == codes.rows && before.dtype() == labels.dtype()),
            "The labels before must be like the new ones.");
    check_level(level);
    nb::gil_scoped_release unlocked;
    return with_type(codes.itemsize, codes.data(), [&](auto* code) {
        return with_type(labels, [&](auto* out) {
            using Label = std::remove_const_t<std::remove_pointer_t<decltype(out)>>;
            const auto* old = before.size() ? static_cast<const Label*>(before.data()) : nullptr;
            return label_block(level, tables, code, numbers.data(), old, const_cast<Label*>(out), codes.rows);
        });
    });
}

// Fill `least` with the smallest sum of every row over the clusters, in quanta.
void least_sums(const Tables& tables, const Fused& codes, const Numbers& numbers, const Vector<std::int64_t>& least,
                const std::string& level) {
    codes.check(tables);
    check_numbers(numbers, codes.rows, tables.numeric);
    require(least.size() == codes.rows, "least must have one entry per row.");
    check_level(level);
    nb::gil_scoped_release unlocked;
    Scratch scratch(tables);
    with_type(codes.itemsize, codes.data(), [&](auto* code) {
        for (std::size_t row = 0; row < codes.rows; ++row) {
            CATALPA_AT_LEVEL(level, exact_sums, tables, code + row * tables.groups(),
                             numbers.data() + row * tables.numeric, scratch);
            least.data()[row] = *std::min_element(scratch.sums.begin(), scratch.sums.end());
        }
    });
}

// Sums per cluster over fused places, before they are spread over columns. Rows without weights are counted in 32 bits.
template <class Sum>
struct Tally {
    const Tables& tables;
    std::vector<std::size_t> begins;  // (groups,) first sum of each group
    std::vector<Sum> by_place;        // (places, k)
    std::vector<std::int64_t> sizes, sums, squares, seen;

    explicit Tally(const Tables& t)
        : tables(t), by_place(t.places() * t.k), sizes(t.k), sums(t.k * t.numeric), squares(sums.size()),
          seen(sums.size()) {
        for (std::size_t group = 0; group < t.groups(); ++group) begins.push_back(t.offsets[group] * t.k);
    }

    // Add rows under their labels. What is read for every row is held in variables: the compiler cannot know that
    // sums do not overwrite it.
    template <class Code, class Label>
    void add(const Code* codes, const Label* labels, const std::int64_t* weights, std::size_t rows) {
        const std::size_t groups = begins.size(), k = tables.k, *begin = begins.data();
        Sum* first = by_place.data();
        for (std::size_t row = 0; row < rows; ++row, codes += groups) {
            const Sum weight = weights ? static_cast<Sum>(weights[row]) : 1;
            Sum* own = first + labels[row];
            for (std::size_t group = 0; group < groups; ++group) own[begin[group] + codes[group] * k] += weight;
        }
    }

    // Take the `count` rows that are `listed` out of the clusters `from` and add them to the clusters `to`.
    template <class Code, class Label>
    void move(const Code* codes, const Label* from, const Label* to, const std::int64_t* weights,
              const std::size_t* listed, std::size_t count) {
        const std::size_t groups = begins.size(), k = tables.k, *begin = begins.data();
        Sum* first = by_place.data();
        for (std::size_t i = 0; i < count; ++i) {
            const std::size_t row = listed[i], left = from[row], entered = to[row];
            const Sum weight = weights ? static_cast<Sum>(weights[row]) : 1;
            const Code* own = codes + row * groups;
            for (std::size_t group = 0; group < groups; ++group) {
                Sum* place = first + begin[group] + own[group] * k;
                place[left] -= weight;
                place[entered] += weight;
            }
        }
    }

    // Add one row to what is not counted by place: its numbers, and its size where there are no places.
    void add_beside(const double* numbers, std::size_t cluster, std::int64_t weight) {
        if (begins.empty()) sizes[cluster] += weight;
        for (std::size_t column = 0; column < tables.numeric; ++column) {
            if (numbers[column] != numbers[column]) continue;
            const std::size_t cell = cluster * tables.numeric + column;
            const auto whole = static_cast<std::int64_t>(std::rint(numbers[column] * (1 << TICK_BITS)));
            sums[cell] += times(whole, weight);
            squares[cell] += times(times(whole, whole) >> (2 * TICK_BITS - SQUARE_BITS), weight);
            seen[cell] += weight;
        }
    }

    // Every row has one place of the first group, so that its sums are the sizes.
    void add_sizes() {
        if (begins.empty()) return;
        for (std::size_t place = 0; place < tables.width(0); ++place)
            for (std::size_t j = 0; j < tables.k; ++j) sizes[j] += by_place[place * tables.k + j];
    }

    // Sums by place of the columns, (length, k).
    std::vector<std::int64_t> by_category() const {
        const std::size_t k = tables.k;
        std::vector<std::int64_t> out(tables.length() * k), left;
        for (std::size_t group = 0; group < tables.groups(); ++group) {
            left.assign(by_place.begin() + tables.offsets[group] * k, by_place.begin() + tables.offsets[group + 1] * k);
            tables.add_to_columns(group, k, left, out.data());
        }
        return out;
    }
};

// Where sums go, as Counts has them: clusters first.
struct Results {
    Cells by_category;
    Vector<std::int64_t> sizes;
    Cells sums, squares, seen;

    template <class Sum>
    void add(const Tally<Sum>& tally) const {
        const std::size_t k = tally.tables.k, length = tally.tables.length();
        const std::vector<std::int64_t> by_place = tally.by_category();
        for (std::size_t j = 0; j < k; ++j) {
            sizes.data()[j] += tally.sizes[j];
            for (std::size_t place = 0; place < length; ++place)
                by_category.data()[j * length + place] += by_place[place * k + j];
        }
        for (std::size_t i = 0; i < tally.sums.size(); ++i) {
            sums.data()[i] += tally.sums[i];
            squares.data()[i] += tally.squares[i];
            seen.data()[i] += tally.seen[i];
        }
    }
};

// Rows that are counted: checked once, whatever is counted of them.
struct Rows {
    const Tables& tables;
    const Fused& codes;
    const Numbers& numbers;
    const Ints& weights;
    const AnyLabels& labels;

    void check() const {
        codes.check(tables);
        check_numbers(numbers, codes.rows, tables.numeric);
        check_weights(weights, codes.rows);
        check_labels(labels, codes.rows);
        require(all_below(labels, tables.k), "Labels must be numbers of clusters.");
    }
    void check(const Results& into) const {
        check();
        require(has_shape(into.by_category, tables.k, tables.length()), "by_category must be clusters by places.");
        require(into.sizes.size() == tables.k, "sizes must have one entry per cluster.");
        for (const Cells* cells : {&into.sums, &into.squares, &into.seen})
            require(has_shape(*cells, tables.k, tables.numeric),
                    "sums, squares and seen must be clusters by numeric columns.");
    }

    const double* numbers_of(std::size_t row) const { return numbers.data() + row * tables.numeric; }
    const std::int64_t* weight = weights.size() ? weights.data() : nullptr;
    std::int64_t weight_of(std::size_t row) const { return weight ? weight[row] : 1; }
    bool beside_places() const { return tables.numeric > 0 || tables.groups() == 0; }

    // Call `act` with the codes and the labels in their types.
    template <class Act>
    void each(Act act) const {
        with_type(codes.itemsize, codes.data(), [&](auto* code) { with_type(labels, [&](auto* label) { act(code, label); }); });
    }

    // Count with `act` in as few bits as hold the rows, and add what came of it to the results.
    template <class Act>
    void tallied(const Results& into, Act act) const {
        const auto in_bits_of = [&](auto tally) {
            each([&](auto* code, auto* label) { act(code, label, tally); });
            tally.add_sizes();
            into.add(tally);
        };
        if (weight == nullptr && codes.rows <= static_cast<std::size_t>(std::numeric_limits<std::int32_t>::max()))
            in_bits_of(Tally<std::int32_t>(tables));
        else
            in_bits_of(Tally<std::int64_t>(tables));
    }
};

// Add to the counts every row under its label.
void count_all(const Tables& tables, const Fused& codes, const Numbers& numbers, const Ints& weights,
               const AnyLabels& labels, const Cells& by_category, const Vector<std::int64_t>& sizes, const Cells& sums,
               const Cells& squares, const Cells& seen) {
    const Results into{by_category, sizes, sums, squares, seen};
    const Rows rows{tables, codes, numbers, weights, labels};
    rows.check(into);
    nb::gil_scoped_release unlocked;
    rows.tallied(into, [&](auto* code, auto* label, auto& tally) {
        tally.add(code, label, rows.weight, codes.rows);
        for (std::size_t row = 0; row < codes.rows && rows.beside_places(); ++row)
            tally.add_beside(rows.numbers_of(row), label[row], rows.weight_of(row));
    });
}

// Take the rows whose label changed out of their old cluster's counts and add them to the new one's.
void count_moved(const Tables& tables, const Fused& codes, const Numbers& numbers, const Ints& weights,
                 const AnyLabels& before, const AnyLabels& labels, const Cells& by_category,
                 const Vector<std::int64_t>& sizes, const Cells& sums, const Cells& squares, const Cells& seen) {
    const Results into{by_category, sizes, sums, squares, seen};
    const Rows rows{tables, codes, numbers, weights, labels};
    rows.check(into);
    require(before.size() == codes.rows && before.dtype() == labels.dtype() && all_below(before, tables.k),
            "The labels before must be like the new ones.");
    nb::gil_scoped_release unlocked;
    rows.tallied(into, [&](auto* code, auto* label, auto& tally) {
        const auto* old = static_cast<decltype(label)>(before.data());
        for (std::size_t begin = 0; begin < codes.rows; begin += STRETCH) {
            const std::size_t end = std::min(begin + STRETCH, codes.rows);
            // Late passes move few rows: whole stretches without one are passed over at once.
            if (std::memcmp(old + begin, label + begin, (end - begin) * sizeof *label) == 0) continue;
            // A branch for every row would be a guess, so those that moved are listed first.
            std::size_t moved[STRETCH], count = 0;
            for (std::size_t row = begin; row < end; ++row) {
                moved[count] = row;
                count += old[row] != label[row];
            }
            tally.move(code, old, label, rows.weight, moved, count);
            for (std::size_t i = 0; i < count && rows.beside_places(); ++i) {
                tally.add_beside(rows.numbers_of(moved[i]), old[moved[i]], -rows.weight_of(moved[i]));
                tally.add_beside(rows.numbers_of(moved[i]), label[moved[i]], rows.weight_of(moved[i]));
            }
        }
    });
}

// Sum of the rows' reported costs, as two halves of 128 bits.
nb::tuple cost_by_rows(const Tables& tables, const Fused& codes, const Numbers& numbers, const Ints& weights,
                       const Ints& present, const AnyLabels& labels, const std::string& level) {
    const Rows rows{tables, codes, numbers, weights, labels};
    rows.check();
    require(present.size() == 0 || present.size() == codes.rows, "present must have one entry per row.");
    // It is divided by.
    require(std::all_of(present.data(), present.data() + present.size(), [](std::int64_t cells) { return cells >= 1; }),
            "A row must have at least one cell.");
    check_level(level);
    Int128 sum = 0;
    {
        nb::gil_scoped_release unlocked;
        const std::int64_t* cells = present.size() ? present.data() : nullptr;
        rows.each([&](auto* code, auto* label) {
            sum = CATALPA_AT_LEVEL(level, summed_costs, tables, code, numbers.data(), label, rows.weight, cells, codes.rows);
        });
    }
    return halves(sum);
}

// The part of that sum that is due to numbers, where every row's cost is the plain sum of its entries.
nb::tuple cost_of_numbers(const Tables& tables, const Numbers& numbers, const Ints& weights, const AnyLabels& labels,
                          const std::string& level) {
    check_numbers(numbers, labels.size(), tables.numeric);
    check_weights(weights, labels.size());
    check_labels(labels, labels.size());
    require(all_below(labels, tables.k), "Labels must be numbers of clusters.");
    check_level(level);
    Int128 sum = 0;
    {
        nb::gil_scoped_release unlocked;
        const std::int64_t* weight = weights.size() ? weights.data() : nullptr;
        with_type(labels, [&](auto* label) {
            sum = CATALPA_AT_LEVEL(level, summed_number_costs, tables, numbers.data(), label, weight, labels.size());
        });
    }
    return halves(sum);
}

// The part that is due to categories, from counts.
nb::tuple cost_by_counts(const Tables& tables, const Matrix<const std::int64_t>& by_category,
                         const Ints& sizes) {
    require(has_shape(by_category, tables.k, tables.length()), "by_category must be clusters by places.");
    require(sizes.size() == tables.k, "sizes must have one entry per cluster.");
    Int128 sum = 0;
    for (std::size_t j = 0; j < tables.k; ++j) {
        sum += static_cast<Int128>(sizes.data()[j]) * tables.anchor[j];
        const std::int64_t* counts = by_category.data() + j * tables.length();
        for (std::size_t place = 0; place < tables.length(); ++place)
            sum += static_cast<Int128>(counts[place]) * tables.plain[place * tables.k + j];
    }
    return halves(sum);
}

// Fuse neighbouring columns' codes; nothing where one does not lie below its column's width.
std::optional<Fused> fuse_codes(const AnyCodes& codes, const Ints& widths, const Ints& starts) {
    bool inside = false;
    Fused fused(codes, widths, starts, inside);
    return inside ? std::optional<Fused>(std::move(fused)) : std::nullopt;
}

}  // namespace

void catalpa::bind_hard(nb::module_& module) {
    nb::class_<Fused>(module, "Fused").def_prop_ro("nbytes", &Fused::bytes).def("__len__", [](const Fused& f) { return f.rows; });
    nb::class_<Tables>(module, "Tables")
        .def(nb::init<const Matrix<const std::int64_t>&, const Ints&, const Ints&, const Ints&, const Numbers&,
                      const Numbers&, const Numbers&, int, bool, int, std::int64_t, double>());
    module.def("fuse_codes", &fuse_codes);
    module.def("label", &label);
    module.def("least_sums", &least_sums);
    module.def("count_all", &count_all);
    module.def("count_moved", &count_moved);
    module.def("cost_by_rows", &cost_by_rows);
    module.def("cost_of_numbers", &cost_of_numbers);
    module.def("cost_by_counts", &cost_by_counts);
}
