module example.com/me/vendored

go 1.24

require (
	example.com/words v1.2.3
	github.com/idelchi/aura/sdk v0.0.1
)

replace example.com/words => ../elsewhere
