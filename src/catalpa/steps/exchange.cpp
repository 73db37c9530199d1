// Exchange passes: visit rows one by one, take each out of its cluster and put it where the description of
// the table is shortest. Inherently sequential, hence compiled. The compiled twin of exchange.py.
//
// Prices are integers, so that a sum does not depend on its order and F never drifts from the counts.

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <tuple>
#include <utility>
#include <vector>

namespace nb = nanobind;

namespace {

template <class T>
using Vector = nb::ndarray<T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
template <class T>
using Matrix = nb::ndarray<T, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

constexpr double TICK = 1.0 / (1 << 24);
constexpr double SQUARE = 1.0 / (1 << 26);
constexpr int SQUARE_DROP = 2 * 24 - 26;

// Stirling's series after shifting the argument above 10: the same operations as exchange.py.
double log_gamma(double x) {
    double shift = 0.0;
    while (x < 10.0) {
        shift += std::log(x);
        x += 1.0;
    }
    const double inverse = 1.0 / x;
    const double square = inverse * inverse;
    const double series = inverse * (1.0 / 12.0 - square * (1.0 / 360.0 - square * (1.0 / 1260.0 - square / 1680.0)));
    return (x - 0.5) * std::log(x) - x + 0.9189385332046727 + series - shift;
}

// Price of letting w more rows join c others: a look-up in cumulative prices, or worked out where weights
// are fractions and the table would be endless.
struct Rise {
    const std::int64_t* cumulative;  // null: work it out
    double prior;
    double weight_of_unit;
    double quanta;

    std::int64_t operator()(std::int64_t c, std::int64_t w) const {
        if (cumulative) return cumulative[c + w] - cumulative[c];
        const double from = static_cast<double>(c) * weight_of_unit + prior;
        const double to = static_cast<double>(c + w) * weight_of_unit + prior;
        return std::llrint((log_gamma(to) - log_gamma(from)) * quanta);
    }
};

// Logarithms that depend on nothing but how many rows a cluster has, for whole numbers of rows.
struct Logs {
    std::vector<double> gamma_of_shape, of_rows;

    void fill(double shape, double rows, std::int64_t most) {
        for (std::int64_t n = 0; n <= most; ++n) {
            gamma_of_shape.push_back(log_gamma(shape + 0.5 * static_cast<double>(n)));
            of_rows.push_back(std::log(rows + static_cast<double>(n)));
        }
    }
};

struct Bell {  // normal-inverse-gamma prior of one numeric column
    double mean, rows, shape, rate, gamma_of_shape, log_of_rate, log_of_rows;

    Bell(const double* prior)
        : mean(prior[0]),
          rows(prior[1]),
          shape(prior[2]),
          rate(prior[3]),
          gamma_of_shape(log_gamma(shape)),
          log_of_rate(std::log(rate)),
          log_of_rows(std::log(rows)) {}

