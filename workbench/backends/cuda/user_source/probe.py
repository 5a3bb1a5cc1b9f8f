"""The types of kernels' parameters and of variables, as NVRTC sees them: typedefs, macros, templates and all.

A text ends with templates that turn a type into integers, and NVRTC is asked for the mangled name of a template with
these integers as arguments: `…Lin1ELi1ELi0ELi4E…`. So whatever C++ can write, NVRTC resolves, and no C++ is read here.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise

import msgspec

from workbench.types import SCALARS, Scalar, Vector

_PROBE_TEMPLATE = """
#line 1 "/probe"
#pragma nv_diag_suppress 1215, 1444
@UNDEFINED@
struct __half; struct __nv_bfloat16;
namespace wb_ {
enum { CLASS, BOOL, INT, UINT, FLOAT, HALF, BFLOAT, POINTER };
template<class...> struct void_ { typedef void type; };
template<class T> __device__ T& make();
template<class T> struct bare { typedef T type; enum { constant = 0 }; };
template<class T> struct bare<volatile T> : bare<T> {};
template<class T> struct bare<const T> : bare<T> { enum { constant = 1 }; };
template<class T> struct bare<const volatile T> : bare<const T> {};
template<class T, int N> struct bare<T[N]> : bare<T> {};
template<class T, int N> struct bare<const T[N]> : bare<const T> {};
template<class T> struct pointed : bare<T> { enum { depth = 0 }; };
template<class T> struct pointed<T*> : bare<T> { enum { depth = 1 }; };
template<class T> struct pointed<T&> : bare<T> { enum { depth = 3 }; };
template<class T> struct pointed<T**> { typedef unsigned long long type; enum { constant = 0, depth = 2 }; };
template<class T> struct pointed<T* const*> : pointed<T**> { enum { constant = 1 }; };
template<class T> struct kind { enum { value = __is_enum(T) ? INT : CLASS }; };
template<class T> struct kind<T*> { enum { value = POINTER }; };
#define WB_KIND(K, T) template<> struct kind<T> { enum { value = K }; };
WB_KIND(BOOL, bool) WB_KIND(FLOAT, float) WB_KIND(FLOAT, double) WB_KIND(HALF, __half) WB_KIND(BFLOAT, __nv_bfloat16)
WB_KIND(INT, char) WB_KIND(INT, signed char) WB_KIND(INT, short) WB_KIND(INT, int) WB_KIND(INT, long)
WB_KIND(INT, long long) WB_KIND(UINT, unsigned char) WB_KIND(UINT, unsigned short) WB_KIND(UINT, unsigned)
WB_KIND(UINT, unsigned long) WB_KIND(UINT, unsigned long long)
WB_KIND(INT, wchar_t) WB_KIND(UINT, char16_t) WB_KIND(UINT, char32_t)
template<class T> struct sized { enum { value = sizeof(T), align = alignof(T) }; };
template<> struct sized<void> { enum { value = 1, align = 1 }; };
template<class, class> struct same { enum { value = 0 }; };
template<class T> struct same<T, T> { enum { value = 1 }; };
template<bool> struct when {};
template<> struct when<true> { typedef void type; };
template<class T, int N, class = void> struct alike { enum { value = 0 }; };
template<class T> struct alike<T, 1, typename void_<decltype(T::x)>::type> { enum { value = 1 }; };
#define WB_ALIKE(N, LAST) template<class T> struct alike<T, N, typename void_<decltype(T::LAST)>::type> { \
    enum { value = alike<T, N - 1>::value && same<decltype(T::x), decltype(T::LAST)>::value }; };
WB_ALIKE(2, y) WB_ALIKE(3, z) WB_ALIKE(4, w)
template<class T, class = void> struct part { typedef T type; };
template<class T> struct part<T, typename when<sizeof(T) % sizeof(decltype(T::x)) == 0
    && alike<T, sizeof(T) / sizeof(decltype(T::x))>::value>::type> : bare<decltype(T::x)> {};
template<class T> struct part<T, typename void_<decltype(make<T>().real())>::type>
    : bare<decltype(make<T>().real())> {};
template<int...> struct row {};
template<class...> struct joined { typedef row<> type; };
template<int... A> struct joined<row<A...>> { typedef row<A...> type; };
template<int... A, int... B, class... R> struct joined<row<A...>, row<B...>, R...> : joined<row<A..., B...>, R...> {};
template<int N, class T, int At, class U = typename part<typename bare<T>::type>::type> struct member {
    typedef row<N, At, kind<U>::value, sizeof(U), sizeof(T)> type;
};
@MEMBERS@
template<class T, class P = pointed<T>, class E = typename P::type, class C = typename part<E>::type> struct parameter {
    typedef typename joined<row<-1, P::depth, P::constant, sized<E>::value, sized<E>::align, kind<C>::value,
        sized<C>::value>@USED@>::type type;
};
template<class> struct facts;
template<class... A> struct facts<void (*)(A...)> : joined<typename parameter<A>::type...> {};
template<class T> struct facts<T*> : parameter<T*> {};
template<class> __device__ char of;
}
"""
_MEMBER_TEMPLATE = """template<class T, class = void> struct m@#@ { typedef row<> type; };
template<class T> struct m@#@<T, typename void_<row<__INTADDR__(&((T*)0)->@NAME@)>>::type>
    : member<@#@, decltype(T::@NAME@), __INTADDR__(&((T*)0)->@NAME@)> {};
