"""Programs go through the real ssh and a real sshd to a folder that stands for another host's cache."""

import os
import shutil
import socket
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.integration.test_build import assay

from assay.model.toolchain import Build

pytestmark = pytest.mark.native

SSHD = shutil.which("sshd", path=f"{os.environ.get('PATH', os.defpath)}:/usr/sbin")
SERVER = """
ListenAddress 127.0.0.1
Port {port}
HostKey {folder}/host_key
AuthorizedKeysFile {folder}/user_key.pub
PidFile none
StrictModes no
UsePAM no
ForceCommand {folder}/elsewhere
"""
CLIENT = """
Host n1 n2
    HostName 127.0.0.1
    Port {port}
    IdentityFile {folder}/user_key
    IdentitiesOnly yes
    UserKnownHostsFile /dev/null
    StrictHostKeyChecking no
    LogLevel ERROR
Host shut
    HostName 127.0.0.1
    Port 1
"""
#: The shell of the user reads the command as it came, but for the place of the cache.
ELSEWHERE = """#!/bin/sh
exec "$SHELL" -c "$(printf '%s' "$SSH_ORIGINAL_COMMAND" | sed 's#{cache}#{folder}/there#g')"
"""


@pytest.fixture
def server(tmp_path: Path, build: Build) -> Iterator[Path]:
    """A folder with a server that runs, and the configuration of its client."""
    if not SSHD or not shutil.which("ssh-keygen"):
        pytest.skip("no sshd: apt install openssh-server openssh-client")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    for key in ("host_key", "user_key"):
        subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", tmp_path / key], check=True)
    cache = Path(build.programs["stream"]).parents[1]
    for name, text in (("sshd_config", SERVER), ("ssh_config", CLIENT), ("elsewhere", ELSEWHERE)):
        (tmp_path / name).write_text(text.format(port=port, folder=tmp_path, cache=cache))
    (tmp_path / "elsewhere").chmod(0o755)
    if os.geteuid() == 0:
        Path("/run/sshd").mkdir(mode=0o755, exist_ok=True)  # where sshd of root confines what it does not trust
    log = tmp_path / "sshd.log"  # no pipe: connections that ssh keeps open would hold it for a minute
    process = subprocess.Popen([SSHD, "-D", "-E", log, "-f", tmp_path / "sshd_config"])
    try:
        for _ in range(200):
            with socket.socket() as probe:
                if probe.connect_ex(("127.0.0.1", port)) == 0:
                    break
            if process.poll() is not None:
                pytest.fail(f"sshd ended: {log.read_text()}")
            time.sleep(0.05)
        yield tmp_path
    finally:
        process.terminate()
        process.wait()


def test_programs_arrive_whole_start_and_are_not_sent_twice(server: Path, build: Build) -> None:
    wish = ("build", "--deploy", "--hosts", "n[1-2]", "--ssh-config", str(server / "ssh_config"))
    # Both names lead to one folder, so that the second copy of two at once must do no harm either.
    first = assay(*wish)
    assert first.returncode == 0, first.stderr
    copies = {path.name: path for path in (server / "there" / build.key).iterdir()}
    for name, path in build.programs.items():
        assert copies[name].read_bytes() == Path(path).read_bytes()
    assert [path.name for path in (server / "there").iterdir()] == [build.key]
    again = assay(*wish)
    assert again.stderr.count("has them already") == 2


def test_a_host_that_refuses_is_named_with_the_words_of_ssh(server: Path) -> None:
    done = assay("build", "--deploy", "--hosts", "n1,shut", "--ssh-config", str(server / "ssh_config"))
    assert done.returncode == 4
    assert "n1: " in done.stderr
    assert "shut: ssh: connect to host 127.0.0.1 port 1: Connection refused" in done.stderr
    assert "Traceback" not in done.stderr
