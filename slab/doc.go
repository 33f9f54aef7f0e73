// Package slab says how memory is reused.
package slab
