package others

import (
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
)

func arrow(pool any) int {
	b := array.NewInt64Builder(pool)
	b.Append(1)
	b.Release()
	b.Append(2) // want `counted memory is used after its Release`
	a := b.NewInt64Array()
	defer a.Release()
	return a.Len()
}

func arrowRetained(pool any) int {
	b := array.NewInt64Builder(pool)
	a := b.NewInt64Array()
	b.Release()
	a.Retain()
	a.Release()
	n := a.Len()
	a.Release()
	return n
}

func arrowOfOthers(a *array.Int64) int {
	a.Release()
	return a.Len()
}

func arrowShared(pool any, keep func(*memory.Buffer)) []byte {
	b := memory.NewResizableBuffer(pool)
	keep(b)
	b.Release()
	return b.Bytes()
}

func arrowBytes(pool any) byte {
	b := memory.NewResizableBuffer(pool)
	b.Resize(10)
	m := b.Bytes()
	b.Release()
	return m[0] // want `slice of the counted memory is used after its Release`
}

func arrowMade(pool any) int {
	b := array.NewInt64Builder(pool)
	b.Append(1)
	b.Release()
	a := b.NewInt64Array() // want `counted memory is used after its Release`
	defer a.Release()
	return a.Len()
}
