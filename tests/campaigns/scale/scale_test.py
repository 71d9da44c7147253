"""Holds the simulation to arithmetic where that knows the answer, and docs/scale.md to both.

usage: scale_test.py
"""
import dataclasses
import re
import unittest

import arithmetic
import figures
import scale
from model import Simulation, World, percentile, simulate

KNOWN = figures.figures_read()


def world(**values) -> World:
    return World(figures=KNOWN, seconds=0.5, **values)


class KnownPoints(unittest.TestCase):
    def test_a_full_server_does_what_arithmetic_says(self):
        """Producers and workers without end: every microsecond of the server goes into lives of runs."""
        result = simulate(dataclasses.replace(world(rate=2_000_000, window=20_000, workers=16), seconds=3))
        self.assertAlmostEqual(1, result.rate * arithmetic.life_us(KNOWN) / 1e6, delta=0.03)
        spent = result.enqueued * arithmetic.enqueue_us(KNOWN, 100) + result.rate * arithmetic.step_us(KNOWN, 128)
        self.assertAlmostEqual(1, spent / 1e6, delta=0.01)
        self.assertGreater(result.load, 0.99)
        self.assertEqual(128, round(result.runs_a_step))

    def test_a_backlog_drains_at_the_cost_of_steps_on_each_server(self):
        for nodes in (1, 3):
            result = simulate(world(rate=0, backlog=600_000, workers=16 * nodes, nodes=nodes, partitions=nodes))
            self.assertAlmostEqual(nodes, result.rate * arithmetic.step_us(KNOWN, 128) / 1e6, delta=0.03 * nodes)

    def test_kept_successes_cost_what_they_do(self):
        result = simulate(world(rate=0, backlog=600_000, workers=16, is_kept=True))
        self.assertAlmostEqual(1, result.rate * arithmetic.step_us(KNOWN, 128, is_kept=True) / 1e6, delta=0.03)

    def test_calls_wait_as_in_a_queue_of_one_server(self):
        """Calls that come at random and cost the same wait load * cost / 2 (1 - load) on average."""
        cost = KNOWN.enqueue_call + 100 * KNOWN.enqueue_run
        for load in (0.3, 0.6):
            result = simulate(dataclasses.replace(world(rate=100e6 * load / cost, workers=0, producers=64, window=10 ** 9), seconds=4))
            self.assertAlmostEqual(load, result.load, delta=0.03)
            self.assertAlmostEqual(1, result.call_wait_us / (load * cost / 2 / (1 - load)), delta=0.15)

    def test_what_comes_is_done_while_there_is_room(self):
        result = simulate(world(rate=100_000))
        self.assertAlmostEqual(1, result.rate / result.enqueued, delta=0.01)
        self.assertLess(result.wait_p99_ms, 2)

    def test_a_worker_without_work_costs_next_to_nothing(self):
        result = simulate(world(rate=0, workers=100, partitions=10, nodes=2))
        self.assertEqual(0, result.rate)
        self.assertEqual(0, result.empty_part)

    def test_a_hot_partition_is_seen(self):
        even, hot = (simulate(world(rate=600_000, nodes=4, partitions=8, workers=16, producers=16, hot_share=share)) for share in (0, 0.4))
        self.assertLess(even.node_imbalance, 1.1)
        self.assertGreater(hot.node_imbalance, 1.5)
        self.assertGreater(hot.depth_imbalance, 2 * even.depth_imbalance)


class Whole(unittest.TestCase):
    def test_a_seed_gives_one_history(self):
        same, again, other = (simulate(dataclasses.replace(world(partitions=4, nodes=2, rate=200_000), seed=seed)) for seed in (5, 5, 6))
        self.assertEqual(same, again)
        self.assertNotEqual(same, other)

    def test_no_run_is_lost(self):
        result = simulate(world(rate=0, backlog=10_000, partitions=3, nodes=2, warm=0.0))
        self.assertEqual(30_000, round(result.rate * 0.5))

    def test_percentiles_count_by_weight(self):
        self.assertEqual(1, percentile([(3, 1), (1, 99)], 0.99))
        self.assertEqual(3, percentile([(3, 2), (1, 98)], 0.99))
        self.assertEqual(0, percentile([], 0.5))


class Served(unittest.TestCase):
    def partitions_of(self, **values) -> list[list[int]]:
        return [worker.serves for worker in Simulation(world(**values)).workers]

    def test_a_worker_reaches_one_server(self):
        for serves in self.partitions_of(nodes=4, partitions=16, workers=8):
            self.assertEqual(1, len({one % 4 for one in serves}))
            self.assertEqual(4, len(set(serves)))

    def test_no_partition_is_left_out(self):
        for values in ({"serves": 2}, {}, {"is_bound": False}, {"is_bound": False, "serves": 2}):
            served = self.partitions_of(nodes=4, partitions=16, workers=8, **values)
            self.assertEqual(set(range(16)), {one for serves in served for one in serves}, values)


class Words(unittest.TestCase):
    def test_a_world_is_read_or_refused_with_what_it_takes(self):
        self.assertEqual(World(KNOWN, rate=5.5, nodes=2, is_kept=True), scale.world_read(["rate=5.5", "nodes=2", "is_kept=1"], KNOWN))
        for word, says in (
                ("rate=abc", "rate takes a number from 0 on, not 'abc'"), ("rate", "rate takes a number from 0 on, not ''"),
                ("rate=-1", "not '-1'"), ("rate=nan", "not 'nan'"), ("window=inf", "window takes a whole number from 0 on"),
                ("seconds=0", "seconds takes a number above 0"), ("nodes=0", "nodes takes a whole number above 0"),
                ("is_kept=yes", "is_kept takes 0 or 1, not 'yes'"), ("figures=1", "no such key")):
            with self.subTest(word), self.assertRaisesRegex(SystemExit, re.escape(says)):
                scale.world_read([word], KNOWN)


class Page(unittest.TestCase):
    def setUp(self):
        self.page = figures.PAGE.read_text(encoding="utf-8")

    def test_tables_are_those_of_its_figures(self):
        """./dev scale --write"""
        begin, end = figures.between(self.page, "arithmetic")
        self.assertEqual(arithmetic.arithmetic_table(KNOWN), self.page[begin:end])

    def test_simulated_worlds_are_those_of_the_table(self):
        begin, end = figures.between(self.page, "simulation")
        rows = self.page[begin:end].splitlines()[2:]
        self.assertEqual([name for name, _ in scale.WORLDS], [row.split(" | ")[0].removeprefix("| ") for row in rows])
        name, values = scale.WORLDS[0]
        cells = scale.result_cells(simulate(World(figures=KNOWN, **values)))
        self.assertEqual(f"| {name} | {' | '.join(cells)} |", rows[0])

    def test_a_refill_changes_the_column_of_the_product_alone(self):
        names = [field.name for field in dataclasses.fields(figures.Figures)]
        page = figures.product_replaced(self.page, {name: 7.0 for name in names})
        self.assertEqual({7.0}, set(dataclasses.astuple(figures.figures_read("product", page))))
        rows = figures.rows_read(self.page)
        self.assertEqual({name: cells[0] for name, cells in rows.items()}, {name: cells[0] for name, cells in figures.rows_read(page).items()})
        self.assertEqual(set(names), set(rows))

    def test_what_is_not_known_comes_from_the_other_column(self):
        page = re.sub(r"`step_call` \| [\d.]+ \| \S+ ", "`step_call` | - | 5 ", self.page)
        self.assertEqual(5, figures.figures_read("prototype", page).step_call)


if __name__ == "__main__":
    unittest.main()
