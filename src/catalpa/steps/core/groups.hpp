// Columns whose codes are fused into one: their places, and the fused codes of a block.

#pragma once

#include <memory>
#include <new>

#include "arrays.hpp"

namespace catalpa {

// Columns in groups. The last column of a group turns fastest.
class Groups {
   public:
    std::vector<std::size_t> widths;    // (columns,) places of each column
    std::vector<std::size_t> members;   // (columns,) the columns, group by group
    std::vector<std::size_t> starts;    // (groups + 1,) first of the members of each group
    std::vector<std::size_t> offsets;   // (groups + 1,) first fused place of each group
    std::vector<std::size_t> begin_of;  // (columns + 1,) first place of each column

    Groups(const Ints& widths_in, const Ints& members_in, const Ints& starts_in) : begin_of{0} {
        for (std::size_t column = 0; column < widths_in.size(); ++column) {
            const std::int64_t width = widths_in.data()[column];
            require(width >= 0 && width <= MOST_PLACES, "A column must have 0 to 2 ** 32 - 2 places.");
            widths.push_back(static_cast<std::size_t>(width));
            begin_of.push_back(begin_of.back() + widths.back());
        }
        std::vector<bool> met(widths.size());
        require(members_in.size() == widths.size(), "Every column must be in a group.");
        for (std::size_t at = 0; at < members_in.size(); ++at) {
            const std::int64_t column = members_in.data()[at];
            require(column >= 0 && column < static_cast<std::int64_t>(widths.size()) && !met[static_cast<std::size_t>(column)],
                    "Every column must be in one group.");
            members.push_back(static_cast<std::size_t>(column));
            met[members.back()] = true;
        }
        require(starts_in.size() >= 1 && starts_in.data()[0] == 0, "Groups of columns start with column 0.");
        for (std::size_t group = 1; group < starts_in.size(); ++group)
            require(starts_in.data()[group] > starts_in.data()[group - 1], "Groups of columns come in order.");
        require(starts_in.data()[starts_in.size() - 1] == static_cast<std::int64_t>(widths.size()),
                "Groups of columns must end with the last column.");
        starts.assign(starts_in.data(), starts_in.data() + starts_in.size());
        lay_out();
    }

    std::size_t columns() const { return widths.size(); }
    std::size_t length() const { return begin_of.back(); }  // places before fusing
    std::size_t groups() const { return starts.size() - 1; }
    std::size_t places() const { return offsets.back(); }
    std::size_t width(std::size_t group) const { return offsets[group + 1] - offsets[group]; }
    std::size_t widest() const {
        std::size_t most = 0;
        for (std::size_t group = 0; group < groups(); ++group) most = std::max(most, width(group));
        return most;
    }
    bool same_as(const Groups& other) const {
        return widths == other.widths && members == other.members && starts == other.starts;
    }

    // Rows of `from` (length, lanes) added up per fused place, (places, lanes). A group's table grows column by column,
    // from its end, within the place it has in `out`; the last column turns fastest, as in `Fused`.
    template <class Entry>
    void fuse(const Entry* from, std::size_t lanes, Entry* out) const {
        std::vector<Entry> own(lanes);
        for (std::size_t group = 0; group < groups(); ++group) {
            Entry* first = out + offsets[group] * lanes;
            std::size_t so_far = width(group) > 0;
            std::fill_n(first, so_far * lanes, Entry{0});
            for (std::size_t at = starts[group]; at < starts[group + 1]; ++at) {
                const std::size_t column = members[at];
                const Entry* entries = from + begin_of[column] * lanes;
                for (std::size_t left = so_far; left-- > 0;) {
                    std::copy_n(first + left * lanes, lanes, own.begin());
                    for (std::size_t code = widths[column]; code-- > 0;)
                        add(own.data(), entries + code * lanes, lanes, first + (left * widths[column] + code) * lanes);
                }
                so_far *= widths[column];
            }
        }
    }

    // Sums of fused places, (places, lanes), which `sum` gives by their index, added up by place of the columns, (length,
    // lanes): by the code of a group's last column, and, over its codes, to a group without it, which is what is left.
    template <class Sum, class Of>
    std::vector<Sum> by_column(std::size_t lanes, Of sum) const {
        std::vector<Sum> out(length() * lanes), left(widest() * lanes);
        for (std::size_t group = 0; group < groups(); ++group) {
            std::size_t places = width(group);
            const std::size_t first = offsets[group] * lanes;
            for (std::size_t i = 0; i < places * lanes; ++i) left[i] = sum(first + i);
            for (std::size_t at = starts[group + 1]; at-- > starts[group] && places > 0;) {
                const std::size_t column = members[at], begin = begin_of[column];
                places /= widths[column];
                const Sum* from = left.data();
                for (std::size_t place = 0; place < places; ++place) {
                    Sum* rest = left.data() + place * lanes;
                    for (std::size_t code = 0; code < widths[column]; ++code, from += lanes) {
                        Sum* to = out.data() + (begin + code) * lanes;
                        for (std::size_t j = 0; j < lanes; ++j) {
                            const Sum own = from[j];
                            to[j] += own;
                            rest[j] = code == 0 ? own : rest[j] + own;
                        }
                    }
                }
            }
        }
        return out;
    }

