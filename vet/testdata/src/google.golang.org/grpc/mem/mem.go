// Package mem is a stub for tests.
package mem

type BufferPool interface {
	Get(length int) *[]byte
	Put(*[]byte)
}

type Buffer interface {
	ReadOnlyData() []byte
	Ref()
	Free()
	Len() int
}

func NewBuffer(data *[]byte, pool BufferPool) Buffer { return nil }
func Copy(data []byte, pool BufferPool) Buffer       { return nil }

type BufferSlice []Buffer

func (s BufferSlice) Free()                                      {}
func (s BufferSlice) Ref()                                       {}
func (s BufferSlice) Len() int                                   { return 0 }
func (s BufferSlice) MaterializeToBuffer(pool BufferPool) Buffer { return nil }
