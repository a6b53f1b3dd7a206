package sampling

// Prompt is a request of one user's message, to which other members may be added.
func Prompt(text string) Request {
	return Request{Messages: []Message{UserText(text)}}
}
