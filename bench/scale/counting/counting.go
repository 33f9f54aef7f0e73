//go:build unix

// Package counting has a Mutex that counts, in a file that it shares with the process that started this one.
package counting

import (
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
	"unsafe"
)

// File is the variable of the environment that names the file. It has the size of a Table.
const File = "SCALE_LOCKS"

// A Line is what is known of all locks that are taken first at one place: how many there are, how often they were
// taken, for how many nanoseconds, how often another had the lock, and the nanoseconds of waiting for it.
type Line struct {
	place                                 [48]byte
	Locks, Taken, Held, Contended, Waited int64
}

// Name returns the place: file and line.
func (l *Line) Name() string {
	n := 0
	for n < len(l.place) && l.place[n] != 0 {
		n++
	}
	return string(l.place[:n])
}

// A Table is the whole file.
type Table [512]Line

// Read returns the table in a file.
func Read(file string) (t Table, err error) {
	text, err := os.ReadFile(file)
	copy(unsafe.Slice((*byte)(unsafe.Pointer(&t)), unsafe.Sizeof(t)), text)
	return t, err
}

var (
	table = share(os.Getenv(File))
	mu    sync.Mutex
	known = map[string]*Line{}
	begin = time.Now()
)

// share returns the table of a file, or one that nobody reads.
func share(file string) *Table {
	f, err := os.OpenFile(file, os.O_RDWR, 0)
	if err != nil {
		return new(Table)
	}
	defer f.Close()
	const both = syscall.PROT_READ | syscall.PROT_WRITE
	m, err := syscall.Mmap(int(f.Fd()), 0, int(unsafe.Sizeof(Table{})), both, syscall.MAP_SHARED)
	if err != nil {
		return new(Table)
	}
	return (*Table)(unsafe.Pointer(unsafe.SliceData(m)))
}

// of returns the line of the caller of Lock or TryLock.
func of() *Line {
	_, file, number, _ := runtime.Caller(3)
	place := filepath.Base(filepath.Dir(file)) + "/" + filepath.Base(file) + ":" + strconv.Itoa(number)
	mu.Lock()
	defer mu.Unlock()
	l := known[place]
	if l == nil {
		l = &table[len(known)]
		copy(l.place[:], place)
		known[place] = l
	}
	l.Locks++
	return l
}

// A Mutex is a sync.Mutex that counts. The zero Mutex is unlocked.
type Mutex struct {
	mu   sync.Mutex
	line *Line
	from time.Duration // when it was taken
}

// Lock is that of a sync.Mutex.
func (m *Mutex) Lock() {
	asked := time.Since(begin)
	if m.mu.TryLock() {
		m.got()
		return
	}
	m.mu.Lock()
	m.got()
	atomic.AddInt64(&m.line.Contended, 1)
	atomic.AddInt64(&m.line.Waited, int64(m.from-asked))
}

// TryLock is that of a sync.Mutex.
func (m *Mutex) TryLock() bool {
	if !m.mu.TryLock() {
		return false
	}
	m.got()
	return true
}

func (m *Mutex) got() {
	if m.line == nil {
		m.line = of()
	}
	m.from = time.Since(begin)
}

// Unlock is that of a sync.Mutex.
func (m *Mutex) Unlock() {
	l, held := m.line, time.Since(begin)-m.from
	m.mu.Unlock()
	atomic.AddInt64(&l.Taken, 1)
	atomic.AddInt64(&l.Held, int64(held))
}

// Line returns what is known of the lock, once it was taken.
func (m *Mutex) Line() *Line { return m.line }