   private:
    // Fused codes are 32-bit numbers, the largest of which means that a cell is absent.
    static constexpr std::int64_t MOST_PLACES = ABSENT - 1;

    template <class Entry>
    static void add(const Entry* __restrict a, const Entry* __restrict b, std::size_t lanes, Entry* __restrict sum) {
        for (std::size_t j = 0; j < lanes; ++j) sum[j] = static_cast<Entry>(a[j] + b[j]);
    }

    void lay_out() {
        offsets.assign(1, 0);
        for (std::size_t group = 0; group < groups(); ++group) {
            std::size_t places = 1;
            for (std::size_t at = starts[group]; at < starts[group + 1]; ++at) {
                places *= widths[members[at]];
                require(places <= MOST_PLACES, "A group of columns must fit a table.");
            }
            offsets.push_back(offsets.back() + places);
        }
    }
};

// Numbers that start at a cache line, left as they come unless cleared.
template <class T>
class Aligned {
   public:
    Aligned() = default;
    explicit Aligned(std::size_t size)
        : size_(size), data_(static_cast<T*>(::operator new(size * sizeof(T) + 1, std::align_val_t{64}))) {}
    static Aligned cleared(std::size_t size) {
        Aligned out(size);
        out.clear();
        return out;
    }
    void clear() { std::fill_n(data_.get(), size_, T{}); }
    T* data() { return data_.get(); }
    const T* data() const { return data_.get(); }
    std::size_t size() const { return size_; }
    T& operator[](std::size_t i) { return data_.get()[i]; }
    const T& operator[](std::size_t i) const { return data_.get()[i]; }

   private:
    struct Release {
        void operator()(T* data) const { ::operator delete(data, std::align_val_t{64}); }
    };
    std::size_t size_ = 0;
    std::unique_ptr<T[], Release> data_;
};

// The codes of a block, fused. They are made here, or come from Python as an array that is not written to any more, so
// that passes need not check every code again: each lies below its group's width.
class Fused {
   public:
    Groups groups;
    std::size_t rows, itemsize;

    // `inside` says whether every code lay below its column's width; where one did not, the rest means nothing.
    Fused(const AnyCodes& codes, const Groups& groups_in, bool& inside)
        : groups(groups_in), rows(codes.shape(0)), itemsize(narrowest()) {
        check_codes(codes);
        require(codes.shape(1) == groups.columns(), "Codes must have one column per width.");
        // Kernels take eight rows at a time, so there are rows of zeros behind the last one.
        data_.resize((rows + 7) / 8 * 8 * groups.groups() * itemsize);
        inside = with_type(codes, [&](auto* from) {
            return with_type(itemsize, static_cast<void*>(data_.data()), [&](auto* to) { return fuse(from, to); });
        });
    }

    // Codes that were fused before, which stay where they are.
    Fused(const AnyCodes& fused, std::size_t rows_in, const Groups& groups_in, bool& inside)
        : groups(groups_in), rows(rows_in), itemsize(narrowest()), kept_(fused) {
        require(is_unsigned(fused.dtype()) && fused.itemsize() == itemsize, "Fused codes must be as narrow as they can.");
        require(fused.shape(1) == groups.groups() && rows <= fused.shape(0) && (rows + 7) / 8 * 8 <= fused.shape(0),
                "Fused codes must have one column per group and whole eights of rows.");
        inside = with_type(fused, [&](auto* code) { return all_inside(code, fused.shape(0)); });
    }

    const void* data() const { return kept_.is_valid() ? kept_.data() : data_.data(); }
    std::size_t bytes() const { return rows * groups.groups() * itemsize; }

    void check(const Groups& of_tables) const {
        require(groups.same_as(of_tables), "Fused codes must have the groups of columns that the tables have.");
    }

   private:
    static constexpr std::size_t STRETCH = 64;  // rows fused at once: their codes stay in the first cache
    std::vector<std::uint8_t> data_;            // (rows rounded up to 8, groups), unless they are
    AnyCodes kept_;                             // here

    std::size_t narrowest() const { return groups.widest() <= 1 << 8 ? 1 : groups.widest() <= 1 << 16 ? 2 : 4; }

