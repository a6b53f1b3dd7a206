package console

import (
	"embed"
	"io/fs"
)

//go:embed static
var embedded embed.FS

// Files are the console's pages, scripts and styles, index.html at the top.
func Files() fs.FS {
	files, err := fs.Sub(embedded, "static")
	if err != nil {
		panic(err) // "static" is a valid path
	}
	return files
}
