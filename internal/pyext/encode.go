package pyext

// appender is an event that writes its JSON itself.
type appender interface {
	AppendJSON(b []byte) []byte
	Size() int // About how many bytes that will be.
}
