package syntax_test

import (
	"context"
	"fmt"

	"github.com/parleyhq/parley/code/internal/syntax"
)

func ExampleParse() {
	f, err := syntax.Parse(context.Background(), syntax.Python, "app.py", []byte(`
class Shop:
    def total(self, items):
        return sum(i.price for i in items if i)
`))
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, fn := range f.Functions {
		fmt.Println(fn.Qualified, "on line", fn.Span.Line, "has complexity", fn.Cyclomatic)
	}
	// Output: Shop.total on line 3 has complexity 3
}
