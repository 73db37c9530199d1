// Passes that visit rows in order and change the clusters at once: a row sees what the rows before it did.
// Inherently sequential, hence compiled. The compiled twin of in_order/visits.py: the same operations on doubles in
// the same order (a share first, times its weight, added column by column), as rounding may decide a tie.

#include "arrays.hpp"

using namespace catalpa;

namespace {

constexpr double OUT = -std::numeric_limits<double>::infinity();
constexpr double STEEPEST = 700.0;  // exp of more is no number
constexpr std::size_t REFRESH_FACTOR = 4;  // kept products must not cost more to refresh than to work out

#if CATALPA_HAS_AVX2 && defined(__GNUC__) && !defined(__clang__) && defined(__linux__)
#define FOR_EVERY_PROCESSOR __attribute__((target_clones("avx512f", "avx2", "default")))
#else
#define FOR_EVERY_PROCESSOR
#endif

constexpr std::size_t LANES = 8;

// Work on whole rows of clusters, a few at a time in registers; the same on every processor, as each cluster's
// sum is taken column by column and nothing is fused.
FOR_EVERY_PROCESSOR void add_columns(double* out, const double* const* entries, std::size_t columns, std::size_t k) {
    std::size_t at = 0;
    for (; at + LANES <= k; at += LANES) {
        double sums[LANES] = {};
        for (std::size_t c = 0; c < columns; ++c)
            for (std::size_t j = 0; j < LANES; ++j) sums[j] += entries[c][at + j];
        for (std::size_t j = 0; j < LANES; ++j) out[at + j] = sums[j];
    }
    for (; at < k; ++at) {
        double sum = 0.0;
        for (std::size_t c = 0; c < columns; ++c) sum += entries[c][at];
        out[at] = sum;
    }
}

FOR_EVERY_PROCESSOR void handicapped(double* out, const double* won, double total, const double* vigours,
                                     const double* similar, std::size_t k) {
    for (std::size_t j = 0; j < k; ++j) out[j] = (1.0 - won[j] / total) * vigours[j] * similar[j];
}

FOR_EVERY_PROCESSOR double largest(const double* values, std::size_t k) {
    double tops[LANES];
    for (std::size_t j = 0; j < LANES; ++j) tops[j] = values[j < k ? j : 0];
    std::size_t at = 0;
    for (; at + LANES <= k; at += LANES)
        for (std::size_t j = 0; j < LANES; ++j) tops[j] = values[at + j] > tops[j] ? values[at + j] : tops[j];
    for (; at < k; ++at) tops[0] = values[at] > tops[0] ? values[at] : tops[0];
    for (std::size_t j = 1; j < LANES; ++j) tops[0] = tops[j] > tops[0] ? tops[j] : tops[0];
    return tops[0];
}

struct Table {
    Matrix<const std::uint32_t> places;  // (n, columns): place on the axis, or ABSENT
    Ints starts;                         // (columns + 1,)
    Matrix<const std::int64_t> ticks;    // (n, numeric)
    Matrix<const std::uint8_t> seen;     // (n, numeric)
    Ints weights;                        // (n,)

    void check() const {
        require(check_columns(starts, columns()) < ABSENT, "All columns must have fewer than 2 ** 32 - 1 places.");
        require(ticks.shape(0) == rows() && has_shape(seen, rows(), numeric()), "ticks and seen must be rows by numeric columns.");
        require(weights.size() == rows(), "weights must have one entry per row.");
        for (std::size_t row = 0; row < rows(); ++row)
            for (std::size_t c = 0; c < columns(); ++c) {
                const std::uint32_t place = places.data()[row * columns() + c];
                require(place == ABSENT || (place >= starts.data()[c] && place < starts.data()[c + 1]),
                        "A place must lie in its column.");
            }
    }
    void check(const Numbers& column_weights) const {
        require(column_weights.shape(0) >= 1 && column_weights.shape(1) == columns() + numeric(),
                "column_weights must be clusters by columns, at least one cluster.");
    }
    void check(const Matrix<const std::int64_t>& cells, std::size_t k, std::size_t wide) const {
        require(has_shape(cells, k, wide), "Sums must be clusters by places, or by columns.");
    }
    void check(const AnyLabels& labels, std::size_t k) const {
        require(labels.size() == rows(), "Labels must have one entry per row.");
        require(all_below(labels, k), "Labels must be numbers of clusters.");
    }

