package main

// Mutants of package inspect.
var ofInspect = []mutant{
	{
		name: "inspect: the fewest bytes come first",
		file: "inspect/state.go",
		old:  "cmp.Compare(b.Bytes, a.Bytes)", new: "cmp.Compare(a.Bytes, b.Bytes)",
		killer: killer{pkg: "inspect", test: "TestTheMostSites"},
	},
	{
		name: "inspect: what was forgotten comes first",
		file: "inspect/state.go",
		old:  "{false: -1, true: 1}", new: "{false: 1, true: -1}",
		killer: killer{pkg: "inspect", test: "TestTheMostSites"},
	},
	{
		name: "inspect: a sample is a buffer",
		file: "inspect/state.go",
		old:  "max(1, l.Sampled)", new: "1",
		killer: killer{pkg: "inspect", test: "TestTheMostSites"},
	},
	{
		name: "inspect: no site is null",
		file: "inspect/state.go",
		old:  "slices.AppendSeq([]Site{}, ", new: "slices.AppendSeq([]Site(nil), ",
		killer: killer{pkg: "inspect", test: "TestJSONIsWhatPoolsSay"},
	},
	{
		name: "inspect: a third pool has the name of the second",
		file: "inspect/inspect.go",
		old:  "for n := 2; slices.Contains(others, numbered); n++ {", new: "if n := 2; slices.Contains(others, numbered) {",
		killer: killer{pkg: "inspect", test: "TestNamesDiffer"},
	},
	{
		name: "inspect: HEAD is not allowed",
		file: "inspect/inspect.go",
		old:  " && r.Method != http.MethodHead:", new: ":",
		killer: killer{pkg: "inspect", test: "TestMethods"},
	},
	{
		name: "inspect: any method is allowed",
		file: "inspect/inspect.go",
		old:  "case r.Method != http.MethodGet && r.Method", new: "case r.Method == http.MethodGet && r.Method",
		killer: killer{pkg: "inspect", test: "TestMethods"},
	},
	{
		name: "inspect: a profile without a name is that of the first",
		file: "inspect/inspect.go",
		old:  "len(h.pools) != 1:", new: "len(h.pools) < 1:",
		killer: killer{pkg: "inspect", test: "TestProfileOfAPool"},
	},
	{
		name: "inspect: a long look has no pause",
		file: "inspect/look.go",
		old:  "max(apart, share*time.Since(now))", new: "apart",
		killer: killer{pkg: "inspect", test: "TestPoolsAreAskedNowAndThen"},
	},
	{
		name: "inspect: nearly all is 100 %",
		file: "inspect/numbers.go",
		old:  "math.Floor(", new: "math.Round(",
		killer: killer{pkg: "inspect", test: "TestSizesAndCounts"},
	},
	{
		name: "inspect: those that wait have waited",
		file: "inspect/numbers.go",
		old:  "s.Waits-s.Waiters", new: "s.Waits",
		killer: killer{pkg: "inspect", test: "TestAWaitThatGoesOnIsNotAveraged"},
	},
	{
		name: "inspect: a setting ends at the first gap of its value",
		file: "inspect/settings.go",
		old:  "(.*\\S) {2,}", new: "(.*?\\S) {2,}",
		killer: killer{pkg: "inspect", test: "TestSettings"},
	},
	{
		name: "bufslab: a bar shows the rate of its first read",
		file: "cmd/bufslab/progress.go",
		old:  "p.bar != nil && time.Since(p.began) > untimed", new: "p.bar != nil",
		killer: killer{pkg: "cmd/bufslab", test: "TestTheFirstRateOfABar"},
	},
	{
		name: "bufslab: a bar's time begins with its first rate",
		file: "cmd/bufslab/progress.go",
		old:  "\tbar.StartWithoutRender() // else time begins with the first set\n", new: "",
		killer: killer{pkg: "cmd/bufslab", test: "TestTheFirstRateOfABar"},
	},
	{
		name: "bufslab: a saving of 0.0 % is one",
		file: "cmd/bufslab/tune_print.go",
		old:  "math.Abs(change) < 0.05", new: "math.Abs(change) == 0",
		killer: killer{pkg: "cmd/bufslab", test: "TestASavingThatReadsAsNothing"},
	},
}
