package slab

import (
	"github.com/bufslab/bufslab/slab/internal/budget"
	"github.com/bufslab/bufslab/slab/internal/upstream"
)

// budgetsOf returns the budgets that may refuse memory of a, the nearest first, the device's last. There
// may be none.
func budgetsOf(a Allocator) (list []*budget.Budget) {
	for l := range upstream.Layers(a) {
		if l, ok := l.(*Limit); ok {
			list = append(list, &l.budget)
		}
	}
	if b := budget.OfDevice(deviceOf(a)); b != nil {
		list = append(list, b)
	}
	return list
}
