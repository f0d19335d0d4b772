"""Tools: what can be one, how a run finds it, and what becomes of its result."""

# ruff: noqa: SIM300

import functools
import json

import pytest

from stoplib import Reply, ToolCall, answer, batch, call, max_steps, run, script, tool
from stoplib.tools import Tool, Toolbox, Traits, as_text

from .helpers import Later, Wordless, contents, counting, looking, requests, results


def search(query: str, limit: int = 3) -> str:
    """Search the notes."""
    return f"{limit} results for {query}"


def one_call(function, /, **args):
    """The outcome of a run that calls one tool, `t`, once and then answers."""
    return run(script(call("t", **args), answer("done")), "go", tools={"t": function})


def asking(asked):
    """A model that asks for this once and then answers."""
    return script(Reply(calls=(asked,)), answer("done"))


class TestTool:
    """`tool`: a function with what the loop should know about it."""

    def test_bare(self):
        """`@tool` makes a tool with the function's name, and the function can still be called."""
        made = tool(search)
        assert ("search", "3 results for x") == (made.name, made("x"))
        assert Tool(search, "search") == made

    def test_with_options(self):
        """`@tool(…)` keeps its options."""
        made = tool(timeout=5, effect=True, poll=20, volatile=["id"])(search)
        assert Tool(search, "search", 5, Traits(effect=True, poll=20, volatile=("id",))) == made

    @pytest.mark.parametrize("timeout", [0, -1, float("nan"), float("inf"), True, "5"])
    def test_timeout_is_checked(self, timeout):
        """A timeout that cannot work is refused with its value."""
        with pytest.raises((TypeError, ValueError), match="tool: timeout must be a finite number above 0"):
            tool(timeout=timeout)

    @pytest.mark.parametrize("poll", [0, -1, 2.5, True, "5"])
    def test_poll_is_checked(self, poll):
        """A patience that cannot work is refused with its value."""
        with pytest.raises((TypeError, ValueError), match="tool: poll must be a whole number of at least 1"):
            tool(poll=poll)

    def test_volatile_is_checked(self):
        """One field name without its tuple is refused: it would be taken letter by letter."""
        with pytest.raises(TypeError, match="volatile must be a tuple of field names, not the text 'id'"):
            tool(volatile="id")

    def test_only_functions(self):
        """What cannot be called is no tool."""
        with pytest.raises(TypeError, match="5 is not a function"):
            tool(5)

    def test_lambda_needs_a_name(self):
        """A lambda has no name that a model could ask for; the advice says what to do."""
        with pytest.raises(ValueError, match="pass tools as"):
            tool(lambda: 0)


class TestToolbox:
    """What `tools=` takes."""

    @pytest.mark.parametrize(
        "tools", [[search], (search,), iter([search]), [tool(search)], {"search": search}, {"search": tool(search)}]
    )
    def test_ways_to_give_tools(self, tools):
        """Functions, tools, and mappings of names to either."""
        outcome = run(script(call("search", query="x"), answer("done")), "go", tools=tools)
        assert ["3 results for x"] == contents(outcome.messages)

    def test_the_mapping_names_the_tool(self):
        """In a mapping the key is the name, also for a tool that has another; its options are kept."""
        toolbox = Toolbox({"find": tool(effect=True)(search)})
        assert (Tool(search, "find", None, Traits(effect=True)), {}) == toolbox.find(ToolCall("find"))
        assert "there is no tool called 'search'; the tools are: find" == toolbox.find(ToolCall("search"))

    def test_the_mapping_can_change_meanwhile(self):
        """The tools are those that were given: emptying the mapping during the run changes nothing."""
        tools = {}
        tools["forget"] = lambda: tools.clear()
        outcome = run(script(call("forget"), call("forget"), answer("done")), "go", tools=tools)
        assert ([False, False], {}) == ([m["is_error"] for m in outcome.messages if m["role"] == "tool"], tools)

    def test_two_of_one_name(self):
        """Two tools of one name are refused before the model is called."""
        model = looking()
        with pytest.raises(ValueError, match="two tools are called 'search'"):
            run(model, "go", tools=[search, tool(search)])
        assert 0 == model.calls

    @pytest.mark.parametrize("tools", [[5], [None], ["search"], "search", {"search": 5}, [[search]]])
    def test_what_is_no_tool(self, tools):
        """What is no function is refused before the model is called."""
        model = looking()
        with pytest.raises(TypeError, match="not a tool"):
            run(model, "go", tools=tools)
        assert 0 == model.calls

    @pytest.mark.parametrize("tools", [search, 5, None])
    def test_one_function_alone(self, tools):
        """A function without its brackets is refused, and so is nothing at all."""
        with pytest.raises(TypeError, match="tools must be a list of functions, or a mapping of names to functions"):
            run(looking(), "go", tools=tools)

    @pytest.mark.parametrize("function", [search, tool(search)])
    def test_a_name_is_a_text(self, function):
        """A key that is no text is refused before the model is called: a model could not ask for it."""
        model = looking()
        with pytest.raises(TypeError, match="a tool's name must be a text, not 3"):
            run(model, "go", tools={3: function})
        assert 0 == model.calls

    def test_lambdas(self):
        """A lambda is a tool under a name, and is refused without one."""
        assert ["2"] == contents(one_call(lambda x: x + 1, x=1).messages)
        with pytest.raises(ValueError, match="a lambda has no name"):
            run(looking(), "go", tools=[lambda: 0])

    def test_no_tools(self):
        """Without tools every request is for an unknown one, which says so."""
        outcome = run(script(call("look"), answer("done")), "go")
        assert ["there is no tool called 'look'; the tools are: none"] == contents(outcome.messages)

    def test_partial_functions(self):
        """A partial function has the name of its function, or is refused like a lambda."""
        try:
            names = [schema["name"] for schema in Toolbox([functools.partial(search, limit=1)]).schemas()]
        except ValueError:
            names = ["search"]
        assert ["search"] == names


