package relief

import (
	"log/slog"
	"time"
)

const (
	// The watcher looks once in calm while little is used, and else once in near. A look opens two files
	// of each group. However long a look took, the next one comes within calm: beside a collector that runs
	// without a pause the time of a look says more of the collector than of the look.
	calm, near = 750 * time.Millisecond, 100 * time.Millisecond
	// rest is the least time between two looks.
	rest = 2 * time.Millisecond
	// lookShare bounds the time that looks take, within calm: one part in lookShare of all time.
	lookShare = 2000
	// epoch is the time between two calls of Age.
	epoch = 10 * time.Second
	// mostSteps is the number of steps without a sleep: enough for a terabyte. It matters for a pool that
	// takes memory as fast as memory goes back.
	mostSteps = 20
	// again is the time until the watcher asks again after it got nothing. Nothing tells it when keepers have
	// got idle memory meanwhile.
	again = calm
)

// A waiter sleeps until time is up or something has happened.
type waiter interface {
	// wait returns the event, "" if time is up. It returns false after stop.
	wait(d time.Duration) (event string, more bool)
	stop()
	watched() (files, failed []string)
}

// A watcher is the loop of a group, on a goroutine of its own.
type watcher struct {
	group  *group
	sensor *sensor
	waiter waiter
	log    *slog.Logger // of the first member

	aged  time.Time
	cost  time.Duration // of a look
	until time.Time     // not to ask before, after a step that got nothing
	left  int64         // the least held memory since that step
}

func startWatcher(g *group, log *slog.Logger) *watcher {
	system := g.system()
	w := &watcher{group: g, sensor: newSensor(system), log: log, aged: time.Now()}
	w.waiter = g.waiter(system)
	go w.run()
	return w
}

// report logs in one line the files that cannot be watched.
func (w *watcher) report() {
	files, failed := w.waiter.watched()
	if w.sensor.odd != "" {
		failed = append(failed, w.sensor.odd)
	}
	if len(failed) > 0 {
		w.log.Warn("slab: pressure: some files cannot be watched", "failed", failed, "watched", files)
	}
}

// end tells the loop to end and does not wait: a hook that the loop calls may close the last pool.
func (w *watcher) end() { w.waiter.stop() }

func (w *watcher) run() {
	for {
		event, more := w.waiter.wait(w.pause())
		if !more {
			return
		}
		w.look(event)
		time.Sleep(rest)
	}
}

// pause is the time to sleep: less near a limit, but long enough that looks take no more than their share of
// a processor, and never beyond the next time to ask.
func (w *watcher) pause() time.Duration {
	d := calm
	if w.sensor.used > nearAt {
		d = near
	}
	d = min(max(d, lookShare*w.cost), calm)
	if ask := time.Until(w.until); ask > 0 {
		d = min(d, ask)
	}
	return d
}

// look gives back as long as memory is short and pools hold memory, some steps at a time.
func (w *watcher) look(event string) {
	begin := time.Now()
	why := w.sensor.short()
	w.group.looked()
	w.cost = time.Since(begin)
	if text := w.sensor.changed; text != "" {
		w.sensor.changed = ""
		w.log.Warn("slab: pressure: a limit has changed: " + text)
		for _, m := range w.group.looked() {
			m.LimitChanged()
		}
	}
	if begin.Sub(w.aged) > epoch {
		w.aged = begin
		w.group.age()
	}
	if why != "" {
		for n := 0; n < mostSteps && why != "" && w.give(why); n++ {
			why = w.sensor.short()
		}
	} else if event != "" {
		w.group.step(event) // a step for each event: nothing else says when it is enough
	}
}

// give takes a step, and reports whether that was worth it. If not, the watcher does not try again for a
// while, unless much more is held.
func (w *watcher) give(why string) bool {
	held := w.group.held()
	w.left = min(w.left, held)
	if time.Now().Before(w.until) && held <= w.left+leastStep {
		return false
	}
	w.sensor.answer()
	if w.group.step(why) > leastGain {
		w.until = time.Time{}
		return true
	}
	w.until, w.left = time.Now().Add(again), w.group.held()
	return false
}

// held is the held memory of all members.
func (g *group) held() (n int64) {
	for _, m := range g.looked() {
		n += m.HeldBytes()
	}
	return n
}
