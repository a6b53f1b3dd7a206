// Says of JavaScript and TypeScript files what package syntax says, by the
// TypeScript compiler, whose folder is the argument.
//
// Every line of standard input names a file. For each of them a line of JSON
// follows: its facts, or null where the compiler itself does not parse it.
'use strict';
const fs = require('fs');
const ts = require(process.argv[2]);
const K = ts.SyntaxKind;

const isFunction = (n) => n.body && (ts.isFunctionDeclaration(n) || ts.isFunctionExpression(n) || ts.isArrowFunction(n) ||
  ts.isMethodDeclaration(n) || ts.isConstructorDeclaration(n) || ts.isGetAccessor(n) || ts.isSetAccessor(n));
const isLoop = (n) => ts.isForStatement(n) || ts.isForInStatement(n) || ts.isForOfStatement(n) || ts.isWhileStatement(n) || ts.isDoStatement(n);
const logical = new Set([K.AmpersandAmpersandToken, K.BarBarToken, K.QuestionQuestionToken,
  K.AmpersandAmpersandEqualsToken, K.BarBarEqualsToken, K.QuestionQuestionEqualsToken]);
const isLogical = (n) => ts.isBinaryExpression(n) && logical.has(n.operatorToken.kind);
const isElseIf = (n) => ts.isIfStatement(n) && ts.isIfStatement(n.parent) && n.parent.elseStatement === n;

function children(n) {
  const all = [];
  ts.forEachChild(n, (c) => { all.push(c); });
  return all;
}

// The decisions of a function itself, not of those within it.
function decisions(n) {
  let sum = 0;
  for (const c of children(n)) {
    if (isFunction(c)) continue;
    if (ts.isIfStatement(c) || isLoop(c) || ts.isCatchClause(c) || ts.isConditionalExpression(c) || ts.isCaseClause(c) || isLogical(c)) sum++;
    sum += decisions(c);
  }
  return sum;
}

// The cognitive complexity of what lies so deep.
function cognitive(n, depth) {
  let sum = 0;
  for (const c of children(n)) {
    sum += weight(c, depth) + cognitive(c, depth + (nests(n, c) ? 1 : 0) + (isFunction(c) ? 1 : 0));
  }
  return sum;
}

// What a node itself counts. Where it is the nested part of its parent, the
// parent's nesting counts too.
function weight(n, around) {
  const depth = around + (nests(n.parent, n) ? 1 : 0);
  let sum = 0;
  if (ts.isIfStatement(n)) {
    if (!isElseIf(n)) sum += 1 + depth;
    if (n.elseStatement) sum += 1;
  } else if (isLoop(n) || ts.isCatchClause(n) || ts.isConditionalExpression(n) || ts.isSwitchStatement(n)) {
    sum += 1 + depth;
  } else if (isLogical(n)) {
    let p = n.parent;
    while (ts.isParenthesizedExpression(p)) p = p.parent;
    if (!(isLogical(p) && p.operatorToken.kind === n.operatorToken.kind)) sum += 1;
  } else if (ts.isBreakOrContinueStatement(n) && n.label) {
    sum += 1;
  }
  return sum;
}

function nests(p, c) {
  if (ts.isIfStatement(p)) return c === p.thenStatement || (c === p.elseStatement && !ts.isIfStatement(c));
  if (isLoop(p)) return c === p.statement;
  if (ts.isCatchClause(p)) return c === p.block;
  if (ts.isSwitchStatement(p)) return c === p.caseBlock;
  return ts.isConditionalExpression(p) && c.kind !== K.QuestionToken && c.kind !== K.ColonToken;
}

function facts(file) {
  const all = [];
  const line = (pos) => file.getLineAndCharacterOfPosition(pos).line + 1;
  const pad = (n) => String(n).padStart(6, '0');
  const lines = (n) => pad(line(n.getStart(file))) + '-' + pad(line(n.end - 1));
  const text = (n) => file.text.slice(n.getStart(file), n.end);
  // A function begins at its own first word; decorators and export are around it.
  const begin = (n) => {
    const words = (n.modifiers || []).filter((m) => !ts.isDecorator(m) && m.kind !== K.ExportKeyword && m.kind !== K.DefaultKeyword && m.kind !== K.DeclareKeyword);
    if (words.length) return words[0].getStart(file);
    const shown = (n.modifiers || []).at(-1);
    if (!shown) return n.getStart(file);
    let pos = shown.end;
    while (/\s/.test(file.text[pos])) pos++;
    return pos;
  };
  const span = (n) => pad(line(begin(n))) + '-' + pad(line(n.end - 1));
  (function visit(n) {
    if (isFunction(n)) {
      const name = ts.isConstructorDeclaration(n) ? 'constructor' : n.name ? text(n.name) : '';
      all.push(`${span(n)} ${name} cyclomatic ${1 + decisions(n)} cognitive ${cognitive(n, 0)}`);
    } else if (ts.isClassLike(n)) {
      all.push(`${span(n)} class ${n.name ? text(n.name) : ''}`);
    } else if (ts.isInterfaceDeclaration(n)) {
      all.push(`${span(n)} interface ${text(n.name)}`);
    } else if (ts.isEnumDeclaration(n)) {
      all.push(`${span(n)} enum ${text(n.name)}`);
    } else if (ts.isTypeAliasDeclaration(n)) {
      all.push(`${span(n)} alias ${text(n.name)}`);
    } else if (ts.isImportDeclaration(n)) {
      all.push(`${lines(n)} import ${n.moduleSpecifier.text}`);
    } else if (ts.isExportDeclaration(n) && n.moduleSpecifier) {
      all.push(`${lines(n)} reexport ${n.moduleSpecifier.text}`);
    } else if (ts.isCallExpression(n) && ts.isIdentifier(n.expression) && n.expression.text === 'require' &&
        n.arguments.length === 1 && ts.isStringLiteral(n.arguments[0])) {
      all.push(`require ${n.arguments[0].text}`);
    }
    ts.forEachChild(n, visit);
  })(file);
  return all.sort();
}

for (const name of fs.readFileSync(0, 'utf8').split('\n')) {
  const source = fs.readFileSync(name, 'utf8');
  const kind = name.endsWith('.tsx') ? ts.ScriptKind.TSX : name.endsWith('ts') ? ts.ScriptKind.TS : ts.ScriptKind.JSX;
  const file = ts.createSourceFile(name, source, ts.ScriptTarget.Latest, true, kind);
  console.log(JSON.stringify(file.parseDiagnostics.length ? null : { facts: facts(file) }));
}
