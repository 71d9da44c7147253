"""./dev bench with a handful of runs: every row of the table, the document, the table of text and the plots.

usage: bench_test.py BUILD
How fast anything is does not matter here.
"""
import collections
import contextlib
import copy
import dataclasses
import json
import os
import pathlib
import select
import sqlite3
import subprocess
import sys
import tempfile
import unittest
import unittest.mock
import xml.etree.ElementTree as ElementTree

import jsonschema

import bench
import draw
import flat
import machine
import measures
import peers
import plot
import runner
import stores
from rows import HOURS, ROWS, Row

BUILD = pathlib.Path(sys.argv[1])
HERE = pathlib.Path(__file__).parent
SCHEMA = json.loads((HERE / "document.schema.json").read_text())
SVG = "{http://www.w3.org/2000/svg}"
FEW, BACKLOG = 16, 40


def small(row: Row) -> tuple[Row, int]:
    """The row with next to nothing to do; those that are given seconds have one."""
    knobs = {**dict(row.knobs), **({"backlog": BACKLOG} if "backlog" in dict(row.knobs) else {})}
    count = 1 if row.what in ("idle", "sustained") else FEW
    return dataclasses.replace(row, knobs=tuple(knobs.items())), count


def document_of(rows: list[Row]) -> dict:
    args = bench.arguments([str(BUILD), "--rounds", "1", "--quick"])
    with unittest.mock.patch("builtins.print"):
        return bench.measured(args, [small(row) for row in rows])


def measured_alone(row: Row, count: int) -> dict:
    args = bench.arguments([str(BUILD), "--rounds", "1"])
    with unittest.mock.patch("builtins.print"):
        return bench.measured(args, [(row, count)])["rows"][0]


class EveryRow(unittest.TestCase):
    """Measured once; each test looks at the same document."""

    @classmethod
    def setUpClass(cls):
        cls.rows = [row for row in ROWS if "peer" not in dict(row.knobs) or dict(row.knobs)["peer"] == "culex"]
        cls.document = document_of(cls.rows)

    def test_document_has_the_form_that_is_written_down(self):
        jsonschema.validate(self.document, SCHEMA)

    def test_each_row_has_figures_of_both_sides(self):
        self.assertEqual(len(self.rows), len(self.document["rows"]))
        for row in self.document["rows"]:
            if machine.PLACES[row["place"]][1]:  # else this machine has one processor
                self.assertNotIn("skipped", row)
                self.assertEqual([1, 1], [len(figure[side]["values"]) for figure in row["figures"].values()
                                          for side in runner.SIDES][:2], row)

    def test_rates_are_more_than_nothing(self):
        for row in self.document["rows"]:
            for side in runner.SIDES if "rate" in row.get("figures", {}) else ():
                self.assertGreater(row["figures"]["rate"][side]["median"], 0, row)

    def test_table_has_a_line_for_each_figure(self):
        text = draw.table(self.document)
        for group, rows in draw.groups_of(self.document).items():
            self.assertIn(f"\n{group}\n", text)
            for line in (line for row in rows for line in draw.row_lines(row)):
                self.assertIn(line, text)
        self.assertEqual(sum(len(row.get("figures", [1])) for row in self.document["rows"]),
                         len([line for line in text.splitlines()[1:] if line.startswith(tuple(row["name"][:34] for row in self.document["rows"]))
                              and "  " in line]))

    def test_plots_are_well_formed_and_stay_on_their_page(self):
        made = draw.plots(self.document)
        self.assertGreaterEqual(len(made), len(draw.groups_of(self.document)))
        for name, text in made.items():
            root = ElementTree.fromstring(text)
            width, height = float(root.get("width")), float(root.get("height"))
            for shape in root.iter(f"{SVG}rect"):
                self.assertLessEqual(float(shape.get("x")) + float(shape.get("width")), width + 1, name)
            for shape in root.iter(f"{SVG}text"):
                self.assertTrue(0 <= float(shape.get("x")) <= width and 0 <= float(shape.get("y")) <= height, f"{name}: {shape.text}")

    def test_rows_that_differ_by_an_axis_make_lines(self):
        groups = draw.groups_of(self.document)
        self.assertEqual([5, 5, 4, 4], [len(line.points) for line in draw.lines_of(groups["drain by backlog"])])
        self.assertEqual([4] * 4, [len(line.points) for line in draw.lines_of(groups["SQLite full"])])
        self.assertEqual([5] * 2, [len(line.points) for line in draw.lines_of(groups["enqueue by payload"])])
        self.assertEqual({"none redis", "process redis", "job redis"},
                         {line.title for line in draw.lines_of(groups["drain"]) if not line.is_floor})

    def test_plots_replace_those_of_before(self):
        with tempfile.TemporaryDirectory() as folder:
            (pathlib.Path(folder) / "old.svg").write_text("")
            draw.plots_write(self.document, pathlib.Path(folder))
            self.assertEqual(sorted(draw.plots(self.document)), sorted(path.name for path in pathlib.Path(folder).iterdir()))

    def test_a_growing_series_is_drawn(self):
        rows = [row for row in self.document["rows"] if "series" in row]
        self.assertEqual({"redis", "sqlite"}, {row["store"] for row in rows})
        for row in rows:
            self.assertGreater(min(sample[1] for sample in row["series"]["product"]), 0)


