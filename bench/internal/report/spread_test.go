package report

import "testing"

func TestQuartilesLieBetweenTheFiguresNextToThem(t *testing.T) {
	for _, c := range []struct {
		of   []float64
		want Spread
	}{
		{[]float64{7}, Spread{7, 7, 7}},
		{[]float64{2, 1}, Spread{1.25, 1.5, 1.75}},
		{[]float64{5, 1, 4, 2, 3}, Spread{2, 3, 4}},
		{[]float64{40, 10, 30, 20}, Spread{17.5, 25, 32.5}},
	} {
		if got := SpreadOf(c.of); got != c.want {
			t.Errorf("%v has %v, not %v", c.of, got, c.want)
		}
	}
}

func TestSpreadLeavesItsFiguresInOrder(t *testing.T) {
	rounds := []float64{3, 1, 2}
	SpreadOf(rounds)
	if rounds[0] != 3 {
		t.Errorf("rounds became %v", rounds)
	}
}

func TestSpreadsInWords(t *testing.T) {
	if got := (Spread{1.104, 1.2, 1.296}).Ratio(); got != "1.20 (1.10..1.30)" {
		t.Error(got)
	}
	if got := (Spread{9.94, 99.9, 123456.7}).Figures(); got != "99.9 (9.9..123,457)" {
		t.Error(got)
	}
}
