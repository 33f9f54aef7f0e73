package compat

import (
	"slices"
	"strings"
	"testing"
)

// usesAfterFree are tests of arrow-go, with what depends on memory that they, or what they
// test, have freed. They pass where Free does nothing, and fail where it spoils the memory,
// whatever the allocator.
var usesAfterFree = map[string]string{
	"arrow/array.TestConcatenate":                                 "compares a concatenation of list views after its parts were released",
	"arrow/csv.TestInferringSchemaWithoutHeaderPreservesFirstRow": "keeps strings of a record that the reader has released",
	"arrow/ipc/cmd/arrow-json-integration-test.TestIntegration":   "compares records that their reader has released",
}

// flaky are tests of arrow-go that fail now and then with its own allocator, too: the client sends the
// next call before it has stored the cookie of the last one.
var flaky = map[string]bool{
	"arrow/flight/flightsql.TestStatefulServerSessionCookies":  true,
	"arrow/flight/flightsql.TestStatelessServerSessionCookies": true,
}

// top is the package and the name of a test without those of its parts.
func top(test string) string {
	path, name, _ := strings.Cut(test, ".")
	name, _, _ = strings.Cut(name, "/")
	return path + "." + name
}

// count returns how many tests there are, without their parts, and how many of them have a
// result.
func (r results) count(result string) (all, of int) {
	for test, got := range r {
		if test == top(test) {
			all++
			if got == result {
				of++
			}
		}
	}
	return all, of
}

// worse returns the tests that pass in r, and do not in other.
func (r results) worse(other results) (worse []string) {
	for test, got := range r {
		if got == "pass" && other[test] != "pass" && !slices.Contains(worse, top(test)) {
			worse = append(worse, top(test))
		}
	}
	slices.Sort(worse)
	return worse
}

// What passes with arrow's own allocator passes on our pools, beside buffers that are
// forgotten and come back. With -short these are the tests of three packages, on mmap.
func TestArrow(t *testing.T) {
	lines, tests, fewest := lines, 1000, int64(1000)
	if testing.Short() {
		lines, tests, fewest = lines[1:], 500, 100
	}
	s := newSuite(t)
	own, _ := s.run("own", s.packages)
	all, failed := own.count("fail")
	t.Logf("%d packages, %d tests, %d with their parts; %d fail with arrow's own allocator", len(s.packages), all, len(own), failed)
	if all < tests {
		t.Fatal("that is not the suite")
	}
	for _, line := range lines {
		got, stats := s.run(line, s.packages)
		for _, test := range own.worse(got) {
			if usesAfterFree[test] == "" && !flaky[test] {
				t.Errorf("%s: %s fails", line, test)
			}
		}
		_, passed := got.count("pass")
		var forgotten, foreign, doubles, gets int64
		for _, one := range stats {
			forgotten += one.Forgotten
			foreign += one.ForeignPuts
			doubles += one.DoubleReleases
			gets += one.Hits + one.Misses
		}
		t.Logf("%s: %d pass; %d pools: %d buffers, %d forgotten", line, passed, len(stats), gets, forgotten)
		if forgotten < fewest || foreign+doubles != 0 {
			t.Errorf("%s: %d buffers forgotten, %d foreign, %d released twice", line, forgotten, foreign, doubles)
		}
		if len(stats) < s.reports-1 { // one of those named above panics
			t.Errorf("%s: %d pools of %d report", line, len(stats), s.reports)
		}
	}
	s.provesUseAfterFree()
}

// provesUseAfterFree runs the tests that are named above on arrow's own allocator, with a
// Free that spoils what it is given: they fail there, too.
func (s *suite) provesUseAfterFree() {
	for test := range usesAfterFree {
		i := strings.LastIndex(test, ".")
		of := slices.DeleteFunc(slices.Clone(s.packages), func(p tested) bool { return p.path != arrowModule+"/"+test[:i] })
		if len(of) == 0 && dear.MatchString("/"+test[:i]) {
			continue
		}
		r, _ := s.run("poison", of, "-test.run=^"+test[i+1:]+"$")
		if r[test] != "fail" {
			s.t.Errorf("%s does not use what was freed: %q", test, r[test])
		}
	}
}
