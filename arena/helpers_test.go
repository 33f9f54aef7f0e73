package arena

import "github.com/bufslab/bufslab/internal/pooltest"

type point struct {
	X, Y float64
	Tag  byte
}

var (
	openPool     = pooltest.Open
	openLine     = pooltest.OpenLine
	everyStack   = pooltest.EveryStack
	checkNoneOut = pooltest.NoneOut
	gets         = pooltest.Gets
	doesPanic    = pooltest.Panics
	checkedPool  = pooltest.Checked
	writeBeyond  = pooltest.WriteBeyond
	beginsIn     = pooltest.BeginsIn
)
