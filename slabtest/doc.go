// Package slabtest lets a test fail for the buffers that it did not release, with the places where
// it got them.
//
//	func TestUpload(t *testing.T) {
//		pool := slabtest.Open(t, "device=mmap,max_bytes=64MiB")
//		Upload(pool, body) // the code under test
//	}
//
// At the end of the test the pool is closed. If a buffer is still out (not released), or was
// forgotten, the test fails and says
//
//	2 buffers of 5120 bytes were not released by the end of the test (pool device=mmap,max_bytes=64MiB,on_forget=report):
//		/src/upload.go:31: 1 buffer of 4096 bytes, still out
//		/src/upload.go:57: 1 buffer of 1024 bytes, forgotten: nothing reaches it any more
//	Each place is that of a Get, Share, Slice or Grow. Release what it returned once, on every path.
//	A buffer is out until its last part is released.
//
// The cast:
//
//	Open     opens a pool for one test, and looks at it when the test is over
//	NoLeaks  looks at any pool, now
//
// # Where it can be used
//
//   - In a table test, call Open in each subtest: a failure then names the case.
//   - With t.Parallel each test has a pool of its own. Subtests may also share the pool of their parent,
//     which is closed when all of them are over, also parallel ones. Only call NoLeaks for a shared
//     pool when no other subtest uses it.
//   - In a fuzz target, call Open with the *testing.T of the target: each input has its pool.
//   - In a benchmark, write on_forget=return into the line: to look at the call stack in each Get takes
//     longer than the Get. A failure then has the number of buffers, and no places.
//
// # What it is not for
//
// Package slabtest does not look for a use after Release (check=true or guard=1 in the line do), and
// not for goroutines that outlive the test: they must release their buffers before the test is over.
// It cannot tell a mistake from a buffer that growpool.Get has shown and left to the collector, and reports that as
// forgotten, too: test programs that use growpool.Acquire. To watch a program in production see
// [slab.Pool.Leaks] and [slab.Pool.WriteProfile].
package slabtest