    double description(double n, double sum, double square, const Logs& logs) const {
        if (n <= 0.0) return 0.0;
        const double centre = sum / n;
        const double spread = std::fmax(square - n * centre * centre, 0.0);
        const double away = centre - mean;
        const double rows_after = rows + n;
        const double shape_after = shape + 0.5 * n;
        const double rate_after = rate + 0.5 * spread + 0.5 * rows * n * away * away / rows_after;
        const bool known = !logs.of_rows.empty();
        const std::size_t at = known ? static_cast<std::size_t>(n) : 0;
        const double gamma_after = known ? logs.gamma_of_shape[at] : log_gamma(shape_after);
        const double log_of_rows_after = known ? logs.of_rows[at] : std::log(rows_after);
        return gamma_of_shape - gamma_after - shape * log_of_rate + shape_after * std::log(rate_after) +
               0.5 * (log_of_rows_after - log_of_rows);
    }
};

struct Table {
    std::size_t n, columns, k, numeric, length;
    const std::uint32_t* codes;      // (n, columns): place on the axis, or ABSENT
    const std::int64_t* weights;     // (n,)
    const std::int64_t* ticks;       // (n, numeric)
    const std::uint8_t* seen;        // (n, numeric)
    std::vector<Rise> of_category;   // (length,)
    std::vector<Rise> of_column;     // (columns,)
    Rise of_size;
    double size_weight, quanta, weight_of_unit, number_weight;
    std::vector<Bell> bells;
    Logs logs;
    std::vector<std::int64_t> category_units;  // (length,) weight of the rows that hold each category
    std::int64_t total_units;
};

constexpr std::uint32_t ABSENT = std::numeric_limits<std::uint32_t>::max();

class Exchange {
  public:
    Exchange(const Table& table, std::int32_t* labels)
        : t(&table),
          labels(labels),
          by_category(table.length * table.k, 0),
          by_column(table.columns * table.k, 0),
          sizes(table.k, 0),
          members(table.k, 0),
          sums(table.numeric * table.k, 0),
          squares(table.numeric * table.k, 0),
          heard(table.numeric * table.k, 0),
          join_category(table.length * table.k, 0),
          join_column(table.columns * table.k, 0),
          join_cluster(table.k, 0),
          stay_category(table.length * table.k, 0),
          stay_column(table.columns * table.k, 0),
          stay_cluster(table.k, 0),
          numbers_now(table.numeric * table.k, 0.0),
          price(table.k, 0) {
        for (std::size_t row = 0; row < t->n; ++row) put(row, labels[row], +1);
        for (std::size_t v = 0; v < t->length; ++v)
            for (std::size_t j = 0; j < t->k; ++j) refresh_category(v, j);
        for (std::size_t j = 0; j < t->k; ++j) refresh_cluster(j);
    }

    // One pass in the given order; how many rows moved, and by how much the description changed. `still` counts
    // the visits since the last move: after one per row all of them would stay, and the pass may end.
    std::pair<std::int64_t, std::int64_t> pass(const std::int64_t* order, std::int64_t tie, std::size_t& still) {
        std::int64_t moved = 0, change = 0;
        for (std::size_t at = 0; at < t->n && still < t->n; ++at, ++still) {
            const std::size_t row = static_cast<std::size_t>(order[at]);
            const std::size_t own = static_cast<std::size_t>(labels[row]);
            if (members[own] == 1) continue;  // the last row of a cluster stays
            const std::int64_t here = leave(row, own);
            quote(row);
            std::size_t best = own;
            std::int64_t least = here - tie;  // a move must pay for more than the rounding
            for (std::size_t j = 0; j < t->k; ++j)
                if (j != own && price[j] < least) least = price[best = j];
            if (best == own) continue;
            move(row, best);
            change += least - here;
            ++moved;
            still = 0;
        }
        return {moved, change};
    }

    // Passes until none moves a row; the change of the description is added up in `change`.
    std::pair<std::int64_t, std::int64_t> settle(const std::int64_t* order, std::int64_t tie, std::int64_t max_passes,
                                                 std::int64_t& change) {
        std::int64_t passes = 0, moves = 0;
        std::size_t still = 0;
        while (passes < max_passes) {
            const auto [moved, changed] = pass(order, tie, still);
            ++passes;
            moves += moved;
            change += changed;
            if (moved == 0) break;
        }
        return {passes, moves};
    }

    // Send the rows of a cluster, one by one, to the cheapest of the others.
    void dissolve(std::size_t gone, std::int64_t& change) {
        for (std::size_t row = 0; row < t->n; ++row) {
            if (labels[row] != static_cast<std::int32_t>(gone)) continue;
            const std::int64_t here = leave(row, gone);
            quote(row);
            std::size_t best = gone == 0 ? 1 : 0;
            for (std::size_t j = 0; j < t->k; ++j)
                if (j != gone && price[j] < price[best]) best = j;
            change += price[best] - here;
            move(row, best);
        }
    }

