"""Headers of the C and C++ libraries and of CUDA's host side, as far as device code needs them.

NVRTC has none of them. What it has built in (maths, printf, assert, threadIdx) gets its name in `std`; what libcu++ has
comes from there; the rest is for code of the host, which is left out (`host_parts`), and is empty.
"""

from __future__ import annotations

import re

OWN = re.compile(r"(cuda_\w+|mma|math_constants|cuComplex|cooperative_groups)\.h|(cooperative_groups|cuda|cub|nv)/.*")
"""Matches the names of headers that come with NVRTC."""

_HOST = re.compile(
    r"(cuda|cuda_runtime|cuda_runtime_api|cuda_profiler_api|cuda_gl_interop|(cu(rand|blas|fft|sparse|solver|dnn)|helper_|"
    r"driver_|device_|vector_|math_f|texture_|surface_|sm_|nvToolsExt|nccl|mpi|omp|unistd|windows|getopt|pthread|conio|"
    r"errno|signal|inttypes|wchar|locale|setjmp|stdarg|dirent)\w*)\.h(pp)?|(thrust|nvtx3|sys)/.*"
)
_EMPTY = frozenset(
    """
any bitset clocale codecvt condition_variable csetjmp csignal cstdarg cwchar cwctype cerrno cinttypes deque exception
filesystem forward_list fstream future iomanip ios iosfwd iostream istream list locale map memory_resource mutex new
ostream queue random regex scoped_allocator set shared_mutex sstream stack stdexcept streambuf string string_view
strstream system_error thread typeindex typeinfo unordered_map unordered_set valarray vector memory
""".split()
)
_LIBCUXX = frozenset(
    """
algorithm array atomic barrier bit chrono complex concepts cstdint expected functional initializer_list iterator latch
limits mdspan numbers numeric optional ranges ratio semaphore span tuple type_traits utility variant version
""".split()
)
_MATHS = """
acos acosh asin asinh atan atan2 atanh cbrt ceil copysign cos cosh erf erfc exp exp2 expm1 fabs fdim floor fma fmax fmin
fmod frexp hypot ilogb isfinite isinf isnan ldexp lgamma llrint llround log log10 log1p log2 logb lrint lround modf nan
nearbyint nextafter pow remainder rint round scalbn signbit sin sinh sqrt tan tanh tgamma trunc abs
"""
_INTEGERS = """int8 signed char|uint8 unsigned char|int16 short|uint16 unsigned short|int32 int|uint32 unsigned|
int64 long long|uint64 unsigned long long|intptr long long|uintptr unsigned long long|
intmax long long|uintmax unsigned long long|int_fast32 int|uint_fast32 unsigned|int_least32 int|uint_least32 unsigned"""


def _named(names: str, *more: str) -> str:
    """Return C++ that makes names of the global namespace known in `std`, below the texts `more`."""
    return "\n".join(more) + f"\nnamespace std {{ {' '.join(f'using ::{n};' for n in names.split())} }}\n"


def _macros(text: str) -> str:
    """Return C++ that defines each macro of a text "NAME value|NAME value|…", unless it is defined already."""
    pairs = (row.strip().split(" ", 1) for row in text.split("|"))
    return "".join(f"#ifndef {name}\n#define {name} {value}\n#endif\n" for name, value in pairs)


def _typed() -> str:
    """Return C++ that defines the integer types of <cstdint>, in `std` too."""
    rows = [row.strip().split(" ", 1) for row in _INTEGERS.split("|")]
    return _named(" ".join(f"{name}_t" for name, _ in rows), *(f"typedef {type} {name}_t;" for name, type in rows))


