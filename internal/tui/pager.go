package tui

// pager shows a piece of lines that may be more than the screen has.
type pager struct {
	lines []string
	at    int // the first one that is seen
}

func (p *pager) draw(height int) []string {
	p.at = max(0, min(p.at, len(p.lines)-height))
	return rect(append([]string(nil), p.lines[p.at:min(len(p.lines), p.at+max(height, 0))]...), height)
}

// below is how many lines are not seen yet.
func (p *pager) below(height int) int { return max(0, len(p.lines)-p.at-height) }

// shows reports whether a line is seen.
func (p *pager) shows(line, height int) bool {
	at := max(0, min(p.at, len(p.lines)-height))
	return line >= at && line < at+height
}

// key moves, and reports whether the key meant that.
func (p *pager) key(key string, height int) bool {
	switch key {
	case "up", "k":
		p.at--
	case "down", "j":
		p.at++
	case "pgup", "ctrl+b", "shift+space":
		p.at -= height - 1
	case "pgdown", "ctrl+f", "space":
		p.at += height - 1
	case "home", "g":
		p.at = 0
	case "end", "G":
		p.at = len(p.lines)
	default:
		return false
	}
	p.at = max(0, min(p.at, len(p.lines)-height))
	return true
}
