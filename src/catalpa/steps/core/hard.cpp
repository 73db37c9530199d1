// One pass over a block: the compiled twin of reference.py, which says what every number here means.
//
// Everything that decides a label or a count is an integer, so results do not depend on the order of
// rows, the number of threads or the instruction set. See docs/inside/performance.md for the design.

#include "hard_tables.hpp"

#define CATALPA_KERNELS "hard_rows.hpp"
#include "each_level.hpp"

namespace {

constexpr double RECOUNT_SHARE = 0.4;  // with more rows than this moved, to count all is quicker
constexpr std::size_t TOGETHER = 8;    // rows compared at once when looking for those that moved

// Labels of some rows, at most ROWS_AT_ONCE, from `row` on.
template <class Code, class Label>
void label_some(const std::string& level, const Tables& tables, const Code* codes, const double* numbers, std::size_t row,
                std::size_t some, Scratch& scratch, Label* labels) {
    std::uint32_t found[ROWS_AT_ONCE];
    CATALPA_AT_LEVEL(level, label_rows, tables, codes + row * tables.groups(), numbers + row * tables.numeric, some,
                     scratch, found);
    for (std::size_t i = 0; i < some; ++i) labels[row + i] = static_cast<Label>(found[i]);
}

// List those of some rows whose label is not what it was; how many they are.
template <class Label>
std::size_t list_moved(const Label* before, const Label* labels, std::size_t row, std::size_t some, std::size_t* listed) {
    std::size_t count = 0;
    for (const std::size_t end = row + some; row < end; row += TOGETHER) {
        const std::size_t few = std::min(TOGETHER, end - row);
        // Late passes move few rows: eight without one are passed over at once.
        if (few == TOGETHER && std::memcmp(before + row, labels + row, TOGETHER * sizeof *labels) == 0) continue;
        // A branch for every row would be a guess.
        for (std::size_t i = row; i < row + few; ++i) {
            listed[count] = i;
            count += before[i] != labels[i];
        }
    }
    return count;
}

// Labels may have a sign, as NumPy's int32 has; none is below zero.
void check_labels(const AnyLabels& labels, std::size_t rows) {
    require(is_unsigned(labels.dtype()) || (is_integer(labels.dtype(), nb::dlpack::dtype_code::Int) && labels.itemsize() == 4),
            "Labels are unsigned integers of at most 32 bits, or int32.");
    require(labels.size() == rows, "Labels must have one entry per row.");
}

void check_new_labels(const Tables& tables, const AnyVector& labels, std::size_t rows) {
    check_labels(AnyLabels(labels), rows);
    require(labels.itemsize() == 4 || tables.k <= std::size_t{1} << (8 * labels.itemsize()),
            "Labels must hold every cluster's number.");
}

// Fill `labels`.
void label(const Tables& tables, const Fused& codes, const Numbers& numbers, const AnyVector& labels,
           const std::string& level) {
    codes.check(tables);
    check_numbers(numbers, codes.rows, tables.numeric);
    check_new_labels(tables, labels, codes.rows);
    check_level(level);
    nb::gil_scoped_release unlocked;
    Scratch scratch(tables);
    with_type(codes.itemsize, codes.data(), [&](auto* code) {
        with_type(labels, [&](auto* out) {
            for (std::size_t row = 0; row < codes.rows; row += ROWS_AT_ONCE)
                label_some(level, tables, code, numbers.data(), row, std::min(ROWS_AT_ONCE, codes.rows - row), scratch, out);
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
    tables.widen();
    Scratch scratch(tables);
    with_type(codes.itemsize, codes.data(), [&](auto* code) {
        for (std::size_t row = 0; row < codes.rows; ++row) {
            CATALPA_AT_LEVEL(level, exact_sums, tables, code + row * tables.groups(),
                             numbers.data() + row * tables.numeric, scratch);
            least.data()[row] = *std::min_element(scratch.sums.begin(), scratch.sums.end());
        }
    });
}

// A number in ticks. Scaled numbers are whole ticks, which need no call of a library to be rounded.
inline std::int64_t in_ticks(double number) {
    const double exact = number * (1 << TICK_BITS);
    const auto whole = static_cast<std::int64_t>(exact);
    return static_cast<double>(whole) == exact ? whole : static_cast<std::int64_t>(std::rint(exact));
}

// Sums per cluster over fused places, before they are spread over columns. Rows without weights are counted in 32 bits.
template <class Sum>
struct Tally {
    const Tables& tables;
    std::vector<std::size_t> begins;  // (groups,) first sum of each group
    std::vector<Sum> by_place;        // (places, k)
    std::vector<std::int64_t> sizes, sums, squares, seen;  // (k,) and (numeric, k)

    explicit Tally(const Tables& t)
        : tables(t), by_place(t.places() * t.k), sizes(t.k), sums(t.k * t.numeric), squares(sums.size()),
          seen(sums.size()) {
        for (std::size_t group = 0; group < t.groups(); ++group) begins.push_back(t.offsets[group] * t.k);
    }

    void clear() {
        std::fill(by_place.begin(), by_place.end(), Sum{0});
        for (std::vector<std::int64_t>* each : {&sizes, &sums, &squares, &seen}) std::fill(each->begin(), each->end(), 0);
    }

    // Add the rows from `row` to `end` under their labels. What is read for every row is held in variables: the compiler
    // cannot know that sums do not overwrite it.
    template <class Code, class Label>
    void add(const Code* codes, const Label* labels, const std::int64_t* weights, std::size_t row, std::size_t end) {
        const std::size_t groups = begins.size(), k = tables.k, *begin = begins.data();
        Sum* first = by_place.data();
        codes += row * groups;
        for (; row < end; ++row, codes += groups) {
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
            const std::size_t cell = column * tables.k + cluster;
            const std::int64_t whole = in_ticks(numbers[column]);
            sums[cell] += times(whole, weight);
            squares[cell] += times(times(whole, whole) >> (2 * TICK_BITS - SQUARE_BITS), weight);
            seen[cell] += weight;
        }
    }

    void add_to(const Results& into) {
        const std::size_t k = tables.k;
        // Every row has one place of the first group, so that its sums are the sizes.
        for (std::size_t place = 0; !begins.empty() && place < tables.width(0); ++place)
            for (std::size_t j = 0; j < k; ++j) sizes[j] += by_place[place * k + j];
        add_by_cluster(tables.by_column<Sum>(k, [from = by_place.data()](std::size_t i) { return from[i]; }), k, into.by_category);
        for (std::size_t j = 0; j < k; ++j) into.sizes.data()[j] += sizes[j];
        add_by_cluster(sums, k, into.sums);
        add_by_cluster(squares, k, into.squares);
        add_by_cluster(seen, k, into.seen);
    }
};

// One pass over a block.
struct Pass {
    const Tables& tables;
    const Fused& codes;
    const Numbers& numbers;
    const Ints &weights, &present;
    const AnyLabels& before;
    const AnyVector& labels;
    const Results& into;
    const std::string& level;

    void check() const {
        codes.check(tables);
        check_numbers(numbers, codes.rows, tables.numeric);
        check_weights(weights, codes.rows);
        require(present.size() == 0 || present.size() == codes.rows, "present must have one entry per row.");
        // It is divided by.
        require(std::all_of(present.data(), present.data() + present.size(), [](std::int64_t cells) { return cells >= 1; }),
                "A row must have at least one cell.");
        check_new_labels(tables, labels, codes.rows);
        require(before.size() == 0 || (before.size() == codes.rows && before.dtype() == labels.dtype() && all_below(before, tables.k)),
                "The labels before must be like the new ones.");
        into.check(tables, tables.k, tables.numeric);
        check_level(level);
    }

    const std::int64_t* weight = weights.size() ? weights.data() : nullptr;

    // Fill the labels and bring the counts of the labels before, if there are any, up to date; how many rows moved.
    std::size_t run() const {
        return with_type(codes.itemsize, codes.data(), [&](auto* code) {
            return with_type(labels, [&](auto* out) {
                // In as few bits as hold the rows.
                if (weight == nullptr && codes.rows <= static_cast<std::size_t>(std::numeric_limits<std::int32_t>::max()))
                    return label_and_count<std::int32_t>(code, out);
                return label_and_count<std::int64_t>(code, out);
            });
        });
    }

    // Sum of the rows' reported costs: from counts where every row's cost is the plain sum of its entries.
    Int128 cost() const {
        Int128 sum = 0;
        const bool plain = present.size() == 0 && !tables.root;
        if (plain) sum = into.cost(tables.plain.data(), tables.anchor.data(), tables.k);
        if (plain && tables.numeric == 0) return sum;
        if (!plain) tables.widen();
        const std::int64_t* cells = present.size() ? present.data() : nullptr;
        with_type(codes.itemsize, codes.data(), [&](auto* code) {
            with_type(labels, [&](auto* label) {
                sum += plain ? CATALPA_AT_LEVEL(level, summed_number_costs, tables, numbers.data(), label, weight, codes.rows)
                             : CATALPA_AT_LEVEL(level, summed_costs, tables, code, numbers.data(), label, weight, cells, codes.rows);
            });
        });
        return sum;
    }

   private:
    // Some rows at a time, so that what was just looked up is counted from the first cache.
    template <class Sum, class Code, class Label>
    std::size_t label_and_count(const Code* code, Label* out) const {
        const std::size_t rows = codes.rows;
        const auto* old = static_cast<const Label*>(before.size() ? before.data() : nullptr);
        Tally<Sum> tally(tables);
        Scratch scratch(tables);
        bool afresh = old == nullptr;
        std::size_t moved = 0, listed[ROWS_AT_ONCE];
        for (std::size_t row = 0; row < rows; row += ROWS_AT_ONCE) {
            const std::size_t some = std::min(ROWS_AT_ONCE, rows - row);
            label_some(level, tables, code, numbers.data(), row, some, scratch, out);
            const std::size_t count = old ? list_moved(old, out, row, some, listed) : some;
            moved += count;
            if (afresh) {
                add(tally, code, out, row, row + some);
            } else if (static_cast<double>(moved) > RECOUNT_SHARE * static_cast<double>(std::max(row + some, rows / 8))) {
                afresh = true;
                tally.clear();
                add(tally, code, out, 0, row + some);
            } else {
                move(tally, code, old, out, listed, count);
            }
        }
        if (afresh) into.clear();
        tally.add_to(into);
        return moved;
    }

    template <class Sum, class Code, class Label>
    void add(Tally<Sum>& tally, const Code* code, const Label* label, std::size_t row, std::size_t end) const {
        tally.add(code, label, weight, row, end);
        for (; row < end && beside_places(); ++row) tally.add_beside(numbers_of(row), label[row], weight_of(row));
    }

    template <class Sum, class Code, class Label>
    void move(Tally<Sum>& tally, const Code* code, const Label* old, const Label* label, const std::size_t* listed,
              std::size_t count) const {
        tally.move(code, old, label, weight, listed, count);
        for (std::size_t i = 0; i < count && beside_places(); ++i) {
            const std::size_t row = listed[i];
            tally.add_beside(numbers_of(row), old[row], -weight_of(row));
            tally.add_beside(numbers_of(row), label[row], weight_of(row));
        }
    }

    const double* numbers_of(std::size_t row) const { return numbers.data() + row * tables.numeric; }
    std::int64_t weight_of(std::size_t row) const { return weight ? weight[row] : 1; }
    bool beside_places() const { return tables.numeric > 0 || tables.groups() == 0; }
};

// Labels, counts and cost of a block. The counts come as those of the labels before, where there are any. Gives how many
// rows moved (all, without labels before), and the cost as two halves of 128 bits.
nb::tuple assign_and_count(const Tables& tables, const Fused& codes, const Numbers& numbers, const Ints& weights,
                           const Ints& present, const AnyLabels& before, const AnyVector& labels, const Cells& by_category,
                           const Vector<std::int64_t>& sizes, const Cells& sums, const Cells& squares, const Cells& seen,
                           const std::string& level) {
    const Results into{by_category, sizes, sums, squares, seen};
    const Pass pass{tables, codes, numbers, weights, present, before, labels, into, level};
    std::size_t moved = 0;
    Int128 cost = 0;
    {
        nb::gil_scoped_release unlocked;
        pass.check();  // which reads every label before: other threads need not wait for it
        moved = pass.run();
        cost = pass.cost();
    }
    return nb::make_tuple(moved, static_cast<std::int64_t>(cost >> 64), static_cast<std::uint64_t>(cost));
}

// Fuse columns' codes; nothing where one does not lie below its column's width.
std::optional<Fused> fuse_codes(const AnyCodes& codes, const Ints& widths, const Ints& members, const Ints& starts) {
    bool inside = false;
    Fused fused(codes, Groups(widths, members, starts), inside);
    return inside ? std::optional<Fused>(std::move(fused)) : std::nullopt;
}

// Codes that are fused already, and `rows` of them meant; nothing where one does not lie below its group's width.
std::optional<Fused> fused_codes(const AnyCodes& codes, std::size_t rows, const Ints& widths, const Ints& members,
                                 const Ints& starts) {
    bool inside = false;
    Fused fused(codes, rows, Groups(widths, members, starts), inside);
    return inside ? std::optional<Fused>(std::move(fused)) : std::nullopt;
}

}  // namespace

void catalpa::bind_hard(nb::module_& module) {
    nb::class_<Fused>(module, "Fused").def_prop_ro("nbytes", &Fused::bytes).def("__len__", [](const Fused& f) { return f.rows; });
    nb::class_<Tables>(module, "Tables")
        .def(nb::init<const Matrix<const std::int64_t>&, const Ints&, const Ints&, const Ints&, const Ints&, const Numbers&,
                      const Numbers&, const Numbers&, int, bool, int, std::int64_t, double>());
    module.def("fuse_codes", &fuse_codes);
    module.def("fused_codes", &fused_codes);
    module.def("label", &label);
    module.def("least_sums", &least_sums);
    module.def("assign_and_count", &assign_and_count);
}