_LIMITS = _macros(
    r"CHAR_BIT 8|SCHAR_MIN (-128)|SCHAR_MAX 127|UCHAR_MAX 255|CHAR_MIN SCHAR_MIN|CHAR_MAX SCHAR_MAX|SHRT_MIN (-32768)|"
    r"SHRT_MAX 32767|USHRT_MAX 65535|INT_MAX 2147483647|INT_MIN (-INT_MAX - 1)|UINT_MAX 4294967295u|"
    r"LONG_MAX ((long)(~0ul >> 1))|LONG_MIN (-LONG_MAX - 1)|ULONG_MAX (~0ul)|LLONG_MAX 9223372036854775807ll|"
    r"LLONG_MIN (-LLONG_MAX - 1)|ULLONG_MAX (~0ull)"
)
_SIZES = _macros(
    "INT8_MIN (-128)|INT8_MAX 127|UINT8_MAX 255|INT16_MIN (-32768)|INT16_MAX 32767|UINT16_MAX 65535|"
    "INT32_MAX 2147483647|INT32_MIN (-INT32_MAX - 1)|UINT32_MAX 4294967295u|INT64_MAX 9223372036854775807ll|"
    "INT64_MIN (-INT64_MAX - 1)|UINT64_MAX (~0ull)|SIZE_MAX (~(size_t)0)|UINTPTR_MAX (~0ull)"
)
_FLOATS = _macros(
    "FLT_RADIX 2|FLT_MANT_DIG 24|FLT_DIG 6|FLT_MIN_EXP (-125)|FLT_MAX_EXP 128|FLT_MIN_10_EXP (-37)|FLT_MAX_10_EXP 38|"
    "FLT_MAX 3.402823466e+38f|FLT_MIN 1.175494351e-38f|FLT_EPSILON 1.192092896e-07f|DBL_MANT_DIG 53|DBL_DIG 15|"
    "DBL_MIN_EXP (-1021)|DBL_MAX_EXP 1024|DBL_MIN_10_EXP (-307)|DBL_MAX_10_EXP 308|DBL_MAX 1.7976931348623157e+308|"
    "DBL_MIN 2.2250738585072014e-308|DBL_EPSILON 2.2204460492503131e-16"
)
_CONSTANTS = _macros(
    "M_PI 3.14159265358979323846|M_PI_2 1.57079632679489661923|M_PI_4 0.78539816339744830962|"
    "M_1_PI 0.31830988618379067154|M_2_PI 0.63661977236758134308|M_2_SQRTPI 1.12837916709551257390|"
    "M_E 2.7182818284590452354|M_LOG2E 1.4426950408889634074|M_LOG10E 0.43429448190325182765|"
    "M_LN2 0.69314718055994530942|M_LN10 2.30258509299404568402|M_SQRT2 1.41421356237309504880|"
    "M_SQRT1_2 0.70710678118654752440|INFINITY __int_as_float(0x7f800000)|NAN __int_as_float(0x7fffffff)|"
    "HUGE_VALF INFINITY|HUGE_VAL __longlong_as_double(0x7ff0000000000000ll)"
)
_STREAMS = """namespace std {
template<class> struct char_traits;
template<class, class> class basic_ostream;
template<class, class> class basic_istream;
}
"""
_C = {
    "stdint": _typed() + _SIZES, "limits": _LIMITS, "float": _FLOATS, "math": _CONSTANTS + _named(_MATHS),
    "stddef": _named("size_t"), "assert": "", "time": _named("clock_t clock"),
    "stdio": _named("printf"), "stdlib": _named("malloc free abs", *_macros("RAND_MAX 2147483647").splitlines()),
    "string": _named("memcpy memset size_t"), "ctype": "", "stdbool": "", "complex": "",
}  # fmt: skip
_CUB = """BlockAdjacentDifference BlockDiscontinuity BlockExchange BlockHistogram BlockLoad BlockMergeSort
BlockRadixRank BlockRadixSort BlockReduce BlockRunLengthDecode BlockScan BlockShuffle BlockStore WarpExchange
WarpLoad WarpMergeSort WarpReduce WarpScan WarpStore"""
_COLLECTIVE = re.compile(rf"\b({'|'.join(_CUB.split())})\b")


_IMPLIED = {
    **{n: row for row, n in re.findall(r"(#ifndef (\w+)\n.*\n#endif\n)", _LIMITS + _SIZES + _FLOATS + _CONSTANTS)},
    **{n: row for row, n in re.findall(r"(typedef [\w ]+ (\w+);)", _typed())},
}
_DEFINED = re.compile(r"#[ \t]*define[ \t]+(\w+)|\b(\w+)\s*=(?!=)|typedef[^;{]*\b(\w+)\s*;")


def implied(text: str) -> str:
    """Return definitions of C's limits, constants and integer types that a text uses and does not define.

    nvcc's own headers include C's, so texts for it use `INFINITY`, `INT_MAX` and `uint8_t` without an include.

    Args:
        text: with its headers expanded.
    """
    defined = {name for names in _DEFINED.findall(text) for name in names}
    needed, new = set[str](), set(re.findall(r"\w+", text))
    while new := (new & _IMPLIED.keys()) - defined - needed:
        needed |= new
        new = {name for row in new for name in re.findall(r"\w+", _IMPLIED[row])}
    return "".join(f"{_IMPLIED[name]}\n" for name in sorted(needed))


def standard(name: str, text: str) -> str | None:
    """Return the text that stands for a standard header that NVRTC does not have; None if the header is not known.

    Args:
        name: as it is included.
        text: the text that includes it; for cub/cub.cuh, the parts that it names are included.
    """
    if name == "cub/cub.cuh":  # its parts for the host cannot be compiled
        used = sorted(set(_COLLECTIVE.findall(text)))
        paths = (re.sub(r"(?<!^)([A-Z])", r"_\1", n).lower() for n in used)
        return "".join(f"#include <cub/{p.split('_')[0]}/{p}.cuh>\n" for p in paths)
    plain = name.removesuffix(".h") if name.endswith(".h") else name.removeprefix("c")
    if plain in _C and (name.endswith(".h") or name.startswith("c")) and name != "complex":
        return _C[plain]
    if name in _LIBCUXX:
        header = f"cuda/std/{name}"
        other = "cuda/std/__algorithm_" if name == "algorithm" else "cuda/std/version"  # of CUDA 12.9
        either = f"#if __has_include(<{header}>)\n#include <{header}>\n#else\n#include <{other}>\n#endif\n"
        return either + "namespace cuda { namespace std { } }\nnamespace std { using namespace cuda::std; }\n"
    if name == "thrust/complex.h":
        return _STREAMS + "#include <thrust/complex.h>\n"
    if name in _EMPTY or _HOST.fullmatch(name):
        return "namespace std { }\n"
    return None
