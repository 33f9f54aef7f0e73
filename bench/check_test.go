package main

import (
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
)

// figures are counts in which every checked figure is the same, but for one.
func figures(instructions float64, but ...float64) counts {
	c := counts{"go1.26.8", "amd64", map[string]map[string]float64{}}
	for _, w := range workloads {
		c.Of[w.name] = map[string]float64{}
		for _, p := range names() {
			c.Of[w.name][p] = instructions
		}
	}
	for _, n := range but {
		c.Of["W1"]["mmap"] = n
	}
	return c
}

func TestThreePerCentMoreInstructionsAreTooMany(t *testing.T) {
	kept := figures(1000)
	for now, want := range map[float64][]string{
		500: nil, 1000: nil, 1029: nil, 1031: {"W1, mmap"}, 2000: {"W1, mmap"},
	} {
		if report, grown := kept.compare(figures(1000, now)); !slices.Equal(grown, want) {
			t.Errorf("%v for 1000: %v grew, not %v\n%s", now, grown, want, report)
		}
	}
}

func TestAFigureThatIsNotKeptIsNoLicence(t *testing.T) {
	kept := figures(1000)
	delete(kept.Of["W1"], "mmap")
	if _, grown := kept.compare(figures(1000)); !slices.Equal(grown, []string{"W1, mmap"}) {
		t.Errorf("%v grew", grown)
	}
}

// A churn before caches is not compared; without them it is.
func TestWhatGoesByTheClockIsNotCompared(t *testing.T) {
	kept, found := figures(1000), figures(1000)
	for _, p := range names() {
		found.Of["W2"][p] = 5000
	}
	if _, grown := kept.compare(found); !slices.Equal(grown, []string{"W2, " + uncached}) {
		t.Errorf("%v grew", grown)
	}
}

func TestFiguresOfAnotherGoAreNotCompared(t *testing.T) {
	kept := figures(1000)
	for _, other := range [][2]string{{"go1.27.0", "amd64"}, {"go1.26.8", "arm64"}} {
		if why := kept.cannotCheck(other[0], other[1]); !strings.Contains(why, "not compared") {
			t.Errorf("%v is compared: %q", other, why)
		}
	}
	t.Setenv("PATH", t.TempDir())
	if why := kept.cannotCheck("go1.26.8", "amd64"); !strings.Contains(why, "no valgrind") {
		t.Errorf("without valgrind: %q", why)
	}
}

func TestOnlyWhatGrewIsCountedAgain(t *testing.T) {
	grown := []string{"W1, heap", "W2, mmap"}
	for _, w := range workloads {
		if want := w.name == "W1" || w.name == "W2"; mentions(grown, w) != want {
			t.Errorf("%s is counted again: %v", w.name, !want)
		}
	}
}

func TestCountsAreKept(t *testing.T) {
	file := filepath.Join(t.TempDir(), "counts.json")
	if err := figures(123.5).save(file); err != nil {
		t.Fatal(err)
	}
	if got, err := loadCounts(file); err != nil || !reflect.DeepEqual(got, figures(123.5)) {
		t.Errorf("%+v, %v", got, err)
	}
}

// counts.json has what is checked.
func TestEveryCheckedFigureIsKept(t *testing.T) {
	kept, err := loadCounts(kept)
	if err != nil {
		t.Fatal(err)
	}
	for _, w := range workloads {
		for _, p := range names() {
			if kept.Of[w.name][p] <= 0 {
				t.Errorf("counts.json lacks %s, %s", w.name, p)
			}
		}
	}
}
