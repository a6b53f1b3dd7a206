package safe

import "testing"

func TestShortID(t *testing.T) {
	for id, want := range map[string]string{
		"p":                                    "p",
		"fulfilment-of-the-first":              "fulfilment-of-the-first",
		"0199a9f3-c1b2-7c3d-8e4f-5a6b7c8d9e0f": "0199a9f3-c1b2-7c3d",
		"a-very-long-id-that-somebody-made-up": "a-very-long-id-that-",
	} {
		if got := ShortID(id); got != want {
			t.Errorf("ShortID(%q) = %q, want %q", id, got, want)
		}
	}
}
