package optline

//lint:file-ignore U1000 generic methods are called through Option, which staticcheck does not see

import (
	"cmp"
	"maps"
	"slices"
	"strings"
)

// An Option is a [Key] of C with a field of any type.
type Option[C any] interface {
	name() string
	// own returns the key whose value may follow this one's and a colon, or "".
	own(value string) string
	// bare reports that the value has no quotes in JSON.
	bare() bool
	// on returns the value of the key where it stands alone in a line, or "".
	on() string
	// set reads text into the field. It reports text that it cannot read and an
	// explicit zero out of range; other values out of range are left to fault.
	set(c *C, text string) (why string)
	// text returns the field as set reads it, "" if the field is zero.
	text(c C) string
	// shown returns the field as Explain writes it.
	shown(c C) string
	// fault says why the field is out of range, "" if it is zero or in range.
	fault(c C) string
	// unused says why c has no use for the key, "" if it has. c has its defaults.
	unused(c C) string
	// withDefault returns c with the default of the field if that is zero, and
	// where the value comes from: "" if c has no use for the key.
	withDefault(c C) (filled C, source string)
}

// A Key is one row of a [Table]: a key whose value is a field of C of type T.
// Name, Field, Kind and Range.Want, or Names, are required.
type Key[C any, T comparable] struct {
	Name  string
	Field func(*C) *T
	Kind  Kind[T]
	Range Range[T] // of a field that is not zero and not a word
	// Own names the key whose value may follow a value of this one and a colon, as in
	// strategy=bitlog:4, or returns "". nil is none.
	Own func(value string) (key string)

	// Words are texts with a value of their own. The word 0 also stands for other
	// spellings of zero such as 0B; it turns something off, so every
	// configuration has a use for it.
	Words map[string]T
	// Needs says why a configuration, defaults filled in, has no use for the key,
	// or returns "". nil means that every configuration has a use for it.
	Needs func(C) string

	// Default is the value of an omitted key; zero leaves the field zero.
	Default T
	// DefaultFor takes the place of Default if that depends on the keys before
	// this one. It returns the value and where it comes from.
	DefaultFor func(C) (value T, source string)
	// ZeroText is what Explain writes for a field that stays zero, such as none.
	ZeroText string
}

func (k Key[C, T]) name() string { return k.Name }
func (k Key[C, T]) own(value string) string {
	if k.Own == nil {
		return ""
	}
	return k.Own(value)
}

func (k Key[C, T]) bare() bool { return k.Kind.Bare }
func (k Key[C, T]) on() string { return k.Kind.On }

func (k Key[C, T]) set(c *C, text string) (why string) {
	v, ok := k.read(text)
	if !ok {
		return k.wanted()
	}
	*k.Field(c) = v
	return ""
}

// read checks the range of zero only. An explicit zero is validated; only an
// omitted key takes the default, and the field cannot tell the two apart later.
func (k Key[C, T]) read(text string) (v T, ok bool) {
	if v, ok = k.Words[text]; ok {
		return v, true
	}
	v, err := k.Kind.Parse(text)
	if err != nil || !isZero(v) {
		_, is := k.word(v) // fault lets the value of a word pass, and only the word is text for it
		return v, err == nil && (!is || k.Range.has(v))
	}
	if off, ok := k.Words["0"]; ok {
		return off, true
	}
	return v, k.Range.has(v)
}

// wanted says what the key takes: its range and its words.
func (k Key[C, T]) wanted() string {
	words := slices.Sorted(maps.Keys(k.Words))
	return "want " + strings.Join(append([]string{k.Range.want()}, words...), " or ")
}

func (k Key[C, T]) text(c C) string {
	v := *k.Field(&c)
	if isZero(v) {
		return ""
	}
	if word, ok := k.word(v); ok {
		return word
	}
	return k.Kind.Format(v)
}

func (k Key[C, T]) shown(c C) string { return cmp.Or(k.text(c), k.ZeroText) }

// word returns the word whose value is v.
func (k Key[C, T]) word(v T) (string, bool) {
	for word, value := range k.Words {
		if value == v {
			return word, true
		}
	}
	return "", false
}

func (k Key[C, T]) fault(c C) string {
	v := *k.Field(&c)
	if _, ok := k.word(v); ok || isZero(v) || k.Range.has(v) {
		return ""
	}
	return k.wanted()
}

func (k Key[C, T]) unused(c C) string {
	if _, off := k.Words["0"]; k.Needs == nil || off && k.text(c) == "0" {
		return ""
	}
	return k.Needs(c)
}

// withDefault asks whether the key is of use with the default filled in, as a
// default can be the word 0, which is of use everywhere.
func (k Key[C, T]) withDefault(c C) (filled C, source string) {
	filled, source = c, "set by you"
	if f := k.Field(&filled); isZero(*f) {
		*f, source = k.Default, "default"
		if k.DefaultFor != nil {
			*f, source = k.DefaultFor(c)
		}
	}
	if k.unused(filled) != "" {
		return c, ""
	}
	return filled, source
}

func isZero[T comparable](v T) bool {
	var zero T
	return v == zero
}
