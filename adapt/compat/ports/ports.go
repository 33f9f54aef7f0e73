//go:build unix

package main

var ports = []*port{pebble("pebble, cgo", "1"), pebble("pebble, no cgo", "0"), thanos, rclone, nats, quic, badger}
