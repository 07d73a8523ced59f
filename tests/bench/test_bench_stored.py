"""What is measured of stores: sizes small enough to take a second."""

from __future__ import annotations

import io
import json
import os
import random
import shutil
import subprocess
import sys
import time
from dataclasses import replace

import pytest
from rich.console import Console

from adagcn.bench import two_hosts
from adagcn.bench.host_pair import NoHosts, host_pair
from adagcn.bench.kept_fits import KeptFits
from adagcn.bench.killed_fits import KilledFits
from adagcn.bench.log_lines import log_lines
from adagcn.bench.memory_group import MemoryGroup, memory_group
from adagcn.bench.stored_commands import run
from adagcn.bench.stored_hop import STORED, SUM, HopPlan, measure_stored_hops
from adagcn.bench.stored_runs import QUICK, measure_stored_runs
from adagcn.cli.bench_table import section_table
from adagcn.errors import ResourceError


def no_tick():
    pass


def test_a_stored_hop_is_compared_with_its_parts_and_kept(tmp_path):
    plan = HopPlan(n_stored=(2_000, 8_000), n_features=4, repetitions=2)
    record = tmp_path / "record.jsonl"
    sections = list(
        measure_stored_hops(plan, kept=KeptFits(record), seed=0, folder=tmp_path, tick=no_tick)
    )
    assert [each.key for each in sections] == ["stored_hop", "stored_hop", "stored_growth"]
    for section in sections[:2]:
        assert section.facts["same_bits"]
        parts = [section.row(name).seconds.median for name in ("its bytes written", "synced")]
        assert section.row(SUM).seconds.median > sum(parts)
        assert section.row(STORED).ratio.median > 0
    assert [path.name for path in tmp_path.iterdir()] == ["record.jsonl"]  # stores are gone
    again = list(
        measure_stored_hops(plan, kept=KeptFits(record), seed=0, folder=tmp_path, tick=no_tick)
    )
    assert again == sections


def test_a_command_that_fails_is_told_with_its_last_line():
    with pytest.raises(ResourceError, match=r"store info of this benchmark failed.*no store"):
        run("info", ["store", "info", "/nowhere"])


def test_a_group_limits_what_is_started_in_it(tmp_path):
    with memory_group(256 * 2**20) as group:
        if group is None:
            pytest.skip("no control group with a memory limit can be made here")
        assert isinstance(group, MemoryGroup)
        hungry = "b = bytearray(600 * 2**20); b[::4096] = b'x' * len(b[::4096])"
        done = subprocess.run(group.command([sys.executable, "-c", hungry]), check=False)
        assert done.returncode != 0
        modest = subprocess.run(group.command([sys.executable, "-c", "pass"]), check=False)
        assert modest.returncode == 0
    assert not group.folder.exists()


def test_a_group_takes_its_processes_along():
    with memory_group(256 * 2**20) as group:
        if group is None:
            pytest.skip("no control group with a memory limit can be made here")
        process = subprocess.Popen(group.command(["sleep", "600"]))
        while not (group.folder / "cgroup.procs").read_text().strip():
            time.sleep(0.01)
    assert process.wait(timeout=10) == -9
    assert not group.folder.exists()


def section_of(part, plan, tmp_path):
    kept = KeptFits(None)
    (section,) = measure_stored_runs(
        plan, parts=[part], kept=kept, seed=0, folder=tmp_path, tick=no_tick
    )
    assert not any(tmp_path.iterdir()), "nothing is left"
    return section


def as_text(section):
    console = Console(file=io.StringIO(), width=160)
    for part in section_table(section, width=160):
        console.print(part)
    return console.file.getvalue()


@pytest.mark.full
def test_features_of_more_than_the_memory_are_fitted_and_predicted(tmp_path):
    # All edges within communities, whose nodes are neighbors: so the disk is read in a few places.
    plan = replace(QUICK, limit=768 * 2**20, over=1.25, limit_homophily=1.0)
    section = section_of("limit", plan, tmp_path)
    if "note" in section.facts:
        pytest.skip(section.facts["note"])
    assert section.facts["feature_bytes"] == 1.25 * plan.limit
    assert 0 < section.facts["peak_bytes"] <= plan.limit
    assert [row.name for row in section.rows] == ["fit", "predict"]


def test_without_a_control_group_it_is_said_and_not_recorded(tmp_path, monkeypatch):
    monkeypatch.setattr("adagcn.bench.memory_group._made", lambda limit: None)
    record = KeptFits(None)
    (section,) = measure_stored_runs(
        QUICK, parts=["limit"], kept=record, seed=0, folder=tmp_path, tick=no_tick
    )
    assert "no control group with a limit on memory can be made here" in as_text(section)
    assert not list(record.entries())


@pytest.mark.full
def test_fits_that_are_killed_do_nothing_twice(tmp_path):
    plan = replace(QUICK, kills=3, worker_kills=1, killed_nodes=60_000, max_epochs=10)
    section = section_of("kills", plan, tmp_path)
    facts = section.facts
    assert (facts["kills"], facts["worker_kills"], facts["again"]) == (3, 1, 0)
    assert facts["same"] == facts["finished"] >= 2
    assert "undisturbed" in as_text(section)
    (whole,) = facts["attempts"]["undisturbed"]
    assert whole["layers"] == 3
    assert whole["blocks"] > 2
    (worker,) = [each for each in facts["attempts"]["worker"] if each["worker_killed"]]
    assert worker["blocks"] == whole["blocks"]
    assert worker["lost"] >= 1


