package main

import (
	"maps"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
)

// figures are counts in which every checked figure is the same, but for one.
func figures(instructions float64, but ...float64) counts {
	c := counts{"go1.26.8", "amd64", map[string]map[string]count{}}
	for _, w := range checkedWorkloads {
		c.Of[w] = map[string]count{}
		for _, p := range pools {
			c.Of[w][p] = count{Instructions: instructions}
		}
	}
	for _, n := range but {
		c.Of["W1 4 KiB"]["mmap"] = count{Instructions: n}
	}
	return c
}

func TestThreePerCentMoreInstructionsAreTooMany(t *testing.T) {
	kept := figures(1000)
	for now, want := range map[float64][]string{
		500: nil, 1000: nil, 1029: nil, 1031: {"W1 4 KiB, mmap"}, 2000: {"W1 4 KiB, mmap"},
	} {
		if report, grown := kept.compare(figures(1000, now)); !slices.Equal(grown, want) {
			t.Errorf("%v for 1000: %v grew, not %v\n%s", now, grown, want, report)
		}
	}
}

func TestAFigureThatIsNotKeptIsNoLicence(t *testing.T) {
	kept := figures(1000)
	delete(kept.Of["W1 4 KiB"], "mmap")
	if _, grown := kept.compare(figures(1000)); !slices.Equal(grown, []string{"W1 4 KiB, mmap"}) {
		t.Errorf("%v grew", grown)
	}
}

// A churn before caches is not compared; without them it is.
func TestWhatGoesByTheClockIsNotCompared(t *testing.T) {
	kept, found := figures(1000), figures(1000)
	for _, p := range pools {
		found.Of["W2"][p] = count{Instructions: 5000}
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
	grown := []string{"W1 4 KiB, heap", "W2, mmap"}
	for name, want := range map[string]bool{"W1 4 KiB": true, "W2": true, "W1B 4 KiB": false, "W2C": false} {
		for _, w := range counted() {
			if w.name() == name && mentions(grown, w) != want {
				t.Errorf("%s is counted again: %v", name, !want)
			}
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

// counts.json has what is checked, and what is checked can be counted.
func TestEveryCheckedFigureIsKept(t *testing.T) {
	kept, err := loadCounts(kept)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, w := range counted() {
		names = append(names, w.name())
	}
	for _, w := range checkedWorkloads {
		if !slices.Contains(names, w) {
			t.Errorf("nobody counts %s", w)
		}
		for _, p := range pools {
			if kept.Of[w][p].Instructions <= 0 {
				t.Errorf("counts.json lacks %s, %s: has %v", w, p, slices.Sorted(maps.Keys(kept.Of[w])))
			}
		}
	}
}
