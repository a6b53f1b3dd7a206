package openai

import (
	"encoding/base64"
	"fmt"
	"slices"
	"strings"

	"github.com/parleyhq/parley/model/internal/provider"
	"github.com/parleyhq/parley/tool/sampling"
)

// images are the media types of pictures that OpenAI's models see.
var images = []string{"image/png", "image/jpeg", "image/webp", "image/gif"}

// picture is a block as a data URL, if it is one of a picture.
func picture(b sampling.Block) (string, bool) {
	mime, data := "", []byte(nil)
	switch b := b.(type) {
	case sampling.Image:
		mime, data = b.MIMEType, b.Data
	case sampling.Resource:
		mime, data = b.Contents.MIMEType, b.Contents.Blob
	}
	if !slices.Contains(images, mime) || len(data) == 0 {
		return "", false
	}
	return "data:" + mime + ";base64," + base64.StdEncoding.EncodeToString(data), true
}

// sound is a block's data and its format, if it is one of a sound.
func sound(b sampling.Block) (data, format string, ok bool) {
	audio, ok := b.(sampling.Audio)
	if !ok || len(audio.Data) == 0 {
		return "", "", false
	}
	switch audio.MIMEType {
	case "audio/wav", "audio/x-wav", "audio/wave", "audio/vnd.wave":
		format = "wav"
	case "audio/mpeg", "audio/mp3":
		format = "mp3"
	default:
		return "", "", false
	}
	return base64.StdEncoding.EncodeToString(audio.Data), format, true
}

// place is where a block stands in a request, for errors.
type place struct {
	c       provider.Config
	message int
	block   int
	within  string // a tool_result's content, such as ".content[1]"
}

func (p place) in(result int) place {
	p.within = fmt.Sprintf(".content[%d]", result)
	return p
}

func (p place) refuse(b sampling.Block, takes string) error {
	return p.c.CannotTake(fmt.Sprintf("messages[%d].content[%d]%s", p.message, p.block, p.within), b, takes)
}

// spoken are the words of blocks that have to consist of words.
func (p place) spoken(b sampling.Block, takes string) (string, error) {
	words, ok := provider.Words(b)
	if !ok {
		return "", p.refuse(b, takes)
	}
	return words, nil
}

// failed says in words that a result is an error, for which there is no other
// place.
const failed = "Error: "

// resultText is a tool's result, where all of it can be read.
func resultText(r sampling.ToolResult) (string, bool) {
	var words []string
	for _, b := range provider.Content(r) {
		text, ok := provider.Words(b)
		if !ok {
			return "", false
		}
		words = append(words, text)
	}
	text := strings.Join(words, "\n")
	if r.IsError {
		text = failed + text
	}
	return text, true
}
