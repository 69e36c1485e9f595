package own

import "strings"

func Loud(s string) string { return strings.ToUpper(s) }
