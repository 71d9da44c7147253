"""A TextMate grammar at work: the scopes of every character of a text.

Follows the rules as far as our grammar uses them: the rule that matches first in the line wins,
of several the end of the block, then the one listed first.
"""
import re


class Grammar:
    def __init__(self, grammar):
        self.grammar = grammar
        self.compiled = {}

    def regex(self, pattern):
        if pattern not in self.compiled:
            self.compiled[pattern] = re.compile(pattern)
        return self.compiled[pattern]

    def rules(self, patterns):
        """Patterns with all includes put in place."""
        for pattern in patterns:
            if "include" in pattern:
                yield from self.rules([self.grammar["repository"][pattern["include"][1:]]])
            elif "match" in pattern or "begin" in pattern:
                yield pattern
            else:
                yield from self.rules(pattern["patterns"])

    def regexes(self):
        """Every pattern of the grammar, used or not."""
        found = []
        def walk(node):
            if isinstance(node, dict):
                found.extend(node[key] for key in ("match", "begin", "end") if key in node)
                for value in node.values():
                    walk(value)
            elif isinstance(node, list):
                for value in node:
                    walk(value)
        walk([self.grammar["patterns"], self.grammar["repository"]])
        return found

    def best(self, line, at, stack):
        """(match, rule) of what comes next; the rule is None at the end of a block."""
        patterns = stack[-1]["patterns"] if stack else self.grammar["patterns"]
        found = None
        if stack:
            match = self.regex(stack[-1]["end"]).search(line, at)
            found = match and (match, None)
        for rule in self.rules(patterns):
            match = self.regex(rule.get("match") or rule["begin"]).search(line, at)
            if match and (found is None or match.start() < found[0].start()):
                found = (match, rule)
        return found

    def scopes(self, text):
        """For every character the innermost scope, "" where there is none."""
        scopes = []
        stack = []
        for line in text.split("\n"):
            line += "\n"
            here = [""] * len(line)
            at = 0
            seen = set()  # states at one place: an empty match must not repeat
            while True:
                fill = stack[-1].get("name", "") if stack else ""
                found = self.best(line, at, stack)
                stop = found[0].start() if found else len(line)
                here[at:stop] = [fill] * (stop - at)
                if not found:
                    break
                match, rule = found
                state = (match.end(), len(stack), id(rule))
                if state in seen:
                    raise ValueError(f"endless at {line!r}")
                seen.add(state)
                paint(here, match, rule if rule is not None else stack[-1], rule is None)
                at = match.end()
                if rule is None:
                    stack.pop()
                elif "begin" in rule:
                    stack.append({"patterns": [], **rule})
                if at >= len(line):
                    break
            scopes.extend(here)
        return scopes[:-1]


def paint(here, match, rule, is_end):
    """Writes the scopes of one match and of its captures."""
    name = rule.get("name", "")
    captures = rule.get("endCaptures" if is_end else "beginCaptures", rule.get("captures", {}))
    here[match.start():match.end()] = [name] * (match.end() - match.start())
    for number, capture in captures.items():
        if match.group(int(number)) is not None:
            start, end = match.span(int(number))
            here[start:end] = [capture["name"]] * (end - start)