    // Cut the cluster of a row in two: rows nearer to the far end than to the other go to the empty cluster.
    bool split(std::size_t fresh, std::size_t drawn, bool from_far_end, std::int64_t& change) {
        std::vector<std::size_t> members;
        for (std::size_t row = 0; row < t->n; ++row)
            if (labels[row] == labels[drawn]) members.push_back(row);
        if (members.size() < 2) return false;
        const std::size_t one = from_far_end ? farthest(members, drawn) : drawn;
        const std::size_t other = farthest(members, one);
        for (std::size_t row : members) {
            if (away(row, other) >= away(row, one)) continue;
            const std::int64_t here = leave(row, static_cast<std::size_t>(labels[row]));
            quote(row);
            change += price[fresh] - here;
            move(row, fresh);
        }
        return members_of(fresh) > 0;
    }

    std::int64_t members_of(std::size_t j) const { return members[j]; }
    void put_labels(std::int32_t* where) { labels = where; }

  private:
    const Table* t;
    std::int32_t* labels;
    std::vector<std::int64_t> by_category, by_column, sizes, members, sums, squares, heard;
    // Prices of one unit, kept up to date: for a row that would join, and for one that is there already.
    std::vector<std::int64_t> join_category, join_column, join_cluster, stay_category, stay_column, stay_cluster;
    std::vector<double> numbers_now;  // (numeric, k): description of each cluster's numbers
    std::vector<std::int64_t> price;  // (k,) of the row last asked about

    void move(std::size_t row, std::size_t to) {
        const std::size_t own = static_cast<std::size_t>(labels[row]);
        put(row, own, -1);
        put(row, to, +1);
        for (std::size_t j : {own, to}) {
            for (std::size_t c = 0; c < t->columns; ++c)
                if (place(row, c) != ABSENT) refresh_category(place(row, c), j);
            refresh_cluster(j);
        }
        labels[row] = static_cast<std::int32_t>(to);
    }

    // Distance of two rows in 1/1024 of a differing cell.
    std::int64_t away(std::size_t row, std::size_t other) const {
        std::int64_t differ = 0;
        for (std::size_t c = 0; c < t->columns; ++c) differ += place(row, c) != place(other, c);
        double numbers = 0.0;
        for (std::size_t m = 0; m < t->numeric; ++m) {
            if (!t->seen[row * t->numeric + m] || !t->seen[other * t->numeric + m]) continue;
            const double apart = static_cast<double>(t->ticks[row * t->numeric + m] - t->ticks[other * t->numeric + m]) * TICK;
            numbers += apart * apart;
        }
        return differ * 1024 + std::llrint(1024.0 * t->number_weight * numbers);
    }

    std::size_t farthest(const std::vector<std::size_t>& among, std::size_t from) const {
        std::size_t best = among.front();
        for (std::size_t row : among)
            if (away(row, from) > away(best, from)) best = row;
        return best;
    }

    std::uint32_t place(std::size_t row, std::size_t column) const { return t->codes[row * t->columns + column]; }

    void put(std::size_t row, std::size_t j, std::int64_t sign) {
        const std::int64_t w = sign * t->weights[row];
        for (std::size_t c = 0; c < t->columns; ++c) {
            if (place(row, c) == ABSENT) continue;
            by_category[place(row, c) * t->k + j] += w;
            by_column[c * t->k + j] += w;
        }
        for (std::size_t m = 0; m < t->numeric; ++m) {
            if (!t->seen[row * t->numeric + m]) continue;
            const std::int64_t tick = t->ticks[row * t->numeric + m];
            sums[m * t->k + j] += w * tick;
            squares[m * t->k + j] += w * ((tick * tick) >> SQUARE_DROP);
            heard[m * t->k + j] += w;
        }
        sizes[j] += w;
        members[j] += sign;
    }

