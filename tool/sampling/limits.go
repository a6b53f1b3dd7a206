package sampling

// What is read from others stays within these.
const (
	// MaxDocument is how long a message, request or reply may be, in bytes.
	MaxDocument = 16 << 20
	// MaxMessages is how many messages a request may have.
	MaxMessages = 4096
	// MaxBlocks is how many blocks a message, or a tool's result, may have.
	MaxBlocks = 1024
	// MaxTools is how many tools a request may offer.
	MaxTools = 512
	// MaxName is how long the name of a tool and the id of a tool_use may be,
	// in bytes.
	MaxName = 256
)

// maxMembers bounds the members of an object that is taken apart; what is kept as
// it stands may have more.
const maxMembers = 1024