class Bytes(unittest.TestCase):
    def test_free_pages_are_not_counted(self):
        with tempfile.TemporaryDirectory() as folder:
            file = pathlib.Path(folder) / "x.db"
            with contextlib.closing(sqlite3.connect(file)) as db:
                db.executescript("CREATE TABLE t(x); INSERT INTO t VALUES(zeroblob(400000))")
                self.assertGreater(stores.pages_bytes(file), 400000)
                db.executescript("DELETE FROM t")
            self.assertGreater(file.stat().st_size, 400000)
            self.assertLess(stores.pages_bytes(file), 20000)

    def test_a_log_is_brought_into_its_file(self):
        with tempfile.TemporaryDirectory() as folder:
            store = stores.Sqlite(folder)
            with contextlib.closing(sqlite3.connect(store.file)) as db:
                db.executescript("PRAGMA journal_mode=WAL; CREATE TABLE t(x); INSERT INTO t VALUES(zeroblob(400000))")
                with_log = store.bytes_held("product")
                store.settle("product")
                self.assertEqual(stores.pages_bytes(store.file), store.bytes_held("product"))
                self.assertLess(store.bytes_held("product"), with_log)

    def test_growth_is_told_of_long_loops_alone(self):
        row = next(row for row in ROWS if row.what == "sustained" and row.store == "redis")
        self.assertEqual({"rate"}, set(measured_alone(row, 1)["figures"]))
        with unittest.mock.patch.object(measures, "GROWTH_S", 1):
            self.assertEqual({"rate", "store_growth", "resident_growth", "server_growth"}, set(measured_alone(row, 1)["figures"]))

    def test_a_paced_loop_keeps_its_rate_and_is_judged(self):
        row = next(row for row in HOURS if row.store == "redis")
        slow = dataclasses.replace(row, knobs=tuple({**dict(row.knobs), "rate": 500}.items()))
        with unittest.mock.patch.object(measures, "GROWTH_S", 1):
            made = measured_alone(slow, 2)
        jsonschema.validate(made, {**SCHEMA["$defs"]["row"], "$defs": SCHEMA["$defs"]})
        self.assertLess(made["figures"]["rate"]["product"]["median"], 600)
        self.assertTrue(flat.is_judged(made))
        self.assertIn("MiB of store by quarters: ", "\n".join(draw.row_lines(made)))

    def test_bytes_are_those_of_the_runs_alone(self):
        """Not those of what fewer and more runs share, nor of a log, nor what scripts have left to be collected."""
        for row in (row for row in ROWS if row.what in ("bytes_waiting", "bytes_done")):
            few, more = (measured_alone(row, count)["figures"]["bytes"]["product"]["median"] for count in (8000, 16000))
            self.assertLess(abs(few - more), 0.1 * few, bench.title(row))