    std::size_t rows() const { return places.shape(0); }
    std::size_t columns() const { return places.shape(1); }
    std::size_t numeric() const { return ticks.shape(1); }
    std::size_t length() const { return static_cast<std::size_t>(starts.data()[columns()]); }
    const std::uint32_t* row(std::size_t at) const { return places.data() + at * columns(); }
};

class Clusters {
  public:
    Clusters(const Table& table, const Numbers& column_weights)
        : t(table),
          k(column_weights.shape(0)),
          column_weights((table.columns() + table.numeric()) * k),
          by_category(table.length() * k, 0),
          by_column(table.columns() * k, 0),
          sums(table.numeric() * k, 0),
          seen(table.numeric() * k, 0),
          similar(k, 0.0),
          entries(table.columns()),
          kept(table.length() <= REFRESH_FACTOR * k * table.columns()) {
        for (std::size_t j = 0; j < k; ++j)
            for (std::size_t r = 0; r < t.columns() + t.numeric(); ++r) this->column_weights[r * k + j] = column_weights(j, r);
        if (kept) worth.assign(table.length() * k, 0.0);
    }

    // Count rows that are there already; `refresh_all` must follow.
    void hold(std::size_t row, std::size_t j) { count(row, j, +1); }
    void hold_categories(std::size_t place, std::size_t column, std::size_t j, std::int64_t weight) {
        by_category[place * k + j] += weight;
        by_column[column * k + j] += weight;
    }
    void hold_number(std::size_t m, std::size_t j, std::int64_t sum, std::int64_t weight) {
        sums[m * k + j] += sum;
        seen[m * k + j] += weight;
    }
    void refresh_all() {
        for (std::size_t j = 0; j < k; ++j) refresh(j);
    }

    void join(std::size_t row, std::size_t j) {
        count(row, j, +1);
        refresh(j);
    }
    void move(std::size_t row, std::size_t from, std::size_t to) {
        count(row, from, -1);
        count(row, to, +1);
        refresh(from);
        refresh(to);
    }

    // Weighted similarity of a row to every cluster.
    const std::vector<double>& similarity(std::size_t row) {
        const std::uint32_t* cells = t.row(row);
        if (kept) {
            std::size_t present = 0;
            for (std::size_t c = 0; c < t.columns(); ++c)
                if (cells[c] != ABSENT) entries[present++] = &worth[cells[c] * k];
            add_columns(similar.data(), entries.data(), present, k);
        } else {
            for (std::size_t j = 0; j < k; ++j) similar[j] = 0.0;
            for (std::size_t c = 0; c < t.columns(); ++c)
                for (std::size_t j = 0; j < k && cells[c] != ABSENT; ++j) similar[j] += product(cells[c], c, j);
        }
        for (std::size_t m = 0; m < t.numeric(); ++m)
            if (t.seen(row, m)) add_number(m, static_cast<double>(t.ticks(row, m)) * TICK);
        return similar;
    }

  private:
    const Table& t;
    std::size_t k;
    std::vector<double> column_weights;  // (columns + numeric, k)
    std::vector<std::int64_t> by_category, by_column, sums, seen;
    std::vector<double> similar;
    std::vector<const double*> entries;
    std::vector<double> worth;  // (length, k): weight times share, kept up to date
    bool kept;

    void count(std::size_t row, std::size_t j, std::int64_t sign) {
        const std::int64_t w = sign * t.weights(row);
        const std::uint32_t* cells = t.row(row);
        for (std::size_t c = 0; c < t.columns(); ++c)
            if (cells[c] != ABSENT) hold_categories(cells[c], c, j, w);
        for (std::size_t m = 0; m < t.numeric(); ++m)
            if (t.seen(row, m)) hold_number(m, j, w * t.ticks(row, m), w);
    }

