package main

// Mutants of the adapters, of the command, and of what packages share.
var ofOthers = []mutant{
	{
		name: "adapt: a refused buffer counts though it was made",
		file: "adapt/slices.go", old: "\t\t\treturn\n", new: "\t\t\t_ = b\n",
		killer: killer{pkg: "adapt", test: "TestServersGetMadeBuffers"},
	},
	{
		name: "adapt: a made buffer is not counted",
		file: "adapt/slices.go", old: "\t\ts.made.Add(1)\n", new: "",
		killer: killer{pkg: "adapt", test: "TestServersGetMadeBuffers"}, fast: true,
	},
	{
		name: "adapt: the first buffer is never put",
		file: "adapt/slices.go", old: "\t\t_ = p.Put(b)\n\tcase", new: "\t\t_ = b\n\tcase",
		killer: killer{pkg: "adapt", test: "TestArrowReallocatesForeignSlices"},
	},
	{
		name: "adapt: Arrow's memory is not cleared",
		file: "adapt/arrow.go", old: "\tclear(b)\n\treturn b[:size:size]", new: "\treturn b[:size:size]",
		killer: killer{pkg: "adapt", test: "TestArrowClearsAndAligns"},
	},
	{
		name: "adapt: what Reallocate adds is not cleared",
		file: "adapt/arrow.go", old: "\t\tclear(m[len(b):])\n", new: "",
		killer: killer{pkg: "adapt", test: "TestArrowReallocates"},
	},
	{
		name: "adapt: Reallocate within the block is not cleared",
		file: "adapt/arrow.go", old: "\tif size > len(b) {\n", new: "\tif size > cap(b) {\n",
		killer: killer{pkg: "adapt", test: "TestArrowReallocates"},
	},
	{
		name: "adapt: a slice can grow into the block's rest",
		file: "adapt/arrow.go", old: "\tclear(b)\n\treturn b[:size:size]", new: "\tclear(b)\n\treturn b[:size]",
		killer: killer{pkg: "adapt", test: "TestArrowClearsAndAligns"},
	},
	{
		name: "adapt: a misaligned block is lost",
		file: "adapt/arrow.go", old: "at%64 != 0 {\n\t\ta.Free(b)\n", new: "at%64 != 0 {\n",
		killer: killer{pkg: "adapt", test: "TestArrowRefusesPoolsThatAlignLess"},
	},
	{
		name: "adapt: a moved foreign slice is not refused",
		file: "adapt/arrow.go", old: "\t\t\ta.Free(b) // is refused", new: "\t\t\t// is refused",
		killer: killer{pkg: "adapt", test: "TestArrowReallocatesForeignSlices"},
	},
	{
		name: "adapt: a pointer that was put twice is handed out twice",
		file: "adapt/grpc.go", old: "\tif m != nil {\n", new: "\tif true {\n",
		killer: killer{pkg: "adapt", test: "TestGRPCPointersHaveOneUser"},
	},
	{
		name: "bufslab: what was left behind is no failure",
		file: "cmd/bufslab/jobs.go", old: "\t\t\terr = r.fault()\n", new: "",
		killer: killer{pkg: "cmd/bufslab", test: "TestWhatIsLeftBehindIsAFailure"},
	},
	{
		name: "bufslab: a later failure hides a worse one",
		file: "cmd/bufslab/jobs.go", old: "code = max(code, fail(", new: "code = min(code, fail(",
		killer: killer{pkg: "cmd/bufslab", test: "TestAFailureLeavesTheOtherRows"},
	},
	{
		name: "bufslab: a trace that is wrong is a failed replay",
		file: "cmd/bufslab/jobs.go", old: ", errors.As(err, &syntax):", new: " && errors.As(err, &syntax):",
		killer: killer{pkg: "cmd/bufslab", test: "TestReplayOfTheStandardInput"},
	},
	{
		name: "bufslab: bytes that are lost are no fault",
		file: "cmd/bufslab/jobs.go", old: "r.EndHeldBytes == 0 && r.EndUpstreamBytes == 0 {", new: "r.EndHeldBytes == 0 {",
		killer: killer{pkg: "cmd/bufslab", test: "TestWhatIsLeftBehindIsAFailure"},
	},
	{
		name: "bufslab: a line that failed somewhere is advised",
		file: "cmd/bufslab/advice.go", old: "c.traces < most })", new: "c.traces < 0 })",
		killer: killer{pkg: "cmd/bufslab", test: "TestTheTableEndsWithALineToUse"},
	},
	{
		name: "bufslab: a line above the budget of misses is advised",
		file: "cmd/bufslab/advice.go", old: "c.misses <= missBudget && (", new: "(",
		killer: killer{pkg: "cmd/bufslab", test: "TestChosenIsWhatTheAdviceNames"},
	},
	{
		name: "bufslab: an option that saves nothing is in the line",
		file: "cmd/bufslab/tune_search.go", old: "best.Cost*(1-worthwhile)", new: "best.Cost*(1+worthwhile)",
		killer: killer{pkg: "cmd/bufslab", test: "TestAnOptionHasToSaveSomething"},
	},
	{
		name: "bufslab: tune does not stop in time",
		file: "cmd/bufslab/tune_search.go", old: "!s.until.IsZero() && time.Now().After(s.until)", new: "false",
		killer: killer{pkg: "cmd/bufslab", test: "TestTuneStopsInTime"},
	},
	{
		name: "bufslab: a line over the budget is on the front",
		file: "cmd/bufslab/tune_search.go", old: "a.Within && !beaten", new: "!beaten",
		killer: killer{pkg: "cmd/bufslab", test: "TestFront"},
	},
	{
		name: "gcwatch: Collect does not wait for finalizers",
		file: "internal/gcwatch/gcwatch.go", old: "\t\tyieldUntil(func() bool { return ran() >= due }, atMost)\n", new: "\t\t_ = due\n",
		killer: killer{pkg: "internal/gcwatch", test: "TestCollectWaitsForASlowFinalizer"},
	},
	{
		name: "gcwatch: Collect waits where the clock stands still",
		file: "internal/gcwatch/gcwatch.go", old: "|| passed == 0 && turns > mostTurns {", new: "{",
		killer: killer{pkg: "internal/gcwatch", test: "TestCollectGivesUpWithoutAClock"},
	},
	{
		name: "gcwatch: Notify calls once",
		file: "internal/gcwatch/gcwatch.go", old: "\t\t\truntime.SetFinalizer(s, collected)\n", new: "\t\t\t_ = s\n",
		killer: killer{pkg: "internal/gcwatch", test: "TestNotifyUntilFalse"},
	},
	{
		name: "gcwatch: Notify goes on after false",
		file: "internal/gcwatch/gcwatch.go", old: "o != nil && f(o) {", new: "o != nil && (f(o) || true) {",
		killer: killer{pkg: "internal/gcwatch", test: "TestNotifyUntilFalse"},
	},
	{
		name: "gcwatch: Notify keeps its owner",
		file: "internal/gcwatch/gcwatch.go", old: "if o := w.Value(); o != nil &&", new: "if o := owner; w.Value() != nil &&",
		killer: killer{pkg: "internal/gcwatch", test: "TestNotifyLetsGo"},
	},
	{
		name: "learned: a damaged plan is read",
		file: "internal/learned/plan.go", old: "\tcase lines.Text() != want:\n\t\treturn errSum\n", new: "",
		killer: killer{pkg: "internal/learned", test: "TestEveryDamageIsFound"},
	},
	{
		name: "learned: a block's end overflows",
		file: "internal/learned/plan.go", old: "h.Off > math.MaxInt-h.Size", new: "h.Off > math.MaxInt",
		killer: killer{pkg: "internal/learned", test: "TestWhatIsNoPlan"},
	},
	{
		name: "wholefile: the file of a failed write stays",
		file: "internal/wholefile/wholefile.go", old: "errors.Join(err, os.RemoveAll(dir))", new: "errors.Join(err, nil)",
		killer: killer{pkg: "internal/wholefile", test: "TestReplace"},
	},
	{
		name: "wholefile: what is no file is removed",
		file: "internal/wholefile/wholefile.go", old: "err == nil && !old.Mode().IsRegular()", new: "false && !old.Mode().IsRegular()",
		killer: killer{pkg: "internal/wholefile", test: "TestReplaceOfADevice"},
	},
	{
		name: "learned: any peak is believed",
		file: "internal/learned/peak.go", old: " || fmt.Sprintf(peakFormat, n) != string(text)", new: "",
		killer: killer{pkg: "internal/learned", test: "TestPeaksAreReplacedAtOnce"},
	},
	{
		name: "learned: a run without use replaces the peak",
		file: "internal/learned/peak.go", old: "if peak == 0 {", new: "if peak < 0 {",
		killer: killer{pkg: "internal/learned", test: "TestPeaksAreReplacedAtOnce"},
	},
	{
		name: "pin: a refused barrier counts as one",
		file: "internal/pin/barrier_linux.go", old: "return errno == 0", new: "return errno >= 0",
		killer: killer{pkg: "internal/pin", test: "TestBarrierTellsWhetherItWas"},
	},
	{
		name: "pin: a barrier is none",
		file: "internal/pin/barrier_linux.go", old: "registered() && membarrier(privateExpedited)", new: "registered()",
		killer: killer{pkg: "internal/pin", test: "TestBarrierTellsWhetherItWas"},
	},
	{
		name: "pin: a fence is none",
		file: "internal/pin/fence.go", old: "\truntime.ReadMemStats(&m)\n", new: "\t_ = m\n\t_ = runtime.GC\n",
		killer: killer{pkg: "internal/pin", test: "TestFenceWaitsForThePinned"},
	},
	{
		name: "shape: the product of a shape overflows",
		file: "internal/shape/shape.go", old: "n > 0 && n > math.MaxInt/d", new: "false",
		killer: killer{pkg: "internal/shape", test: "TestSize"},
	},
	{
		name: "shape: a pointer within an array is overlooked",
		file: "internal/shape/shape.go", old: "\t\treturn pointer(t.Elem())\n", new: "\t\treturn \"\"\n",
		killer: killer{pkg: "internal/shape", test: "TestPointer"},
	},
	{
		name: "shape: an unsafe pointer is bytes",
		file: "internal/shape/shape.go", old: "k >= reflect.Bool && k <= reflect.Complex128", new: "k != reflect.Pointer && k != reflect.String && k != reflect.Slice && k != reflect.Map && k != reflect.Chan && k != reflect.Func && k != reflect.Interface",
		killer: killer{pkg: "internal/shape", test: "TestPointer"},
	},
	{
		name: "optline: an explicit zero is not judged",
		file: "internal/optline/key.go", old: "\treturn v, k.Range.has(v)\n", new: "\treturn v, true\n",
		killer: killer{pkg: "internal/optline", test: "TestFaults"},
	},
}
