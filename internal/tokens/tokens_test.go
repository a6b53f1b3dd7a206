package tokens

import (
	"strings"
	"testing"
	"time"
)

func TestCount(t *testing.T) {
	for text, want := range map[string]int{
		"":                          0,
		"hello":                     1,
		"hello world":               2,
		"Deny the operation":        4,
		"日本語":                       2,
		`{"path":"a.txt","n":1234}`: 11,
		"a\xff":                     1, // not UTF-8, so approximate
		"<|endoftext|>":             7, // means nothing in what somebody said
	} {
		if got := Count(text); got != want {
			t.Errorf("%q has %d tokens, want %d", text, got, want)
		}
	}
}

// To cut a text into pieces costs no exactness where there are words.
func TestPiecesCountAsTheWhole(t *testing.T) {
	for _, text := range []string{
		strings.Repeat("It's a long way, isn't it; she'll read 1234 files. ", 200),
		strings.Repeat("func main() {\n\tfmt.Println(\"hello\") // say it\n}\n\n", 200),
		strings.Repeat("  indented by two  and wide   gaps\n", 200),
	} {
		whole, err := load().Count(text)
		if err != nil {
			t.Fatal(err)
		}
		if got := Count(text); got < whole || got > whole+len(text)/pieceBytes {
			t.Errorf("%.20q…: counted %d in pieces, %d in one", text, got, whole)
		}
	}
}

func TestLongTextIsApproximate(t *testing.T) {
	text := strings.Repeat("a", 1<<20+1)
	if got := Count(text); got != 1<<18+1 {
		t.Errorf("got %d", got)
	}
}

// Nobody can make a count take long.
func TestHostileText(t *testing.T) {
	Count("loads the vocabulary")
	for name, piece := range map[string]string{
		"letters": "a", "blanks": " ", "breaks": "\n", "blanks and breaks": "\n ", "marks": "!", "zero width": "\u200d",
		"quotes": "'", "accents": "e\u0301", "no UTF-8": "\xff", "emoji": "👩‍👩‍👧‍👦", "digits": "7",
	} {
		for _, size := range []int{MostExact, 1 << 20} {
			began := time.Now()
			n := Count(strings.Repeat(piece, size/len(piece)))
			if took := time.Since(began); took > 2*time.Second || n == 0 {
				t.Errorf("%s: %d bytes took %v, %d tokens", name, size, took, n)
			}
		}
	}
}

func BenchmarkCount(b *testing.B) {
	for name, text := range map[string]string{
		"prose":   strings.Repeat("The quick brown fox jumps over the lazy dog. ", 22),
		"hostile": strings.Repeat("\n ", 500),
	} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				Count(text)
			}
		})
	}
}