    void refresh_category(std::size_t v, std::size_t j) {
        const Rise& rise = t->of_category[v];
        if (!rise.cumulative) return;
        const std::size_t at = v * t->k + j;
        const std::int64_t count = by_category[at];
        // The table ends where the category does: nobody else can join a cluster that has all its rows.
        if (count < t->category_units[v]) join_category[at] = rise(count, 1);
        if (count > 0) stay_category[at] = rise(count - 1, 1);
    }

    void refresh_cluster(std::size_t j) {
        for (std::size_t m = 0; m < t->numeric; ++m) numbers_now[m * t->k + j] = described(m, j, 0, 0);
        if (!t->of_size.cumulative) return;
        if (sizes[j] < t->total_units) {
            join_cluster[j] = -of_size(sizes[j], 1);
            for (std::size_t c = 0; c < t->columns; ++c)
                join_cluster[j] += join_column[c * t->k + j] = t->of_column[c](by_column[c * t->k + j], 1);
        }
        if (sizes[j] > 0) {
            stay_cluster[j] = -of_size(sizes[j] - 1, 1);
            for (std::size_t c = 0; c < t->columns; ++c) {
                const std::int64_t count = by_column[c * t->k + j];
                stay_cluster[j] += stay_column[c * t->k + j] = count > 0 ? t->of_column[c](count - 1, 1) : 0;
            }
        }
    }

    std::int64_t of_size(std::int64_t c, std::int64_t w) const {
        return std::llrint(t->size_weight * static_cast<double>(t->of_size(c, w)));
    }

    // Description of a cluster's numbers in one column, with `w` more rows that hold `tick`.
    double described(std::size_t m, std::size_t j, std::int64_t w, std::int64_t tick) const {
        const std::size_t at = m * t->k + j;
        const double unit = t->weight_of_unit;
        return t->bells[m].description(static_cast<double>(heard[at] + w) * unit,
                                       static_cast<double>(sums[at] + w * tick) * TICK * unit,
                                       static_cast<double>(squares[at] + w * ((tick * tick) >> SQUARE_DROP)) * SQUARE * unit,
                                       t->logs);
    }

    std::int64_t numbers(std::size_t row, std::size_t j, std::int64_t sign) const {
        double change = 0.0;
        for (std::size_t m = 0; m < t->numeric; ++m)
            if (t->seen[row * t->numeric + m])
                change += described(m, j, sign * t->weights[row], t->ticks[row * t->numeric + m]) - numbers_now[m * t->k + j];
        return std::llrint(change * t->quanta);
    }

    // What the row's own cluster would charge it, were it not there.
    std::int64_t leave(std::size_t row, std::size_t own) const {
        const std::int64_t w = t->weights[row];
        if (w == 1 && t->of_size.cumulative && !t->numeric) {
            std::int64_t total = stay_cluster[own];
            for (std::size_t c = 0; c < t->columns; ++c) {
                const std::uint32_t v = place(row, c);
                total -= v == ABSENT ? stay_column[c * t->k + own] : stay_category[v * t->k + own];
            }
            return total;
        }
        std::int64_t total = -of_size(sizes[own] - w, w);
        for (std::size_t c = 0; c < t->columns; ++c) {
            const std::uint32_t v = place(row, c);
            if (v == ABSENT) continue;
            total += t->of_column[c](by_column[c * t->k + own] - w, w);
            total -= t->of_category[v](by_category[v * t->k + own] - w, w);
        }
        return t->numeric ? total - numbers(row, own, -1) : total;
    }

