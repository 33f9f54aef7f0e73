package metal

import (
	"os"
	"runtime"
	"strings"
	"testing"
	"unsafe"

	"github.com/bufslab/bufslab/device/metal/internal/double"
	"github.com/bufslab/bufslab/internal/check"
)

// What the double is there to notice, it has to notice. A raw is a GPU with a queue and two buffers, and
// no package in between.
type raw struct {
	*hardware
	queue, a, b id
}

const rawBytes = 1 << 12

// commands returns a command buffer and an encoder of it. It needs a pool.
func (r *raw) commands() (buffer, blit id) {
	buffer = r.ask(r.queue, selCommandBuffer)
	return buffer, r.ask(buffer, selBlit)
}

// do is a command buffer as it should be.
func (r *raw) do(encode func(blit id)) {
	r.pooled(func() {
		buffer, blit := r.commands()
		encode(blit)
		r.tell(blit, selEndEncoding)
		r.tell(buffer, selCommit)
		r.tell(buffer, selWait)
	})
}

// name sends a message that package metal does not.
func (r *raw) name(to id, selector string) id {
	other := api{call: r.call, registerName: r.registerName, send: r.send}
	text := append([]byte(selector), 0)
	other.sel[0], _, _ = r.call(r.registerName, uintptr(unsafe.Pointer(&text[0])))
	runtime.KeepAlive(text)
	return other.ask(to, 0)
}

// punished are the mistakes, and what the double says of each.
var punished = []struct {
	name, says string
	make       func(t *testing.T, r *raw)
}{
	{"an object is released too often", "released too often: buffer", func(t *testing.T, r *raw) {
		b := r.ask(r.gpu, selNewBuffer, rawBytes, storageShared)
		r.release(b)
		r.release(b)
	}},
	{"a message to what is gone", "message contents to what is gone: buffer", func(t *testing.T, r *raw) {
		b := r.ask(r.gpu, selNewBuffer, rawBytes, storageShared)
		r.release(b)
		r.tell(b, selContents)
	}},
	{"work on a buffer that was freed, which nothing has kept", "freed before the work was done", func(t *testing.T, r *raw) {
		lazy(t)
		b := r.ask(r.gpu, selNewBuffer, rawBytes, storageShared)
		r.pooled(func() {
			buffer := r.name(r.queue, "commandBufferWithUnretainedReferences")
			blit := r.ask(buffer, selBlit)
			r.copy(blit, r.a, 0, b, 0, 4)
			r.tell(blit, selEndEncoding)
			r.tell(buffer, selCommit)
			r.release(b)
			r.tell(buffer, selWait)
			if code := r.tell(r.ask(buffer, selError), selCode); code != 3 {
				t.Errorf("the work ends with code %d, and not with a page fault", code)
			}
		})
	}},
	{"a copy of 6 bytes", "no multiples of 4", func(t *testing.T, r *raw) {
		r.do(func(blit id) { r.copy(blit, r.a, 0, r.b, 0, 6) })
	}},
	{"a copy from offset 2", "no multiples of 4", func(t *testing.T, r *raw) {
		r.do(func(blit id) { r.copy(blit, r.a, 0, r.b, 2, 4) })
	}},
	{"a fill at offset 3", "no multiples of 4", func(t *testing.T, r *raw) {
		r.do(func(blit id) { r.tell(blit, selFill, uintptr(r.a), 3, 4, 1) })
	}},
	{"a fill of nothing", "a fill of 0 bytes", func(t *testing.T, r *raw) {
		r.do(func(blit id) { r.tell(blit, selFill, uintptr(r.a), 0, 0, 1) })
	}},
	{"a copy beyond the end", "of a buffer of 4096", func(t *testing.T, r *raw) {
		r.do(func(blit id) { r.copy(blit, r.a, rawBytes-4, r.b, 0, 8) })
	}},
	{"a copy that overlaps itself", "overlaps itself", func(t *testing.T, r *raw) {
		r.do(func(blit id) { r.copy(blit, r.a, 4, r.a, 0, 8) })
	}},
	{"a commit with an encoder open", "while an encoder is not ended", func(t *testing.T, r *raw) {
		r.pooled(func() {
			buffer, blit := r.commands()
			r.tell(buffer, selCommit)
			r.tell(blit, selEndEncoding)
		})
	}},
	{"an encoder that is not ended", "an encoder goes that was not ended", func(t *testing.T, r *raw) {
		r.pooled(func() { r.commands() })
	}},
	{"an encoder that is ended twice", "ended twice", func(t *testing.T, r *raw) {
		r.do(func(blit id) { r.tell(blit, selEndEncoding) })
	}},
	{"an encoder that is used after its end", "used after its end", func(t *testing.T, r *raw) {
		r.pooled(func() {
			_, blit := r.commands()
			r.tell(blit, selEndEncoding)
			r.copy(blit, r.a, 0, r.b, 0, 4)
		})
	}},
	{"an event while an encoder is open", "an event while an encoder is not ended", func(t *testing.T, r *raw) {
		e := r.ask(r.gpu, selNewEvent)
		r.pooled(func() {
			buffer, blit := r.commands()
			r.tell(buffer, selEncodeSignal, uintptr(e), 1)
			r.tell(blit, selEndEncoding)
		})
		r.release(e)
	}},
	{"a commit for the second time", "a commit after the commit", func(t *testing.T, r *raw) {
		r.pooled(func() {
			buffer := r.ask(r.queue, selCommandBuffer)
			r.tell(buffer, selCommit)
			r.tell(buffer, selCommit)
		})
	}},
	{"a wait for what was not committed", "not committed", func(t *testing.T, r *raw) {
		r.pooled(func() { r.tell(r.ask(r.queue, selCommandBuffer), selWait) })
	}},
	{"a wait for an event that nobody raises", "a wait for work that waits for ever", func(t *testing.T, r *raw) {
		set(t, "PATIENCE", 0)
		e := r.ask(r.gpu, selNewEvent)
		r.pooled(func() {
			buffer := r.ask(r.queue, selCommandBuffer)
			r.tell(buffer, selEncodeWait, uintptr(e), 1)
			r.tell(buffer, selCommit)
			r.tell(buffer, selWait)
			r.tell(e, selSetSignaled, 1)
			r.tell(buffer, selWait)
		})
		r.release(e)
	}},
	{"a copy to what is no buffer", "buffer that is not there, or gone", func(t *testing.T, r *raw) {
		r.do(func(blit id) { r.copy(blit, r.queue, 0, r.a, 0, 4) })
	}},
	{"private memory that is not to be copied", "bytes that are not copied", func(t *testing.T, r *raw) {
		r.tell(r.gpu, selNewWithoutCopy, r.tell(r.a, selContents), uintptr(os.Getpagesize()), storagePrivate, 0)
	}},
	{"65 command buffers", "behind 64 that are not completed", func(t *testing.T, r *raw) {
		lazy(t)
		r.pooled(func() {
			last := id(0)
			for range 65 {
				last = r.ask(r.queue, selCommandBuffer)
				r.tell(last, selCommit)
			}
			r.tell(last, selWait)
		})
	}},
	{"an object without a pool", "on a thread without a pool: string", func(t *testing.T, r *raw) {
		onThread(func() { r.tell(r.gpu, selName) })
	}},
	{"a pool of another thread", "a pool that this thread has not pushed", func(t *testing.T, r *raw) {
		r.pooled(func() {
			pool, _, _ := r.call(r.poolPush)
			onThread(func() { r.call(r.poolPop, pool) })
			r.call(r.poolPop, pool)
		})
	}},
	{"contents of private memory", "contents of a private buffer", func(t *testing.T, r *raw) {
		b := r.ask(r.gpu, selNewBuffer, rawBytes, storagePrivate)
		r.tell(b, selContents)
		r.release(b)
	}},
	{"memory that begins between pages", "are no pages", func(t *testing.T, r *raw) {
		if r.ask(r.gpu, selNewWithoutCopy, r.tell(r.a, selContents)+8, uintptr(os.Getpagesize()), storageShared, 0) != 0 {
			t.Error("there is a buffer")
		}
	}},
	{"memory that ends between pages", "are no pages", func(t *testing.T, r *raw) {
		if r.ask(r.gpu, selNewWithoutCopy, r.tell(r.a, selContents), uintptr(os.Getpagesize())-8, storageShared, 0) != 0 {
			t.Error("there is a buffer")
		}
	}},
	{"a buffer of no bytes", "a buffer of 0 bytes", func(t *testing.T, r *raw) { r.tell(r.gpu, selNewBuffer, 0, storageShared) }},
	{"an event that falls", "an event goes from 5 to 4", func(t *testing.T, r *raw) {
		e := r.ask(r.gpu, selNewEvent)
		r.tell(e, selSetSignaled, 5)
		r.tell(e, selSetSignaled, 4)
		r.release(e)
	}},
	{"a method that there is not", "buffer does not know status", func(t *testing.T, r *raw) { r.tell(r.a, selStatus) }},
}

