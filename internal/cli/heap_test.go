package cli

import "testing"

func TestGrowth(t *testing.T) {
	for _, tt := range []struct {
		live uint64
		want int
	}{{0, 400}, {2 << 20, 350}, {4 << 20, 300}, {6 << 20, 166}, {8 << 20, 100}, {12 << 20, 100}, {100 << 20, 100}} {
		if got := growth(tt.live); got != tt.want {
			t.Errorf("%d MB: got %d, want %d", tt.live>>20, got, tt.want)
		}
	}
}
