// Package tokens counts the tokens of texts, for whatever has to fit into a
// model's window.
//
// Models have tokenizers of their own, and most are not published. The count
// here is that of [Name], which several use and which is close to the others
// for prose and code. A text that is too long to be counted quickly, or is not
// UTF-8, is counted as [Approximate] says.
//
// # Concurrency
//
// All functions may be called from any goroutine. The vocabulary, 7 MB, is
// loaded at the first count, which takes about 10 ms.
package tokens

import (
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/tiktoken-go/tokenizer/codec"
)

// Name is the tokenizer that counts.
const Name = "o200k_base"

// MostExact is how long a text may be, in bytes, that is counted exactly.
const MostExact = 64 << 10

// bytesPerToken is what English prose comes to.
const bytesPerToken = 4

// Approximate estimates how many tokens a text has: its bytes by four, rounded
// up.
func Approximate(text string) int { return OfBytes(len(text)) }

// OfBytes is [Approximate] for a text of n bytes.
func OfBytes(n int) int { return (n + bytesPerToken - 1) / bytesPerToken }

// Count is how many tokens a text has.
func Count(text string) int {
	if len(text) > MostExact || !utf8.ValidString(text) {
		return Approximate(text)
	}
	c, n := load(), 0
	for text != "" {
		piece := text[:cut(text)]
		text = text[len(piece):]
		some, err := c.Count(piece)
		if err != nil {
			some = Approximate(piece)
		}
		n += some
	}
	return n
}

var load = sync.OnceValue(codec.NewO200kBase)

// pieceBytes bounds what the tokenizer gets at once: the time that it takes for
// runs of blanks and line breaks grows with the square of their length.
const pieceBytes = 1 << 10

// cut is where the first piece of a text ends: before a blank between a letter
// and a letter, where a token ends in any case. A text without one is cut
// anywhere, which may count a token or two too many.
func cut(text string) int {
	if len(text) <= pieceBytes {
		return len(text)
	}
	for i := pieceBytes - 1; i > pieceBytes/2; i-- {
		if text[i] == ' ' && letter(text[i-1]) && letter(text[i+1]) {
			return i
		}
	}
	end := pieceBytes
	for !utf8.RuneStart(text[end]) {
		end--
	}
	return end
}

func letter(c byte) bool { return strings.IndexByte(letters, c) >= 0 }

const letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
