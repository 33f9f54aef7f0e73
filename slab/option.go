package slab

import (
	"fmt"
	"slices"
	"strings"
)

// An option is what the package knows about one key of a configuration.
// Parsing, validating, writing and explaining all go through the table in
// options.go and through nothing else, so no key can be half supported.
type option interface {
	name() string
	// parse sets the field from text, or leaves it alone where that is not
	// to be read. The value may be out of range.
	parse(c *Config, text string) error
	// format writes the field as parse reads it, "" where it is zero.
	format(c Config) string
	// faults says what is wrong with a field that is not zero.
	faults(c Config) []string
	// usable is "" where the stack of c has a use for the option, else the reason.
	usable(c Config) string
	// fill sets the default where the field is zero and says where it comes from.
	fill(c *Config) (why string)
	// show writes the field for people, zero included.
	show(c Config) string
	// bare reports that the value stands without quotes in JSON.
	bare() bool
}

// A key is an option whose field is a T.
type key[T comparable] struct {
	key   string
	field func(*Config) *T
	kind  kind[T]
	words map[string]T // texts with a meaning of their own, like none
	ok    func(T) bool // range of a field that is not zero; nil takes all
	want  string       // that range in words

	needs  func(Config) string      // see option.usable; nil is always ""
	preset func(Config) (T, string) // see option.fill; nil is zero
	zero   string                   // see option.show
}

func (k key[T]) name() string { return k.key }
func (k key[T]) bare() bool   { return k.kind.bare }

// parse judges a zero at once, as the field cannot tell one that was written
// from one that was left out. Other values out of range are left to faults.
func (k key[T]) parse(c *Config, text string) error {
	if v, word := k.words[text]; word {
		*k.field(c) = v
		return nil
	}
	v, err := k.kind.parse(text)
	var zero T
	if off, has := k.words["0"]; has && v == zero {
		v = off // 0 in another spelling, like 0B
	}
	if err != nil || v == zero && k.ok != nil && !k.ok(v) {
		return fmt.Errorf("%s=%s: want %s", k.key, text, k.wanted())
	}
	*k.field(c) = v
	return nil
}

// wanted lists what the key takes: its range and its words.
func (k key[T]) wanted() string {
	words := make([]string, 0, len(k.words))
	for w := range k.words {
		words = append(words, w)
	}
	slices.Sort(words)
	return strings.Join(append([]string{k.want}, words...), " or ")
}

func (k key[T]) format(c Config) string {
	v := *k.field(&c)
	var zero T
	if v == zero {
		return ""
	}
	for text, w := range k.words {
		if v == w {
			return text
		}
	}
	return k.kind.format(v)
}

func (k key[T]) faults(c Config) []string {
	v := *k.field(&c)
	text := k.format(c)
	_, word := k.words[text]
	if text == "" || word || k.ok == nil || k.ok(v) {
		return nil
	}
	return []string{fmt.Sprintf("%s=%s: want %s", k.key, text, k.wanted())}
}

// usable lets a value that turns something off pass everywhere: where there
// is nothing to turn off it is true already.
func (k key[T]) usable(c Config) string {
	if k.needs == nil || k.format(c) == "0" {
		return ""
	}
	return k.needs(c)
}

func (k key[T]) fill(c *Config) string {
	var zero T
	f := k.field(c)
	if *f != zero {
		return "set by you"
	}
	if k.preset == nil {
		return "default"
	}
	v, why := k.preset(*c)
	*f = v
	return why
}

func (k key[T]) show(c Config) string {
	if text := k.format(c); text != "" {
		return text
	}
	return k.zero
}
