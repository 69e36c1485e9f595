// Command hello is the floor of starting a Go program. It is not an example.
package main

import "fmt"

func main() { fmt.Println("hello") }