    // What every cluster but its own would charge the row for joining; its own has no price beyond all its rows.
    void quote(std::size_t row) {
        const std::size_t own = static_cast<std::size_t>(labels[row]);
        const std::int64_t w = t->weights[row];
        if (w == 1 && t->of_size.cumulative) {
            for (std::size_t j = 0; j < t->k; ++j) price[j] = join_cluster[j];
            for (std::size_t c = 0; c < t->columns; ++c) {
                const std::uint32_t v = place(row, c);
                const std::int64_t* less = v == ABSENT ? &join_column[c * t->k] : &join_category[v * t->k];
                for (std::size_t j = 0; j < t->k; ++j) price[j] -= less[j];
            }
        } else {
            for (std::size_t j = 0; j < t->k; ++j) {
                if (j == own) continue;
                price[j] = -of_size(sizes[j], w);
                for (std::size_t c = 0; c < t->columns; ++c) {
                    const std::uint32_t v = place(row, c);
                    if (v == ABSENT) continue;
                    price[j] += t->of_column[c](by_column[c * t->k + j], w) - t->of_category[v](by_category[v * t->k + j], w);
                }
            }
        }
        if (t->numeric)
            for (std::size_t j = 0; j < t->k; ++j)
                if (j != own) price[j] += numbers(row, j, +1);
    }
};

// SplitMix64: small, and the same numbers in any language.
struct Dice {
    std::uint64_t state;
    std::uint64_t next() {
        state += 0x9e3779b97f4a7c15ULL;
        std::uint64_t z = state;
        z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
        z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
        return z ^ (z >> 31);
    }
    std::uint64_t below(std::uint64_t limit) { return next() % limit; }
};

std::vector<std::int64_t> shuffled(std::size_t n, Dice& dice) {
    std::vector<std::int64_t> order(n);
    for (std::size_t at = 0; at < n; ++at) order[at] = static_cast<std::int64_t>(at);
    for (std::size_t at = n; at > 1; --at) std::swap(order[at - 1], order[dice.below(at)]);
    return order;
}

// The rows and their prices, as Python handed them over.
class Prices {
  public:
    Prices(Matrix<const std::uint32_t> codes, Vector<const std::int64_t> weights, Matrix<const std::int64_t> ticks,
           Matrix<const std::uint8_t> seen, std::int64_t k, Vector<const std::int64_t> prices,
           Vector<const std::int64_t> category_start, Vector<const double> category_prior,
           Vector<const std::int64_t> column_start, Vector<const double> column_prior, std::int64_t size_start,
           double size_weight, double quanta, double weight_of_unit, double number_weight, Matrix<const double> bells)
        : held{codes, weights, ticks, seen, prices} {
        table.n = codes.shape(0);
        table.columns = codes.shape(1);
        table.k = static_cast<std::size_t>(k);
        table.numeric = ticks.shape(1);
        table.length = category_start.shape(0);
        table.codes = codes.data();
        table.weights = weights.data();
        table.ticks = ticks.data();
        table.seen = seen.data();
        table.size_weight = size_weight;
        table.quanta = quanta;
        table.weight_of_unit = weight_of_unit;
        table.number_weight = number_weight;
        const auto rise = [&](std::int64_t start, double prior) {
            return Rise{start < 0 ? nullptr : prices.data() + start, prior, weight_of_unit, quanta};
        };
        for (std::size_t v = 0; v < table.length; ++v)
            table.of_category.push_back(rise(category_start.data()[v], category_prior.data()[v]));
        for (std::size_t c = 0; c < table.columns; ++c)
            table.of_column.push_back(rise(column_start.data()[c], column_prior.data()[c]));
        table.of_size = rise(size_start, 0.5);
        table.category_units.assign(table.length, 0);
        table.total_units = 0;
        for (std::size_t row = 0; row < table.n; ++row) {
            table.total_units += table.weights[row];
            for (std::size_t c = 0; c < table.columns; ++c) {
                const std::uint32_t v = table.codes[row * table.columns + c];
                if (v != ABSENT) table.category_units[v] += table.weights[row];
            }
        }
        for (std::size_t m = 0; m < table.numeric; ++m) table.bells.emplace_back(bells.data() + 4 * m);
        // The columns' priors differ in their place and width only.
        if (table.numeric && weight_of_unit == 1.0 && size_start >= 0)
            table.logs.fill(table.bells[0].shape, table.bells[0].rows, table.total_units);
    }