// onThread runs f on another thread of the system, and waits.
func onThread(f func()) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		runtime.LockOSThread() // and never unlocked: the thread ends with the goroutine
		f()
	}()
	<-done
}

func TestDoublePunishes(t *testing.T) {
	for _, p := range punished {
		t.Run(p.name, func(t *testing.T) {
			h := anew(t)[0]
			r := &raw{hardware: h, queue: check.Ok(h.newQueue())(t)}
			r.a, r.b = h.ask(h.gpu, selNewBuffer, rawBytes, storageShared), h.ask(h.gpu, selNewBuffer, rawBytes, storageShared)
			double.Mistakes()
			p.make(t, r)
			if n, last := double.Mistakes(); n == 0 || !strings.Contains(last, p.says) {
				t.Errorf("%d mistakes, the last: %q", n, last)
			}
			for _, o := range []id{r.a, r.b, r.queue} {
				h.release(o)
			}
		})
	}
}

// And of a program without a mistake it says nothing.
func TestDoubleLetsPass(t *testing.T) {
	h := anew(t)[0]
	before := double.Living()
	r := &raw{hardware: h, queue: check.Ok(h.newQueue())(t)}
	r.a, r.b = h.ask(h.gpu, selNewBuffer, rawBytes, storageShared), h.ask(h.gpu, selNewBuffer, rawBytes, storageShared)
	r.do(func(blit id) {
		r.tell(blit, selFill, uintptr(r.a), 0, rawBytes, 7)
		r.copy(blit, r.b, 4, r.a, 0, 8)
	})
	m := pointer(h.tell(r.b, selContents))
	if got := (*[16]byte)(m); got[3] == 7 || got[4] != 7 || got[11] != 7 || got[12] == 7 {
		t.Errorf("% x", got[:])
	}
	for _, o := range []id{r.a, r.b, r.queue} {
		h.release(o)
	}
	if n := double.Living() - before; n != 0 {
		t.Errorf("%d objects are left", n)
	}
}
