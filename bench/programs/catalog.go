package main

import "fmt"

// A program does the operations of a job, and returns an error if anything that comes out is
// not what went in.
type program struct {
	name, title string
	ops, few    int // operations of a run, and of -smoke
	run         func(*job) error
}

var programs = []program{
	{"arrow", "tables written to Parquet and read (arrow-go)", 180, 4, arrowTables},
	{"upload", "HTTP uploads of 256 KiB to 3 MiB", 1500, 12, uploads},
	{"json", "JSON answers of 3 KiB to 5 MiB", 6000, 40, answers},
	{"grpc", "gRPC echo of 2 to 512 KiB (grpc-go)", 6000, 40, echoes},
	{"proxy", "reverse proxy (net/http/httputil)", 4000, 40, proxied},
	{"blocks", "block cache of a storage engine", 3000, 40, blockCache},
	{"pipeline", "chunks read, compressed, written", 700, 8, pipeline},
	{"numbers", "numeric temporaries of many shapes", 16000, 80, temporaries},
	{"broker", "messages cut and fanned out", 6000, 40, broker},
	{"tiles", "map tiles drawn and encoded", 12000, 60, tiles},
}

// wrong says that a program did not do its work.
func wrong(got, want any) error { return fmt.Errorf("wrong answer: %v instead of %v", got, want) }
