package main

import "slices"

// Mutants of what says how a pool is: Stats, metrics, hooks, the profile, and package inspect.
var ofObservers = slices.Concat(ofCounts, ofProfiles, ofWatch, ofInspect)

var ofCounts = []mutant{
	{
		name: "stats: the peak begins at nothing",
		file: "slab/internal/upstream/accounting.go",
		old:  "\ta.add(0)\n", new: "",
		killer: killer{pkg: "slab", test: "TestResetPeaks"},
	},
	{
		name: "stats: the peak does not begin anew",
		file: "slab/internal/upstream/accounting.go",
		old:  "\ta.peak.Store(0)\n", new: "",
		killer: killer{pkg: "slab", test: "TestResetPeaks"},
	},
	{
		name: "stats: the peak forgets what lay below",
		file: "slab/counts.go",
		old:  "\t\tp.accounting.RaisePeak(s.ManagedBytes)\n", new: "",
		killer: killer{pkg: "slab", test: "TestThePeakOverAStrategyDoesNotFall"},
	},
	{
		name: "stats: there are more misses than Gets",
		file: "slab/counts.go",
		old:  "min(s.UpstreamAllocs, cached.Gets)", new: "s.UpstreamAllocs",
		killer: killer{pkg: "slab", test: "TestMissesAreNoMoreThanGets"},
	},
	{
		name: "stats: less than nothing is out",
		file: "slab/stats.go",
		old:  "max(0, s.ActiveBlocks), max(0, s.ActiveBytes)", new: "s.ActiveBlocks, s.ActiveBytes",
		killer: killer{pkg: "slab", test: "TestActiveIsNeverLessThanNothing"},
	},
	{
		name: "stats: the bytes of a debt are missing",
		file: "slab/stats.go",
		old:  "\ts.RoundingBytes += min(0, s.ActiveBytes)\n", new: "",
		killer: killer{pkg: "slab", test: "TestActiveIsNeverLessThanNothing"},
	},
	{
		name: "stats: what a guard withholds is held",
		file: "slab/guard.go",
		old:  "u.UnusableBytes += own.Withheld", new: "u.HeldBytes += own.Withheld",
		killer: killer{pkg: "slab", test: "TestWithheldBytesAreUnusable"},
	},
	{
		name: "stats: a foreign Put is not counted",
		file: "slab/internal/watch/log.go",
		old:  "\tl.foreign.Add(1)\n", new: "",
		killer: killer{pkg: "slab", test: "TestPutRefusesWhatIsNotOut"},
	},
	{
		name: "stats: a wait that fails is not counted",
		file: "slab/wait.go",
		old:  "at, err)\n\tp.fail(err)\n", new: "at, err)\n",
		killer: killer{pkg: "slab", test: "TestWhatNeverFitsFailsWhenAllIsBack"},
	},
	{
		name: "stats: a Get fails with each of its tries",
		file: "slab/get.go",
		old:  "if how >= fully { // else", new: "if how >= quickly { // else",
		killer: killer{pkg: "slab", test: "TestWhatNeverFitsFailsWhenAllIsBack"},
	},
	{
		name: "stats: a wait does not end",
		file: "slab/pool.go",
		old:  "\tw.now.Add(-1)\n", new: "",
		killer: killer{pkg: "slab", test: "TestFirstComeFirstServed"},
	},
	{
		name: "stats: a Trim of nothing is none",
		file: "slab/reclaim.go",
		old:  "p.counted.trims.Add(1)", new: "p.counted.trims.Add(min(n, 1))",
		killer: killer{pkg: "slab", test: "TestHookOfTrim"},
	},
	{
		name: "hooks: a Trim of nothing is told",
		file: "slab/hooks.go",
		old:  "h.Trimmed != nil && bytes > 0", new: "h.Trimmed != nil",
		killer: killer{pkg: "slab", test: "TestHookOfTrim"},
	},
	{
		name: "metrics: a gauge does not fall",
		file: "slab/stats.go",
		old:  "if statFields[i].kind == Counter {", new: "if statFields[i].kind <= Counter {",
		killer: killer{pkg: "slab", test: "TestCountersNeverFall"},
	},
	{
		name: "metrics: the largest free extent is the last",
		file: "slab/internal/pageheap/report.go",
		old:  "largest = max(largest, int64(n))", new: "largest = int64(n)",
		killer: killer{pkg: "slab", test: "TestTheLargestFreeExtent"},
	},
	{
		name: "metrics: with Check nothing is fragmented",
		file: "slab/metrics.go",
		old:  "\t\ta = c.strategy\n", new: "\t\t_ = c\n",
		killer: killer{pkg: "slab", test: "TestFragmentation"},
	},
	{
		name: "explain: a pool says that its defaults are set",
		file: "slab/about.go",
		old:  "p.opened().config.given.Explain()", new: "p.opened().config.Config.Explain()",
		killer: killer{pkg: "slab", test: "TestPoolExplainsItsDevice"},
	},
	{
		name: "release: blocks are cached where too much is held",
		file: "slab/release.go",
		old:  "!p.held.exceeded(p.strategy) && ", new: "",
		killer: killer{pkg: "slab", test: "TestNothingIsCachedWhereTooMuchIsHeld"},
	},
}

