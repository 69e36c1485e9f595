// Package version holds the version of the SDK. It is a package of its own so
// that a loader can read the version of a vendored copy without loading the SDK.
package version

// Version is the semantic version of package sdk, without a leading "v".
const Version = "0.1.0"
