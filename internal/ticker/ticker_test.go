package ticker

import (
	"runtime"
	"testing"
	"testing/synctest"
	"time"
)

type owner struct {
	calls int
	_     *owner // so that it shares no memory with others of no pointers
}

func count(o *owner) (more bool) {
	o.calls++
	return o.calls < 5
}

func TestCallsUntilToldOrStopped(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		told, stopped := &owner{}, &owner{}
		Start(told, time.Second, count)
		s := Start(stopped, time.Second, count)
		time.Sleep(2500 * time.Millisecond) // of the bubble's clock
		s.Stop()
		time.Sleep(time.Minute)
		synctest.Wait()
		if told.calls != 5 || stopped.calls != 2 {
			t.Errorf("called %d and %d times", told.calls, stopped.calls)
		}
		var none *Ticker
		none.Stop()
	})
}

// However short the time is, the function finds its timer; what nothing else reaches is not kept.
func TestTheOwnerIsNotKept(t *testing.T) {
	gone := make(chan struct{})
	func() {
		o := &owner{}
		runtime.AddCleanup(o, func(c chan struct{}) { close(c) }, gone)
		Start(o, 1, func(*owner) bool { return true })
		runtime.KeepAlive(o)
	}()
	for {
		runtime.GC()
		select {
		case <-gone:
			return
		default:
			runtime.Gosched()
		}
	}
}
