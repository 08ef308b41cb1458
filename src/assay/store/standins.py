"""Replacements in shared runs for names, addresses, paths and numbers of a site, consistent within a run."""

import ipaddress
import re
from collections.abc import Iterable

from ClusterShell.NodeSet import NodeSet

from assay.model.private import Kind

#: Kinds whose values are searched in all texts, and the minimum length that avoids chance matches.
_SOUGHT: dict[Kind, int] = {"host": 1, "domain": 1, "user": 3, "job": 4, "identifier": 6}
#: Names that reveal nothing about a site.
_COMMON = frozenset(("root", "localhost", "localhost.localdomain", "assay", "bash", "user", "none", "simulated"))
#: Names of folders and files that every machine has; libraries, keys of builds, and replacements.
_USUAL = re.compile(
    r"s?bin|lib(32|64|exec)?|share|include|src|tmp|var|opt|usr|home|mnt|scratch|work|data|projects|software"
    r"|\.?cache|\.local|\.?venv|builds?|programs|runs|assay|assay-runs|site-packages|dist-packages"
    r"|python3?(\.\d+)?|[0-9a-f]{16}|lib[\w+-]+\.so[\d.]*|entry\d+|\.dockerenv|\.+"
)
#: Folders of the operating system, which are kept; and folders in which only known names are replaced.
_SYSTEM = frozenset(("proc", "sys", "dev"))
_PUBLIC = frozenset(("usr", "bin", "sbin", "lib", "lib64", "etc", "boot", "run"))
_HOMES = frozenset(("home", "Users", "users"))
_PART = r"[\w.@+~%-]+"
#: A path does not follow a word (`all/first-touch`), but may follow `-I`; a path to a home is found everywhere.
_PATH = rf"(?:(?<![\w./<])|(?<=-[ILR])|(?<=file://)|(?=/(?:home|Users|users|root)\b))/(?!/){_PART}(?:/+{_PART})*"
#: A domain after the name of a host; `n1.json` is not one.
_DOMAIN = r"(?:(?:\.[A-Za-z][\w-]*){2,})?"
_LOGIN = r"(?<![\w.@/-])[\w.+-]+@(?!all\b)[A-Za-z][\w-]*(?:\.[\w-]+)*"
_FORMS: tuple[tuple[Kind, str], ...] = (
    ("path", _PATH),
    ("identifier", r"(?<![\w-])[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}(?![\w-])"),
    ("hardware", r"(?<![\w:-])[0-9a-fA-F]{2}(?:[:-][0-9a-fA-F]{2}){5,19}(?![\w:-])"),
    ("hardware", r"(?<![\w:])[0-9a-fA-F]{4}(?::[0-9a-fA-F]{4}){3}(?![\w:])|\b0x[0-9a-fA-F]{16}\b"),
    ("address", r"(?<![\w:.])(?=[\w:.]*\d)[0-9a-fA-F]*:[0-9a-fA-F:]*:[0-9a-fA-F:.]*[0-9a-fA-F](?![\w:])"),
    ("address", r"(?<![\w.-])\d{1,3}(?:\.\d{1,3}){3}(?!\.?\w)"),
)
#: Networks reserved for documentation and for benchmarks.
_STANDING = {4: ipaddress.ip_network("198.18.0.0/15"), 6: ipaddress.ip_network("2001:db8::/32")}
_FORMATS: dict[Kind, str] = {
    "login": "user@host",
    "domain": "example.org",
    "path": "entry{}",
    "identifier": "id-{}",
    "job": "job-{}",
    "other": "private-{}",
}
_OURS = re.compile(r"user@host|example\.org|(?:id|job|private)-\d+")
_DIGIT = re.compile("[0-9a-fA-F]")
_STEM, _SHORT_ROOT = 3, 2