def log_of(path, *lines):
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return path


def start(n_layers):
    return {"event": "start", "layers": n_layers}


def hop(found, blocks):
    return {"event": "hop", "hop": 1, "found": found, "blocks": blocks}


def block(number):
    return {"event": "block", "hop": 1, "block": number}


def layer(number):
    return {"event": "layer", "layer": number, "epochs": 3}


def test_what_an_attempt_did_is_read_from_its_log(tmp_path):
    fits = KilledFits(tmp_path, tmp_path, 1, random.Random(0))
    first = [start(0), layer(0), hop(0, 3), block(0), block(1)]
    told = fits._told(log_of(tmp_path / "1", *first), killed=True)
    assert (told["during"], told["layers"], told["blocks"], told["again"]) == ("hop 1", 1, 2, 0)
    told = fits._told(log_of(tmp_path / "2", start(1), hop(2, 3), block(2)), killed=True)
    assert (told["during"], told["layers_found"], told["found"]) == ("layer 1", 1, 2)
    assert (told["blocks"], told["again"]) == (1, 0)
    again = [start(1), hop(1, 3), block(1), block(2), layer(0)]
    assert fits._told(log_of(tmp_path / "3", *again), killed=True)["again"] == 3
    scored = [start(3), hop(0, 3), block(0)]
    told = fits._told(log_of(tmp_path / "4", *scored), killed=True)
    assert (told["during"], told["blocks"]) == ("scoring", 0)
    assert fits._told(tmp_path / "none", killed=True)["during"] == "the start"


def test_a_log_that_was_cut_by_a_kill_is_read_up_to_there(tmp_path):
    log = log_of(tmp_path / "log", start(0), {"text": "something else"}, layer(0))
    log.write_text(log.read_text()[:-9])
    assert list(log_lines(log)) == [start(0)]


def test_why_there_are_no_two_hosts(tmp_path, monkeypatch):
    monkeypatch.setattr(two_hosts, "find_spec", lambda name: None)
    assert "Ray is not installed: pip" in as_text(section_of("hosts", QUICK, tmp_path))
    monkeypatch.setattr(two_hosts, "find_spec", lambda name: name)
    monkeypatch.setattr(shutil, "which", lambda name: None if name == "ip" else name)
    section = section_of("hosts", QUICK, tmp_path)
    assert "two hosts on one machine need ip, of Linux; install" in as_text(section)
    monkeypatch.setattr(shutil, "which", lambda name: name)
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    with pytest.raises(NoHosts, match="only root may make"), host_pair():
        pass


def namespaces():
    listed = subprocess.run(["ip", "netns", "list"], capture_output=True, text=True, check=True)
    return [line for line in listed.stdout.splitlines() if f"adagcn-{os.getpid()}-" in line]


@pytest.mark.skipif(sys.platform != "linux", reason="namespaces of Linux")
def test_hosts_talk_to_each_other_and_are_gone_after_an_interrupt():
    greet = (
        "import socket; s = socket.create_server(('10.77.0.1', 5000)); s.accept()[0].send(b'ok')"
    )
    ask = "import socket; print(socket.create_connection(('10.77.0.1', 5000), 5).recv(2))"
    processes = []
    try:
        with host_pair() as (one, other):
            assert len(namespaces()) == 2
            processes.append(one.start([sys.executable, "-c", greet]))
            processes.append(other.start(["sleep", "600"]))
            for _ in range(100):
                asked = [sys.executable, "-c", ask]
                done = subprocess.run(
                    other.command(asked), capture_output=True, text=True, check=False
                )
                if done.returncode == 0:
                    break
                time.sleep(0.1)
            assert done.stdout == "b'ok'\n"
            named = subprocess.run(other.command(["hostname"]), capture_output=True, check=True)
            assert named.stdout == b"host-b\n"
            assert other.moved() > 100
            raise KeyboardInterrupt
    except NoHosts as reason:
        pytest.skip(str(reason))
    except KeyboardInterrupt:
        pass
    assert [process.poll() for process in processes] == [0, -9]
    assert not namespaces()


@pytest.mark.full
def test_two_hosts_give_the_bits_of_one_process(tmp_path):
    pytest.importorskip("ray", reason="Ray is not installed")
    plan = replace(QUICK, hosts_nodes=60_000, max_epochs=3)
    section = section_of("hosts", plan, tmp_path)
    facts = section.facts
    if "note" in facts:
        pytest.skip(facts["note"])
    assert facts["same_model"]
    assert facts["same_predictions"]
    hops = [stage for stage in facts["stages"] if stage["name"].startswith("hop")]
    assert {host for stage in hops for host in stage["blocks"]} == {"host-a", "host-b"}
    assert len({sum(stage["blocks"].values()) for stage in hops}) == 1
    assert 0 < sum(stage["moved"] for stage in facts["stages"]) <= facts["moved"]
    assert "blocks a / b" in as_text(section)
    assert not namespaces()
