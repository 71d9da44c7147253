"""The page of culex console, in a real browser without a screen: each view, keys, colours, widths, hostile texts.

usage: page_test.py CULEX-CONSOLE CULEX NAP HELD STORE [Class.test_NAME]...
Ends with 77 where chromium, its driver or selenium is missing.
"""
import ctypes
import json
import os
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import unittest

try:
    from selenium import webdriver
    from selenium.webdriver.chrome.service import Service
    from selenium.webdriver.common.by import By
    from selenium.webdriver.common.keys import Keys
    MISSING = [name for name in ("chromium", "chromedriver") if shutil.which(name) is None]
except ImportError:
    MISSING = ["python3-selenium"]
if MISSING:
    print("skipped:", ", ".join(MISSING), "is missing")
    sys.exit(77)

from served import CONSOLE, CULEX, HELD, STORE, Served

READ, OPERATE = "read-0123456789abcdef", "operate-0123456789abcdef"
VIEWS = ["", "runs", "dead", "schedules", "workers", "schemas", "enqueue", "enqueue/naps/scribe", "schema/naps/tell", "queue/naps",
         "queue/naps?show=figures", "limits", "limit/held/pen:concurrency", "batch", "queue/nops", "nothing"]
HOSTILE = "<script>document.title='owned'</script><img src=x onerror=\"document.title='owned'\">\u202eevil\u2066" + "W" * 10000

# Errors, and what of them is one cause.
FOLDED = [("450 mailbox of x.y+z@mail.example is busy", "450 mailbox of … is busy"), ("HTTP 503 after 12 s", "HTTP 503 after 12 s"),
          ("order 10422 is gone", "order … is gone"), ("no file \"a b\", 'c' or `d`", "no file …, … or …"), ("can't open, won't wait", "can't open, won't wait"),
          ("run 01a22d7f-4f59-7826-b394-100000000fff", "run …"), ("at 0x7ffe, digest 9f86d081884c7d65", "at …, digest …"), ("defaced facade", "defaced facade"),
          ("10.1.2.3:587 and 2001:db8::17 refuse", "…:587 and … refuse"), ("std::bad_alloc at 12:30:01", "std::bad_alloc at 12:30:01"), ("", "")]

# Pairs of text and ground whose contrast is too small: WCAG 2.1, 1.4.3.
CONTRAST = r"""
const of = (text) => { const all = text.match(/[\d.]+/g).map(Number); return all.length < 4 ? [...all, 1] : all; };
const light = ([r, g, b]) => { const f = (v) => { v /= 255; return v <= .03928 ? v / 12.92 : ((v + .055) / 1.055) ** 2.4; };
  return .2126 * f(r) + .7152 * f(g) + .0722 * f(b); };
const ground = (node) => { for (let at = node; at; at = at.parentElement) { const c = of(getComputedStyle(at).backgroundColor);
  if (c[3] > .99) return c; } return [255, 255, 255]; };
const bad = [];
const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
while (walk.nextNode()) {
  const node = walk.currentNode.parentElement;
  if (!walk.currentNode.data.trim() || !node.checkVisibility() || node.closest("noscript, .hidden, button:disabled")) continue;
  const one = light(of(getComputedStyle(node).color)), other = light(ground(node));
  const ratio = (Math.max(one, other) + .05) / (Math.min(one, other) + .05);
  if (ratio < 4.5) bad.push([walk.currentNode.data.trim().slice(0, 40), ratio.toFixed(2)]);
}
return bad;
"""


