"""Places for the words of the language, and what the editors show at some places of the feature
schemas. A § stands for the word that is looked at."""

# Kind of place in codegen/server/words.def -> texts in which a word of it stands there.
PLACES = {
    "FILE": ["§ x", "enum e { A } § x"],
    "JOB": ["job a { § x", "job a { params { int8 x; } § x"],
    "SETTING": ["job a { § x", "defaults { § x", "defaults { priority 3; § x"],
    "POLICY": ["retry_policy p { § 1; }", "job a { retry { max 1; § 1; } }",
               "defaults { retry { § 1; } }"],
    "RETRY": ["job a { retry §; }", "defaults { retry §; }"],
    "BACKOFF": ["retry_policy p { backoff § 2s; }"],
    "GROWTH": ["retry_policy p { backoff linear 2s § 2; }"],
    "SPREAD": ["retry_policy p { jitter §; }"],
    "KEEP": ["job a { keep § 1h; }", "job a { keep success 1h, § 1h; }"],
    "UNIQUE": ["job a { unique § (x); }", "job a { unique by (x) § (x); }"],
    "STATE": ["job a { unique while (§); }", "job a { unique while (waiting, §); }"],
    "CONFLICT": ["job a { unique on_conflict §; }"],
    "BY": ["job a { concurrency 8 § (x); }", "job a { rate 8 per 1m § (x); }"],
    "PER": ["job a { rate 8 § 1m; }"],
    "BURST": ["job a { rate 8 per 1m § 2; }", "job a { rate 8 per 1m by (x) § 2; }"],
    "EVERY": ["job a { every 1m § 1s; }"],
    "ZONE": ['job a { cron "* * * * *" § "UTC"; }'],
    "MISSED": ['job a { cron "* * * * *" tz "UTC" § once; }'],
    "CATCHUP": ['job a { cron "* * * * *" tz "UTC" missed §; }'],
    "BOOL": ["struct s { bool b = §; }", "job a { params { bool b [[x_a(1)]] = §; } }"],
    "TYPE": ["struct s { § x; }", "job a { params { int8 x; § x; } }",
             "job a { returns { optional § x; } }", "struct s {\n    § x;\n}"],
    "BASE": ["enum e : § { A }", "enum e:§{A}"],
    "ON_FIELD": ["struct s { int8 x [[§]]; }", "job a { returns { int8 x[2] [[x_a, §(1)]]; } }"],
    "ON_PARAM": ["job a { params { int8 x [[§(1)]] = 2; } }"],
    "ON_JOB": ["job a [[§]];", 'job a [[x_b("c"), §("d")]] { }'],
    "ON_ENUM": ["enum e [[§]] { A }"],
    "ON_STRUCT": ["struct s [[§]] { int8 x; }"],
    "ON_VALUE": ["enum e { A [[§]], B }", 'enum e { A = 1 [[§("x")]] }'],
}
# Words of one place that need different texts.
WORDS = {
    ("FIELD", "optional"): ["struct s { § int8 x; }", "job a { params { int8 x; § p.t x; } }"],
    ("FIELD", "reserved"): ['struct s { § "x"; }', 'job a { params { int8 x; § "a", "b"; } }'],
    ("ENUM", "reserved"): ['enum e { § "X" }', "enum e { A, § 3, 4, B }"],
}

# Names that look like words of the language and are none here: text with §, name.
NAMES = [("struct s { string §; }", "queue"), ("struct s { string §; }", "reserved"),
         ("struct s { bool §; }", "true"), ("job a { params { int8 §; } }", "params"),
         ("job a { params { int8 § [[max(3)]]; } }", "max"),
         ("job § { params { int8 x; } }", "job"), ("retry_policy § { max 3; }", "keep"),
         ("enum e { § }", "none"), ("struct s { e x = §; }", "success"),
         ("job a { unique by (§); }", "active"), ("job a { retry §; }", "steps"),
         ("struct s { optional shop.§ x; }", "string")]

# File, text before the place, the place, Vim's group, TextMate's scope.
SPOTS = [
    ("mail.job", "", "package", "jobKeyword", "keyword.other.declaration"),
    ("mail.job", "package ", "shop", "jobPath", "entity.name.namespace"),
    ("mail.job", 'import "', "common", "jobString", "string.quoted.double"),
    ("common.job", "enum ", "lang", "jobName", "entity.name.type"),
    ("common.job", "lang : ", "uint8", "jobType", "storage.type.builtin"),
    ("common.job", "{ ", "EN", "jobEnumValue", "constant.other.enum"),
    ("common.job", "EN = ", "1", "jobNumber", "constant.numeric.integer"),
    ("common.job", "[[len(", "3", "jobNumber", "constant.numeric.integer"),
    ("common.job", "exponential ", "2s", "jobDuration", "constant.numeric.duration"),
    ("mail.job", "shop.", "lang", "jobFieldType", "entity.name.type.reference"),
    ("mail.job", "shop.lang ", "lang", "jobFieldName", "variable.parameter"),
    ("mail.job", "lang = ", "EN", "jobConstant", "constant.other.enum"),
    ("mail.job", "optional ", "string", "jobType", "storage.type.builtin"),
    ("mail.job", "///< ", "RFC", "jobDoc", "comment.line.documentation"),
    ("mail.job", 'reserved "', "bcc", "jobString", "string.quoted.double"),
    ("mail.job", "by (", "to", "jobKey", "variable.parameter"),
    ("mail.job", "retry ", "remote", "jobPolicyName", "entity.name.type.reference"),
    ("words.job", "string ", "queue", "jobFieldName", "variable.parameter"),
    ("settings.job", "memory ", "256M", "jobSize", "constant.numeric.size"),
    ("retries.job", "jitter ", "0.5", "jobFloat", "constant.numeric.float"),
    ("words.job", "", "// Words", "jobComment", "comment.line.double-slash"),
    ("retries.job", "job ", "linear_retry", "jobName", "entity.name.type"),
    ("attributes.job", "", "x_owner", "jobAttrOwn", "entity.other.attribute-name.own"),
    ("attributes.job", '"customer"), ', "must_understand", "jobAttr", "entity.other.attribute-name"),
    ("text.job", '??= ', "\\\\", "jobEscape", "constant.character.escape"),
    ("text.job", "0", "\\x31", "jobEscape", "constant.character.escape"),
    ("text.job", "", "///< second", "jobDoc", "comment.line.documentation"),
    ("types_defaults.job", 'x"', "00", "jobBytes", "string.quoted.other.bytes"),
    ("nightly.job", 'tz "', "Europe", "jobString", "string.quoted.double"),
]
