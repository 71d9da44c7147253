"""A small tz database, so that no test depends on the machine's."""
import struct

ZONES = {
    "UTC": "UTC0",
    "Europe/Rome": "CET-1CEST,M3.5.0,M10.5.0/3",
    "Europe/Dublin": "IST-1GMT0,M10.5.0,M3.5.0/1",
    "America/New_York": "EST5EDT,M3.2.0,M11.1.0",
    "America/Nuuk": "<-02>2<-01>,M3.5.0/-1,M10.5.0/0",
    "Australia/Lord_Howe": "<+1030>-10:30<+11>-11,M10.1.0,M4.1.0",
    "Asia/Tehran": "<+0330>-3:30",
    "Asia/Kolkata": "IST-5:30",
    "posix/Europe/Rome": "CET-1CEST,M3.5.0,M10.5.0/3",
}


def content(rule, leap_seconds=0):
    """A file with one type of local time, no table, and a rule."""
    counts = struct.pack(">6L", 0, 0, leap_seconds, 0, 1, 4)
    part = b"TZif2" + bytes(15) + counts + bytes(6) + b"LMT\0"
    return part + bytes(8 * leap_seconds) + part + bytes(12 * leap_seconds) + b"\n" + rule.encode() + b"\n"


def write(folder):
    for name, rule in ZONES.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(content(rule))
    (folder / "leapseconds").write_text("no zone\n")
    (folder / "tzdata.zi").write_text("no zone\n")
