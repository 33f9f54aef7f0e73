// Package optline is an option table for configurations: it reads, validates,
// writes and explains a struct C whose fields are the values of keys. As text a
// configuration is a line
//
//	device=mmap,max_bytes=4GiB,trim_after=30s
//
// or a JSON object with the same keys. A [Table] with one [Key] a field drives
// all of it, so no key can be read but not written, or written but not explained.
//
// The zero value of a field means that its key was omitted, and the key takes
// its default. Where the text 0 or none means something else than to omit the
// key, it is one of [Key.Words] and has a value of its own, such as -1.
//
// Faults are sentences of the form "key=value: what is wrong with it". All
// faults of a configuration are reported at once, and nothing is ignored.
package optline

import (
	"fmt"
	"slices"
	"strings"
	"text/tabwriter"
)

// A Table lists the keys of a configuration C in the order in which they are
// written. A key whose default depends on other keys comes after them. A Table
// is not changed once it is made, so it is safe for concurrent use.
type Table[C any] []Option[C]

// Parse reads a line, or a JSON object if text begins with a brace; see
// [Table.ParseJSON]. If there are faults, C is zero. Empty text gives the zero C.
//
// In a line, spaces around keys and values do not count. The name of a switch may stand alone: check is
// check=true. Another part without = belongs to the value before it, as in device=virtual:fixed,64MiB.
func (t Table[C]) Parse(text string) (C, []string) {
	text = strings.TrimSpace(text)
	if strings.HasPrefix(text, "{") {
		return t.ParseJSON([]byte(text))
	}
	return t.read(t.splitLine(text))
}

// ParseJSON reads a JSON object whose values are strings, numbers or booleans.
// A number or a boolean means the same as the string of its text. If there are
// faults, C is zero.
func (t Table[C]) ParseJSON(text []byte) (C, []string) { return t.read(splitJSON(text)) }

// read adds the faults of the values to those of the syntax.
func (t Table[C]) read(pairs []pair, faults []string) (C, []string) {
	var c, zero C
	seen := map[string]bool{}
	for _, p := range t.split(pairs) {
		if seen[p.key] {
			faults = append(faults, p.fault(p.key+" is given twice"))
		} else if why := t.set(&c, p); why != "" {
			faults = append(faults, p.fault(why))
		}
		seen[p.key] = true
	}
	if faults = append(faults, t.Faults(c)...); len(faults) > 0 {
		return zero, faults
	}
	return c, nil
}

// split makes two pairs of one whose value has that of another key behind it.
func (t Table[C]) split(pairs []pair) (list []pair) {
	for _, p := range pairs {
		value, rest, _ := strings.Cut(p.value, ":")
		value, rest = strings.TrimSpace(value), strings.TrimSpace(rest)
		i := slices.IndexFunc(t, func(o Option[C]) bool { return o.name() == p.key })
		if i < 0 || rest == "" || t[i].own(value) == "" {
			list = append(list, p)
			continue
		}
		list = append(list, pair{p.key, value}, pair{t[i].own(value), rest})
	}
	return list
}

func (t Table[C]) set(c *C, p pair) (why string) {
	names := make([]string, len(t))
	for i, o := range t {
		if names[i] = o.name(); names[i] == p.key {
			return o.set(c, p.value)
		}
	}
	return "unknown key; known are " + strings.Join(names, ", ")
}

// Faults returns what is wrong with c: the values out of range, then the keys
// that c has no use for. It is nil if c is valid.
func (t Table[C]) Faults(c C) []string {
	var faults, unused []string
	full := t.WithDefaults(c)
	for _, o := range t.given(c) {
		p := pair{o.name(), o.text(c)}
		if why := o.fault(c); why != "" {
			faults = append(faults, p.fault(why))
		}
		if why := o.unused(full); why != "" {
			unused = append(unused, p.fault(why))
		}
	}
	return append(faults, unused...)
}

// given returns the keys whose fields are not zero.
func (t Table[C]) given(c C) Table[C] {
	return slices.DeleteFunc(slices.Clone(t), func(o Option[C]) bool { return o.text(c) == "" })
}

// WithDefaults returns c with the default of every key that was omitted. A key
// that c has no use for stays zero. A second call changes nothing.
func (t Table[C]) WithDefaults(c C) C {
	for _, o := range t {
		c, _ = o.withDefault(c)
	}
	return c
}

// Explain returns a line for every key that c has a use for, in columns: the
// key, the value in effect and where that value comes from.
func (t Table[C]) Explain(c C) string {
	var b strings.Builder
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	for _, o := range t {
		var source string
		if c, source = o.withDefault(c); source != "" {
			fmt.Fprintf(w, "%s\t%s\t%s\n", o.name(), o.shown(c), source)
		}
	}
	w.Flush()
	return b.String()
}
