// Eight 32-bit numbers at a time in plain loops, for compilers without vector types; lanes.hpp includes it. To add
// and to shift without a sign is to do so modulo 2 ** 32, which is what registers do.

struct Eight {
    std::int32_t lane[8];
};
using Singles = Lanes<float>;
struct Longs {
    std::uint64_t lane[2];
};

template <class Act>
inline Eight each_lane(Act act) {
    Eight out;
    for (int i = 0; i < 8; ++i) out.lane[i] = static_cast<std::int32_t>(act(i));
    return out;
}

inline std::uint32_t unsign(std::int32_t x) { return static_cast<std::uint32_t>(x); }

inline Eight operator+(Eight a, Eight b) {
    return each_lane([&](int i) { return unsign(a.lane[i]) + unsign(b.lane[i]); });
}
inline Eight operator-(Eight a, Eight b) {
    return each_lane([&](int i) { return unsign(a.lane[i]) - unsign(b.lane[i]); });
}
inline Eight operator*(Eight a, Eight b) {
    return each_lane([&](int i) { return unsign(a.lane[i]) * unsign(b.lane[i]); });
}
inline Eight operator&(Eight a, Eight b) {
    return each_lane([&](int i) { return a.lane[i] & b.lane[i]; });
}
inline Eight operator|(Eight a, Eight b) {
    return each_lane([&](int i) { return a.lane[i] | b.lane[i]; });
}
inline Eight operator<<(Eight a, int by) {
    return each_lane([&](int i) { return unsign(a.lane[i]) << by; });
}
// Keeps the sign, as every compiler there is has it.
inline Eight operator>>(Eight a, int by) {
    return each_lane([&](int i) { return a.lane[i] >> by; });
}
inline Longs operator+(Longs a, Longs b) { return {{a.lane[0] + b.lane[0], a.lane[1] + b.lane[1]}}; }

inline Eight least(Eight a, Eight b) {
    return each_lane([&](int i) { return a.lane[i] < b.lane[i] ? a.lane[i] : b.lane[i]; });
}
inline Eight most(Eight a, Eight b) {
    return each_lane([&](int i) { return a.lane[i] < b.lane[i] ? b.lane[i] : a.lane[i]; });
}

// Lanes of two, picked: lanes of a are 0 to 7, lanes of b 8 to 15.
template <int... from>
inline Eight shuffled(Eight a, Eight b) {
    return {{(from < 8 ? a.lane[from % 8] : b.lane[from % 8])...}};
}
inline Eight front1(Eight a, Eight b) { return shuffled<0, 8, 1, 9, 4, 12, 5, 13>(a, b); }
inline Eight back1(Eight a, Eight b) { return shuffled<2, 10, 3, 11, 6, 14, 7, 15>(a, b); }
inline Eight front2(Eight a, Eight b) { return shuffled<0, 1, 8, 9, 4, 5, 12, 13>(a, b); }
inline Eight back2(Eight a, Eight b) { return shuffled<2, 3, 10, 11, 6, 7, 14, 15>(a, b); }
inline Eight front3(Eight a, Eight b) { return shuffled<0, 1, 2, 3, 8, 9, 10, 11>(a, b); }
inline Eight back3(Eight a, Eight b) { return shuffled<4, 5, 6, 7, 12, 13, 14, 15>(a, b); }

inline Eight every(std::int32_t x) {
    return each_lane([&](int) { return x; });
}
inline Singles every(float x) {
    return each_of<float>([&](int) { return x; });
}
inline Eight bits(Singles a) {
    Eight out;
    std::memcpy(&out, &a, sizeof out);
    return out;
}
inline Singles singles(Eight a) {
    Singles out;
    std::memcpy(&out, &a, sizeof out);
    return out;
}
inline Singles converted(Eight a) {
    return each_of<float>([&](int i) { return static_cast<float>(a.lane[i]); });
}
inline Eight rounded(Singles a) {
    return each_lane([&](int i) { return static_cast<std::int32_t>(std::rint(a.lane[i])); });
}
inline Eight magnitude(Eight a) {
    return each_lane([&](int i) { return a.lane[i] < 0 ? 0u - unsign(a.lane[i]) : unsign(a.lane[i]); });
}
inline Eight equal(Eight a, Eight b) {
    return each_lane([&](int i) { return a.lane[i] == b.lane[i] ? -1 : 0; });
}
inline Eight choose(Eight mask, Eight a, Eight b) {
    return each_lane([&](int i) { return mask.lane[i] ? a.lane[i] : b.lane[i]; });
}
inline unsigned lanes_of(Eight mask) {
    unsigned out = 0;
    for (int i = 0; i < 8; ++i) out |= (mask.lane[i] ? 1u : 0u) << i;
    return out;
}
inline Eight shifted_up(Eight a, int by) { return a << by; }

template <class Code>
inline Eight widened(const Code* from) {
    return each_lane([&](int i) { return static_cast<std::uint32_t>(from[i]); });
}

// Sums of products without sign, lane by lane.
struct Products {
    std::uint64_t lane[8];
};
inline Products no_products() { return {}; }
inline Products with_product(Products sum, Eight a, Eight b) {
    for (int i = 0; i < 8; ++i) sum.lane[i] += std::uint64_t{unsign(a.lane[i])} * unsign(b.lane[i]);
    return sum;
}

struct Bytes {
    std::uint8_t lane[32];
};
struct Shorts {
    std::int16_t lane[8];
};
inline Bytes operator+(Bytes a, Bytes b) {
    for (int i = 0; i < 32; ++i) a.lane[i] = static_cast<std::uint8_t>(a.lane[i] + b.lane[i]);
    return a;
}
inline Shorts shorts(Shorts a) { return a; }
inline Shorts operator+(Shorts a, Shorts b) {
    for (int i = 0; i < 8; ++i) a.lane[i] = static_cast<std::int16_t>(a.lane[i] + b.lane[i]);
    return a;
}
inline Shorts least(Shorts a, Shorts b) {
    for (int i = 0; i < 8; ++i) a.lane[i] = a.lane[i] < b.lane[i] ? a.lane[i] : b.lane[i];
    return a;
}
inline Shorts smallest_of(Bytes sums, Bytes index) {
    Shorts parts[4];
    for (int i = 0; i < 32; ++i) parts[i / 8].lane[i % 8] = static_cast<std::int16_t>(sums.lane[i] << 8 | index.lane[i]);
    return least(least(parts[0], parts[1]), least(parts[2], parts[3]));
}
inline Shorts smallest_of_each(const Shorts rows[8]) {
    Shorts out;
    for (int row = 0; row < 8; ++row) {
        out.lane[row] = rows[row].lane[0];
        for (int i = 1; i < 8; ++i) out.lane[row] = rows[row].lane[i] < out.lane[row] ? rows[row].lane[i] : out.lane[row];
    }
    return out;
}