var ofProfiles = []mutant{
	{
		name: "profile: what is forgotten was released",
		file: "slab/internal/watch/sampler.go",
		old:  "f.Samples.Forget(s.ID())", new: "f.Samples.Remove(s.ID())",
		killer: killer{pkg: "slab", test: "TestProfileOfForgottenParts"},
	},
	{
		name: "profile: what is forgotten stays in use",
		file: "slab/profile.go",
		old:  "active(p.cache.Usage(), forgotten), forgotten)", new: "active(p.cache.Usage(), struct{ Blocks, Bytes int64 }{}), forgotten)",
		killer: killer{pkg: "slab", test: "TestLeaksBySamples"},
	},
	{
		name: "profile: what has leaked is that in use",
		file: "slab/internal/watch/sampler.go",
		old:  "Forgotten: true}, r.Leaked)", new: "Forgotten: true}, r.InUse)",
		killer: killer{pkg: "slab", test: "TestLeaksBySamples"},
	},
	{
		name: "profile: a site without a buffer is a leak",
		file: "slab/internal/watch/sampler.go",
		old:  "if l.Sampled == 0 {", new: "if l.Sampled < 0 {",
		killer: killer{pkg: "slab", test: "TestLeaksBySamples"},
	},
	{
		name: "profile: an adapter is who got it",
		file: "slab/internal/watch/caller.go",
		old:  "\"adapt.\", ", new: "",
		killer: killer{pkg: "slab/internal/watch", test: "TestOwnFrames"},
	},
	{
		name: "profile: a replay is sampled",
		file: "slab/pool.go",
		old:  "\t\treturn 0\n\t}\n\treturn s.ProfileRate", new: "\t}\n\treturn s.ProfileRate",
		killer: killer{pkg: "slab", test: "TestAReplayIsNotSampled"},
	},
	{
		name: "profile: a sample stands for the rate whatever the scale",
		file: "slab/internal/profile/pace.go",
		old:  "-float64(bytes)/p.every(at)", new: "-float64(bytes)/float64(p.rate)",
		killer: killer{pkg: "slab/internal/profile", test: "TestEstimatesAreNotBiased"},
	},
	{
		name: "profile: free samples are not used up",
		file: "slab/internal/profile/pace.go",
		old:  "freeSamples)-samples))", new: "freeSamples)))",
		killer: killer{pkg: "slab/internal/profile", test: "TestSamplesTakeLittleTime"},
	},
	{
		name: "profile: samples stay apart when there is time again",
		file: "slab/internal/profile/pace.go",
		old:  "to := at - min(at, uint32(bits.Len64(uint64(more))))", new: "to := at - min(0, uint32(bits.Len64(uint64(more))))",
		killer: killer{pkg: "slab/internal/profile", test: "TestSamplesTakeLittleTime"},
	},
	{
		name: "profile: the time of other goroutines is that of a sample",
		file: "slab/internal/profile/pace.go",
		old:  "min(time.Duration(p.takes.Load()), max(now, leastTakes))", new: "max(now, leastTakes)",
		killer: killer{pkg: "slab/internal/profile", test: "TestASampleTakesTheLeastTime"},
	},
	{
		name: "profile: nobody looks at a cut whether there is time again",
		file: "slab/internal/profile/pace.go",
		old:  ">= stale*least", new: "< 0*least",
		killer: killer{pkg: "slab/internal/profile", test: "TestABurstLeavesNoLongDistance"},
	},
	{
		name: "profile: a look soon after a sample eases",
		file: "slab/internal/profile/pace.go",
		old:  ">= stale*least", new: ">= least",
		killer: killer{pkg: "slab/internal/profile", test: "TestEaseNeedsTime"},
	},
	{
		name: "profile: a cut is a sample",
		file: "slab/internal/profile/pace.go",
		old:  "return most, Never", new: "return most, at",
		killer: killer{pkg: "slab/internal/profile", test: "TestEstimatesAreNotBiased"},
	},
	{
		name: "profile: a class cache samples where it was cut",
		file: "slab/internal/percpu/sample.go",
		old:  "s.isArmed() && s.scale() != profile.Never", new: "s.isArmed()",
		killer: killer{pkg: "slab/internal/percpu", test: "TestGetsAreCountedBeyondTheCount"},
	},
	{
		name: "profile: a class cache does not look at a cut",
		file: "slab/internal/percpu/sample.go",
		old:  "\t\tp.options.Pace.Ease()\n", new: "",
		killer: killer{pkg: "slab/internal/percpu", test: "TestACutLooksForTime"},
	},
	{
		name: "profile: a miss does not look at a cut",
		file: "slab/internal/percpu/counters.go",
		old:  "\t\tn.pace.Ease()\n", new: "",
		killer: killer{pkg: "slab/internal/percpu", test: "TestACutLooksForTime"},
	},
	{
		name: "profile: a miss beyond a cut is not sampled",
		file: "slab/internal/percpu/counters.go",
		old:  "n.draw(n.due, n.got-n.due+mostBytes); n.got < n.due", new: "n.draw(n.got, mostBytes); true",
		killer: killer{pkg: "slab/internal/percpu", test: "TestMissesAreSampled"},
	},
	{
		name: "profile: the past knows no time",
		file: "slab/internal/profile/profile.go",
		old:  "long := float64(max(1, d))", new: "long := float64(max(1, d/d))",
		killer: killer{pkg: "slab/internal/profile", test: "TestThePastIsByTime"},
	},
	{
		name: "profile: the past is not asked",
		file: "slab/internal/watch/sampler.go",
		old:  "list = append(f.Samples.Past(), list...)", new: "list = append(f.Samples.Records(), list...)",
		killer: killer{pkg: "slab", test: "TestAProfileWithoutASampleNamesAStack"},
	},
}