class Table(unittest.TestCase):
    def test_rows_are_told_apart(self):
        titles = collections.Counter(map(bench.title, ROWS))
        self.assertEqual([], [title for title, times in titles.items() if times > 1])

    def test_every_measure_has_rows_and_every_row_a_measure(self):
        self.assertEqual(set(measures.MEASURES), {row.what for row in ROWS + HOURS})

    def test_quick_has_rows_of_every_group(self):
        args = bench.arguments([str(BUILD), "--quick", "--peers"])
        self.assertEqual({row.group for row in ROWS}, {row.group for row, _ in bench.chosen(args)})

    def test_only_chooses_by_what_is_listed(self):
        args = bench.arguments([str(BUILD), "--only", "codec", "--only", "memory"])
        self.assertEqual({"codec", "memory"}, {row.group for row, _ in bench.chosen(args)})

    def test_peers_are_asked_for(self):
        self.assertFalse([row for row, _ in bench.chosen(bench.arguments([str(BUILD)])) if row.group.startswith("peers")])


def paced_row(store: list[float], rate: float = 50000) -> dict:
    series = [[float(at), held * 2 ** 20, 1024.0, 2048.0] for at, held in enumerate(store)]
    growth = measures.growth_percent([sample[1] for sample in series])
    grown = {"store": growth, "resident": 0, "server": 0}
    return {"name": "paced", "store": "redis", "place": "free", "knobs": {"rate": 50000}, "series": {"product": series},
            "figures": {"rate": {"product": {"median": rate}}, **{f"{name}_growth": {"product": {"median": value}} for name, value in grown.items()}}}


class Flat(unittest.TestCase):
    def test_quarters_are_means(self):
        self.assertEqual([1, 2, 3, 4], flat.quarters([1, 1, 2, 2, 3, 3, 4, 4]))
        self.assertEqual([0, 0, 0, 0], flat.quarters([]))

    def test_filling_up_is_no_growth_and_growing_is(self):
        self.assertEqual("flat", flat.verdict(paced_row([1, 4] + [9] * 10)))
        self.assertEqual("flat", flat.verdict(paced_row([9] * 4 + [8] * 8)))
        self.assertEqual("flat", flat.verdict(paced_row([9 + at / 20 for at in range(12)])))
        self.assertEqual("flat", flat.verdict(paced_row([900 + at for at in range(12)])))
        self.assertIn("store grew by 6.0 MiB", flat.verdict(paced_row(list(range(100, 112)))))

    def test_a_rate_that_was_not_kept_is_told(self):
        self.assertIn("40,000 runs/s of 50,000", flat.verdict(paced_row([9] * 12, rate=40000)))

    def test_hours_are_chosen_alone(self):
        args = bench.arguments([str(BUILD), "--hour", "--seconds", "7"])
        self.assertEqual([(row, 7) for row in HOURS], bench.chosen(args))
        self.assertEqual(1, args.rounds)
        self.assertFalse({row.group for row in HOURS} & {row.group for row, _ in bench.chosen(bench.arguments([str(BUILD)]))})


class Summary(unittest.TestCase):
    def test_median_and_spread(self):
        self.assertEqual({"median": 20, "spread": 1.5, "values": [10, 20, 40]}, runner.summary([10, 20, 40]))

    def test_ratio_is_that_of_the_rounds(self):
        # Not 3 / 2, the ratio of medians: a busy minute is in both sides of a round.
        self.assertEqual(1, runner.ratio_of([1, 3, 9], [2, 2, 9]))

    def test_nothing_is_no_floor(self):
        self.assertIsNone(runner.ratio_of([1, 2, 3], [0, 2, 3]))

    def test_growth_is_that_of_the_last_quarter(self):
        self.assertEqual(100, measures.growth_percent([9, 9, 1, 1, 5, 5, 2, 2]))
        self.assertEqual(0, measures.growth_percent([9, 4, 4, 4]))


