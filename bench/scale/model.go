//go:build unix

package main

// A station is a lock as the model sees it: the nanoseconds of an operation that are spent under it.
type station float64

// waits returns the nanoseconds of an operation that wait for locks, where n processors have nothing else to do: by
// mean value analysis of a closed network of n customers, with a station for each lock, whose customers come and stay
// at random, and alone nanoseconds of an operation that are spent under none (M. Reiser, S. Lavenberg, Mean-Value
// Analysis of Closed Multichain Queuing Networks, 1980).
func waits(locks []station, alone float64, n int) float64 {
	length := make([]float64, len(locks)) // of the queue of each lock
	wait := 0.0
	for k := 1; k <= n; k++ {
		wait = 0
		total := alone
		for i, s := range locks {
			wait += float64(s) * length[i]
			total += float64(s) * (1 + length[i])
		}
		for i, s := range locks {
			length[i] = float64(k) * float64(s) * (1 + length[i]) / total
		}
	}
	return wait
}

// mostProcessors bounds what half looks at.
const mostProcessors = 4096

// half returns the least number of processors at which an operation waits as long as it works, or mostProcessors.
func half(locks []station, alone float64) int {
	work := alone + sum(locks)
	low, high := 1, mostProcessors
	for low < high {
		if n := (low + high) / 2; waits(locks, alone, n) >= work {
			high = n
		} else {
			low = n + 1
		}
	}
	return low
}