var ofWatch = []mutant{
	{
		name: "watch: the frames of growpool are the program's",
		file: "slab/internal/watch/caller.go",
		old:  "\"growpool.\", ", new: "",
		killer: killer{pkg: "growpool", test: "TestLeaksAreOfTheCallersLine"},
	},
	{
		name: "watch: the frames of unified are the program's",
		file: "slab/internal/watch/caller.go",
		old:  ", \"unified.\"", new: "",
		killer: killer{pkg: "unified", test: "TestLeaksAreOfTheCallersLine"},
	},
	{
		name: "watch: a second Release is not counted",
		file: "slab/internal/watch/log.go",
		old:  "\tl.doubles.Add(1)\n", new: "",
		killer: killer{pkg: "slab", test: "TestOfAllReleasesOneCounts"},
	},
	{
		name: "watch: what is forgotten is out in its scope",
		file: "slab/internal/watch/log.go",
		old:  "\tl.Freed(l.ended(s))\n\tl.mu.Lock()", new: "\tl.mu.Lock()",
		killer: killer{pkg: "slab", test: "TestScopesOfAPoolAgreeWithStats"},
	},
	{
		name: "watch: a released buffer is listed",
		file: "slab/internal/watch/log.go",
		old:  "if at.released == \"\" {", new: "if at.got != \"\" {",
		killer: killer{pkg: "slab", test: "TestLeaksListParts"},
	},
	{
		name: "watch: a forgotten buffer is not listed",
		file: "slab/internal/watch/log.go",
		old:  "\t\tl.leaked = append(l.leaked, leak)\n", new: "",
		killer: killer{pkg: "slab", test: "TestReportNoticesSmallOffHeapBuffers"},
	},
	{
		name: "watch: a forgotten part is not counted",
		file: "slab/internal/watch/parts.go",
		old:  "\tl.parts++\n", new: "",
		killer: killer{pkg: "slab", test: "TestForgottenPartLetsGo"},
	},
	{
		name: "watch: a leak is told twice",
		file: "slab/internal/watch/tell.go",
		old:  "\tt.untold = nil\n", new: "",
		killer: killer{pkg: "slab", test: "TestHookOfLeaks"},
	},
	{
		name: "watch: a scope forgets what was out before it",
		file: "slab/internal/watch/scopes.go",
		old:  "max(out.PeakBlocks, out.Blocks+in.PeakBlocks)", new: "max(out.PeakBlocks, in.PeakBlocks)",
		killer: killer{pkg: "slab", test: "TestScopesOfAPoolCountGetsAndReleases"},
	},
	{
		name: "watch: a part that was released is listed",
		file: "slab/internal/watch/parts.go",
		old:  "\tdelete(l.sites[root.ID()].parts, part.ID())\n", new: "",
		killer: killer{pkg: "slab", test: "TestLeaksListParts"},
	},
}