class Failures(unittest.TestCase):
    def test_a_program_that_fails_is_told_with_its_words(self):
        with self.assertRaisesRegex(machine.Failure, "(?s)failed with 2.*no such knob.*colour"):
            machine.program_run([BUILD / "tests/campaigns/bench/bench", "floor", "codec", "colour=red"], machine.CORES)

    def test_a_program_that_hangs_is_ended(self):
        process = machine.program_start(["sleep", "60"], machine.CORES)
        with self.assertRaisesRegex(machine.Failure, "does not end"):
            machine.program_end(process, 0.1)
        self.assertEqual(-9, process.returncode)

    def test_what_a_failed_program_left_behind_ends(self):
        reader, writer = os.pipe()  # ends with the last process that has it
        with os.fdopen(reader, "rb") as end:
            with self.assertRaisesRegex(machine.Failure, "failed with 3"):
                machine.program_run(["sh", "-c", "sleep 60 >/dev/null 2>&1 & exit 3"], machine.CORES, pass_fds=[writer])
            os.close(writer)
            self.assertEqual([end], select.select([end], [], [], 30)[0])

    def test_a_program_that_says_much_is_not_held_up(self):
        answer = machine.program_run(["sh", "-c", "yes | head -c 300000 >&2; echo banner; echo '{\"count\": 1}'"], machine.CORES, 20).answer
        self.assertEqual({"count": 1}, answer)

    def test_a_peer_that_is_missing_says_why(self):
        for probe in (("no-such-program",), ("sh", "-c", "exit 1")):
            missing = {name: dataclasses.replace(peer, probe=probe) for name, peer in peers.PEERS.items()}
            with unittest.mock.patch.object(peers, "PEERS", missing):
                rows = [row for row in ROWS if dict(row.knobs).get("peer", "culex") != "culex"]
                for row, measured in zip(rows, document_of(rows)["rows"]):
                    package = missing[dict(row.knobs)["peer"]].package
                    self.assertIn(f"{package} is not installed", measured["skipped"])
                    self.assertIn(package, draw.row_lines(measured)[0])

    def test_a_peer_that_fails_says_what_it_said(self):
        broken = dataclasses.replace(peers.PEERS["rq"], program=("sh", "-c", "echo SomeError: of its own >&2; exit 1"), probe=("true",))
        row = next(row for row in ROWS if dict(row.knobs).get("peer") == "rq")
        with unittest.mock.patch.dict(peers.PEERS, rq=broken):
            self.assertEqual("it failed: SomeError: of its own", document_of([row])["rows"][0]["skipped"])

    def test_a_backlog_beyond_memory_says_why(self):
        row = next(row for row in ROWS if row.what == "drain_beside")
        with unittest.mock.patch.object(machine, "memory_free_bytes", return_value=0):
            self.assertRegex(document_of([row])["rows"][0]["skipped"], "memory for .* runs")

    def test_a_floor_that_drains_too_little_fails(self):
        with tempfile.TemporaryDirectory() as folder:
            words = [BUILD / "tests/campaigns/bench/bench", "floor"]
            machine.program_run([*words, "enqueue", f"url=sqlite:{folder}/x.db", "count=10"], machine.CORES)
            with self.assertRaisesRegex(machine.Failure, "did not hold"):
                machine.program_run([*words, "drain", f"url=sqlite:{folder}/x.db", "count=11"], machine.CORES)


class Commands(unittest.TestCase):
    def answer(self, *words: str) -> str:
        return subprocess.run([sys.executable, HERE / "bench.py", BUILD, *words], capture_output=True, text=True, check=True).stdout

    def test_help_and_list(self):
        self.assertIn("--peers", self.answer("--help"))
        self.assertEqual(len(ROWS), len(self.answer("--list", "--peers").splitlines()))

    def test_a_document_is_written_and_shown_again(self):
        with tempfile.TemporaryDirectory() as folder:
            told = self.answer("--quick", "--only", "codec", "--rounds", "1", "--out", folder)
            shown = subprocess.run([sys.executable, HERE / "draw.py", f"{folder}/bench.json"], capture_output=True, text=True, check=True).stdout
            self.assertIn(shown, told)
            jsonschema.validate(json.loads((pathlib.Path(folder) / "bench.json").read_text()), SCHEMA)

    def test_the_schema_sees_a_figure_without_its_floor(self):
        with tempfile.TemporaryDirectory() as folder:
            self.answer("--quick", "--only", "codec", "--rounds", "1", "--out", folder)
            document = json.loads((pathlib.Path(folder) / "bench.json").read_text())
        broken = copy.deepcopy(document)
        del broken["rows"][0]["figures"]["rate"]["floor"]
        with self.assertRaises(jsonschema.ValidationError):
            jsonschema.validate(broken, SCHEMA)


class Lines(unittest.TestCase):
    def test_a_flat_line_and_a_line_from_nothing_are_drawn(self):
        for points in ([(1, 5), (2, 5)], [(0, 0), (1, 0)], [(1, 1), (1, 1)]):
            for is_log in (True, False):
                ElementTree.fromstring(plot.lines("title", "<&>", "x", "y", [plot.Line("line", False, 0, points)], is_log))


unittest.main(argv=sys.argv[:1])
