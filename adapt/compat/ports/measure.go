//go:build unix

package main

import (
	"encoding/json"
	"os"
	"os/exec"
	"runtime"
	"syscall"
	"time"
)

// measuring is the first argument of a process of this command that runs one program and reports on it. A program's
// peak memory is at least that of the process that starts it: so a small one does, and not the one that compiled.
const measuring = "-measure"

// Usage is what a program took.
type usage struct {
	Time, Processor time.Duration
	Resident        float64 // bytes, at most; of the largest process if it started others
	Failed          bool
}

// measure runs a program and writes its usage to a file. It does not return.
func measure(to string, command []string) {
	c := exec.Command(command[0], command[1:]...)
	c.Stdout, c.Stderr = os.Stdout, os.Stderr
	begin := time.Now()
	err := c.Run()
	u := usage{Time: time.Since(begin), Failed: err != nil}
	var r syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_CHILDREN, &r); err != nil {
		panic(err)
	}
	u.Processor = time.Duration(r.Utime.Nano() + r.Stime.Nano())
	u.Resident = float64(r.Maxrss)
	if runtime.GOOS != "darwin" {
		u.Resident *= 1024
	}
	text, err := json.Marshal(u)
	if err == nil {
		err = os.WriteFile(to, text, 0o666)
	}
	if err != nil {
		panic(err)
	}
	os.Exit(0)
}

// measured has a process of this command run a program in a directory, and returns what it took. What the program
// prints goes to a file.
func measured(dir string, env []string, print, program string, args ...string) (u usage, err error) {
	self, err := os.Executable()
	if err != nil {
		return u, err
	}
	out, err := os.Create(print)
	if err != nil {
		return u, err
	}
	defer out.Close()
	c := exec.Command(self, append([]string{measuring, print + ".json", program}, args...)...)
	c.Dir, c.Env, c.Stdout, c.Stderr = dir, env, out, out
	if err := c.Run(); err != nil {
		return u, err
	}
	text, err := os.ReadFile(print + ".json")
	if err != nil {
		return u, err
	}
	return u, json.Unmarshal(text, &u)
}
