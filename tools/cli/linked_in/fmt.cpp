#include <fmt/format-inl.h>

#include <locale>

// fmt's compiled part for the program that links no shared library of it: the definitions of its
// own header, and those templates that its other headers declare and leave to be made once, in the
// forms that its library makes for char. A symbol that another version wants, the linker misses.

FMT_BEGIN_NAMESPACE
namespace detail {

template FMT_API auto dragonbox::to_decimal(float x) noexcept -> dragonbox::decimal_fp<float>;
template FMT_API auto dragonbox::to_decimal(double x) noexcept -> dragonbox::decimal_fp<double>;
template FMT_API locale_ref::locale_ref(const std::locale& locale);
template FMT_API auto locale_ref::get<std::locale>() const -> std::locale;
template FMT_API auto thousands_sep_impl(locale_ref locale) -> thousands_sep_result<char>;
template FMT_API auto decimal_point_impl(locale_ref locale) -> char;
template FMT_API void buffer<char>::append(const char* begin, const char* end);
template FMT_API void vformat_to(buffer<char>& to, string_view form,
                                 basic_format_args<FMT_BUFFER_CONTEXT(char)> values,
                                 locale_ref locale);

}  // namespace detail
FMT_END_NAMESPACE