class Page(Served):
    """One browser for all tests; each has a tab that knows nothing of the others'."""

    @classmethod
    def setUpClass(cls):
        cls.home = tempfile.TemporaryDirectory()
        options = webdriver.ChromeOptions()
        for word in ("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--lang=en",
                     "--disable-background-networking", f"--user-data-dir={cls.home.name}"):
            options.add_argument(word)
        options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
        cls.browser = webdriver.Chrome(service=Service(shutil.which("chromedriver")), options=options)
        cls.browser.set_page_load_timeout(60)

    @classmethod
    def tearDownClass(cls):
        cls.browser.quit()
        cls.home.cleanup()

    def setUp(self):
        super().setUp()
        self.browser.get("about:blank")
        for kind in ("browser", "performance"):
            self.browser.get_log(kind)
        self.screen(1440, "light")
        self.base, self.asked = "", set()
        self.faults = ()

    def stop(self):
        self.browser.get("about:blank")
        super().stop()

    def away(self):
        if STORE == "redis":
            with socket.socket(socket.AF_UNIX) as link:  # what it has is there again when it is back
                link.connect(str(self.folder / "redis.sock"))
                link.sendall(b"SAVE\r\n")
                self.assertEqual(link.recv(100), b"+OK\r\n")
            self.server.terminate()
            self.server.wait()
            (self.folder / "redis.sock").unlink(missing_ok=True)
            return
        for end in ("", "-wal", "-shm"):
            (self.folder / f"jobs.db{end}").rename(self.folder / f"old.db{end}")

    def back(self):
        if STORE == "redis":
            self.redis()
            return
        for end in ("", "-wal", "-shm"):
            (self.folder / f"old.db{end}").rename(self.folder / f"jobs.db{end}")

    def is_steady(self):
        """What is read out to whoever does not see is not read out again each second, of which two go by: also the
        same text would be, where it is put there anew."""
        return self.browser.execute_async_script("""
            let count = 0;
            new MutationObserver(() => count++).observe(document.querySelector("#banner"),
                {childList: true, characterData: true, subtree: true});
            setTimeout(() => arguments[0](count === 0), 2500);""")

    # ---- what a person does and sees

    def screen(self, width, scheme):
        self.browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride",
                                     {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": False})
        self.browser.execute_cdp_cmd("Emulation.setEmulatedMedia",
                                     {"features": [{"name": "prefers-color-scheme", "value": scheme}]})

    def open(self, view="", is_done=None):
        """Goes there anew, and waits until nothing is looked for."""
        self.browser.get("about:blank")
        self.browser.get(f"http://127.0.0.1:{self.port}{self.base}/#/{view}")
        self.until(is_done or (lambda: "Loading" not in self.text() and "Looking" not in self.text() and self.one("main h1")))

    def one(self, selector):
        found = self.browser.find_elements(By.CSS_SELECTOR, selector)
        return found[0] if found else None

    def text(self, selector="main"):
        return self.browser.execute_script("return document.querySelector(arguments[0])?.innerText ?? ''", selector)

    def sees(self, *parts, selector="main"):
        end = time.monotonic() + 60
        while missing := [part for part in parts if part not in self.text(selector)]:
            self.assertLess(time.monotonic(), end, f"{missing} is not in: {self.text(selector)[:3000]}")
            time.sleep(0.02)

    def cell(self, row, name):
        """Of the row of that head, the text of the cell of that name."""
        return self.browser.execute_script("""
            const row = [...document.querySelectorAll("main tbody tr")].find((tr) => tr.querySelector("th").innerText.trim() === arguments[0]);
            return row?.querySelector(`[data-name="${arguments[1]}"]`)?.innerText.trim()""", row, name)

    def keys(self, *keys):
        action = webdriver.ActionChains(self.browser)
        for key in keys:
            action.send_keys(key)
        action.perform()

    def focused(self):
        return self.browser.execute_script("const at = document.activeElement; return at.id || at.textContent.trim()")

    def press(self, text, within="main"):
        """The button or link with that text, by the keyboard."""
        for each in self.browser.find_elements(By.CSS_SELECTOR, f"{within} button, {within} a"):
            if each.is_displayed() and each.text == text:
                self.browser.execute_script("arguments[0].focus()", each)
                each.send_keys(Keys.ENTER)
                return
        self.fail(f"there is no {text} in {self.text(within)}")

    def urls(self):
        """What was asked for since it was last called."""
        messages = [json.loads(row["message"])["message"] for row in self.browser.get_log("performance")]
        urls = [each["params"]["request"]["url"] for each in messages if each["method"] == "Network.requestWillBeSent"]
        for url in urls:
            self.assertTrue(url.startswith((f"http://127.0.0.1:{self.port}{self.base}/", "about:", "data:")), url)
        return urls

    def calm(self):
        """Nothing was asked of others, nothing broke a rule, no code failed."""
        self.urls()
        for row in self.browser.get_log("browser"):
            if not any(f"status of {fault}" in row["message"] for fault in self.faults):
                self.assertNotEqual(row["level"], "SEVERE", row)
            self.assertNotIn("Content Security Policy", row["message"])

    def fits(self):
        width, room = self.browser.execute_script("return [document.documentElement.scrollWidth, innerWidth]")
        self.assertLessEqual(width, room, self.browser.current_url)
        wide = self.browser.execute_script("return [...document.querySelectorAll('main dd')].filter((n) => n.scrollWidth > n.clientWidth).map((n) => n.innerText)")
        self.assertEqual(wide, [], self.browser.current_url)

    def hold(self, runs=3):
        """A worker that has one run of a job that may have one at a time; the others are parked."""
        worker = subprocess.Popen([HELD, "--name", "one", "--isolation", "none"], env=self.env, stdout=subprocess.DEVNULL,
                                  stderr=subprocess.DEVNULL)
        self.addCleanup(worker.wait)
        self.addCleanup(worker.kill)
        self.nap("enqueue", "pen", str(runs), program=HELD)

    def batch(self, open_for=0):
        """One that is open and empty: its name. `open_for` in nanoseconds."""
        library = ctypes.CDLL(str(CULEX.parents[2] / "runtime" / "libculex.so.0"))
        client, error, batch = ctypes.c_void_p(), ctypes.create_string_buffer(4096), ctypes.create_string_buffer(4096)
        options, text = (ctypes.c_int64 * 64)(open_for), ctypes.create_string_buffer(200)
        self.assertEqual(library.culex_client_open(self.env["CULEX_URL"].encode(), None, ctypes.byref(client), error), 0)
        self.assertEqual(library.culex_batch_open(client, b"naps", ctypes.byref(options), batch, error), 0)
        library.culex_batch_format(batch, text)
        library.culex_client_close(client)
        return text.value.decode()

    def tell(self, fields, params, **changes):
        """A job with those fields, told by a worker of queue naps, with a run of it."""
        text = json.loads(self.nap("schema", "tell")) | changes
        path = self.folder / "told.json"
        path.write_text(json.dumps(text | {"params": {"name": text["name"], "fields": fields}}), encoding="utf-8")
        self.nap("tell", path, json.dumps(params), program=HELD)

    def newest(self, state):
        return self.get(f"/runs?state={state}")["runs"][0]["id"]


class Views(Page):
    def test_nothing_is_there(self):
        self.drain()
        self.serve()
        self.faults = (400, 404)
        for view, part in (("", "naps"), ("runs", "No run is like that"), ("dead", "No run is dead"), ("schedules", "No job is periodic"),
                           ("workers", "No worker is alive"), ("limits", "No run with a limit"), ("limit/naps/x", "No run with such a limit"),
                           ("batch", "no list of them"), ("batch/naps/01a22d7f-4f59-7826-b394-100000000fff", "no such batch"),
                           ("batch/naps/x", "is no batch"), ("queue/naps", "No run is waiting"), ("queue/nops", "no such queue"),
                           ("nothing", "There is no such page"), ("run/naps/01a22d7f-4f59-7826-b394-100000000fff", "no such run"),
                           ("runs?error=%00", ""), ("%zz", "There is no such page")):
            self.open(view)
            self.sees(part)
        self.calm()

    def test_what_is_there(self):
        self.fill()
        self.serve()
        self.open()
        self.sees("naps", "Done a second", "oldest waits")
        self.assertEqual(self.browser.title, "Overview · Culex")
        self.sees("live", selector="#live")
        self.open("queue/naps?state=dead")
        self.sees("kept to", "no bound", "dead 3")
        self.open("runs?error=no%20route")
        self.sees("2 runs")
        self.open(f"run/naps/{self.newest('done')}")
        self.sees("last words", "warning", "succeeded", "kept until", "Params are not kept once a run has succeeded.")
        self.assertNotIn("forgotten", self.text())
        self.open(f"run/naps/{self.newest('dead')}")
        self.sees("no route", "failed for good", "Retry", "Delete", "hidden: it is secret", "string")
        self.open("dead")
        self.sees("no route", "disk full")
        self.open("queue/naps?state=dead")
        self.sees("no route", "disk full")
        self.urls()
        self.open("schemas")
        self.sees("scribe")
        self.press("scribe")
        self.sees("Writes `last` log lines", "required")
        self.open("runs")
        self.sees("5 runs", "no route", "disk full")
        self.assertEqual(len([url for url in self.urls() if re.search("/runs/naps/.", url)]), 3, "runs that never failed are asked for errors")
        at = self.one("main time")
        self.assertRegex(at.get_attribute("title"), r"^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d{3} UTC$")
        self.calm()

    def test_counts_of_dead_runs_lead_to_dead_letters(self):
        self.fill()
        self.serve()
        for view, text, within in (("", "3", "main td[data-name=dead]"), ("queue/naps", "dead 3", "main nav")):
            self.open(view)
            self.sees(text)
            self.press(text, within)
            self.sees("Of queue naps.", "3 dead runs", "disk full")
        self.calm()

    def test_since_when_a_retried_run_waits_is_not_known(self):
        self.nap("enqueue", "tell", "no route", "hush")
        self.drain()
        self.serve()
        for view in ("", "queue/naps"):
            self.open(view)
            self.sees("oldest waits\n–")
        self.post(f"/runs/naps/{self.newest('dead')}/retry")
        for view in ("", "queue/naps"):
            self.open(view)
            self.sees("oldest waits\nnot known")
            self.assertIn("were begun before", self.one("main dd span[title]").get_attribute("title"))
        self.post("/jobs", [{"queue": "naps", "job": "wink"}])
        self.until(lambda: re.search(r"oldest waits\n\d+ m?s", self.text()))
        self.calm()

    def test_workers_and_schedules(self):
        worker = subprocess.Popen([HELD, "--name", "one", "--isolation", "none"], env=self.env, stdout=subprocess.DEVNULL,
                                  stderr=subprocess.DEVNULL)
        self.addCleanup(worker.wait)
        self.addCleanup(worker.kill)
        self.nap("enqueue", "pen", "1", program=HELD)
        self.serve()
        self.until(lambda: self.get("/runs?state=active")["runs"])
        self.open("workers")
        self.sees("one", "pen", "held")
        self.open("schedules")
        self.sees("chime", " in ")
        self.open(f"run/held/{self.newest('active')}")
        self.sees("holder", "one on")
        self.press("Cancel")
        self.sees("Cancel this run?", selector="#sure")
        self.press("No, leave it", "#sure")
        self.assertFalse(self.get(f"/runs/held/{self.newest('active')}")["cancel_requested"])
        self.press("Cancel")
        self.press("Cancel the run", "#sure")
        self.sees("It is asked to stop", selector="#said")
        self.until(lambda: not self.get("/runs?state=active")["runs"] or
                   self.get(f"/runs/held/{self.newest('active')}")["cancel_requested"])
        self.calm()

    def test_times_are_of_the_clock_of_the_store(self):
        """Not of the browser's, where that goes wrong."""
        self.hold(1)
        self.serve()
        self.until(lambda: self.get("/runs?state=active")["runs"])
        wrong = self.browser.execute_cdp_cmd("Page.addScriptToEvaluateOnNewDocument",
                                             {"source": "{ const now = Date.now; Date.now = () => now() + 864e5 * 9; }"})
        self.addCleanup(self.browser.execute_cdp_cmd, "Page.removeScriptToEvaluateOnNewDocument", wrong)
        self.open("schedules")
        self.sees("chime", " in ")
        self.assertNotIn("overdue", self.text())
        self.open("workers")
        self.sees("pen for ")
        self.until(lambda: re.search(r"pen for \d+ m?s", self.text()))
        self.calm()

    def test_idle_workers_are_ready(self):
        self.hold(1)
        idle = subprocess.Popen([HELD, "--name", "two", "--isolation", "none"], env=self.env, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.addCleanup(idle.wait)
        self.addCleanup(idle.kill)
        self.serve()
        self.until(lambda: self.get("/runs?state=active")["runs"] and len(self.get("/workers")["workers"]) == 2)
        self.open("workers")
        states = lambda: self.browser.execute_script("return [...document.querySelectorAll('main td[data-name=State]')].map((each) => each.innerText.trim()).sort()")
        self.until(lambda: states() == ["at work", "ready"])
        self.calm()

    def test_runs_of_each_version(self):
        self.fill()
        self.serve()
        self.open("schemas")
        cell = lambda job, name: self.browser.execute_script("""
            const row = [...document.querySelectorAll("main tbody tr")].find((tr) => tr.querySelector("th").innerText.trim() === arguments[0]);
            return row?.querySelector(`[data-name="${arguments[1]}"]`)?.innerText.trim()""", job, name)
        self.assertEqual(cell("tell", "Dead"), "–")
        self.press("Count the runs of each version")
        self.sees("Counted at ")
        self.assertEqual([cell(job, name) for job in ("tell", "wink", "scribe") for name in ("To be executed", "Dead")],
                         ["0", "3", "1", "0", "0", "0"])
        for width, scheme in ((1440, "light"), (320, "dark")):
            self.screen(width, scheme)
            self.fits()
            self.assertEqual(self.browser.execute_script(CONTRAST), [])
        self.faults = (503,)
        self.away()
        self.press("Count the runs of each version")
        self.sees("The store is away")
        self.assertEqual(cell("tell", "Dead"), "3")
        self.calm()

    def test_it_moves(self):
        self.fill()
        self.serve()
        self.open()
        self.sees("naps")
        count = lambda: self.text("main td[data-name=waiting]")
        self.assertEqual(count(), "1")
        link = self.one("main th a")
        self.browser.execute_script("arguments[0].focus()", link)
        self.nap("enqueue", "wink", "1")
        self.until(lambda: count() == "2")
        self.assertEqual(self.focused(), "naps", "focus is lost when figures come")
        self.until(lambda: self.one("main .chart .line").get_attribute("points"))
        self.calm()

    def rows(self):
        return len(self.browser.find_elements(By.CSS_SELECTOR, "main tbody tr"))

    def test_lists_that_move(self):
        """A first page is read anew by itself; where more was asked for it is told to be old."""
        self.fill()
        self.serve()
        self.post("/queues/naps/pause")
        for view in ("queue/naps?state=scheduled", "runs?state=scheduled"):
            self.open(view)
            self.sees("live", selector="#live")
            self.assertEqual(self.rows(), len(self.get("/runs?state=scheduled")["runs"]))
            self.post("/jobs", [{"queue": "naps", "job": "wink", "delay": "1h"}] * 5)
            self.until(lambda: self.rows() == len(self.get("/runs?state=scheduled")["runs"]) > 0)
        self.post("/jobs", [{"queue": "naps", "job": "wink", "delay": "1h"}] * 60)
        self.until(lambda: self.rows() == 50)
        self.press("Show more")
        self.sees("70 runs")
        self.post("/jobs", [{"queue": "naps", "job": "wink", "delay": "1h"}])
        self.sees("As of ", "; 71 now.")
        self.assertEqual(self.rows(), 70)
        self.press("Look again")
        self.until(lambda: self.rows() == 50 and "As of" not in self.text())
        self.open("runs?state=scheduled&job=wink&tag=none")
        self.sees("live", selector="#live")
        self.until(lambda: "As of" not in self.text())
        self.post("/jobs", [{"queue": "naps", "job": "wink", "delay": "1h"}])
        self.sees("; runs have come or gone since.")
        self.calm()

    def test_dead_letters_that_move(self):
        self.fill()
        self.serve()
        self.open("dead?queue=naps")
        self.sees("live", "3 dead runs", selector="body")
        self.nap("enqueue", "tell", "again", "hush")
        self.drain()
        self.sees("4 dead runs", "again")
        self.press("Choose all shown")
        self.nap("enqueue", "tell", "and again", "hush")
        self.drain()
        self.sees("As of ", "; 5 now.", "4 chosen")
        self.assertNotIn("and again", self.text())
        self.press("Look again")
        self.sees("5 dead runs", "and again")
        self.sees("4 chosen")
        self.press("Choose all shown")
        self.press("Choose all shown")
        self.sees("0 chosen")
        [old] = [run["id"] for run in self.get("/runs?state=dead&error=and+again")["runs"]]
        self.post(f"/runs/naps/{old}/delete")
        self.nap("enqueue", "tell", "and again", "hush")
        self.drain()
        self.until(lambda: old not in self.text() and "and again" in self.text())
        self.sees("0 chosen")
        box = [each for each in self.browser.find_elements(By.CSS_SELECTOR, "main tr") if each.text.startswith("and again")][0].find_element(By.CSS_SELECTOR, "input")
        self.browser.execute_script("arguments[0].focus()", box)
        self.keys(Keys.SPACE)
        self.press("Delete")
        self.sees("Delete 1 run?", selector="#sure")
        self.press("Delete 1", "#sure")
        self.sees("4 dead runs")
        self.assertEqual(self.get("/runs?state=dead&error=and+again")["runs"], [])
        self.calm()

    def test_pages_that_are_left_hold_no_connection(self):
        """A browser has six for a server; what stands behind its button "back" goes on existing."""
        self.fill()
        self.serve()
        for view in ["", "runs", "dead", "schedules"] * 3:
            begin = time.monotonic()
            self.open(view)
            self.assertLess(time.monotonic() - begin, 45)
        self.browser.back()
        self.browser.back()
        self.sees("naps")

    def test_a_store_that_goes(self):
        self.fill()
        self.serve()
        self.open()
        self.sees("naps")
        self.faults = (503, 404)
        self.away()
        self.sees("The store is away", "old", selector="#banner")
        self.assertIn("naps", self.text())
        self.sees("old", selector="#live")
        self.assertEqual(self.browser.execute_script(CONTRAST), [])
        self.until(self.is_steady, 20)
        for view in ("runs", "dead", "schedules", "workers", "schemas", "enqueue"):
            self.open(view)
            self.until(lambda: self.one(".wrong") and self.one(".wrong").text)
        self.back()
        self.open()
        self.sees("live", selector="#live")
        self.assertFalse(self.one("#banner").is_displayed())
        self.calm()

    def test_a_store_that_was_never_there(self):
        self.fill()
        self.serve()
        self.faults = (503, 404)
        self.away()
        for view in ("", "queue/naps", "enqueue", "enqueue/naps/scribe", "schema/naps/tell", "runs", "dead"):
            self.open(view, lambda: self.text("#banner"))
            self.sees("The store is away")
            for lie in ("There is no queue yet", "no such queue", "No run is", "knows no job", "oldest waits"):
                self.assertNotIn(lie, self.text(), view)
        self.screen(320, "dark")
        self.assertEqual(self.browser.execute_script(CONTRAST), [])
        self.fits()
        self.calm()

    def test_views_come_back_with_the_store(self):
        self.fill()
        self.serve()
        self.faults = (503, 404)
        for view, part in (("", "naps"), ("queue/naps", "oldest waits"), ("enqueue", "Go on"), ("enqueue/naps/scribe", "last *"),
                           ("schema/naps/tell", "required"), ("dead", "3 dead runs")):
            self.away()
            self.open(view, lambda: self.text("#banner"))
            self.sees("The store is away")
            self.back()
            self.sees(part)
            self.until(lambda: not self.one("main .wrong") or not self.one("main .wrong").text)
        self.calm()

    def test_attempts_of_a_retried_run(self):
        self.fill()
        self.serve()
        run = self.newest("dead")
        self.post(f"/runs/naps/{run}/retry")
        self.drain()
        self.assertEqual(self.get(f"/runs/naps/{run}")["attempt"], 2)
        self.open(f"run/naps/{run}")
        self.sees("2, failed for good", "1 of 1")
        self.assertNotIn("2 of 1", self.text())
        self.open("runs?state=dead")
        self.sees("3 runs")
        self.assertNotIn("2 of 1", self.text())

    def test_times_say_their_zone(self):
        self.fill()
        self.serve()
        for zone, offset in (("Asia/Kolkata", "GMT+5:30"), ("America/St_Johns", "GMT-3:30")):
            self.browser.execute_cdp_cmd("Emulation.setTimezoneOverride", {"timezoneId": zone})
            self.addCleanup(self.browser.execute_cdp_cmd, "Emulation.setTimezoneOverride", {"timezoneId": ""})
            self.open("runs")
            self.sees("5 runs")
            at = self.one("main time")
            self.assertTrue(at.text.endswith(offset), at.text)
            self.assertRegex(at.get_attribute("title"), r"^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d{3} UTC$")
            self.assertRegex(at.get_attribute("datetime"), r"^\d{4}-\d\d-\d\dT[\d:.]+Z$")

    def test_hostile_texts(self):
        self.nap("enqueue", "tell", HOSTILE, "hush")
        self.drain()
        self.serve()
        [run] = self.get("/runs?state=dead")["runs"]
        self.screen(375, "dark")
        self.faults = (400, 404)
        for view in ("dead", f"run/naps/{run['id']}", "runs?error=%3Cscript%3E", "runs?tag=%3Cscript%3E",
                     "limit/naps/%3Cscript%3Ealert(1)%3C%2Fscript%3E", "limits?queue=%3Cscript%3E",
                     "batch/naps/%3Cscript%3E", "queue/%3Cscript%3E?show=figures",
                     "queue/%3Cscript%3Ealert(1)%3C%2Fscript%3E"):
            self.open(view)
            if view == "dead" or view.startswith("run/"):
                self.sees("<script>document.title='owned'</script>")
            self.assertNotIn("owned", self.browser.title)
            self.assertEqual(len(self.browser.find_elements(By.CSS_SELECTOR, "main script, main img")), 0)
            self.assertNotIn("\u202e", self.text("body"))
            self.fits()
        self.sees("no such queue")
        self.open(f"run/naps/{run['id']}")
        self.sees("\\u202eevil\\u2066")
        self.calm()


class Acting(Page):
    def test_a_form(self):
        self.fill()
        self.serve()
        self.open("enqueue/naps/scribe")
        self.sees("Writes `last` log lines", "last *", "int32", "secret")
        self.faults = (400,)
        self.assertEqual(self.one("#p-how").get_attribute("value"), "done")
        self.assertEqual(self.browser.execute_script("return getComputedStyle(document.getElementById('p-token')).webkitTextSecurity"), "disc")
        self.one("#p-last").send_keys("many", Keys.ENTER)
        self.until(lambda: self.one("#w-p-last").text)
        self.assertEqual((self.focused(), self.one("#p-last").get_attribute("aria-invalid")), ("p-last", "true"))
        self.one("#p-last").clear()
        self.press("Enqueue")
        self.until(lambda: "required" in self.one("#w-p-last").text)
        self.one("#p-last").send_keys("7")
        self.one("summary").click()
        self.one("#x-priority").send_keys("12")
        self.press("Enqueue")
        self.until(lambda: "0 to 9" in self.one("#w-x-priority").text)
        self.one("#x-priority").clear()
        self.one("#x-priority").send_keys("4")
        self.one("#x-tags").send_keys("red, blue")
        self.press("Enqueue")
        self.sees("Enqueued: ")
        told = self.one("main .good a").text
        run = self.get(f"/runs/naps/{told}")
        self.assertEqual((run["param_values"], run["priority"], run["tags"]), ({"last": 7, "how": "done"}, 4, ["red", "blue"]))
        self.open("enqueue")
        self.press("Go on")
        self.sees("Into queue naps")
        self.calm()

    def test_what_is_said_of_a_duplicate(self):
        self.drain()
        self.serve()
        self.open("enqueue/naps/wink")
        self.sees("When, how urgent, tags")
        self.browser.execute_script("document.getElementById('x-idempotency_key').value = 'one'")
        self.press("Enqueue")
        self.sees("Enqueued", selector="#said")
        self.press("Enqueue")
        self.sees("Not a new run, but duplicate: ")
        self.sees("Not a new run, but duplicate", selector="#said")
        self.calm()

    def test_names_of_params(self):
        """A param may be named as an option is, or as nothing in JavaScript should be."""
        self.nap("enqueue", "wink", "1")
        text = {"kind": "string", "shape": "single", "flags": ["optional"]}
        self.tell([{"name": "delay", **text}, {"name": "__proto__", **text}, {"name": "age", "kind": "int32", "shape": "single", "default": "1"}],
                  {}, name="odd", wire="odd")
        self.serve()
        self.faults = (400,)
        self.open("enqueue/naps/odd")
        self.one("summary").click()
        self.one("#x-delay").send_keys("soon", Keys.ENTER)
        self.until(lambda: self.one("#w-x-delay").text)
        self.assertEqual((self.focused(), self.text("#w-p-delay")), ("x-delay", ""))
        self.one("#p-delay").send_keys("late")
        self.press("Enqueue")
        self.sees("the option or the param delay", "soon")
        self.assertEqual((self.text("#w-p-delay"), self.text("#w-x-delay")), ("", ""))
        self.one("#x-delay").clear()
        self.one("#p-__proto__").send_keys("kept")
        self.press("Enqueue")
        self.sees("Enqueued: ")
        run = self.get(f"/runs/naps/{self.one('main .good a').text}")
        self.assertEqual(run["param_values"], {"delay": "late", "__proto__": "kept", "age": 1})
        self.open(f"run/naps/{run['id']}")
        self.sees("__proto__", "kept")
        self.calm()

    def test_texts_of_several_lines(self):
        """Neither a default nor what is typed loses its line ends; what nobody has changed is left to the server."""
        self.nap("enqueue", "wink", "1")
        text = {"kind": "string", "shape": "single"}
        self.tell([{"name": "s", **text, "default": '"caf\\u00e9\\nzwei"'}, {"name": "bare", **text, "default": '"a\\r\\tb"'}, {"name": "typed", **text, "default": '""'},
                   {"name": "key", **text, "flags": ["secret", "optional"]}], {}, name="lines", wire="lines")
        self.serve()
        self.open("enqueue/naps/lines")
        self.assertEqual(self.one("#p-s").get_attribute("value"), "caf\u00e9\nzwei")
        self.one("#p-typed").send_keys("one", Keys.ENTER, "two")
        self.one("#p-key").send_keys("one", Keys.ENTER, "two")
        self.press("Enqueue")
        self.sees("Enqueued: ")
        run = self.get(f"/runs/naps/{self.one('main .good a').text}")
        self.assertEqual(run["param_values"], {"s": "caf\u00e9\nzwei", "bare": "a\r\tb", "typed": "one\ntwo"})
        claims = [self.post("/queues/naps/claim", {"jobs": ["lines"]})["claim"] for _ in range(2)]
        self.assertEqual([each["params"]["key"] for each in claims if each["id"] == run["id"]], ["one\ntwo"])
        self.one("#p-s").send_keys("!")
        self.press("Enqueue")
        lines = lambda: [run["id"] for run in self.get("/runs?queue=naps&state=waiting")["runs"] if run["job"] == "lines"]
        self.until(lines)
        self.assertEqual(self.get(f"/runs/naps/{lines()[0]}")["param_values"]["s"], "caf\u00e9\nzwei!")
        self.calm()

    def test_an_empty_text(self):
        """A required one that is left blank is the empty text, where that may be."""
        self.nap("enqueue", "wink", "1")
        text = {"kind": "string", "shape": "single", "flags": ["required"]}
        self.tell([{"name": "to", **text, "min_len": 1}, {"name": "subject", **text}, {"name": "n", "kind": "int32", "shape": "single", "flags": ["required"]}],
                  {"to": "a", "subject": "b", "n": 1}, name="letter", wire="letter")
        self.serve()
        self.faults = (400,)
        self.open("enqueue/naps/letter")
        self.sees("left blank it is the empty text", selector="#d-p-subject")
        self.assertNotIn("left blank", self.text("#d-p-to") + self.text("#d-p-n"))
        self.press("Enqueue")
        self.until(lambda: "required" in self.text("#w-p-to"))
        self.one("#p-to").send_keys("ann")
        self.one("#p-n").send_keys("2")
        self.press("Enqueue")
        self.sees("Enqueued: ")
        self.assertEqual(self.get(f"/runs/naps/{self.one('main .good a').text}")["param_values"], {"to": "ann", "subject": "", "n": 2})
        self.calm()

    def test_lists_of_structs(self):
        """They are read as the hint says."""
        self.nap("enqueue", "wink", "1")
        point = {"name": "Point", "fields": [{"name": "x", "kind": "int32", "shape": "single", "flags": ["required"]}]}
        self.tell([{"name": "path", "kind": "struct", "type": "Point", "shape": "list", "count": 3, "flags": ["required"]},
                   {"name": "at", "kind": "struct", "type": "Point", "shape": "single", "flags": ["optional"]},
                   {"name": "names", "kind": "string", "shape": "list", "count": 2}], {"path": []}, name="walk", wire="walk", structs=[point])
        self.serve()
        self.faults = (400,)
        self.open("enqueue/naps/walk")
        self.sees("at most 3, as a JSON array", selector="#d-p-path")
        self.sees("as JSON", selector="#d-p-at")
        self.sees("at most 2, one a line", selector="#d-p-names")
        self.one("#p-path").send_keys('{"x": 1}', Keys.ENTER, '{"x": 2}')
        self.press("Enqueue")
        self.until(lambda: "a JSON array is wanted, as [{…}, {…}]" in self.text("#w-p-path"))
        self.assertEqual(self.focused(), "p-path")
        self.one("#p-path").clear()
        self.one("#p-path").send_keys('[{"x": 1}, {"x": 2}]')
        self.press("Enqueue")
        self.sees("Enqueued: ")
        self.assertEqual(self.get(f"/runs/naps/{self.one('main .good a').text}")["param_values"]["path"], [{"x": 1}, {"x": 2}])
        self.calm()

    def test_a_job_is_offered_in_its_own_queue_first(self):
        """A worker tells all its jobs in each queue that it serves."""
        self.nap("--drain", "--queues", "claps,naps", "--isolation", "none", "--log-level", "error")
        self.serve()
        self.open("enqueue")
        texts = [each.text for each in self.browser.find_elements(By.CSS_SELECTOR, "#job option")]
        own = [text for text in texts if "not its own queue" not in text]
        self.assertEqual(texts[:len(own)], own)
        self.assertIn("wink (naps)", own)
        self.assertIn("clap (claps)", own)
        self.assertIn("wink (claps, not its own queue)", texts)
        self.open("enqueue/claps/wink")
        self.sees("Into queue claps; the job's own is naps.")
        self.calm()

    def test_numbers_as_they_are(self):
        """Neither long integers nor fractions come to harm in the page."""
        self.nap("enqueue", "wink", "1")
        text = json.loads(self.nap("schema", "tell"))
        fields = [{"name": "n", "kind": "int64", "shape": "single", "default": "9007199254740993"},
                  {"name": "x", "kind": "float64", "shape": "single", "default": "0.30000000000000004"}]
        path = self.folder / "numbers.json"
        path.write_text(json.dumps(text | {"params": {"name": "tell", "fields": fields}}), encoding="utf-8")
        self.nap("tell", path, '{"n":9007199254740995,"x":0.10000000000000003}', program=HELD)
        self.serve()
        [run] = [run for run in self.get("/runs?queue=naps")["runs"] if run["job"] == "tell"]
        self.open(f"run/naps/{run['id']}")
        self.sees("9007199254740995", "0.10000000000000003")
        self.open("enqueue/naps/tell")
        self.assertEqual(self.one("#p-n").get_attribute("value"), "9007199254740993")
        self.press("Enqueue")
        self.until(lambda: len(self.get("/runs?queue=naps")["runs"]) == 3)
        [newest] = [each for each in self.get("/runs?queue=naps")["runs"] if each["job"] == "tell" and each["id"] != run["id"]]
        self.assertIn("9007199254740993", self.send("GET", f"/api/v1/runs/naps/{newest['id']}")[2].__repr__())

    def test_a_pause(self):
        self.fill()
        self.serve()
        self.open("queue/naps")
        self.sees("Pause")
        self.faults = (400,)
        self.one("#pause-for").send_keys("5", Keys.ENTER)
        self.sees("1h30m")
        self.one("#pause-for").clear()
        self.one("#pause-for").send_keys("5m", Keys.ENTER)
        self.sees("paused until", "Resume")
        self.press("Resume")
        self.until(lambda: not self.get("/queues/naps")["paused"])
        self.calm()

    def test_dead_letters(self):
        self.fill()
        self.serve()
        self.open("dead")
        self.sees("2", "disk full", "0 chosen")
        box = self.browser.find_elements(By.CSS_SELECTOR, "main input[type=checkbox]")[0]
        self.browser.execute_script("arguments[0].focus()", box)
        self.keys(Keys.SPACE)
        self.sees("2 chosen")
        self.press("Retry")
        self.sees("Retry 2 runs?", selector="#sure")
        self.press("No, leave it", "#sure")
        self.assertEqual(len(self.get("/runs?state=dead")["runs"]), 3)
        self.press("Retry")
        self.press("Retry 2", "#sure")
        self.until(lambda: len(self.get("/runs?state=dead")["runs"]) == 1)
        self.sees("1 dead run")
        self.press("Choose all shown")
        self.press("Delete")
        self.press("Delete 1", "#sure")
        self.sees("No run is dead")
        self.assertEqual(self.get("/runs?state=dead")["runs"], [])
        self.calm()

    def test_dead_letters_by_text_and_time(self):
        """Which of them are shown is said; of some alone also a retry of all is."""
        self.nap("enqueue", "tell", "disk full", "hush")
        self.drain()
        self.serve()
        self.post("/jobs", [{"queue": "naps", "job": "tell", "params": {"words": "no route"}}] * 104)
        self.drain()
        self.open("dead")
        self.sees("The newest 100 of 105 dead runs", "no route")
        self.assertNotIn("disk full", self.text(), "the oldest one")
        self.one("#dead-error").send_keys("disk", Keys.ENTER)
        self.sees("1 dead run like that")
        self.assertNotIn("no route", self.text())
        self.assertEqual(self.one("#dead-error").get_attribute("value"), "disk")
        self.one("#dead-since").send_keys("2100-01-01T00:00:00Z", Keys.ENTER)
        self.sees("No dead run is like that")
        self.open("dead?queue=naps&since=1h")
        self.sees("The newest 100 dead runs like that")
        button = [each for each in self.browser.find_elements(By.CSS_SELECTOR, "main td[data-name=All] button") if "no route" in each.get_attribute("aria-label")][0]
        button.send_keys(Keys.ENTER)
        self.sees("Retry 104 runs?", "in queue naps, enqueued since 1h, whose", selector="#sure")
        self.press("Retry 104", "#sure")
        self.sees("Retry: 104 of 104 done.", "1 dead run like that")
        self.calm()

    def test_a_choice_while_the_store_goes(self):
        self.fill()
        self.serve()
        self.faults = (503,)
        self.open("dead")
        self.sees("3 dead runs")
        self.press("Choose all shown")
        self.away()
        self.sees("The store is away", selector="#banner")
        self.press("Retry")
        self.press("Retry 3", "#sure")
        self.sees("Retry: 0 of 3 done.", "3 of 3 failed: The store is away", "0 chosen")
        self.assertNotIn("at work", self.text())
        self.assertNotIn("are dead now", self.text())
        self.back()
        self.sees("3 are dead now.", "3 of 3 failed: The store is away")
        self.calm()

    def test_many_dead_letters(self):
        """Of how many they are the first; what is retried and dies again is told."""
        self.nap("enqueue", "tell", "no route", "hush")
        self.drain()
        self.serve()
        self.post("/jobs", [{"queue": "naps", "job": "tell", "params": {"words": "no route"}}] * 104)
        self.drain()
        self.open("dead?queue=naps")
        self.sees("100 of 105 dead runs")
        self.press("Choose all shown")
        self.press("Retry")
        self.press("Retry 100", "#sure")
        self.sees("Retry: 100 of 100 done. 5 of naps are dead now.")
        self.drain()
        self.sees("105 of naps are dead now", "100 of 105 dead runs")
        self.calm()

    def test_all_with_an_error(self):
        """Also those that are not shown, and none with another."""
        for text in ("disk full", "no route"):
            self.nap("enqueue", "tell", text, "hush")
        self.drain()
        self.serve()
        self.open("dead?queue=naps")
        self.sees("2 dead runs")
        self.assertNotIn("Retry all", self.text())
        for _ in range(2):
            self.post("/jobs", [{"queue": "naps", "job": "tell", "params": {"words": "no route"}}] * 550)
        self.until(lambda: self.get("/queues/naps")["waiting"] == 1100)
        self.drain()
        self.open("dead?queue=naps")
        self.sees("100 of 1\u202f102 dead runs")
        row = [each for each in self.browser.find_elements(By.CSS_SELECTOR, "main tr") if "no route" in each.text][0]
        button = row.find_element(By.CSS_SELECTOR, "button")
        self.browser.execute_script("arguments[0].focus()", button)
        button.send_keys(Keys.ENTER)
        self.sees("Retry 1\u202f101 runs?", "no route", selector="#sure")
        self.press("No, leave it", "#sure")
        self.assertEqual(self.get("/queues/naps")["dead"], 1102)
        button.send_keys(Keys.ENTER)
        self.until(lambda: self.one("#sure").is_displayed())
        self.press("Retry 1\u202f101", "#sure")
        self.sees("Retry: 1\u202f101 of 1\u202f101 done. 1 of naps is dead now.", "1 dead run")
        self.assertEqual((self.get("/queues/naps")["dead"], self.get("/queues/naps")["waiting"]), (1, 1101))
        self.calm()

    def test_one_cause_is_one_group(self):
        """What differs by an address or a number is retried together; what has another status is not."""
        for words in ("450 mailbox of a@one.example is busy", "450 mailbox of b.c@two.example is busy", "status 404", "status 503"):
            self.nap("enqueue", "tell", words, "hush")
        self.drain()
        self.serve()
        self.open("dead")
        self.sees("450 mailbox of … is busy", "status 404", "status 503")
        [button] = self.browser.find_elements(By.CSS_SELECTOR, "main td[data-name=All] button")
        self.assertEqual(button.text, "Retry all whose error has “450 mailbox of”")
        button.send_keys(Keys.ENTER)
        self.sees("Retry 2 runs?", "this text, also those that are not shown: “450 mailbox of”.", selector="#sure")
        self.press("Retry 2", "#sure")
        self.sees("Retry: 2 of 2 done.")
        self.assertEqual(self.get("/queues/naps")["dead"], 2)
        folded = self.browser.execute_async_script("""
            const [lines, done] = arguments;
            import("./page/fold.js").then(({fold, foldShown}) => done(lines.map((line) => foldShown(fold(line)))), (error) => done(String(error)))""",
            [line for line, _ in FOLDED])
        self.assertEqual(folded, [line for _, line in FOLDED])
        self.calm()

    def test_all_with_an_error_of_all_queues(self):
        """Also of a queue that none of the shown is of; one that never had the job is no failure."""
        self.drain()
        self.tell(json.loads(self.nap("schema", "tell"))["params"]["fields"], {"words": "no route"}, queue="nods")
        self.tell([], {}, name="lone", wire="lone", queue="alone")
        self.serve()
        claim = self.post("/queues/alone/claim", {})["claim"]
        self.post(f"/claims/{claim['token']}/fail", {"error": "no route", "final": True})
        for queue, count in (("naps", 101), ("nods", 2)):
            self.post("/jobs", [{"queue": queue, "job": "tell", "params": {"words": "no route"}}] * count)
            self.nap("--drain", "--queues", queue, "--isolation", "none", "--log-level", "error")
        self.faults = (400,)
        self.open("dead")
        self.sees("100 of 105 dead runs")
        self.one("main td[data-name=All] button").send_keys(Keys.ENTER)
        self.sees("Retry 104 runs?", "in all queues", selector="#sure")
        self.press("Retry 104", "#sure")
        self.sees("Retry: 104 of 104 done. 1 is dead now.")
        self.assertEqual([self.get(f"/queues/{queue}")["waiting"] for queue in ("naps", "nods")], [101, 3])
        self.calm()

    def test_a_run(self):
        self.fill()
        self.serve()
        run = self.newest("dead")
        self.open()
        self.keys("/", run, Keys.ENTER)
        self.sees("failed for good")
        self.press("Retry")
        self.sees("waiting", "Error of an earlier attempt")
        self.assertEqual(self.focused(), "main", "another button than was pressed has the focus")
        self.press("Cancel")
        self.press("Cancel the run", "#sure")
        self.sees("was cancelled", "Last text of an attempt")
        self.assertIsNone(self.one("main pre.error"))
        self.press("Delete")
        self.press("Delete the run", "#sure")
        self.sees("Queue naps")
        self.get(f"/runs/naps/{run}", 404)
        self.calm()

    def test_why_a_run_waits(self):
        self.fill()
        self.serve()
        run = self.newest("waiting")
        self.open(f"run/naps/{run}")
        self.sees("no worker serves its queue")
        self.post("/queues/naps/pause", {"for": "5m"})
        self.sees("its queue is paused until ")
        self.open("queue/naps")
        self.until(lambda: "workers\nnone" in self.text())
        self.hold()
        self.until(lambda: [self.get("/queues/held")[name] for name in ("parked", "active")] == [2, 1])
        self.open(f"run/held/{self.get('/runs?queue=held&state=waiting')['runs'][0]['id']}")
        self.sees("maybe parked: pen:concurrency holds 2")
        self.assertNotIn("no worker serves", self.text())
        self.assertNotIn("paused", self.text())
        self.press("pen:concurrency")
        self.sees("Limit pen:concurrency")
        self.calm()

    def test_focus_stays_in_a_run_that_goes_on(self):
        self.nap("enqueue", "wink", "1")
        self.serve()
        claim = self.post("/queues/naps/claim", {})["claim"]
        self.open(f"run/naps/{claim['id']}")
        [button] = [each for each in self.browser.find_elements(By.CSS_SELECTOR, "main button") if each.text == "Cancel"]
        self.browser.execute_script("arguments[0].focus()", button)
        self.post(f"/claims/{claim['token']}/heartbeat", {"progress": 40})
        self.sees("40 %")
        self.assertEqual(self.focused(), "Cancel")
        self.calm()

    def test_back_shows_what_was_left(self):
        """The place of a list and how much of it was shown; a link shows it from the beginning."""
        self.nap("enqueue", "tell", "no route", "hush")
        self.drain()
        self.serve()
        self.post("/jobs", [{"queue": "naps", "job": "tell", "params": {"words": "no route"}}] * 104)
        self.drain()
        place = lambda: self.browser.execute_script("return scrollY")
        for view, more, text in (("dead?queue=naps", "Show 100 more", "105 dead runs"), ("runs?state=dead", "Show more", "100 runs"),
                                 ("queue/naps?state=dead", "Show more", "100 runs")):
            self.open(view)
            self.sees(more)
            self.press(more)
            self.sees(text)
            self.browser.execute_script("scrollTo(0, 1500)")
            link = self.one("main tbody a.id")
            self.browser.execute_script("arguments[0].click()", link)
            self.sees("failed for good")
            self.assertEqual(place(), 0)
            self.browser.back()
            self.sees(text)
            self.until(lambda: place() == 1500, 10)
            self.browser.forward()
            self.sees("failed for good")
            self.browser.execute_script("location.hash = arguments[0]", f"#/{view}")
            self.sees(more)
            self.assertEqual(place(), 0)
        self.calm()

    def test_names_in_the_search_of_errors(self):
        self.fill()
        self.serve()
        self.open()
        self.sees("naps")
        self.keys("/", "naps", Keys.ENTER)
        self.sees("Queue naps")
        self.one("#find-text").clear()
        self.keys("/", "wink", Keys.ENTER)
        self.sees("No error has that text.")
        self.press("of the job wink")
        self.sees("1 run")
        self.open("runs?error=nothing&state=dead")
        self.sees("No error has that text, of runs like that")
        self.calm()

    def test_pages_by_cursor(self):
        self.fill()
        self.serve()
        self.post("/jobs", [{"queue": "naps", "job": "wink", "tags": ["red", "blue"]}] * 60)
        self.open("runs?state=waiting")
        self.sees("so far")
        self.press("Show more")
        self.sees("61 runs")
        self.assertEqual(len(self.browser.find_elements(By.CSS_SELECTOR, "main tbody tr")), 61)
        self.assertEqual(self.text("main tbody tr:last-child td[data-name=Tags]").split(), ["red", "blue"])
        self.press("blue")
        # A store that looks through all of them gives about as many as it is asked for.
        tags = lambda: self.browser.execute_script(
            "return [...document.querySelectorAll('main tbody td[data-name=Tags]')].map((each) => each.innerText)")
        self.until(lambda: self.browser.execute_script("return document.getElementById('f-tag')?.value") == "blue" and "Looking" not in self.text() and tags())
        self.assertEqual({text for text in tags() if "blue" not in text}, set())
        self.calm()

    def chime(self):
        """The periodic job of queue held, {} where there is none."""
        return (self.get("/schedules?queue=held")["queues"][0]["schedules"] or [{}])[0]

    def focus(self, text):
        """Looked at by who presses keys alone: the button with that text."""
        [button] = [each for each in self.browser.find_elements(By.CSS_SELECTOR, "main button") if each.text == text]
        self.browser.execute_script("arguments[0].focus()", button)

    def refreshed(self, times=2):
        """The list has been asked for so many times."""
        self.urls()
        seen = []
        self.until(lambda: seen.extend(url for url in self.urls() if url.endswith("/schedules")) or len(seen) > times)

    def test_schedules_are_steered(self):
        self.hold(1)
        self.serve()
        self.until(lambda: "newest" in self.chime() and not self.get("/runs?queue=held&job=chime&state=waiting,active")["runs"])
        self.post("/queues/held/pause")  # what is done is soon forgotten
        self.open("schedules")
        self.until(lambda: self.cell("chime", "State") == "on")
        self.press("Pause")
        self.sees("chime is paused: its ticks pass without a run", selector="#said")
        self.until(lambda: self.cell("chime", "State") == "paused")
        self.assertTrue(self.chime()["paused"])
        self.focus("Run now")
        self.keys(Keys.ENTER)
        self.sees("A run of chime is enqueued", selector="#said")
        self.sees("Enqueued: ")
        run = self.text("main .steer a")
        self.until(lambda: self.cell("chime", "Newest run") == run)
        self.refreshed()
        self.assertEqual((self.focused(), self.text("main .steer a")), ("Run now", run))
        self.press(run, "main .steer")
        self.sees("Run " + run, "waiting")
        self.open("schedules")
        self.press("Resume")
        self.sees("chime goes on", selector="#said")
        self.until(lambda: self.cell("chime", "State") == "on")
        self.assertFalse(self.chime()["paused"])
        self.calm()

    def test_a_run_in_the_way_of_a_schedules_run(self):
        self.hold(1)
        self.serve()
        self.until(lambda: "newest" in self.chime() and not self.get("/runs?queue=held&job=chime&state=waiting,active")["runs"])
        self.post("/queues/held/pause")
        run = self.post("/schedules/held/chime/run")["id"]
        self.faults = (409,)
        self.open("schedules")
        self.press("Run now")
        self.sees("may not overlap")
        self.assertEqual([self.text("main .steer .wrong a"), self.one("main .steer .wrong").get_attribute("role")], [run, "alert"])
        self.refreshed()
        self.assertEqual(self.focused(), "Run now")
        for scheme in ("light", "dark"):
            for width in (1440, 800, 375, 320):
                self.screen(width, scheme)
                self.assertEqual(self.browser.execute_script(CONTRAST), [], (scheme, width))
                self.fits()
        self.press("Pause")
        self.until(lambda: self.cell("chime", "State") == "paused")
        self.assertIsNone(self.one("main .wrong"), "what came before is told")
        self.press("Run now")
        self.sees("may not overlap")
        self.press(run, "main .steer .wrong")
        self.sees("Run " + run, "waiting")
        self.calm()

    def test_a_schedule_is_forgotten(self):
        self.nap("enqueue", "wink", "1")
        worker = subprocess.Popen([HELD, "--name", "one", "--isolation", "none"], env=self.env, stdout=subprocess.DEVNULL,
                                  stderr=subprocess.DEVNULL)
        self.addCleanup(worker.wait)
        self.addCleanup(worker.kill)
        self.serve()
        self.until(lambda: [each for each in self.get("/schedules")["queues"] if each["schedules"]])
        worker.terminate()
        self.assertEqual(worker.wait(60), 0)
        self.open("schedules")
        self.press("Delete")
        self.sees("Delete this schedule?", selector="#sure")
        self.press("No, leave it", "#sure")
        self.assertEqual((self.focused(), self.chime()["schedule"]), ("Delete", "chime"))
        self.press("Delete")
        self.press("Delete", "#sure")
        self.sees("chime is forgotten", selector="#said")
        self.sees("No job is periodic")
        self.assertEqual((self.focused(), self.chime()), ("main", {}))
        self.calm()



class Counted(Page):
    """Figures, limits, batches."""



    def cell(self, row, name):
        """Of the row of that head, the text of the cell of that name."""
        return self.browser.execute_script("""
            const row = [...document.querySelectorAll("main tbody tr")].find((tr) => tr.querySelector("th").innerText.trim() === arguments[0]);
            return row?.querySelector(`[data-name="${arguments[1]}"]`)?.innerText.trim()""", row, name)

    def worker(self, *options):
        worker = subprocess.Popen([HELD, "--isolation", "none", *options], env=self.env, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.addCleanup(worker.wait)
        self.addCleanup(worker.kill)
        return worker

    def order(self, name, text):
        """Presses what has that text in the row of that worker."""
        [row] = [row for row in self.browser.find_elements(By.CSS_SELECTOR, "main tbody tr") if row.find_element(By.CSS_SELECTOR, "th").text == name]
        [button] = [each for each in row.find_elements(By.CSS_SELECTOR, "button") if each.text == text]
        self.browser.execute_script("arguments[0].focus()", button)
        button.send_keys(Keys.ENTER)

    def listed(self, name):
        return next((each for each in self.get("/workers")["workers"] if each["name"] == name), None)

    def label(self):
        return self.browser.execute_script("return document.activeElement.getAttribute('aria-label') ?? document.activeElement.id")

    def test_orders_to_workers(self):
        self.nap("enqueue", "pen", "1", program=HELD)
        other = self.worker("--name", "two", "--concurrency", "3")
        self.serve()
        self.until(lambda: self.listed("two") and self.listed("two")["runs_total"] == 1)
        self.worker("--name", "one", "--concurrency", "1")
        self.open("workers")
        self.until(lambda: [self.cell(name, "Runs") for name in ("one", "two")] == ["0 of 1", "1 of 3"])
        self.assertNotIn("At a time", self.cell("one", "Orders"), "it can have but one")
        self.order("two", "Quiet")
        self.sees("two is told to take no more runs", selector="#said")
        self.sees("an order waits")
        self.until(lambda: self.cell("two", "State") == "quiet")
        self.assertTrue(self.listed("two")["is_quiet"])
        self.assertEqual(self.label(), "Resume taking runs with two", "the focus is lost")
        self.order("two", "Resume taking")
        self.sees("two is told to take runs again", selector="#said")
        self.until(lambda: self.cell("two", "State") == "at work")
        self.assertFalse(self.listed("two")["is_quiet"])
        self.assertFalse(self.listed("one")["is_quiet"] or self.listed("one")["is_pending"])
        self.order("two", "Stop")
        self.sees("two on ", f"process {other.pid}", "its grace to finish the run at work", selector="#sure")
        self.press("No, leave it", "#sure")
        self.assertEqual(self.label(), "Stop two")
        self.order("two", "Stop")
        self.press("Stop it", "#sure")
        self.sees("two is told to stop", selector="#said")
        self.until(lambda: self.cell("two", "State") == "stopping")
        self.assertEqual((self.cell("two", "Orders"), self.label()), ("", "main"))
        self.calm()

    def test_a_worker_that_goes_takes_no_focus_along(self):
        """Not to the buttons of another one."""
        self.nap("enqueue", "wink", "1")
        self.worker("--name", "one")
        self.serve()
        gone = self.worker()
        name = lambda: next((each["name"] for each in self.get("/workers")["workers"] if each["pid"] == gone.pid), None)
        self.until(name)
        self.open("workers")
        self.until(lambda: self.cell(name(), "Orders"))
        self.browser.execute_script("document.querySelector(`main button[aria-label='Quiet ${arguments[0]}']`).focus()", name())
        gone.kill()
        gone.wait()
        self.until(lambda: len(self.browser.find_elements(By.CSS_SELECTOR, "main tbody tr")) == 1)
        self.assertEqual(self.label(), "main")
        self.calm()

    def test_how_many_runs_a_worker_has(self):
        """What is typed and where the focus is outlast what comes anew; what is wrong stands beside it."""
        self.nap("enqueue", "wink", "1")
        self.worker("--name", "one", "--concurrency", "3")
        self.serve()
        self.until(lambda: self.listed("one"))
        self.open("workers")
        self.faults = (400, 404)
        self.sees("At a time")
        field = self.one("main td[data-name=Orders] input")
        self.assertEqual(field.accessible_name, "At a time runs of one, 1 to 3")
        for text, part in (("", "how many, 1 to 3"), ("0", "1 to 1024, found 0"), ("many", "how many, 1 to 3"), ("9", "at most 3 runs"), ("1025", "1 to 1024, found 1025")):
            field.clear()
            field.send_keys(text, Keys.ENTER)
            self.sees(part, selector="main td[data-name=Orders] .wrong")
            self.assertEqual((self.browser.switch_to.active_element, field.get_attribute("aria-invalid")), (field, "true"), text)
        field.clear()
        field.send_keys("2")
        gone = self.worker("--name", "a-first")
        self.until(lambda: self.cell("a-first", "State"))
        gone.terminate()
        gone.wait()
        self.until(lambda: self.cell("a-first", "State") is None)
        self.assertEqual((self.browser.switch_to.active_element, field.get_attribute("value")), (field, "2"))
        self.sees("found 1025", selector="main td[data-name=Orders] .wrong")
        field.send_keys(Keys.ENTER)
        self.sees("one is told to have 2 at a time", selector="#said")
        self.until(lambda: self.cell("one", "Runs") == "0 of 2")
        self.assertEqual((self.text("main td[data-name=Orders] .wrong"), field.get_attribute("value"), field.get_attribute("placeholder")), ("", "", "2"))
        self.assertIsNone(field.get_attribute("aria-invalid"))
        field.send_keys("9", Keys.ENTER)
        self.sees("at most 3 runs", selector="main td[data-name=Orders] .wrong")
        for width, scheme in ((1440, "light"), (375, "dark"), (320, "light")):
            self.screen(width, scheme)
            self.fits()
            self.assertEqual(self.browser.execute_script(CONTRAST), [], width)
        self.calm()

    def test_figures(self):
        self.fill()
        self.serve()
        self.open("queue/naps")
        self.press("figures")
        self.until(lambda: "show=figures" in self.browser.current_url and self.cell("tell", "failed"))
        self.assertEqual([self.cell("tell", name) for name in ("done", "failed", "then dead")], ["0", "3", "3"])
        self.assertEqual([self.cell("all jobs", name) for name in ("done", "failed")], ["1", "3"])
        [tell] = [row for row in self.get("/queues/naps/figures")["jobs"] if row["job"] == "tell"]
        self.assertEqual(self.text("main table:nth-of-type(1) caption"), "Ends of attempts")
        labels = [svg.get_attribute("aria-label") for svg in self.browser.find_elements(By.CSS_SELECTOR, "main svg.bars, main svg.histogram")]
        self.assertIn("100 % failed", labels)
        self.assertIn("25.0 % done, 75.0 % failed", labels)
        self.assertEqual(len([label for label in labels if label.startswith("half within ")]), 6)
        self.assertEqual(tell["wait"]["count"], 3)
        bars = self.browser.execute_script('''return [...document.querySelectorAll("main tbody tr")]
            .filter((row) => row.querySelector("th").innerText.trim() === "tell").map((row) => row.querySelectorAll(".times").length)''')
        self.assertEqual(bars, [0, len(tell["wait"]["buckets"]), len(tell["run"]["buckets"])])
        self.nap("enqueue", "tell", "again", "hush")
        self.drain()
        self.until(lambda: self.cell("tell", "failed") == "4")
        for width, scheme in ((1440, "light"), (320, "dark")):
            self.screen(width, scheme)
            self.fits()
        choice = self.one("#hours")
        self.browser.execute_script("arguments[0].focus()", choice)
        self.keys(Keys.END)
        self.until(lambda: choice.get_attribute("value") == "48")
        self.sees("48 hours")
        self.calm()

    def test_how_long_runs_waited_stands_in_the_overview(self):
        self.nap("enqueue", "wink", "1")
        self.serve()
        self.open("")
        self.sees("naps")
        self.assertFalse(self.one(".latency").is_displayed())
        self.fill()
        self.until(lambda: self.one(".latency").is_displayed())
        labels = [svg.get_attribute("aria-label") for svg in self.browser.find_elements(By.CSS_SELECTOR, ".latency svg")]
        self.assertTrue(labels[0].startswith("Waited: half within "), labels)
        self.assertTrue(labels[1].startswith("Handlers took: half within "), labels)
        took = self.get("/queues/naps/figures")["all"]["run"]
        bars = self.browser.find_elements(By.CSS_SELECTOR, ".latency figure:nth-of-type(2) .times")
        self.assertEqual(len(bars), len(took["buckets"]))
        self.calm()

    def test_no_figures(self):
        self.nap("enqueue", "wink", "1")
        self.serve()
        self.open("queue/naps?show=figures")
        self.sees("No worker has brought an attempt to its end here in the last 2 hours")
        self.one("#hours").send_keys("this")
        self.sees("to its end here in this hour")
        self.calm()

    def test_limits(self):
        self.hold()
        self.serve()
        self.until(lambda: self.get("/queues/held")["parked"] == 2)
        self.open()
        self.until(lambda: self.text("main td[data-name=parked]") == "2")
        self.press("2", "main td[data-name=parked]")
        self.sees("Of queue held.")
        [limit] = self.get("/limits?queue=held")["queues"][0]["limits"]
        name = limit["limit"]
        self.until(lambda: [self.cell(name, head) for head in ("Kind", "In force", "Declared", "At work", "Parked")] ==
                   ["concurrency", "1 at a time", "1 at a time", "1", "2"])
        self.press(name)
        self.sees("Set it by hand", "all runs together")
        parked = lambda: self.text("main tbody td[data-name=Parked]")
        self.until(lambda: parked() == "2")
        self.nap("enqueue", "pen", "1", program=HELD)
        self.until(lambda: parked() == "3", 20)
        self.sees("parked\n3")
        self.faults = (400,)
        self.press("Set")
        self.until(lambda: "Runs: a number, 1 to 1000000" in self.text("main form.limit .wrong"))
        self.assertEqual(self.focused(), "l-count")
        self.keys("0", Keys.ENTER)
        self.until(lambda: "1000000" in self.text("main form.limit .wrong"))
        self.assertFalse(self.one("#sure").is_displayed(), "it asks about what can not be")
        self.assertEqual((self.focused(), self.one("#l-count").get_attribute("aria-invalid")), ("l-count", "true"))
        self.one("#l-count").clear()
        self.one("#l-count").send_keys("2", Keys.ENTER)
        self.sees("in place of 1 at a time", selector="#sure")
        self.press("Set it", "#sure")
        self.sees("2 at a time", "set by hand")
        self.until(lambda: self.get("/queues/held")["parked"] == 2)
        self.press("As declared")
        self.press("As declared", "#sure")
        self.until(lambda: not self.get("/limits?queue=held")["queues"][0]["limits"][0]["is_set"])
        self.until(lambda: "set by hand" not in self.text())
        self.calm()

    def test_a_rate(self):
        """Its form has a time and a burst; a limit that has no number has no form."""
        self.nap("enqueue", "wink", "1")
        self.tell([{"name": "who", "kind": "string", "shape": "single", "default": "\"\""}], {}, name="often", wire="often",
                  limits=[{"name": "rate", "kind": "rate", "count": 5, "per_ms": 60000, "burst": 2, "by": []}])
        self.serve()
        name = self.get("/limits?queue=naps")["queues"][0]["limits"][0]["limit"]
        self.open(f"limit/naps/{name}")
        self.sees("5 in 60 s, at most 2 at once")
        self.one("#l-count").send_keys("9")
        self.one("#l-per").send_keys("2h", Keys.ENTER)
        self.sees("9 in 2h, at most 2 at once, in place of 5 in 60 s, at most 2 at once", selector="#sure")
        self.press("Set it", "#sure")
        self.sees("9 in 2 h, at most 2 at once")
        self.one("#l-count").send_keys("1", Keys.ENTER)
        self.sees("1 in 2 h, at most 1 at once", selector="#sure")
        self.press("No, leave it", "#sure")
        self.one("#l-burst").send_keys("x", Keys.ENTER)
        self.sees("At once after a rest: a number", selector="form.limit .wrong")
        self.assertFalse(self.one("#sure").is_displayed())
        self.one("#l-burst").send_keys(Keys.BACKSPACE, "7")
        self.one("#l-per").send_keys("soon", Keys.ENTER)
        self.sees("In a time of: a time", selector="form.limit .wrong")
        self.one("#l-per").clear()
        self.one("#l-count").send_keys("0", Keys.ENTER)
        self.sees("10 in 2 h, at most 7 at once", selector="#sure")
        self.press("Set it", "#sure")
        self.sees("10 in 2 h, at most 7 at once")
        self.calm()

    def test_keys_page_by_page(self):
        self.tell([{"name": "who", "kind": "string", "shape": "single", "default": "\"nobody\""}], {}, name="each", wire="each",
                  limits=[{"name": "concurrency", "kind": "concurrency", "count": 1, "per_ms": 0, "burst": 0, "by": ["who"]}])
        self.serve()
        whose = [f"k{number:03}" for number in range(149)] + ["<script>document.title='owned'</script>" + "W" * 3000]
        self.post("/jobs", [{"queue": "naps", "job": "each", "params": {"who": who}} for who in whose])
        self.open("limits")
        self.sees("151", "1 at a time for each key")
        self.press("concurrency")
        self.sees("Show more", "k000")
        count = lambda: len(self.browser.find_elements(By.CSS_SELECTOR, "main tbody tr"))
        self.assertEqual(count(), 100)
        self.press("Show more")
        self.until(lambda: count() == 151)
        self.sees("As of ")
        self.assertNotIn("Show more", self.text())
        self.sees("nobody", "k148")
        for width, scheme in ((1440, "light"), (320, "dark")):
            self.screen(width, scheme)
            self.fits()
        self.assertNotIn("owned", self.browser.title)
        self.calm()

    def test_batches(self):
        name = self.batch()
        self.nap("--drain", "--queues", "claps", "--isolation", "none", "--log-level", "error")
        self.nap("batch", "3")
        self.drain()
        self.serve()
        self.open()
        self.keys("/", name, Keys.ENTER)
        self.sees("open: more members may come", "It has no members")
        [run] = [run for run in self.get("/runs?queue=claps")["runs"]][:1]
        self.open(f"run/claps/{run['id']}")
        self.press(self.get(f"/runs/claps/{run['id']}")["param_values"]["batch"])
        self.sees("ended, with success", "3 of 3 have ended")
        self.assertEqual(self.one("main svg.bars").get_attribute("aria-label"), "100 % done")
        self.faults = (404,)
        self.open("batch")
        self.one("#batch").send_keys("naps", Keys.ENTER)
        self.until(lambda: "queue and its id" in self.text("#w-batch"))
        self.assertEqual((self.focused(), self.one("#batch").get_attribute("aria-invalid")), ("batch", "true"))
        self.one("#batch").clear()
        self.one("#batch").send_keys("naps/01a22d7f-4f59-7826-b394-100000000fff", Keys.ENTER)
        self.sees("batch", selector=".wrong")
        self.calm()

    def test_a_batch_that_nobody_closed(self):
        name = self.batch(1000000)
        self.nap("enqueue", "wink", "1")
        self.serve()
        self.open("batch/" + name)
        self.sees("open: more members may come")
        self.drain()
        self.sees("ended: nobody had closed it in time")
        self.screen(320, "dark")
        self.fits()
        self.assertEqual(self.browser.execute_script(CONTRAST), [])
        self.calm()

    def test_while_the_store_is_away(self):
        self.hold()
        self.fill()
        name = self.batch()
        self.serve()
        self.until(lambda: self.get("/limits?queue=held")["queues"][0]["limits"])
        limit = self.get("/limits?queue=held")["queues"][0]["limits"][0]["limit"]
        self.faults = (503,)
        views = ("queue/naps?show=figures", "limits", f"limit/held/{limit}", "batch/" + name)
        self.open("limits")
        self.sees(limit)
        self.away()
        self.until(lambda: self.one("main .old"))
        self.assertIn(limit, self.text())
        for view in views:
            self.open(view, lambda: self.text("#banner"))
            self.sees("The store is away")
            for lie in ("No run", "No worker", "no such", "no members"):
                self.assertNotIn(lie, self.text(), view)
        self.assertEqual(self.browser.execute_script(CONTRAST), [])
        self.back()
        self.sees("open: more members may come")
        self.calm()


class Access(Page):
    def setUp(self):
        super().setUp()
        self.fill()
        self.tokens = self.folder / "tokens"
        self.tokens.write_text(f"read {READ}\noperate {OPERATE}\nenqueue enqueue-0123456789abcdef\n"
                               "work work-0123456789abcdef\n")
        self.tokens.chmod(0o600)

    def enter(self, token):
        self.until(lambda: self.one("#token-value") and self.one("#token-value").is_displayed())
        self.one("#token-value").clear()
        self.one("#token-value").send_keys(token, Keys.ENTER)

    def test_a_token(self):
        self.serve("--tokens", self.tokens)
        self.faults = (401,)
        self.open("queue/naps", lambda: self.one("#token").is_displayed())
        self.enter("no-such-token-0123456789")
        self.sees("does not know that token", selector="#token")
        self.enter(READ)
        self.sees("You may look")
        self.assertNotIn("Enqueue", self.text("nav"))
        self.open("workers")
        self.sees("You may look, not change.")
        self.assertNotIn("Orders", self.text())
        self.open("dead")
        self.sees("disk full")
        self.assertNotIn("Retry", self.text())
        self.press("Token", "header")
        self.one("#token-forget").click()
        self.enter(OPERATE)
        self.sees("Retry")
        self.open("workers")
        self.sees("An order is obeyed")
        self.press("Token", "header")
        self.one("#token-forget").click()
        self.enter("enqueue-0123456789abcdef")
        self.until(lambda: self.text("nav") == "Enqueue")
        self.sees("ready", selector="#live")
        self.open("enqueue/naps/wink")
        self.press("Enqueue")
        self.sees("Enqueued: ")
        run = self.text("main .good a")
        self.press(run)
        self.sees("Run " + run, "waiting", "length")
        self.assertNotIn("Cancel", self.text())
        claim = self.post("/queues/naps/claim", {"jobs": ["wink"]}, Authorization=f"Bearer {OPERATE}")
        self.post("/queues/naps/claim", {"jobs": ["wink"]}, Authorization=f"Bearer {OPERATE}")
        self.assertIsNotNone(claim["claim"])
        self.sees("active")
        self.assertEqual([link.get_attribute("href").split("#")[1] for link in self.browser.find_elements(By.CSS_SELECTOR, "main a")], ["/enqueue"])
        self.faults = (401, 503)
        self.away()
        self.sees("The store is away", selector="#banner")
        self.back()
        self.until(lambda: not self.one("#banner").is_displayed())
        self.press("Token", "header")
        self.one("#token-forget").click()
        self.enter("work-0123456789abcdef")
        self.sees("This token is for workers", selector="main h1")
        self.browser.execute_script("sessionStorage.clear()")
        self.calm()

    def test_a_token_that_ends(self):
        """The page is that of the next one's role; until there is one, what is shown is old."""
        self.serve("--tokens", self.tokens)
        self.faults = (401, 403)
        self.open("queue/naps", lambda: self.one("#token").is_displayed())
        self.enter(OPERATE)
        self.sees("Pause for")
        self.sees("live", selector="#live")
        tokens = self.tokens.read_text()
        for token, is_next in ((READ, lambda: "You may look" in self.text() and "Pause for" not in self.text()),
                               ("enqueue-0123456789abcdef", lambda: self.text("nav") == "Enqueue")):
            held = self.browser.execute_script("return sessionStorage.getItem('culex-token')")
            self.tokens.write_text("".join(line for line in tokens.splitlines(True) if held not in line))
            self.again()
            self.until(lambda: self.one("#token").is_displayed())
            self.sees("old", selector="#live")
            self.sees("wants a token", selector="#banner")
            self.enter(token)
            self.until(is_next)
            self.until(lambda: not self.one("#banner").is_displayed())
        self.browser.execute_script("sessionStorage.clear()")

    def again(self):
        """The server begins anew where it was."""
        self.console.terminate()
        self.assertEqual(self.console.wait(30), 0)
        with self.log.open("w") as log:
            self.console = subprocess.Popen([CONSOLE, "--listen", f"127.0.0.1:{self.port}", "--tokens", self.tokens],
                                            env=self.env, stderr=log, cwd=self.folder)
        self.until(lambda: "listening at" in self.log.read_text())

    def test_a_token_of_other_letters(self):
        """It is unknown, which is not to say that there is no server; who closes the dialog is told what is missing."""
        self.serve("--tokens", self.tokens)
        self.faults = (401,)
        self.open("queue/naps", lambda: self.one("#token").is_displayed())
        for text in ("\u201cread-0123456789abcdef\u201d", "\u0441ecret-0123456789"):
            self.browser.execute_script("document.getElementById('token-text').textContent = ''")
            self.enter(text)
            self.sees("does not know that token", selector="#token")
            self.assertEqual(self.text("#banner"), "")
        self.keys(Keys.ESCAPE)
        self.sees("This server wants a token")
        self.sees("away", selector="#live")
        self.sees("This server wants a token", selector="#banner")
        self.assertNotIn("Loading", self.text())
        self.press("Give a token")
        self.enter(READ)
        self.sees("You may look", "oldest waits")
        self.sees("live", selector="#live")
        self.browser.execute_script("sessionStorage.clear()")
        self.calm()

    def test_read_only(self):
        self.hold()
        self.serve("--read-only")
        self.until(lambda: self.get("/queues/held")["parked"] == 2)
        self.open("limit/held/pen:concurrency")
        self.sees("You may look, not change.", "all runs together")
        self.assertIsNone(self.one("main form"))
        self.open("workers")
        self.sees("You may look, not change.", "held")
        self.assertIsNone(self.one("main form, main button"))
        self.open("queue/naps")
        self.sees("You may look")
        self.sees("read-only", selector="footer")
        self.open(f"run/naps/{self.newest('dead')}")
        self.sees("failed for good")
        self.assertNotIn("Retry", self.text())
        self.calm()

    def test_schedules_of_who_may_only_look(self):
        self.hold(1)
        self.serve("--tokens", self.tokens)
        self.faults = (401,)
        self.open("schedules", lambda: self.one("#token").is_displayed())
        self.enter(READ)
        self.sees("chime", "on")
        self.assertIsNone(self.one("main button"))
        self.assertNotIn("Run now", self.text())
        self.browser.execute_script("sessionStorage.clear()")
        self.calm()

    def test_behind_a_path(self):
        self.serve("--base", "/ops/culex")
        self.base = "/ops/culex"
        self.browser.get(f"http://127.0.0.1:{self.port}/ops/culex")
        self.sees("naps")
        self.open("queue/naps")
        self.sees("oldest waits")
        self.sees("live", selector="#live")
        self.browser.get("about:blank")
        for row in self.browser.get_log("browser"):
            self.assertNotEqual(row["level"], "SEVERE", row)

    def test_what_is_kept_is_not_sent_again(self):
        self.serve()
        status, headers, _ = self.send("GET", "/page/app.js")
        self.assertEqual((status, headers["Content-Type"]), (200, "text/javascript; charset=utf-8"))
        again, _, body = self.send("GET", "/page/app.js", If_None_Match=headers["ETag"])
        self.assertEqual((again, body), (304, b""))
        self.assertEqual(self.send("GET", "/page/app.js", If_None_Match='"other"')[0], 200)
        self.refused(self.send("GET", "/page/nothing.js")[2], "not_found")
        policy = self.send("GET", "/")[1]["Content-Security-Policy"]
        self.assertIn("default-src 'none'; script-src 'self'; style-src 'self'", policy)
        self.assertNotIn("unsafe", policy)


class Reach(Page):
    def test_keys_alone(self):
        self.fill()
        self.serve()
        self.open()
        self.sees("naps")
        self.keys(Keys.TAB)
        self.assertEqual(self.focused(), "skip")
        self.keys(Keys.ENTER)
        self.assertEqual(self.focused(), "main")
        for key, title in (("r", "Runs"), ("d", "Dead letters"), ("s", "Schedules"), ("w", "Workers"), ("m", "Schemas"), ("e", "Enqueue"), ("l", "Limits"), ("b", "Batches"),
                           ("o", "Overview")):
            self.keys("g", key)
            self.until(lambda title=title: self.browser.title == f"{title} · Culex", 10)
            self.assertEqual(self.focused(), "main")
            self.assertEqual(self.one("nav a[aria-current=page]").text, title)
        self.keys("?")
        self.assertTrue(self.one("#help").is_displayed())
        self.keys(Keys.ESCAPE)
        self.assertFalse(self.one("#help").is_displayed())
        self.keys("/")
        self.assertEqual(self.focused(), "find-text")
        self.keys("g?", "r")
        self.assertEqual(self.one("#find-text").get_attribute("value"), "g?r")
        self.assertEqual(self.browser.title, "Overview · Culex")
        outline = self.browser.execute_script("return getComputedStyle(document.activeElement).outlineStyle")
        self.assertEqual(outline, "solid", "focus cannot be seen")
        self.calm()

    def test_colours_and_widths(self):
        self.fill()
        self.serve()
        self.post("/queues/naps/pause", {"for": "5m"})
        views = VIEWS + [f"run/naps/{self.newest('dead')}", f"run/naps/{self.newest('done')}"]
        self.faults = (404,)
        for scheme in ("light", "dark"):
            for view in views:
                self.screen(1440, scheme)
                self.open(view)
                self.assertEqual(self.browser.execute_script(CONTRAST), [], (scheme, view))
                for width in (1440, 800, 375, 320):
                    self.screen(width, scheme)
                    self.fits()
        self.calm()

    def test_labels_of_narrow_cards_are_words(self):
        self.hold(1)
        self.serve()
        self.open("workers")
        self.sees("one")
        self.screen(375, "light")
        width = self.browser.execute_script("""
            const cell = document.querySelector("main td[data-name=Memory]");
            cell.firstChild.textContent = "4.2 MiB + 2.9 MiB";
            return parseFloat(getComputedStyle(cell, "::before").width)""")
        self.assertGreater(width, 40, "the label is broken into letters")
        self.fits()
        self.calm()

    def test_dark_by_hand(self):
        self.fill()
        self.serve()
        ground = lambda: self.browser.execute_script("return getComputedStyle(document.documentElement).backgroundColor")
        self.open()
        light = ground()
        self.press("Dark", "header")
        dark = ground()
        self.assertNotEqual(light, dark)
        self.open("runs")
        self.assertEqual(ground(), dark, "it is forgotten")
        self.press("Light", "header")
        self.assertEqual(ground(), light)
        self.screen(1440, "dark")
        self.assertEqual(ground(), light, "by hand goes before the system's")
        self.browser.execute_script("localStorage.clear()")
        self.open()
        self.assertEqual(ground(), dark)
        self.calm()

    def test_names_for_who_does_not_see(self):
        self.fill()
        self.serve()
        for view in VIEWS:
            self.open(view)
            nameless = self.browser.execute_script("""
                const named = (n) => n.getAttribute("aria-label") || n.textContent.trim() || n.labels?.length;
                return [...document.querySelectorAll("input, select, textarea, button, a, progress")].filter((n) => n.checkVisibility() && !named(n)).map((n) => n.outerHTML)
                  .concat([...document.querySelectorAll("main table")].filter((t) => !t.caption || [...t.querySelectorAll("th")].some((h) => !h.scope)).map((t) => t.outerHTML))
                  .concat([...document.querySelectorAll("main svg")].filter((s) => s.checkVisibility() &&  !s.getAttribute("aria-label")).map((s) => s.outerHTML))""")
            self.assertEqual(nameless, [], view)
            self.assertEqual(len(self.browser.find_elements(By.CSS_SELECTOR, "h1")), 1, view)

    def test_it_is_small(self):
        self.fill()
        self.serve()
        html = self.send("GET", "/")[2].decode()
        folder = os.path.join(os.path.dirname(__file__), *[".."] * 3, "ops", "console", "page")
        names = [name for name in os.listdir(folder) if not name.endswith((".py", ".html"))]
        total = len(html) + sum(len(self.send("GET", f"/page/{name}")[2]) for name in names)
        self.assertLess(total, 150000)
        self.assertNotRegex(html, r"<style|style=|onclick|<script>|https?://")


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[6:]])
