package optline_test

import (
	"math"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/bufslab/bufslab/device"
	"github.com/bufslab/bufslab/internal/optline"
)

// parsesBack fails unless s survives the line and the JSON object.
func parsesBack(t *testing.T, s server) {
	t.Helper()
	object, _ := table.JSON(s)
	for _, text := range []string{table.Line(s), string(object)} {
		if back, faults := table.Parse(text); faults != nil || back != s {
			t.Errorf("%q parses back to %+v, %q", text, back, faults)
		}
	}
}

// TestParse has texts, what they mean and the line that this is written as.
func TestParse(t *testing.T) {
	for text, want := range map[string]struct {
		s    server
		line string
	}{
		" \n":                                    {},
		" { } ":                                  {},
		" conns = 8 , store=/a:b , c,cache=2KB":  {server{"/a:b,c", 2000, 8}, "store=/a:b,c,cache=2000,conns=8"},
		`{"conns":8,"store":"a=b","cache":1024}`: {server{"a=b", 1024, 8}, "store=a=b,cache=1KiB,conns=8"},
		`{"conns":"none","store":"[1]"}`:         {server{"[1]", 0, math.MaxInt}, "store=[1],conns=none"},
		"cache=0B":                               {server{Cache: -1}, "cache=0"}, // memory, too, can turn it off
		`{"store":"a, <b"}`:                      {server{Store: "a, <b"}, `{"store":"a, \u003cb"}`},
		`{"store":"a,conns=8"}`:                  {server{Store: "a,conns=8"}, `{"store":"a,conns=8"}`},
	} {
		s, faults := table.Parse(text)
		if line := table.Line(s); s != want.s || line != want.line || faults != nil {
			t.Errorf("%q is %+v, written %s, %q", text, s, line, faults)
		}
		parsesBack(t, s)
	}
}

// TestFaults has texts and a word of each of their faults, in order.
func TestFaults(t *testing.T) {
	for text, want := range map[string][]string{
		"stop,conn=1,conns=4,conns=8,cache=x,store=": {
			`"stop": want key=value`, "conn=1: unknown key", "conns=8: conns is given twice", "cache=x: want a size or 0", "store=: want memory"},
		"cache=1KiB,conns=501":       {"conns=501: want 1 to 500 or none", "cache=1KiB: only a disk"},
		"conns=0":                    {"1 to 500"}, // an explicit zero is validated
		"Conns=1,":                   {"want key=value", "unknown key"},
		`{"conns":4,"conns":8}`:      {"given twice"},
		`{"conns":[4],"store":null}`: {"conns: want a string, a number or a boolean", "store: want a string"},
		`{"conns":4`:                 {"JSON"},
		`{"conns":4} x`:              {"JSON"},
		`{"conns":4}{}`:              {"JSON: something follows"},
	} {
		s, faults := table.Parse(text)
		if s != (server{}) || !slices.EqualFunc(faults, want, strings.Contains) {
			t.Errorf("%q: %+v, faults %q", text, s, faults)
		}
	}
	for _, text := range []string{"", "conns=8", `"conns=8"`, "[]", "null"} {
		if _, faults := table.ParseJSON([]byte(text)); len(faults) != 1 || !strings.HasPrefix(faults[0], "JSON: ") {
			t.Errorf("ParseJSON(%s): %q", text, faults)
		}
	}
}

func TestFaultsOfAStructAreThoseOfItsLine(t *testing.T) {
	for n, s := range []server{{}, {Conns: -3}, {Cache: 5, Conns: 501}} {
		_, want := table.Parse(table.Line(s))
		if got := table.Faults(s); len(got) != n || !slices.Equal(got, want) {
			t.Errorf("%+v: faults %q, of its line %q", s, got, want)
		}
	}
}

func TestDefaultsAndExplain(t *testing.T) {
	for want, s := range map[string]server{
		"store memory default\nconns 16 default of memory\n":                          {},
		"store memory default\ncache 0 set by you\nconns 16 default of memory\n":      {Cache: -1},
		"store /a set by you\ncache that of the system default\nconns 9 set by you\n": {Store: "/a", Conns: 9},
	} {
		text := regexp.MustCompile(" +").ReplaceAllString(table.Explain(s), " ")
		full := table.WithDefaults(s)
		if again := table.WithDefaults(full); text != want || full.Store == "" || full.Conns == 0 || full.Cache != s.Cache || again != full {
			t.Errorf("%+v: defaults %+v, then %+v\n%s", s, full, again, text)
		}
	}
}

func TestKinds(t *testing.T) {
	for want, got := range map[string]string{
		"true":    written(optline.Bools, "1"),
		"0.05":    written(optline.Fractions, "5 %"),
		"1e-09":   written(optline.Fractions, "1e-9"),
		"1m30s":   written(optline.Durations, "90s"),
		"7EiB":    written(optline.Sizes[int64](device.ParseSize), "7168PiB"),
		"refused": written(optline.Counts, "+1"),
	} {
		if got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
}

func written[T any](k optline.Kind[T], text string) string {
	v, err := k.Parse(text)
	if err != nil {
		return "refused"
	}
	return k.Format(v)
}

// A valid text and the line that is made of it mean the same.
func FuzzParse(f *testing.F) {
	f.Add("store=/a:b,c,cache=3MiB,conns=8")
	f.Add(`{"store":" a, b","conns":"none","cache":0}`)
	f.Fuzz(func(t *testing.T, text string) {
		if s, faults := table.Parse(text); len(faults) == 0 && utf8.ValidString(text) { // as JSON is
			parsesBack(t, s)
		}
	})
}