class StandIns:
    """Finds private parts in texts and replaces them.

    All texts are processed twice, with `settle` in between, because only then all names are known.

    Args:
        users: names of users to replace, in addition to those in the run.

    Attributes:
        own: words of Assay or of a study; they stay in texts, even if a host has the same name.
        replaced: kind -> original -> replacement.
    """

    def __init__(self, users: Iterable[str] = ()) -> None:
        self.own: set[str] = set()
        self.replaced: dict[Kind, dict[str, str]] = {}
        self._words: dict[Kind, dict[str, str]] = {}
        self._known: dict[str, Kind] = {each: "user" for each in users if each not in _COMMON}
        self._seen: dict[tuple[str, Kind], str] = {}
        self._kinds: tuple[Kind, ...] = ()
        self._pattern = self._compiled([], [])
        self._digits = 2

    def settle(self) -> None:
        """Number the hosts in the order of their names, now that all are known; this keeps every order by name."""
        hosts = sorted(name for name, kind in self._known.items() if kind == "host")
        self._digits = max(2, len(str(len(hosts))))
        self._words["host"] = {}
        self._words["host"] |= {host: self._made("host", host, at) for at, host in enumerate(hosts, 1)}
        for host in hosts:
            short, _, domain = host.partition(".")
            if domain and not short.isdecimal():
                self._words["host"].setdefault(short, self._words["host"][host])
                self._known.setdefault(short, "host")
                self._known[domain] = "domain"
        self._pattern = self._compiled(
            [
                name
                for name, kind in self._known.items()
                if (len(name) >= _SOUGHT.get(kind, len(name) + 1) and name not in self.own)
                or (kind == "path" and " " in name)
            ],
            [host.partition(".")[0] for host in hosts],
        )
        self._seen.clear()
        self.replaced.clear()

    def text(self, value: str, kind: Kind = "") -> str:
        """The text with private parts replaced; a text with a `kind` is private as a whole."""
        found = self._seen.get((value, kind))
        if found is None:
            found = self._seen[value, kind] = self._whole(value, kind) if kind else self._cleaned(value)
        return found

    def _whole(self, value: str, kind: Kind) -> str:
        if not value or value in _COMMON or (kind == "host" and " " in value):
            return self._cleaned(value)
        if kind == "path" and not value.startswith("/"):
            return self._cleaned(value)
        self._known.setdefault(value, kind)
        return self._standing(kind, value)

    def _cleaned(self, value: str) -> str:
        return self._pattern.sub(lambda match: self._standing(self._kind(match), match[0]), value)

    def _kind(self, match: re.Match[str]) -> Kind:
        assert match.lastgroup  # noqa: S101 (the whole pattern is one of its groups)
        kind = self._kinds[int(match.lastgroup[1:])]
        return kind or self._known.get(match[0], "host")

    def _standing(self, kind: Kind, value: str) -> str:
        match kind:
            case "path":
                return self._path(value)
            case "address":
                return self._address(value)
            case "host" if "[" in value:
                return str(NodeSet.fromlist([self._word("host", each) for each in NodeSet(value)]))
        return self._word(kind, value)

    def _path(self, path: str) -> str:
        """Replace a path part by part: the home becomes `/home/user`, and unusual names are replaced."""
        path, dots = path.rstrip("."), path[len(path.rstrip(".")) :]
        first, *rest = re.findall(r"[^/]+", path) or [""]
        if first in _SYSTEM or (not rest and len(first) <= _SHORT_ROOT):
            return path + dots
        if first in _PUBLIC:
            return "/".join(["", first, *map(self._cleaned, rest)]) + dots
        if first in _HOMES and rest:
            if rest[0] not in _COMMON:
                self._known.setdefault(rest[0], "user")
            home, rest = ["", first, self._word("user", rest[0])], rest[1:]
        else:
            home = ["", *(("home", "user") if first == "root" else (self._part(first),))]
        return "/".join([*home, *map(self._part, rest)]) + dots

    def _part(self, name: str) -> str:
        if _USUAL.fullmatch(name) or name in self.own:
            return name
        return self._word("user" if self._known.get(name) == "user" else "path", name)

    def _address(self, value: str) -> str:
        try:
            address = ipaddress.ip_address(value)
        except ValueError:
            return value
        if address.is_loopback or address.is_unspecified or str(address).startswith("255."):
            return value
        return value if address in _STANDING[address.version] else self._word("address", value)

    def _word(self, kind: Kind, value: str) -> str:
        """The replacement of a value, always the same."""
        if value in _COMMON or _OURS.fullmatch(value):
            return value
        words = self._words.setdefault(kind, {})
        if kind == "host" and value not in words:
            value = value.partition(".")[0]  # known by its short name
        if value not in words:
            words[value] = self._made(kind, value, len(set(words.values())) + 1)
        if words[value] != value:
            self.replaced.setdefault(kind, {})[value] = words[value]
        return words[value]

    def _made(self, kind: Kind, value: str, number: int) -> str:
        match kind:
            case "host":
                return f"node{number:0{self._digits}}"
            case "user":
                return f"user{number}" if number > 1 else "user"
            case "address":
                return str(_STANDING[6 if ":" in value else 4][number])
            case "hardware":
                own = value.removeprefix("0x")
                digits = iter(f"02{number:0{len(_DIGIT.findall(own)) - 2}x}")
                return value[: -len(own)] + _DIGIT.sub(lambda _: next(digits), own)
        return _FORMATS[kind].format(number)

    def _compiled(self, names: Iterable[str], hosts: Iterable[str]) -> re.Pattern[str]:
        """One pattern for all that is searched: a group for each kind, the longest names first."""
        ordered = sorted(names, key=lambda name: (-len(name), name))
        domains = [each for each in ordered if self._known[each] == "domain"]
        stems = {re.sub(r"\d+$", "", host): len(re.findall(r"\d*$", host)[0]) for host in hosts}
        like = [
            rf"{re.escape(stem)}\d{{{digits}}}" for stem, digits in stems.items() if digits and len(stem) >= _STEM
        ]
        groups: list[tuple[Kind, str]] = [("login", _LOGIN)]
        groups += [("host", rf"(?:{'|'.join(map(re.escape, stems))})\[[\d,-]+\][\w.-]*")] if stems else []
        groups += [("host", rf"(?:[\w-]+\.)+{re.escape(each)}") for each in domains]
        named = [re.escape(each) + (_DOMAIN if self._known[each] == "host" else "") for each in ordered]
        groups += [("", _apart(named))] if ordered else []
        groups += [("host", _apart(f"{each}{_DOMAIN}" for each in like))] if like else []
        groups += _FORMS
        self._kinds = tuple(kind for kind, _ in groups)
        return re.compile("|".join(f"(?P<g{at}>{each})" for at, (_, each) in enumerate(groups)))


def _apart(words: Iterable[str]) -> str:
    """A pattern for one of the words, without a letter or digit next to it."""
    return rf"(?<![^\W_])(?:{'|'.join(words)})(?![^\W_])"
