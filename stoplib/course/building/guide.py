"""The index of guards and reasons: what each is, as the library says it, and which lessons have it."""

from collections.abc import Sequence
from pathlib import Path

from stoplib.course.building.facts import GuardFacts, Reason, all_gates, all_guards, all_reasons
from stoplib.course.building.places import Voice
from stoplib.course.building.prose import without_links
from stoplib.course.building.shown import Shown, introduced

HEAD = """\
# Guards and reasons

What can end a run, and which lessons have it. A run ends for exactly one reason; where a guard ends it, the reason is
the guard's name. Other words are in the [glossary]({glossary}), and there is [one page]({sheet}) to print.

## Gates

A guard looks at the run at its gates. The first gate at which one fires ends the run.
"""
GUARDS = """
## Guards

An argument that is shown with a value may be left out. Each guard also takes `gate=`, which moves it to another gate.
"""
REASONS = """\
## Other reasons
"""


def guide(docs: Path, shown: Sequence[Shown], voice: Voice) -> str:
    """Return the page. Raises BuildError if a page of `docs` does not know a guard or a reason."""
    guards = all_guards(docs)
    others = [reason for reason in all_reasons(docs) if reason.name not in {guard.name for guard in guards}]
    return "\n".join(
        [
            HEAD.format(glossary=voice.file("glossary.md"), sheet=voice.file("on one page.html")),
            *(f"- `{gate}`: {when}" for gate, when in all_gates().items()),
            GUARDS,
            *(_guard(guard, shown, voice) for guard in guards),
            REASONS,
            *(_reason(reason, shown, voice) for reason in others),
        ]
    )


def _guard(guard: GuardFacts, shown: Sequence[Shown], voice: Voice) -> str:
    gates = ", ".join(f"`{gate}`" for gate in guard.gates) + ", and when the model answers" * guard.may_object
    used = [one for one in shown if one.kind != "text"]
    return _entry(
        guard.name,
        f"`{guard.signature}`: {guard.fires}",
        f"looks at {gates}" + (", and ends every run, whatever the model does" * guard.bounds),
        f"does not see {without_links(guard.blind)}",
        f"next: {without_links(guard.then)}",
        *_lessons(guard.name, shown, voice, "used in", used),
    )


def _reason(reason: Reason, shown: Sequence[Shown], voice: Voice) -> str:
    return _entry(
        reason.name,
        f"{reason.means[0].upper()}{reason.means[1:]}.",
        f"the run is {'complete' if reason.complete else 'not complete'}",
        f"next: {without_links(reason.then)}",
        *_lessons(reason.name, shown, voice, "seen in", shown),
    )


def _entry(name: str, sentence: str, *facts: str) -> str:
    return "\n".join([f"### {name}", "", sentence, "", *(f"- {fact}" for fact in facts), ""])


def _lessons(name: str, shown: Sequence[Shown], voice: Voice, verb: str, among: Sequence[Shown]) -> list[str]:
    first = introduced(name, shown)
    found = [one.place.lesson for one in among if one.name == name]
    lines = [f"introduced in {voice.place(first)}"] if first else ["in no chapter"]
    return lines + ([f"{verb} {voice.lessons(found)}"] if found else [])
