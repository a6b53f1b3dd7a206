package syntax

import (
	"errors"
	"strings"
	"testing"
)

// units are pieces of code as people write it; a file of ten thousand lines is
// many of them.
var units = map[Language]string{
	Go: `
// Load reads the settings of a user, and what is missing from the defaults.
func (s *Store) LoadN(ctx context.Context, user string, options ...Option) (*Settings, error) {
	if user == "" {
		return nil, errors.New("no user")
	}
	settings := s.defaults.Clone()
	for _, o := range options {
		if err := o.apply(settings); err != nil && !errors.Is(err, ErrIgnored) {
			return nil, fmt.Errorf("applying %v: %w", o, err)
		}
	}
	rows, err := s.db.QueryContext(ctx, "SELECT key, value FROM settings WHERE user = ?", user)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	return settings, rows.Err()
}
`,
	Python: `
class StoreN(Base):
    """Keeps the settings of users."""

    def load(self, user, *options, default=None):
        """Reads the settings of a user, and what is missing from the defaults."""
        if not user:
            raise ValueError("no user")
        settings = dict(self.defaults)
        for option in options:
            try:
                option.apply(settings)
            except IgnoredError as error:  # not worth a word
                log.debug("applying %s: %s", option, error)
        rows = self.db.execute("SELECT key, value FROM settings WHERE user = ?", (user,))
        settings.update({key: value for key, value in rows if value is not None})

        return settings or default
`,
	JavaScript: `
/** Keeps the settings of users. */
class StoreN extends Base {
  load(user, options = [], fallback) {
    if (!user) {
      throw new Error('no user');
    }
    const settings = { ...this.defaults };
    for (const option of options) {
      try {
        option.apply(settings);
      } catch (error) { // not worth a word
        log.debug('applying', option, error);
      }
    }
    const rows = this.db.query('SELECT key, value FROM settings WHERE user = ?', [user]);
    rows.forEach(({ key, value }) => { settings[key] = value ?? fallback; });

    return settings;
  }
}
`,
	TypeScript: `
/** Keeps the settings of users. */
export class StoreN extends Base implements Loader<Settings> {
  async load(user: string, options: Option[] = [], fallback?: string): Promise<Settings> {
    if (!user) {
      throw new Error('no user');
    }
    const settings: Record<string, string> = { ...this.defaults };
    for (const option of options) {
      try {
        option.apply(settings);
      } catch (error) { // not worth a word
        log.debug('applying', option, error as Error);
      }
    }
    const rows = await this.db.query<Row>('SELECT key, value FROM settings WHERE user = ?', [user]);
    rows.forEach(({ key, value }) => { settings[key] = value ?? fallback; });

    return settings;
  }
}
`,
}

// tenThousandLines is a file of that length.
func tenThousandLines(l Language) []byte {
	unit := units[l]
	text := strings.Repeat(unit, 10_000/strings.Count(unit, "\n"))
	if l == Go {
		text = "package p\n" + text
	}
	return []byte(text)
}

func BenchmarkParse10000Lines(b *testing.B) {
	for _, l := range []Language{Go, Python, JavaScript, TypeScript} {
		src := tenThousandLines(l)
		b.Run(string(l), func(b *testing.B) {
			b.SetBytes(int64(len(src)))
			b.ReportAllocs()
			for b.Loop() {
				if f, err := Parse(b.Context(), l, "", src); err != nil || len(f.Errors) > 0 {
					b.Fatal(err, f)
				}
			}
		})
	}
}

// Whatever becomes of a million brackets, in the processor's time too: of those that
// are ten deep, and of those that stay open.
func BenchmarkMillionBrackets(b *testing.B) {
	open := hostileCase{"open", TypeScript, []byte(hostile(1_000_000)["mixed"])}
	for _, c := range append(millionBracketsTenDeep(), open) {
		b.Run(c.name, func(b *testing.B) {
			before := worked(b)
			for b.Loop() {
				if _, err := Parse(b.Context(), c.language, "", c.src); err != nil && !errors.Is(err, errTooNested) && !errors.Is(err, errTooDeep) && !errors.Is(err, errTooSlow) {
					b.Fatal(err)
				}
			}
			b.ReportMetric((worked(b)-before).Seconds()*1000/float64(b.N), "cpu-ms/op")
		})
	}
}
