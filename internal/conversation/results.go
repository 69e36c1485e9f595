package conversation

import "slices"

// ResultLimit bounds what tool results may cost. The zero value is no limit.
type ResultLimit struct {
	Tokens int // Most tokens of one result.
	// Most percent of the window that may be full afterwards; counts in place of Tokens where the window is known.
	Percent float64
}

// minResult is what a result may always take, in tokens: less would say nothing.
const minResult = 256

// ResultRoom is how many tokens a result may take; 0 is no limit. used is the rough size of
// the next request without it. texts are the result and those of the calls after it that
// ran together with it. Where the window is what counts, the results of one response share
// what is left of it: those that are known are cut alike, and calls that have not run find
// some room too. A nested result is that of a call made by a tool: it is part of another one.
func (c *Conversation) ResultRoom(l ResultLimit, window, used int, texts []string, nested bool) int {
	if l.Percent <= 0 || window <= 0 {
		return l.Tokens
	}
	waiting := c.Turn.waiting()
	room := int(float64(window)*l.Percent/100) - c.Tokens.Real(used+waiting.taken)
	if !nested {
		room -= minResult * (waiting.open - len(texts))
	}
	sizes, others := make([]int, len(texts)), 0
	for i, text := range texts {
		if sizes[i] = c.Tokens.Size(text); i > 0 {
			others += sizes[i]
		}
	}
	return max(room-others, share(room, sizes), minResult)
}

// share is the size to which the larger ones must be cut so that all fit into room.
func share(room int, sizes []int) int {
	slices.Sort(sizes)
	for i, size := range sizes {
		if left := len(sizes) - i; size*left > room {
			return room / left
		}
		room -= size
	}
	return room
}
