// Package procgroup ends programs together with everything they started. It starts
// nothing and waits for nobody: how much time a program gets is for its callers to say.
package procgroup