class TestBadRequests:
    """Requests that cannot be carried out are error results for the model to read; the run goes on."""

    @pytest.mark.parametrize("args", ['{"query": ', "", [1, 2], 5, True])
    def test_arguments_that_are_no_object(self, args):
        """Arguments that are no JSON object are an error result with what was sent."""
        ran = []
        tools = {"search": lambda *args, **kwargs: ran.append((args, kwargs))}
        outcome = run(asking(ToolCall("search", args)), "go", tools=tools)
        assert ("answered", [], True) == (outcome.reason, ran, outcome.messages[2]["is_error"])
        assert f"the arguments are not a JSON object: {args!r}" == outcome.messages[2]["content"]

    @pytest.mark.parametrize(
        ("args", "word"), [({}, "query"), ({"qery": "x"}, "query"), ({"query": "x", "more": 1}, "more"), ({1: 2}, "")]
    )
    def test_arguments_that_do_not_fit(self, args, word):
        """Arguments that do not fit the signature are named, with the tool."""
        outcome = run(asking(ToolCall("search", args)), "go", tools=[search])
        (text,) = contents(outcome.messages)
        assert ("answered", True) == (outcome.reason, text.startswith("wrong arguments for search: ") and word in text)

    def test_a_type_error_of_the_tools_own(self):
        """A TypeError from inside the tool is not blamed on the arguments."""
        outcome = one_call(lambda x: x + "1", x=1)
        assert contents(outcome.messages)[0].startswith("TypeError: unsupported operand")

    def test_unknown_names(self):
        """An unknown name is answered with the names that exist."""
        outcome = run(script(call("nope"), answer("done")), "go", tools=[search, tool(counting)])
        assert ["there is no tool called 'nope'; the tools are: search, counting"] == contents(outcome.messages)


class TestErrors:
    """A tool that could not do its job is an error result; the run goes on."""

    @pytest.mark.parametrize(
        "error",
        [ValueError("no such file"), KeyError("k"), StopIteration(), StopAsyncIteration(), RecursionError("deep"),
         MemoryError(), AssertionError(), TimeoutError("5 s"), ExceptionGroup("two", [ValueError(), KeyError()])],
        ids=lambda e: type(e).__name__,
    )  # fmt: skip
    def test_any_exception(self, error):
        """Whatever ordinary exception a tool raises is flagged, named and not the end."""

        def t():
            raise error

        outcome = one_call(t)
        assert ("answered", True, 1) == (outcome.reason, outcome.messages[2]["is_error"], outcome.tool_calls)
        assert f"{type(error).__name__}: {error}" == contents(outcome.messages)[0]

    def test_the_word_error_is_no_error(self):
        """A result is not an error because of a word in it."""
        outcome = one_call(lambda: "Error: 0 errors found, no exception")
        assert ("ok", False) == (outcome.trace[0].results[0].status, outcome.messages[2]["is_error"])

    def test_an_exception_without_words(self):
        """An exception that cannot be shown as text is an error result like any other."""

        def t():
            raise Wordless

        outcome = one_call(t)
        assert ("answered", True) == (outcome.reason, "Wordless" in contents(outcome.messages)[0])