    template <class Code>
    bool all_inside(const Code* codes, std::size_t all_rows) const {
        const std::size_t all = groups.groups();
        std::vector<Code> largest(all);
        for (std::size_t row = 0; row < all_rows; ++row, codes += all)
            for (std::size_t group = 0; group < all; ++group) largest[group] = std::max(largest[group], codes[group]);
        for (std::size_t group = 0; group < all; ++group)
            if (all_rows > 0 && largest[group] >= groups.width(group)) return false;
        return true;
    }

    template <class From, class To>
    bool fuse(const From* codes, To* out) const {
        const std::size_t columns = groups.columns(), all = groups.groups();
        bool inside = true;
        for (std::size_t begin = 0; begin < rows; begin += STRETCH) {
            const std::size_t some = std::min(STRETCH, rows - begin);
            for (std::size_t group = 0; group < all; ++group) {
                std::uint32_t fused[STRETCH] = {};
                for (std::size_t at = groups.starts[group]; at < groups.starts[group + 1]; ++at) {
                    const std::size_t column = groups.members[at];
                    const From* cell = codes + begin * columns + column;
                    const auto width = static_cast<std::uint32_t>(groups.widths[column]);
                    std::uint32_t largest = 0;
                    for (std::size_t i = 0; i < some; ++i) {
                        const std::uint32_t code = cell[i * columns];
                        largest = std::max(largest, code);
                        fused[i] = fused[i] * width + code;
                    }
                    inside &= largest < width;
                }
                for (std::size_t i = 0; i < some; ++i) out[(begin + i) * all + group] = static_cast<To>(fused[i]);
            }
        }
        return inside;
    }
};

// Numbers (k, columns) as (columns, lanes), zero where there is no cluster.
inline Aligned<double> transposed(const Numbers& by_cluster, std::size_t lanes) {
    const std::size_t k = by_cluster.shape(0), columns = by_cluster.shape(1);
    auto out = Aligned<double>::cleared(columns * lanes);
    for (std::size_t j = 0; j < k; ++j)
        for (std::size_t column = 0; column < columns; ++column)
            out[column * lanes + j] = by_cluster.data()[j * columns + column];
    return out;
}
inline Aligned<double> transposed(const Numbers& by_cluster) { return transposed(by_cluster, by_cluster.shape(0)); }

// Whether the parts of a cost table fit each other and the columns.
template <class Entry>
void check_costs(const Groups& columns, const Matrix<const Entry>& table, const Vector<const Entry>& anchor,
                 const Numbers& means, const Numbers& scale, const Numbers& level) {
    const std::size_t k = table.shape(1), numeric = means.shape(1);
    require(table.shape(0) == columns.length(), "table must have one row per place of the columns.");
    require(anchor.size() == k, "anchor must have one entry per cluster.");
    for (const Numbers* each : {&means, &scale, &level})
        require(has_shape(*each, k, numeric), "means, scale and level must be clusters by numeric columns.");
}

// Where sums go, as Counts has them: clusters first.
struct Results {
    Cells by_category;
    Vector<std::int64_t> sizes;
    Cells sums, squares, seen;

    void check(const Groups& columns, std::size_t k, std::size_t numeric) const {
        require(has_shape(by_category, k, columns.length()), "by_category must be clusters by places.");
        require(sizes.size() == k, "sizes must have one entry per cluster.");
        for (const Cells* cells : {&sums, &squares, &seen})
            require(has_shape(*cells, k, numeric), "sums, squares and seen must be clusters by numeric columns.");
    }

    void clear() const {
        std::fill_n(sizes.data(), sizes.size(), 0);
        for (const Cells* cells : {&by_category, &sums, &squares, &seen}) std::fill_n(cells->data(), cells->size(), 0);
    }

    // What all rows cost whose entries (length, lanes) and anchors are these.
    template <class Entry>
    Int128 cost(const Entry* entries, const Entry* anchors, std::size_t lanes) const {
        const std::size_t length = by_category.shape(1);
        Int128 sum = 0;
        for (std::size_t j = 0; j < sizes.size(); ++j) {
            sum += static_cast<Int128>(sizes.data()[j]) * anchors[j];
            const std::int64_t* counts = by_category.data() + j * length;
            for (std::size_t place = 0; place < length; ++place)
                sum += static_cast<Int128>(counts[place]) * entries[place * lanes + j];
        }
        return sum;
    }
};

// Add numbers (columns, lanes) to those of every cluster, (k, columns).
template <class Number>
void add_by_cluster(const std::vector<Number>& from, std::size_t lanes, const Cells& to) {
    const std::size_t columns = to.shape(1);
    for (std::size_t j = 0; j < to.shape(0); ++j)
        for (std::size_t column = 0; column < columns; ++column)
            to.data()[j * columns + column] += static_cast<std::int64_t>(from[column * lanes + j]);
}

}  // namespace catalpa
