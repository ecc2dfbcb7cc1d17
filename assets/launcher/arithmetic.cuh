// The arithmetic of launch blocks. A size that has no value clears `sound`, and nothing is launched.
namespace lightbench {
inline long long floored(long long left, long long right, bool &sound) {
    if (right == 0) {
        sound = false;
        return 0;
    }
    const long long quotient = left / right;
    return quotient - (left % right != 0 && (left < 0) != (right < 0));
}

inline long long remainder(long long left, long long right, bool &sound) {
    return left - floored(left, right, sound) * right;
}

inline long long exact(long long left, long long right, bool &sound) {
    sound = sound && right != 0 && left % right == 0;
    return sound ? left / right : 0;
}

inline long long ceil_div(long long left, long long right, bool &sound) {
    return floored(left, right, sound) + (remainder(left, right, sound) != 0);
}

inline long long power(long long base, long long exponent, bool &sound) {
    sound = sound && 0 <= exponent && exponent <= 127;
    long long result = 1;
    for (long long turn = 0; sound && turn < exponent; ++turn) {
        const long long size = base < 0 ? -base : base;
        sound = size == 0 || (result < 0 ? -result : result) <= LLONG_MAX / size;
        result = sound ? result * base : 0;
    }
    return result;
}

inline long long log2_floor(long long value, bool &sound) {
    sound = sound && value > 0;
    long long result = 0;
    while (value > 1) {
        value >>= 1;
        ++result;
    }
    return result;
}
