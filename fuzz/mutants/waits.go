package main

// Mutants of those who wait for memory, and of who wakes them.
var ofWaits = []mutant{
	{
		name: "wait: what comes back to a promise wakes none around it",
		file: "slab/limit.go", old: "for at := l; wake && at != nil; at = at.parent {", new: "if at := l; wake {",
		killer: killer{pkg: "slab", test: "TestWhatComesBackToAPromiseWakes"},
	},
	{
		name: "wait: more than the device has queues",
		file: "slab/wait.go", old: "if p.exceedsDevice(size) {", new: "if err != errQueued && p.exceedsDevice(size) {",
		killer: killer{pkg: "slab", test: "TestMoreThanTheDeviceHasDoesNotQueue"},
	},
	{
		name: "wait: caches stay on while somebody waits",
		file: "slab/internal/budget/budget.go",
		old:  "\t\t\thurry(m)\n", new: "\t\t\t_ = m\n",
		killer: killer{pkg: "slab", test: "TestWhatMakesRoomWakes"},
	},
	{
		name: "wait: caches stay off when nobody waits",
		file: "slab/internal/budget/budget.go",
		old:  "\t\t\trelax(m)\n", new: "\t\t\t_ = m\n",
		killer: killer{pkg: "slab", test: "TestWhatMakesRoomWakes"},
	},
	{
		name: "wait: calm forgets what waits for a stream",
		file: "slab/member.go",
		old:  " && s.WaitingBlocks == 0 && p.pending.Len() == 0", new: "",
		killer: killer{pkg: "slab", test: "TestAWaiterDoesNotWaitForAStream"},
	},
	{
		name: "wait: calm forgets what others have of the Limit",
		file: "slab/internal/budget/budget.go",
		old:  "b.InUse == nil || b.InUse() <= c.Managed", new: "c.Managed >= 0",
		killer: killer{pkg: "slab", test: "TestAWaiterHasWhatOthersHaveOfALimit"},
	},
	{
		name: "wait: who moves to another budget stays in the first queue",
		file: "slab/wait.go",
		old:  "\t\t\t\tat.Leave(w)\n", new: "",
		killer: killer{pkg: "slab", test: "TestAWaiterIsInOneQueue"},
	},
	{
		name: "wait: a budget says what is hopeless of another",
		file: "slab/wait.go",
		old:  "!outOfMemory(err) {\n\t\t\t\treturn b, err", new: "!outOfMemory(err) || hopeless {\n\t\t\t\treturn b, err",
		killer: killer{pkg: "slab", test: "TestAWaiterIsInOneQueue"},
	},
	{
		name: "wait: a request of the whole device fails",
		file: "slab/wait.go",
		old:  "int64(size) > total", new: "int64(size) >= total",
		killer: killer{pkg: "slab", test: "TestARequestOfTheWholeDeviceWaits"},
	},
	{
		name: "wait: a done context keeps what it got",
		file: "slab/wait.go",
		old:  "\t\tb.discard()\n", new: "\t\t_ = b\n",
		killer: killer{pkg: "slab", test: "TestADoneContextEndsTheWait"},
	},
	{
		name: "wait: streams are not drained for who waits",
		file: "slab/member.go",
		old:  "\tp.cache.Stop()\n\tp.waitForStreams()\n", new: "\tp.cache.Stop()\n",
		killer: killer{pkg: "slab", test: "TestAWaiterHasWhatStreamsGiveBack"},
	},
	{
		name: "wait: what passes upstream is not in the way",
		file: "slab/member.go",
		old:  "p.accounting.Passing()", new: "p.closed.Load()",
		killer: killer{pkg: "slab", test: "TestAWaiterHasWhatAnotherCallGivesBack"},
	},
	{
		name: "wait: what a call has in hand is not in the way",
		file: "slab/member.go",
		old:  "usageOf(p.strategy, managed).ManagedBytes() != managed", new: "managed < 0",
		killer: killer{pkg: "slab", test: "TestAWaiterHasWhatAnotherCallGivesBack"},
	},
	{
		name: "wait: a Get that fails wakes nobody",
		file: "slab/get.go",
		old:  "\t\tdefer p.wake()\n", new: "\t\t_ = p\n",
		killer: killer{pkg: "slab", test: "TestAWaiterHasWhatAnotherCallGivesBack"},
	},
	{
		name: "wait: a try wakes itself",
		file: "slab/get.go",
		old:  "if how != again {", new: "if how >= quickly {",
		killer: killer{pkg: "slab", test: "TestATryDoesNotWakeItself"},
	},
	{
		name: "wait: two tries are in each other's way",
		file: "slab/wait.go",
		old:  "\tdefer p.budgets[len(p.budgets)-1].Lead()()\n", new: "",
		killer: killer{pkg: "slab", test: "TestTriesOfTwoQueues"},
	},
	{
		name: "wait: who looks does not wait for a Trim",
		file: "slab/member.go",
		old:  "\tp.reclaimMu.Lock()\n\tdefer p.reclaimMu.Unlock()\n\tif p.acc", new: "\tif p.acc",
		killer: killer{pkg: "slab", test: "TestAWaiterBesideATrim"},
	},
	{
		name: "wait: a wake in the last look is missed",
		file: "slab/wait.go",
		old:  " && len(w.Woken) == 0", new: "",
		killer: killer{pkg: "slab", test: "TestAWaiterThatIsWokenLooksAgain"},
	},
	{
		name: "wait: what a guard gives back wakes nobody",
		file: "slab/forgotten.go",
		old:  "\t\tp.wake()\n", new: "",
		killer: killer{pkg: "slab", test: "TestAWaiterHasWhatAGuardGivesBack"},
	},
	{
		name: "wait: a strategy below stops without reclaimMu",
		file: "slab/reclaim.go",
		old:  "q.stopHolding(below(q.upstream).StopHolding)", new: "q.stopHolding(func() {})\n\tbelow(q.upstream).StopHolding()",
		killer: killer{pkg: "slab", test: "TestAWaiterHasWhatAStrategyBelowGivesBack"},
	},
	{
		name: "wait: a Limit wakes for a range without memory",
		file: "slab/limit.go",
		old:  "n > 0 && (drawn || l.inUse < l.refused)", new: "drawn || l.inUse < l.refused",
		killer: killer{pkg: "slab", test: "TestATryDoesNotWakeItself"},
	},
	{
		name: "wait: a Limit wakes for what was never drawn",
		file: "slab/limit.go",
		old:  "(drawn || l.inUse < l.refused)", new: "n > 0",
		killer: killer{pkg: "slab", test: "TestATryDoesNotWakeItself"},
	},
	{
		name: "wait: a Limit is silent on what was never drawn",
		file: "slab/limit.go",
		old:  "(drawn || l.inUse < l.refused)", new: "drawn",
		killer: killer{pkg: "slab", test: "TestAWaiterHasWhatWasReservedInVain"},
	},
	{
		name: "wait: a Limit wakes for old news",
		file: "slab/limit.go",
		old:  "\t\tl.refused = 0\n", new: "",
		killer: killer{pkg: "slab", test: "TestATryDoesNotWakeItselfForOldNews"},
	},
	{
		name: "wait: a refusal of the second part is news",
		file: "slab/limit.go",
		old:  "if first {", new: "if first || n > 0 {",
		killer: killer{pkg: "slab", test: "TestATryDoesNotWakeItself"},
	},
	{
		name: "wait: a parent is told of what was never drawn",
		file: "slab/guarantee.go",
		old:  "l.parent.refund(-more, wakes)", new: "l.parent.refund(-more, wakes || more < 0)",
		killer: killer{pkg: "slab", test: "TestATryDoesNotWakeItself"},
	},
}
