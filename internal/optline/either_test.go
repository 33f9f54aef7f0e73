package optline

import (
	"math"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"
)

type room struct {
	bytes int
	share float64
}

var rooms = Table[room]{Either[room]{
	First: Key[room, int]{Name: "room", Field: func(r *room) *int { return &r.bytes }, Kind: Counts,
		Range: Positive[int]("a number"), Words: map[string]int{"none": 0}, ZeroText: "none"},
	Second: Key[room, float64]{Name: "room", Field: func(r *room) *float64 { return &r.share }, Kind: Shares,
		Range: Range[float64]{Want: "a share above 0 and up to 100%", Has: func(v float64) bool { return 0 < v && v <= 1 }}},
	Is: func(text string) bool { return strings.HasSuffix(text, "%") },
}}

// A key with two fields reads, writes and explains the one that is given, and takes one only.
func TestEither(t *testing.T) {
	for text, want := range map[string]room{"room=7": {bytes: 7}, "room=75%": {share: 0.75}, "room=none": {}, "room=0.1 %": {share: 0.001}} {
		r, faults := rooms.Parse(text)
		if r != want || faults != nil {
			t.Errorf("%s: %v, %q", text, r, faults)
		}
	}
	for text, want := range map[string]string{
		"room=0%": "up to 100%", "room=101%": "up to 100%", "room=-1%": "up to 100%", "room=%": "up to 100%", "room=NaN%": "up to 100%",
		"room=0": "a number", "room=x": "a number", "room=7,room=75%": "given twice", "room=1e1%": "up to 100%",
	} {
		if r, faults := rooms.Parse(text); len(faults) != 1 || !strings.Contains(faults[0], want) || r != (room{}) {
			t.Errorf("%s: %v, %q", text, r, faults)
		}
	}
	both := room{7, 0.5}
	if f := rooms.Faults(both); len(f) != 1 || f[0] != "room=50%: it is 7 as well" {
		t.Errorf("%q", f)
	}
	if got, _ := rooms.JSON(room{share: 0.5}); string(got) != `{"room":"50%"}` {
		t.Error(got)
	}
	if got := rooms.Explain(room{share: 0.5}); got != "room  50%  set by you\n" {
		t.Errorf("%q", got)
	}
	if got := rooms.Explain(room{}); got != "room  none  default\n" {
		t.Errorf("%q", got)
	}
}

// Shares are read back to the same value, whatever its digits.
func TestSharesReadBack(t *testing.T) {
	for want, v := range map[string]float64{"7%": 0.07, "100%": 1, "0.5%": 0.005, "12.5%": 0.125, "0.07%": 0.0007, "33.3%": 0.333} {
		if got := Shares.Format(v); got != want {
			t.Errorf("%s, not %s", got, want)
		}
	}
	for range 10_000 {
		v := rand.Float64()
		if got, err := Shares.Parse(Shares.Format(v)); got != v || err != nil {
			t.Fatal(strconv.FormatFloat(v, 'g', -1, 64), got, err)
		}
	}
}

// The value of a word may be written as a number where it is in range; else only the word is text for it.
func TestTheValueOfAWordAsANumber(t *testing.T) {
	k := Key[int, int]{Kind: Counts, Range: Positive[int]("a number"), Words: map[string]int{"0": -1, "none": math.MaxInt}}
	for text, want := range map[string]bool{"0": true, "none": true, "-1": false, strconv.Itoa(math.MaxInt): true, "5": true} {
		if _, ok := k.read(text); ok != want {
			t.Errorf("%s is read: %v", text, ok)
		}
	}
}
