//go:build !unix

package main

// mostConnections is a number that each system allows.
func mostConnections() int { return 1000 }
