"""When cron texts fire in time zones, beside a second reading of the rules on Python's zoneinfo.

usage: fires_test.py FIRES [YEARS]
Ten years in five zones, of tz tables and of the rules behind them. Here a clock is followed minute by
minute; only a day on which nothing moves it is taken as a whole. The rules are those of
core/cron_time.h: a time of the day fires in the first minute in which the clock has reached it, what
follows the clock fires whenever the clock shows it.
"""
import datetime
import subprocess
import sys
import zoneinfo

DAY = 1440
EPOCH = datetime.datetime(1970, 1, 1, tzinfo=datetime.timezone.utc)
FIRST_DAY = EPOCH.toordinal()
# Zone -> the first year.
ZONES = {
    "Europe/Rome": 2031,  # the table ends in 2037
    "America/New_York": 2031,
    "Australia/Lord_Howe": 2031,  # half an hour
    "Africa/Casablanca": 2013,  # twice a year for Ramadan; from 2018 on the winter is the odd time
    "Pacific/Apia": 2005,  # a day is left out, 2011-12-30
}
TEXTS = [
    # Times of the day, in gaps, at their edges, in overlaps.
    "30 2 * * *", "0 2 * * *", "0 3 * * *", "59 1 * * *", "30 1 * * *", "15,45 1-2 * * *", "45 1 * * *",
    "15 2 * * *", "0 0 * * *", "59 23 * * *", "0 4 * * *", "@daily", "*/20 1-3 * * 0", "0 */2 * * sun",
    "10 0-22 * 3,10 sun", "*/30 0-12 25-31 mar,oct *", "0 1-3 1-7 4,11 *", "30 2-3 * 5-7 6,7", "7 1,2,3 * * 6",
    # Days: either day, the ends of months, leap days, a day that a zone leaves out.
    "0 9 13 * 5", "0 9 1 * mon", "0 12 29 2 *", "30 2 31 * *", "0 0 1 1 *", "@yearly", "@monthly", "@weekly",
    "0 9 30 12 *", "30 5 * dec fri", "0 6 */10 * *", "0 7 1-31 * 1-5", "5 4 30 4,6,9,11 *",
    # What follows the clock.
    "30 * * 3,10 sun", "@hourly", "15 0-23 * * 0", "45 */1 1-7 4,11 *", "*/20 * 25-31 MAR,OCT 7", "0 0-11,12-23 * 9 Sat",
    "* * 30 12 *", "20 * 29 feb *",
]
WORDS = {"@hourly": "0 * * * *", "@daily": "0 0 * * *", "@weekly": "0 0 * * 0", "@monthly": "0 0 1 * *",
         "@yearly": "0 0 1 1 *"}
MONTHS = "jan feb mar apr may jun jul aug sep oct nov dec".split()
WEEKDAYS = "sun mon tue wed thu fri sat".split()


def values(field, low, high, names=()):
    """The numbers that a field chooses."""
    def number(text):
        return names.index(text.lower()) + low if text.lower() in names else int(text)
    found = set()
    for part in field.split(","):
        part, _, step = part.partition("/")
        ends = [low, high] if part == "*" else [number(end) for end in part.split("-")]
        found |= set(range(ends[0], (high if step and len(ends) == 1 else ends[-1]) + 1, int(step or 1)))
    return found


class Cron:
    def __init__(self, text):
        minute, hour, day, month, weekday = WORDS.get(text, text).split()
        hours = values(hour, 0, 23)
        self.follows_clock = len(hours) == 24
        self.minutes = [h * 60 + m for h in sorted(hours) for m in sorted(values(minute, 0, 59))]
        self.minute_set = set(self.minutes)
        self.months = values(month, 1, 12, MONTHS)
        self.month_days = values(day, 1, 31)
        self.weekdays = {number % 7 for number in values(weekday, 0, 7, WEEKDAYS)}
        self.known = {}

    def day_is_chosen(self, date):
        by_day, by_weekday = date.day in self.month_days, date.isoweekday() % 7 in self.weekdays
        is_either = len(self.month_days) < 31 and len(self.weekdays) < 7
        return date.month in self.months and (by_day or by_weekday if is_either else by_day and by_weekday)

    def has_day(self, day):
        if day not in self.known:
            self.known[day] = self.day_is_chosen(datetime.date.fromordinal(FIRST_DAY + day))
        return self.known[day]

    def has(self, local):
        return local % DAY in self.minute_set and self.has_day(local // DAY)


def minute_of(year):
    return (datetime.date(year, 1, 1).toordinal() - FIRST_DAY) * DAY


def stretches(name, first, end):
    """(from, until, offset), all in minutes: found by asking for each hour, and then for each minute."""
    zone = zoneinfo.ZoneInfo(name)

    def offset(minute):
        ahead = (EPOCH + datetime.timedelta(minutes=minute)).astimezone(zone).utcoffset()
        assert ahead.total_seconds() % 60 == 0
        return int(ahead.total_seconds()) // 60
    found, start, known = [], first, offset(first)
    for hour in range(first, end, 60):
        if offset(hour + 60) != known:
            move = next(minute for minute in range(hour, hour + 61) if offset(minute) != known)
            found.append((start, move, known))
            start, known = move, offset(move)
    return [*found, (start, end, known)]


def fires(cron, parts, first):
    found, reached = [], None
    for start, until, offset in parts:
        at = start
        reached = start + offset - 1 if reached is None else reached
        while at < until:
            local = at + offset
            if local % DAY == 0 and local == reached + 1 and at + DAY <= until:
                found += [at + minute for minute in cron.minutes] if cron.has_day(local // DAY) else []
                at, reached = at + DAY, local + DAY - 1
                continue
            if cron.follows_clock:
                is_meant = cron.has(local)
            else:
                is_meant = any(cron.has(one) for one in range(reached + 1, local + 1))
            found += [at] if is_meant else []
            at, reached = at + 1, max(reached, local)
    return [minute for minute in found if minute >= first]


def main():
    years = int(sys.argv[2]) if len(sys.argv) > 2 else 10
    questions, expected = [], []
    for name, year in ZONES.items():
        first, end = minute_of(year), minute_of(year + years)
        parts = stretches(name, first - 4 * DAY, end)
        for text in TEXTS:
            questions.append(f"{first} {end} {name} {text}")
            expected.append(" ".join(map(str, fires(Cron(text), parts, first))))
    done = subprocess.run([sys.argv[1]], input="\n".join(questions) + "\n", stdout=subprocess.PIPE, text=True, check=False)
    answers = [line.strip() for line in done.stdout.split("\n")][:-1]
    faults = [one for one in zip(questions, expected, answers) if one[1] != one[2]]
    for question, wanted, answer in faults[:5]:
        wanted, answer = set(map(int, wanted.split())), set(map(int, answer.split()))
        print(question, "missing:", *[EPOCH + datetime.timedelta(minutes=one) for one in sorted(wanted - answer)[:3]],
              "superfluous:", *[EPOCH + datetime.timedelta(minutes=one) for one in sorted(answer - wanted)[:3]])
    count = sum(line.count(" ") + 1 for line in expected if line)
    print(f"{len(questions)} questions, {count} fires, {len(faults)} questions with another answer")
    return 1 if faults or done.returncode != 0 or len(answers) != len(questions) or count < 1000 else 0


sys.exit(main())