    double product(std::size_t place, std::size_t column, std::size_t j) const {
        const std::int64_t total = by_column[column * k + j];
        if (total <= 0) return 0.0;
        const double share = static_cast<double>(by_category[place * k + j]) / static_cast<double>(total);
        return column_weights[column * k + j] * share;
    }

    void refresh(std::size_t j) {
        if (!kept) return;
        for (std::size_t c = 0; c < t.columns(); ++c)
            for (std::size_t v = static_cast<std::size_t>(t.starts(c)); v < static_cast<std::size_t>(t.starts(c + 1)); ++v)
                worth[v * k + j] = product(v, c, j);
    }

    void add_number(std::size_t m, double number) {
        const double* weight = &column_weights[(t.columns() + m) * k];
        for (std::size_t j = 0; j < k; ++j) {
            if (seen[m * k + j] <= 0) continue;
            const double mean = static_cast<double>(sums[m * k + j]) * TICK / static_cast<double>(seen[m * k + j]);
            const double away = number - mean;
            similar[j] += weight[j] * std::exp(-0.5 * (away * away));
        }
    }
};

// The cluster of the largest value; a later one must exceed it by more than `tie`.
std::size_t best(const std::vector<double>& values, double tie) {
    if (tie == 0.0) {
        const double top = largest(values.data(), values.size());
        // Where a value is no number nothing may equal the largest; the first cluster wins then, as below.
        const auto found = std::find(values.begin(), values.end(), top);
        return found == values.end() ? 0 : static_cast<std::size_t>(found - values.begin());
    }
    std::size_t winner = 0;
    double bar = values[0] + tie;
    for (std::size_t j = 1; j < values.size(); ++j)
        if (values[j] > bar) bar = values[winner = j] + tie;
    return winner;
}

Clusters holding(const Table& table, const Numbers& column_weights, const std::int32_t* labels) {
    Clusters clusters(table, column_weights);
    for (std::size_t row = 0; row < table.rows(); ++row) clusters.hold(row, static_cast<std::size_t>(labels[row]));
    clusters.refresh_all();
    return clusters;
}

using Held = Matrix<const std::int64_t>;
using Labels = Vector<std::int32_t>;

// Give every row to the most similar cluster, beginning with clusters that hold the seeds.
void join(const Table& table, const Numbers& column_weights, const Held& by_category, const Held& sums, const Held& seen,
          double tie, const Labels& labels) {
    const std::size_t k = column_weights.shape(0);
    table.check(column_weights);
    table.check(by_category, k, table.length());
    table.check(sums, k, table.numeric());
    table.check(seen, k, table.numeric());
    require(labels.size() == table.rows(), "Labels must have one entry per row.");
    nb::gil_scoped_release release;
    Clusters clusters(table, column_weights);
    for (std::size_t j = 0; j < k; ++j) {
        for (std::size_t c = 0; c < table.columns(); ++c)
            for (std::size_t v = static_cast<std::size_t>(table.starts(c)); v < static_cast<std::size_t>(table.starts(c + 1)); ++v)
                clusters.hold_categories(v, c, j, by_category(j, v));
        for (std::size_t m = 0; m < table.numeric(); ++m) clusters.hold_number(m, j, sums(j, m), seen(j, m));
    }
    clusters.refresh_all();
    for (std::size_t row = 0; row < table.rows(); ++row) {
        const std::size_t winner = best(clusters.similarity(row), tie);
        labels(row) = static_cast<std::int32_t>(winner);
        clusters.join(row, winner);
    }
}

// One pass in which every row moves to the most similar cluster; how many did.
std::int64_t visit(const Table& table, const Numbers& column_weights, double tie, const Labels& labels) {
    table.check(column_weights);
    table.check(AnyLabels(labels), column_weights.shape(0));
    nb::gil_scoped_release release;
    Clusters clusters = holding(table, column_weights, labels.data());
    std::int64_t moved = 0;
    for (std::size_t row = 0; row < table.rows(); ++row) {
        const auto own = static_cast<std::size_t>(labels(row));
        const std::size_t winner = best(clusters.similarity(row), tie);
        if (winner == own) continue;
        clusters.move(row, own, winner);
        labels(row) = static_cast<std::int32_t>(winner);
        ++moved;
    }
    return moved;
}

double vigour(double strength) { return 1.0 / (1.0 + std::exp(std::fmin(5.0 - 10.0 * strength, STEEPEST))); }

// One pass of the competition: the winner is rewarded, the runner-up penalised. `wins` and `strength` go on.
std::int64_t compete(const Table& table, const Numbers& column_weights, double tie, double rate, double unit,
                     double total, const Vector<double>& wins, const Vector<double>& strength, const Labels& labels) {
    const std::size_t k = column_weights.shape(0);
    table.check(column_weights);
    table.check(AnyLabels(labels), k);
    require(wins.size() == k && strength.size() == k, "wins and strength must have one entry per cluster.");
    nb::gil_scoped_release release;
    Clusters clusters = holding(table, column_weights, labels.data());
    std::vector<double> vigours(k), scores(k);
    for (std::size_t j = 0; j < k; ++j) vigours[j] = vigour(strength(j));
    std::int64_t moved = 0;
    const double* won = wins.data();
    for (std::size_t row = 0; row < table.rows(); ++row) {
        const std::vector<double>& similar = clusters.similarity(row);
        handicapped(scores.data(), won, total, vigours.data(), similar.data(), k);
        const std::size_t winner = best(scores, tie);
        const double weight = static_cast<double>(table.weights(row)) * unit;
        wins(winner) += weight;
        total += weight;
        strength(winner) += rate * weight;
        vigours[winner] = vigour(strength(winner));
        if (k > 1) {
            scores[winner] = OUT;
            const std::size_t rival = best(scores, tie);
            strength(rival) -= rate * similar[rival] * weight;
            vigours[rival] = vigour(strength(rival));
        }
        const auto own = static_cast<std::size_t>(labels(row));
        if (winner == own) continue;
        clusters.move(row, own, winner);
        labels(row) = static_cast<std::int32_t>(winner);
        ++moved;
    }
    return moved;
}

// Sum over the rows of each cluster of the shares of their own categories in it, added in the order of the rows.
void alike(const Table& table, const Held& by_category, const Held& by_column, const Vector<const std::int32_t>& labels,
           const Matrix<double>& sums) {
    const std::size_t k = by_category.shape(0);
    table.check(by_category, k, table.length());
    table.check(by_column, k, table.columns());
    require(has_shape(sums, k, table.columns()), "sums must be clusters by columns.");
    table.check(AnyLabels(labels), k);
    nb::gil_scoped_release release;
    const std::size_t length = table.length(), columns = table.columns();
    for (std::size_t row = 0; row < table.rows(); ++row) {
        const auto own = static_cast<std::size_t>(labels.data()[row]);
        const std::uint32_t* cells = table.row(row);
        const double weight = static_cast<double>(table.weights.data()[row]);
        for (std::size_t c = 0; c < columns; ++c) {
            if (cells[c] == ABSENT) continue;
            const double held = static_cast<double>(by_category.data()[own * length + cells[c]]);
            const double total = static_cast<double>(by_column.data()[own * columns + c]);
            if (total > 0.0) sums.data()[own * columns + c] += held / total * weight;
        }
    }
}

}  // namespace

void catalpa::bind_in_order(nb::module_& module) {
    nb::class_<Table>(module, "Table")
        .def("__init__",
             [](Table* self, const Matrix<const std::uint32_t>& places, const Ints& starts,
                const Matrix<const std::int64_t>& ticks, const Matrix<const std::uint8_t>& seen, const Ints& weights) {
                 const Table table{places, starts, ticks, seen, weights};
                 table.check();
                 new (self) Table(table);
             })
        .def("join", &join)
        .def("visit", &visit)
        .def("compete", &compete)
        .def("alike", &alike);
}
