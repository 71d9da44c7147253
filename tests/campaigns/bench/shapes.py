"""Schemas that are long in one way each: `count` times the same kind of thing.

SHAPES has for each the verb of culexc, a count that shows its growth, and what writes the text.
"""


def many(text, count, between="\n"):
    """`text` with its number in the place of each #."""
    return between.join(text.replace("#", str(at)) for at in range(count))


def struct(inside):
    return "struct s {\nint8 a;\n" + inside + "\n}\n"


def job(params, settings=""):
    return "job j {\nparams {\n" + params + "\n}\n" + settings + "\n}\n"


def allowed(item, count):
    """Each with a comment that allows something ten times over."""
    return many(item + " // culexc:allow(" + ", ".join(10 * ["secret-default"]) + ") early", count)


SHAPES = {
    # Names that are reserved, in one statement and in many, beside few and many that are not.
    "reserved names": ("check", 2000, lambda n: struct("reserved " + many('"r#"', n, ", ") + ";")),
    "reserved statements": ("check", 10000, lambda n: struct(many('reserved "r#";', n))),
    "reserved among fields": ("check", 300, lambda n: struct(
        many("int8 f#;", n) + "reserved " + many('"r#"', 10 * n, ", ") + ";")),
    "reserved among values": ("check", 300, lambda n: "enum e {\n" + many("V#", n, ", ") + ",\nreserved " +
                              many("100000#", 10 * n, ", ") + ";\n}\n"),
    # Lists of one field, job or setting.
    "attributes": ("check", 2000, lambda n: "struct s { int8 a [[" + many("x_#", n, ", ") + "]]; }"),
    "attributes given twice": ("check", 2000, lambda n: "struct s { int8 a [[" + many("secret", n, ", ") + "]]; }"),
    "exceptions": ("check", 1000, lambda n: "struct s { int8 a [[" +
                   many('allow_breaking("x#", "why")', n, ", ") + "]]; }"),
    "key": ("check", 400, lambda n: job(many("int8 p#;", n), "concurrency 1 by (" + many("p#", n, ", ") + ");")),
    "unknown key": ("check", 1000, lambda n: job("int8 a;", "unique by (" + many("b#", n, ", ") + ") for 1h;")),
    "unknown key among params": ("check", 400, lambda n: job(
        many("int8 p#;", n), "unique by (" + many("q#", n, ", ") + ") for 1h;")),
    "tags": ("check", 2000, lambda n: "job j { tags " + many('"t#"', n, ", ") + "; }"),
    # Comments.
    "comments behind": ("check", 8000, lambda n: struct("int8 b;\n" + many("///< word #", n))),
    "comments in an item": ("check", 2000, lambda n: "struct s { int8 a [[\n" + many("x_#, ///< word", n) + "\nx_last]]; }"),
    "allowed warnings": ("check", 400, lambda n: job(allowed('string p# [[secret]] = "x";', n))),
    "allowed for nothing": ("lint", 400, lambda n: job(allowed("string p#_at;", n))),
    # Declarations.
    "enum values": ("check", 1000, lambda n: "enum e { " + many("V#", n, ", ") + " }"),
    "params": ("check", 400, lambda n: job(many("int8 p#;", n))),
    "types": ("check", 500, lambda n: many("struct s# { int8 a; }\nenum e# { A }", n)),
    "unknown types": ("check", 500, lambda n: many("struct s# { t# a; }", n)),
    "unknown policies": ("check", 300, lambda n: many("retry_policy p# { max 3; }\njob j# { retry q#; }", n)),
    "defaults": ("check", 300, lambda n: "defaults { " + many("priority 1;", n) + "}\n" + many("job j# {}", n)),
    "steps of a shared policy": ("check", 1000, lambda n: "retry_policy p { backoff steps " + many("1s", n, ", ") +
                                 "; }\n" + many("job j# { retry p; }", n)),
    "package": ("check", 1000, lambda n: "package a" + ".a" * n + ";\n" + struct(many("t# f#;", 100))),
    # What the other verbs walk through.
    "lint of jobs": ("lint", 200, lambda n: many("job j# { params { int8 a; string b; } }", n)),
    "fmt of fields": ("fmt", 300, lambda n: struct(many("int8 f#; // why #", n))),
    "ir of jobs": ("ir", 200, lambda n: many("job j# { params { int8 a; string b; } }", n)),
    "doc of jobs": ("doc", 200, lambda n: many("job j# { params { int8 a; string b; } }", n)),
}

# Changes, as two texts, for breaking and lock.
CHANGES = {
    "jobs that stay": (1000, lambda n: many("job j# { params { int8 a; } }", n),
                       lambda n: many("job j# { params { int8 a; } }", n)),
    "jobs that went, and others": (300, lambda n: many("job j# { params { int8 a#; } }", n),
                                   lambda n: many("job k# { params { int8 b#; } }", n)),
    "jobs of another package": (300, lambda n: "package a;\n" + many("job j# { params { int8 a#; } }", n),
                                lambda n: "package b;\n" + many("job j# { params { int8 a#; } }", n)),
    "reserved names that stay": (1500, lambda n: struct("reserved " + many('"r#"', n, ", ") + ";") + job("s value;"),
                                 lambda n: struct("reserved " + many('"r#"', n, ", ") + ";") + job("s value;")),
    "reserved numbers that stay": (
        1500, lambda n: "enum e { A, reserved " + many("1#", n, ", ") + "; }\n" + job("e value;"),
        lambda n: "enum e { A, reserved " + many("1#", n, ", ") + "; }\n" + job("e value;")),
    "params that went, and others": (500, lambda n: job(many("int8 a#;", n)), lambda n: job(many("int8 b#;", n))),
    "values that went, and others": (1000, lambda n: "enum e { " + many("A#", n, ", ") + " }\n" + job("e value;"),
                                     lambda n: "enum e { " + many("B#", n, ", ") + " }\n" + job("e value;")),
    "types that stay": (2000, lambda n: many("struct s# { int8 a; }", n), lambda n: many("struct s# { int8 a; }", n)),
}
