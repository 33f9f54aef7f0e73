package relief

import (
	"log/slog"
	"time"
)

const (
	// The watcher looks once in calm while little is used, and else once in near. A look opens two files
	// of each group.
	calm, near = time.Second, 100 * time.Millisecond
	// rest is the least time between two looks.
	rest = 2 * time.Millisecond
	// lookShare bounds the time that looks take: one part in lookShare of all time.
	lookShare = 2000
	// epoch is the time between two calls of Age.
	epoch = 10 * time.Second
	// mostSteps is the number of steps without a sleep: enough for a terabyte. It matters for a pool that
	// takes memory as fast as memory goes back.
	mostSteps = 20
	// leastWait and mostWait bound the time until the watcher asks again after it got nothing.
	leastWait, mostWait = time.Second, time.Minute
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

	aged  time.Time
	cost  time.Duration // of a look
	idle  time.Duration // to wait after a step that got nothing; else 0
	until time.Time     // not to ask before
}

func startWatcher(g *group, log *slog.Logger) *watcher {
	system := g.system()
	w := &watcher{group: g, sensor: newSensor(system), aged: time.Now()}
	w.waiter = g.waiter(system)
	w.report(log)
	go w.run()
	return w
}

// report logs in one line the files that cannot be watched.
func (w *watcher) report(log *slog.Logger) {
	files, failed := w.waiter.watched()
	if w.sensor.odd != "" {
		failed = append(failed, w.sensor.odd)
	}
	if len(failed) > 0 {
		log.Warn("slab: pressure: some files cannot be watched", "failed", failed, "watched", files)
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
// a processor.
func (w *watcher) pause() time.Duration {
	d := calm
	if w.sensor.used > nearAt {
		d = near
	}
	return max(d, lookShare*w.cost)
}

// look gives back as long as memory is short and pools hold memory, some steps at a time.
func (w *watcher) look(event string) {
	begin := time.Now()
	why := w.sensor.short()
	if w.group.looked(); begin.Sub(w.aged) > epoch {
		w.aged = begin
		w.group.age()
	}
	w.cost = time.Since(begin)
	if why != "" {
		for n := 0; n < mostSteps && why != "" && w.give(why); n++ {
			why = w.sensor.short()
		}
	} else if event != "" {
		w.give(event) // a step for each event: nothing else says when it is enough
	}
}

// give takes a step, and reports whether that was worth it. If not, the watcher does not try again for a
// while, unless much is held.
func (w *watcher) give(why string) bool {
	if now := time.Now(); now.Before(w.until) && w.group.held() <= leastStep {
		return false
	}
	if w.group.step(why) > leastStep/16 {
		w.idle, w.until = 0, time.Time{}
		return true
	}
	w.idle = min(max(leastWait, 2*w.idle), mostWait)
	w.until = time.Now().Add(w.idle)
	return false
}

// held is the held memory of all members.
func (g *group) held() (n int64) {
	for _, m := range g.looked() {
		n += m.HeldBytes()
	}
	return n
}
