// Package media is what messages and results of tools carry besides text.
package media

// Image is a picture that travels with a message.
type Image struct {
	MediaType string `json:"media_type"` // For example "image/png".
	Data      []byte `json:"data"`       // Base64 in JSON.
}
