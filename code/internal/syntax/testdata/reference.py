"""Says of Python files what package syntax says, by Python's own parser.

Every line of standard input names a file. For each of them a line of JSON
follows: its facts, and how many lines of which sort it has, or null where
Python itself does not parse it.
"""

import ast
import io
import json
import sys
import tokenize

LOOPS = (ast.For, ast.AsyncFor, ast.While)
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)


def is_wildcard(case):
    return (isinstance(case.pattern, ast.MatchAs) and case.pattern.pattern is None
            and case.pattern.name is None and case.guard is None)


def decisions(node):
    """The decisions of a function itself, not of those within it."""
    n = 0
    for child in ast.iter_child_nodes(node):
        if isinstance(child, FUNCTIONS):
            continue
        n += own(child) + decisions(child)
    return n


def own(node):
    if isinstance(node, (ast.If, ast.IfExp, ast.ExceptHandler) + LOOPS):
        return 1
    if isinstance(node, ast.comprehension):
        return 1 + len(node.ifs)
    if isinstance(node, ast.match_case):
        return (0 if is_wildcard(node) else 1) + (1 if node.guard else 0)
    if isinstance(node, ast.BoolOp):
        return len(node.values) - 1
    return 0


def cognitive(function):
    body = function.body if isinstance(function.body, list) else [function.body]
    total = sum(count(part, 0, None) for part in body)
    return total + count(function.args, 0, None)


def many(nodes, depth):
    return sum(count(node, depth, None) for node in nodes)


def count(node, depth, around):
    """The cognitive complexity of a node so deep within a logical operator."""
    if isinstance(node, ast.If):
        return 1 + depth + branches(node, depth)
    if isinstance(node, LOOPS):
        head = [node.test] if isinstance(node, ast.While) else [node.target, node.iter]
        n = 1 + depth + many(head, depth) + many(node.body, depth + 1)
        return n + (1 + many(node.orelse, depth + 1) if node.orelse else 0)
    if isinstance(node, ast.ExceptHandler):
        return 1 + depth + (count(node.type, depth, None) if node.type else 0) + many(node.body, depth + 1)
    if isinstance(node, ast.IfExp):
        return 1 + depth + many(ast.iter_child_nodes(node), depth + 1)
    if isinstance(node, ast.Match):
        return 1 + depth + count(node.subject, depth, None) + many(node.cases, depth + 1)
    if isinstance(node, ast.BoolOp):
        operator = type(node.op)
        return (0 if operator is around else 1) + sum(count(v, depth, operator) for v in node.values)
    if isinstance(node, FUNCTIONS):
        outside = getattr(node, 'decorator_list', [])
        inside = [c for c in ast.iter_child_nodes(node) if c not in outside]
        return many(outside, depth) + many(inside, depth + 1)
    return many(ast.iter_child_nodes(node), depth)


def branches(node, depth):
    n = count(node.test, depth, None) + many(node.body, depth + 1)
    if not node.orelse:
        return n
    first = node.orelse[0]
    if len(node.orelse) == 1 and isinstance(first, ast.If) and is_elif(first):
        return n + 1 + branches(first, depth)
    return n + 1 + many(node.orelse, depth + 1)


def is_elif(node):
    return LINES[node.lineno - 1].encode()[node.col_offset:].startswith(b'elif')


def facts(tree):
    def function(node, name):
        return '%06d-%06d %s cyclomatic %d cognitive %d' % (
            node.lineno, node.end_lineno, name, 1 + decisions(node), cognitive(node))

    for node in ast.walk(tree):
        if isinstance(node, ast.Lambda):
            yield function(node, 'lambda')
        elif isinstance(node, FUNCTIONS):
            doc = ' documented' if ast.get_docstring(node) is not None else ''
            mark = ' async' if isinstance(node, ast.AsyncFunctionDef) else ''
            yield function(node, node.name) + doc + mark
        elif isinstance(node, ast.ClassDef):
            yield '%06d-%06d class %s' % (node.lineno, node.end_lineno, node.name)
        elif isinstance(node, ast.Import):
            for name in node.names:
                yield '%06d import %s as %s' % (node.lineno, name.name, name.asname or '')
        elif isinstance(node, ast.ImportFrom):
            names = ', '.join('%s as %s' % (a.name, a.asname or '') for a in node.names)
            yield '%06d from %s%s import %s' % (node.lineno, '.' * node.level, node.module or '', names)


def sorts(text, tree):
    """How many lines are code, comments (docstrings too) and blank."""
    doc = set()
    for node in ast.walk(tree):
        if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)):
            if ast.get_docstring(node) is not None:
                doc.add((node.body[0].lineno, node.body[0].col_offset))
    comment, code = set(), set()
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        lines = range(token.start[0], token.end[0] + 1)
        offset = len(token.line[:token.start[1]].encode())
        if token.type == tokenize.COMMENT or (token.start[0], offset) in doc:
            comment.update(lines)
        elif token.type not in (tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER):
            code.update(lines)
    blank = {i for i, line in enumerate(LINES, 1) if not line.strip(' \t\r\n\f\v')}
    total = set(range(1, len(LINES) + 1))
    comment = (comment - code) - blank
    return [len(total), len(total - comment - blank), len(comment), len(blank)]


for name in sys.stdin.read().splitlines():
    with open(name, 'rb') as file:
        source = file.read().decode()
    LINES = source.split('\n')
    if LINES[-1] == '':
        LINES.pop()
    try:
        parsed = ast.parse(source)
    except SyntaxError:
        print('null')
        continue
    print(json.dumps({'facts': sorted(facts(parsed)), 'lines': sorts(source, parsed)}))