    // Passes in one order until none moves: passes, moves, change of the description.
    std::tuple<std::int64_t, std::int64_t, std::int64_t> exchange(Vector<std::int32_t> labels,
                                                                  Vector<const std::int64_t> order, std::int64_t tie,
                                                                  std::int64_t max_passes) const {
        nb::gil_scoped_release release;
        Exchange state(table, labels.data());
        std::int64_t change = 0;
        const auto [passes, moves] = state.settle(order.data(), tie, max_passes, change);
        return {passes, moves, change};
    }

    // Dissolve one cluster and split another, `tries` times, keeping what shortens the description. Gives the
    // changes that were kept; the labels are those of the shortest.
    std::vector<std::int64_t> improve(Vector<std::int32_t> labels, std::int64_t tries, std::uint64_t seed,
                                      std::int64_t tie, std::int64_t max_passes) const {
        nb::gil_scoped_release release;
        std::vector<std::int64_t> kept, ends(table.n);
        std::int64_t total = 0;
        for (std::size_t row = 0; row < table.n; ++row) ends[row] = total += table.weights[row];
        Dice dice{seed};
        Exchange best(table, labels.data());
        std::vector<std::int32_t> tried(table.n);
        for (std::int64_t at = 0; at < tries; ++at) {
            const std::size_t gone = dice.below(table.k);
            const std::int64_t drawn = static_cast<std::int64_t>(dice.below(static_cast<std::uint64_t>(total)));
            const auto row = static_cast<std::size_t>(std::upper_bound(ends.begin(), ends.end(), drawn) - ends.begin());
            const std::vector<std::int64_t> order = shuffled(table.n, dice);
            std::copy(labels.data(), labels.data() + table.n, tried.begin());
            Exchange state = best;
            state.put_labels(tried.data());
            std::int64_t change = 0;
            state.dissolve(gone, change);
            if (!state.split(gone, row, at % 2 == 1, change)) continue;
            state.settle(order.data(), tie, max_passes, change);
            if (change >= -tie) continue;
            kept.push_back(change);
            std::copy(tried.begin(), tried.end(), labels.data());
            state.put_labels(labels.data());
            best = state;
        }
        return kept;
    }

  private:
    struct Held {  // keeps the arrays alive
        Matrix<const std::uint32_t> codes;
        Vector<const std::int64_t> weights;
        Matrix<const std::int64_t> ticks;
        Matrix<const std::uint8_t> seen;
        Vector<const std::int64_t> prices;
    } held;
    Table table;
};

}  // namespace

NB_MODULE(_exchange, m) {
    nb::class_<Prices>(m, "Prices")
        .def(nb::init<Matrix<const std::uint32_t>, Vector<const std::int64_t>, Matrix<const std::int64_t>,
                      Matrix<const std::uint8_t>, std::int64_t, Vector<const std::int64_t>, Vector<const std::int64_t>,
                      Vector<const double>, Vector<const std::int64_t>, Vector<const double>, std::int64_t, double,
                      double, double, double, Matrix<const double>>(),
             nb::arg("codes"), nb::arg("weights"), nb::arg("ticks"), nb::arg("seen"), nb::arg("k"), nb::arg("prices"),
             nb::arg("category_start"), nb::arg("category_prior"), nb::arg("column_start"), nb::arg("column_prior"),
             nb::arg("size_start"), nb::arg("size_weight"), nb::arg("quanta"), nb::arg("weight_of_unit"),
             nb::arg("number_weight"), nb::arg("bells"))
        .def("exchange", &Prices::exchange, nb::arg("labels"), nb::arg("order"), nb::arg("tie"), nb::arg("max_passes"))
        .def("improve", &Prices::improve, nb::arg("labels"), nb::arg("tries"), nb::arg("seed"), nb::arg("tie"),
             nb::arg("max_passes"));
}
