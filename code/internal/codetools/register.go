package codetools

import "github.com/parleyhq/parley/tool"

// Register adds all tools to a server.
func (p *Project) Register(s *tool.Server) {
	tool.Add(s, analyzeCode, p.AnalyzeCode)
	tool.Add(s, extractCode, p.ExtractCode)
	tool.Add(s, fileContext, p.FileContext)
	tool.Add(s, symbolReferences, p.SymbolReferences)
	tool.Add(s, projectMap, p.ProjectMap)
	tool.Add(s, updateSymbol, p.UpdateSymbol)
	tool.Add(s, securityScan, p.SecurityScan)
}

// reads is what tools do to the world that change nothing.
var reads = tool.Annotations{ReadOnly: true, Idempotent: true, ClosedWorld: true}

// languages are those that every tool knows, as clients see them: tsx is
// TypeScript to them.
var languages = []string{"go", "python", "javascript", "typescript"}