"""
_KEPT = frozenset(
    """alignof bool char char16_t char32_t class const decltype define double enum float int line long
namespace nv_diag_suppress pragma probe real short signed sizeof struct template true typedef typename undef unsigned
void volatile wb_ wchar_t x y z w MEMBERS NAME UNDEFINED USED""".split()
)
"""Words of the templates that are not theirs; all others are written `wb_…`, since a user's macro may be called N."""
_SCALARS = {1: "bool", 2: "int", 3: "uint", 4: "float", 5: "float", 6: "bfloat"}
_POINTER = 7


def _reserved(text: str) -> str:
    """Return the text of a template with `wb_` before all words but those in `_KEPT`."""
    return re.sub(r"\b[A-Za-z]\w*", lambda m: m[0] if m[0] in _KEPT or m[0].startswith("WB_") else f"wb_{m[0]}", text)


_TEXT, _MEMBER = (_reserved(text) for text in (_PROBE_TEMPLATE, _MEMBER_TEMPLATE))


class Field(msgspec.Struct, frozen=True):
    """A member variable of a class.

    Attributes:
        name: as written.
        offset, size: in bytes.
        type: of a number; of a pointer, uint64; None for all else.
        pointer: whether it is a pointer.
    """

    name: str
    offset: int
    size: int
    type: Scalar | None
    pointer: bool


class Element(msgspec.Struct, frozen=True):
    """The type of a parameter, or of what it points to.

    Attributes:
        depth: 0 for a value, 1 for a pointer, 2 for a pointer to pointers, 3 for a reference.
        constant: whether what it points to is const.
        size, align: bytes of one element.
        type: a number, or a vector of the components x, y, … or of a complex number; None for another class.
        fields: the members of a class whose names were probed, in order of their offsets.
    """

    depth: int
    constant: bool
    size: int
    align: int
    type: Scalar | Vector | None
    fields: tuple[Field, ...] = ()

    @property
    def known(self) -> bool:
        """True if the class's fields are known: they cover all of it but padding, and there is at least one."""
        end = 0
        for field in self.fields:
            if field.offset - end >= self.align:
                return False
            end = field.offset + field.size
        return bool(self.fields) and self.size - end < self.align


def probe(members: Sequence[str]) -> str:
    """Return the C++ of the probing templates; `members` are names that members of classes may have."""
    each = "".join(_MEMBER.replace("@#@", str(n)).replace("@NAME@", name) for n, name in enumerate(members))
    used = "".join(f", typename wb_m{n}<wb_E>::wb_type" for n, _ in enumerate(members))
    words = ("float", "double", "int", "char", "short", "long", "bool", "signed", "unsigned", "const", "real", *members)
    undefined = "\n".join(f"#undef {word}" for word in words)
    return _TEXT.replace("@UNDEFINED@", undefined).replace("@MEMBERS@", each).replace("@USED@", used)


def name_expression(expression: str) -> str:
    """Return the name expression whose mangled name describes a kernel's parameters or a variable's type."""
    return f"&wb_::wb_of<wb_::wb_facts<decltype(&{expression})>::wb_type>"


def elements(mangled: str, members: Sequence[str]) -> tuple[Element, ...]:
    """Parse the types of a kernel's parameters, or of a variable, from the mangled name of a `name_expression`.

    Args:
        mangled: the name.
        members: those that `probe` got.
    """
    numbers = [-int(n[1:]) if n[0] == "n" else int(n) for n in re.findall(r"Li(n?\d+)E", mangled)]
    starts = [n for n, value in enumerate(numbers) if value == -1] + [len(numbers)]
    return tuple(_element(numbers[a + 1 : b], members) for a, b in pairwise(starts))


def _element(values: Sequence[int], members: Sequence[str]) -> Element:
    """Return the type that a parameter's integers describe.

    They are its depth, whether it is const, size, alignment, kind and size of a component, then five for each
    member.
    """
    depth, constant, size, align, kind, part = values[:6]
    fields = tuple(sorted(_fields(values[6:], members), key=lambda f: f.offset))
    scalar = SCALARS["uint64"] if kind == _POINTER else _scalar(kind, part)
    type = scalar if scalar is None or size == part else Vector(size // part, scalar)
    return Element(depth, bool(constant), size, align, type, fields)


def _fields(values: Sequence[int], members: Sequence[str]) -> Iterator[Field]:
    """Yield the members that the integers describe, five for each member.

    They are its number in `members`, its offset, its kind, the bytes of one item, and the bytes of all.
    """
    for n in range(0, len(values), 5):
        name, offset, kind, item, size = values[n : n + 5]
        pointer = kind == _POINTER
        yield Field(members[name], offset, size, SCALARS["uint64"] if pointer else _scalar(kind, item), pointer)


def _scalar(kind: int, size: int) -> Scalar | None:
    """Return our scalar type for a type's kind, a key of `_SCALARS`, and size in bytes; None if there is none."""
    family = _SCALARS.get(kind, "")
    return SCALARS.get(family if family == "bool" else f"{family}{8 * size}")
