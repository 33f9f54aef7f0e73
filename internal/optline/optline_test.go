package optline_test

import (
	"math"
	"regexp"
	"slices"
	"strconv"
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

type plan struct {
	Way, Name   string
	Check, Lock bool
	Rate        float64
	Bits, Ops   int
}

var plans = optline.Table[plan]{
	optline.Key[plan, string]{Name: "way", Field: func(p *plan) *string { return &p.Way }, Kind: optline.Strings,
		Own: func(way string) string { return map[string]string{"map": "bits", "log": "ops"}[way] }},
	optline.Key[plan, string]{Name: "name", Field: func(p *plan) *string { return &p.Name }, Kind: optline.Strings},
	optline.Key[plan, bool]{Name: "check", Field: func(p *plan) *bool { return &p.Check }, Kind: optline.Bools, Range: optline.TrueOrFalse},
	optline.Key[plan, bool]{Name: "lock", Field: func(p *plan) *bool { return &p.Lock }, Kind: optline.Switches,
		Range: optline.Range[bool]{Want: "on or off"}},
	optline.Key[plan, float64]{Name: "rate", Field: func(p *plan) *float64 { return &p.Rate }, Kind: optline.Fractions},
	optline.Key[plan, int]{Name: "bits", Field: func(p *plan) *int { return &p.Bits }, Kind: optline.Counts, Range: optline.PowerOfTwo(1, 64)},
	optline.Key[plan, int]{Name: "ops", Field: func(p *plan) *int { return &p.Ops }, Kind: optline.Counts, Range: optline.Between(1, 9)},
}

// A switch may stand alone, and a value may have that of the key of its own behind it.
func TestSwitchesAndOwnKeys(t *testing.T) {
	for text, want := range map[string]struct {
		p    plan
		line string
	}{
		"check":               {plan{Check: true}, "check=true"},
		"lock , name=a,check": {plan{Name: "a", Check: true, Lock: true}, "name=a,check=true,lock=on"},
		"check=0,lock=off":    {},
		"way=map:1":           {plan{Way: "map", Bits: 1}, "way=map,bits=1"},
		"way=log:9,rate=5%":   {plan{Way: "log", Ops: 9, Rate: 0.05}, "way=log,rate=0.05,ops=9"},
		"way=log:":            {plan{Way: "log:"}, "way=log:"}, // nothing is behind the colon
		"way=hash:9":          {plan{Way: "hash:9"}, "way=hash:9"},
		"name=map:8,ops=1":    {plan{Name: "map:8", Ops: 1}, "name=map:8,ops=1"},
	} {
		p, faults := plans.Parse(text)
		if line := plans.Line(p); p != want.p || line != want.line || faults != nil {
			t.Errorf("%q is %+v, written %s, %q", text, p, line, faults)
		}
	}
	for text, want := range map[string]string{
		"stop":             `"stop": want key=value or a switch: check, lock`,
		"check,stop":       `"stop": want key=value or a switch: check, lock`, // a switch has no value to add to
		"lock=true":        "lock=true: want on or off",
		"way=map:6":        "bits=6: want a power of two, 1 to 64",
		"way=map:8,bits=8": "bits=8: bits is given twice",
		"weg=map:8":        "weg=map:8: unknown key; known are way, name, check, lock, rate, bits, ops",
	} {
		if p, faults := plans.Parse(text); p != (plan{}) || !slices.Equal(faults, []string{want}) {
			t.Errorf("%q: %+v, %q", text, p, faults)
		}
	}
	if _, faults := table.Parse("stop"); faults[0] != `"stop": want key=value` { // the table has no switches
		t.Errorf("%q", faults)
	}
}

// Numbers and booleans stand without quotes in JSON; text that is not UTF-8 is a fault.
func TestJSONHasTheTypesOfTheKinds(t *testing.T) {
	p := plan{Name: "é1", Check: true, Lock: true, Rate: 0.5, Bits: 2}
	if got, faults := plans.JSON(p); string(got) != `{"name":"é1","check":true,"lock":"on","rate":0.5,"bits":2}` || faults != nil {
		t.Errorf("%s, %q", got, faults)
	}
	if _, faults := plans.JSON(plan{Name: "\xff"}); !slices.Equal(faults, []string{`name: "\xff" is not UTF-8, and JSON is`}) {
		t.Errorf("%q", faults)
	}
}

// A value that looks like HTML is as wide as any other.
func TestExplainHasColumns(t *testing.T) {
	const want = "store  <b>&lt;  set by you\ncache  0        set by you\nconns  9        set by you\n"
	if got := table.Explain(server{"<b>&lt;", -1, 9}); got != want {
		t.Errorf("%s, want\n%s", got, want)
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
	sizes := optline.Sizes[int64](device.ParseSize)
	for want, got := range map[string]string{
		"true":  written(optline.Bools, "1"),
		"on":    written(optline.Switches, "on"),
		"off":   written(optline.Switches, "off"),
		"0.05":  written(optline.Fractions, "5 %"),
		"1e-09": written(optline.Fractions, "1e-9"),
		"1m30s": written(optline.Durations, "90s"),
		"7EiB":  written(sizes, "7168PiB"),
		"0":     written(sizes, "0KiB"),

		strconv.Itoa(math.MaxInt): written(optline.Counts, strconv.Itoa(math.MaxInt)),
	} {
		if got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
	for n, got := range []string{written(optline.Counts, "+1"), written(optline.Counts, strconv.FormatUint(math.MaxInt+1, 10)),
		written(optline.Switches, "true"), written(optline.Switches, "")} {
		if got != "refused" {
			t.Errorf("%d: %s", n, got)
		}
	}
}

// A size that an int cannot hold is refused, not cut.
func TestSizesFitTheirType(t *testing.T) {
	n, err := optline.Sizes[int](device.ParseSize).Parse("5GiB")
	if int64(n) != 5<<30 && err == nil || (err != nil) != (strconv.IntSize == 32) {
		t.Error(n, err)
	}
}

func TestRanges(t *testing.T) {
	for n, want := range map[int][2]bool{ // whether it is between 4 and 64, and a power of two from 4 to 64
		-4: {}, 0: {}, 2: {}, 3: {}, 4: {true, true}, 5: {true}, 6: {true}, 8: {true, true}, 63: {true}, 64: {true, true}, 65: {}, 128: {}} {
		if got := [2]bool{optline.Between(4, 64).Has(n), optline.PowerOfTwo(4, 64).Has(n)}; got != want {
			t.Errorf("%d: %v", n, got)
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
