// Package array is a stub for tests.
package array

type Int64 struct{ values []int64 }

func (a *Int64) Retain()              {}
func (a *Int64) Release()             {}
func (a *Int64) Len() int             { return len(a.values) }
func (a *Int64) Int64Values() []int64 { return a.values }

type Int64Builder struct{ n int }

func NewInt64Builder(mem any) *Int64Builder   { return &Int64Builder{} }
func (b *Int64Builder) Retain()               {}
func (b *Int64Builder) Release()              {}
func (b *Int64Builder) Append(v int64)        {}
func (b *Int64Builder) NewInt64Array() *Int64 { return &Int64{} }