class TestResults:
    """A result as the text that the model reads."""

    @pytest.mark.parametrize(
        ("value", "text"),
        [
            ("text", "text"),
            ("", ""),
            (None, "null"),
            (3, "3"),
            (True, "true"),
            ([1, "ä"], '[1, "ä"]'),
            ({"ok": True, "rows": [1, 2]}, '{"ok": true, "rows": [1, 2]}'),
            ({(1, 2): 3}, "{(1, 2): 3}"),
            (b"raw", "\"b'raw'\""),
        ],
    )
    def test_as_text(self, value, text):
        """Text stays as it is; all else is JSON, or what Python shows if JSON cannot hold it."""
        assert text == as_text(value)
        assert [text] == contents(one_call(lambda: value).messages)

    def test_circular(self):
        """A structure that contains itself has a text, too."""
        value = []
        value.append(value)
        assert "[[...]]" == as_text(value)

    @pytest.mark.parametrize("kind", ["no words", "too deep"])
    def test_a_result_that_has_no_text(self, kind):
        """A result that cannot be made a text is the tool's fault: an error result, and the run goes on."""

        class Shy:
            def __repr__(self):
                raise RuntimeError("no words")

        value = Shy()
        if kind == "too deep":
            for _ in range(100_000):
                value = [value]
        outcome = one_call(lambda: value)
        assert ("answered", True) == (outcome.reason, outcome.messages[2]["is_error"])

    def test_an_async_tool_in_run(self):
        """A tool whose result must be awaited has not run: that is never an "ok" result."""
        try:
            status = one_call(lambda: Later("sent")).trace[0].results[0].status
        except TypeError:
            status = "refused"
        assert status in ("error", "refused")

    def test_is_error_flags(self):
        """In the transcript all that is not "ok" is flagged: errors, unknown tools, what was not run."""
        reply = batch(call("good"), call("bad"), call("unknown"), call("stop"), call("good"))

        def stop():
            raise KeyboardInterrupt

        tools = {"good": lambda: 1, "bad": lambda: 1 / 0, "stop": stop}
        outcome = run(lambda messages: reply, "go", tools=tools)
        assert [False, True, True, True, True] == [m["is_error"] for m in outcome.messages[2:]]
        assert ["ok", "error", "error", "error", "not_run"] == [r.status for r in outcome.trace[0].results]
        assert 4 == outcome.tool_calls


class TestArguments:
    """What a tool gets."""

    def test_as_keywords(self):
        """Arguments are passed by name."""
        assert ["7 results for x"] == contents(one_call(search, query="x", limit=7).messages)

    @pytest.mark.parametrize("name", ["self", "function", "args", "call", "name", "run"])
    def test_any_name(self, name):
        """No argument name gets in the way of the loop's own."""
        outcome = one_call(lambda **args: args, **{name: 1})
        assert [json.dumps({name: 1})] == contents(outcome.messages)

    def test_adding_to_the_arguments(self):
        """A tool that changes its keyword arguments changes only its own copy."""

        def t(**args):
            args.clear()
            return "cleared"

        outcome = one_call(t, x=1)
        assert {"x": 1} == outcome.messages[1]["tool_calls"][0]["args"]

    def test_changing_an_argument_inside(self):
        """A tool that changes a list it was given does not change what the transcript says was asked."""

        def t(items):
            items.append("x")

        outcome = one_call(t, items=["a"])
        assert {"items": ["a"]} == outcome.messages[1]["tool_calls"][0]["args"]

    def test_changing_an_argument_does_not_reach_the_next_run(self):
        """A scripted model says the same thing in its second run, whatever the tools did in the first."""

        def t(items):
            items.append("x")
            return len(items)

        model = script(call("t", items=[]), answer("done"))
        first, second = (run(model, "go", tools={"t": t}) for _ in range(2))
        assert contents(first.messages) == contents(second.messages)

    def test_what_was_approved_is_what_runs(self):
        """A tool of the same batch cannot change the arguments that a person has approved for the next one."""
        paths = ["notes"]
        reply = batch(call("spoil", paths=paths), call("delete", paths=paths))
        deleted, approved = [], []

        def approve(asked):
            approved.extend(asked.args["paths"] if asked.name == "delete" else ())
            return True

        tools = {"spoil": lambda paths: paths.append("everything"), "delete": lambda paths: deleted.extend(paths)}
        run(lambda messages: reply, "go", tools=tools, approve=approve, guards=[max_steps(1)])
        assert approved == deleted


def test_a_huge_batch():
    """A reply with ten thousand calls is answered call by call."""
    reply = batch(*(call("t", n=n) for n in range(10_000)))
    outcome = run(lambda messages: reply, "go", tools={"t": lambda n: n}, guards=[max_steps(1)])
    assert 10_000 == outcome.tool_calls
    assert requests(outcome.messages) == results(outcome.messages)
