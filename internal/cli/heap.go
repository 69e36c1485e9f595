package cli

import (
	"os"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
)

const (
	// heapFloor is the size that the heap may reach before the garbage collector runs.
	// By itself it would start at 4 MB, and spend a quarter of the time of a fast
	// conversation on a heap that is never large.
	heapFloor = 16 << 20

	smallestHeap   = 4 << 20 // Where the collector starts at its usual percentage.
	usualPercent   = 100
	liveHeapMetric = "/gc/heap/live:bytes"
)

// raiseHeap applies heapFloor: the percentage by which the heap may grow between
// collections is large as long as the heap is small, and the usual one beyond. GOGC of
// the user wins.
func raiseHeap() {
	if os.Getenv("GOGC") != "" {
		return
	}
	debug.SetGCPercent(growth(0))
	afterCollection(func() {
		live := []metrics.Sample{{Name: liveHeapMetric}}
		metrics.Read(live)
		debug.SetGCPercent(growth(live[0].Value.Uint64()))
	})
}

// growth is the percentage for a heap with so many bytes in use.
func growth(live uint64) int {
	if live >= heapFloor {
		return usualPercent
	}
	// The percentage raises smallestHeap, too: that is what counts below it.
	return max(usualPercent, int(usualPercent*(heapFloor-live)/max(live, smallestHeap)))
}

// afterCollection calls f after every garbage collection.
func afterCollection(f func()) {
	var again func(*[16]byte)
	again = func(*[16]byte) {
		f()
		runtime.SetFinalizer(new([16]byte), again)
	}
	runtime.SetFinalizer(new([16]byte), again)
}
