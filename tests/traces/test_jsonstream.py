"""JSON piece by piece: every piece once, in order, and what is broken loses nothing else."""

# ruff: noqa: SIM300

import json
from io import StringIO

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stoplib.traces import jsonstream
from stoplib.traces.jsonstream import BREAKS_OFF, END, NO_JSON, Broken, Buffer, items
from stoplib.traces.records import assembled

values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=20,
)
objects = st.dictionaries(st.text(min_size=1), values, min_size=1, max_size=4)


def pieces(text):
    """The values of a text's pieces, ends apart; of what is broken only why."""
    found = [item.value for item in items(StringIO(text)) if item.value is not END]
    return [value.why if isinstance(value, Broken) else value for value in found]


@pytest.fixture(params=[1, 2, 7, 1 << 20], ids="chunks of {}".format)
def chunk(request, monkeypatch):
    """Files are read in pieces of this many characters."""
    monkeypatch.setattr(jsonstream, "CHUNK", request.param)


class TestShapes:
    """Lines, arrays, objects."""

    @pytest.mark.parametrize("text", ['{"a": 1}\n{"a": 2}\n', '{"a": 1}\r\n\r\n{"a": 2}', '\ufeff{"a": 1}\n{"a": 2}'])
    def test_lines(self, text):
        """Each line is a piece; blank lines and a byte order mark are none."""
        assert [{"a": 1}, {"a": 2}] == pieces(text)

    def test_an_array(self, chunk):
        """Each element is a piece, whatever the spaces between them."""
        assert [{"a": [1, 2]}, 3, "x]", None] == pieces(' [ {"a": [1, 2]},\n3 , "x]",null ]\n')

    def test_an_object(self, chunk):
        """Each member is a piece; of one that is an array each element is, after an empty one for the array."""
        text = '{"a": {"b": [1]}, "c": [1, {"d": 2}], "e": []}'
        found = [(item.key, item.number, item.value) for item in items(StringIO(text)) if item.value is not END]
        expected = [("a", None, {"b": [1]}), ("c", None, []), ("c", 1, 1), ("c", 2, {"d": 2}), ("e", None, [])]
        assert expected == found

    @pytest.mark.parametrize("text", ["", "  \n", "\ufeff"])
    def test_nothing(self, text):
        """An empty file has no pieces."""
        assert [] == pieces(text)

    def test_documents_one_after_the_other(self, chunk):
        """What follows a document is one more: a first line may be too long to be looked at."""
        text = '{"a": [1]}{"a": [2]}'
        assert [{"a": [1]}, {"a": [2]}] == [item.value for item in assembled(items(StringIO(text)))]

    def test_not_a_number(self):
        """NaN and Infinity, which are no strict JSON, are read as Python reads them."""
        assert "nan" == str(pieces('{"a": NaN, "b": 1}')[0])

    @given(st.lists(objects, min_size=1, max_size=4))
    def test_what_is_written_is_read(self, records):
        """As lines, as an array, indented or not: the same records."""
        shapes = [json.dumps(records), json.dumps(records, indent=1), json.dumps(records, ensure_ascii=False)]
        shapes.append("\n".join(map(json.dumps, [*records, *records])))
        lists = [pieces(text) for text in shapes]
        assert [records, records, records, records * 2] == lists

    @given(objects)
    def test_one_object(self, record):
        """The members of an object, put together again, are the object."""
        [item] = assembled(items(StringIO(json.dumps(record, indent=2))))
        assert record == item.value


class TestBroken:
    """What is broken comes as such in its place, and the rest goes on."""

    def test_a_line(self):
        """A broken line."""
        assert [{"a": 1}, NO_JSON, {"a": 3}] == pieces('{"a": 1}\n{"a": \n{"a": 3}\n')

    def test_the_first_line(self):
        """Also the first one."""
        assert [NO_JSON, {"a": 2}, {"a": 3}] == pieces('{"a": 1\n{"a": 2}\n{"a": 3}\n')

    @pytest.mark.parametrize("wrong", ["{bad: 1}", '{"a": tru}', "nonsense", "{'a': '[{}]'}"])
    def test_an_element(self, wrong, chunk):
        """A broken element of an array, with or without brackets of its own."""
        assert [1, NO_JSON, {"b": 2}] == pieces(f'[1, {wrong}, {{"b": 2}}]')

    @pytest.mark.parametrize("end", ["", '"half', '{"b": ', '{"b": "\\', "[1, "])
    def test_an_array_that_breaks_off(self, end, chunk):
        """What came before is there."""
        assert [{"a": 1}, BREAKS_OFF] == pieces(f'[{{"a": 1}}, {end}')

    def test_a_broken_document_before_others(self, chunk):
        """The next document begins at the next line that looks like one."""
        assert [NO_JSON, 3] == pieces('{\n "a" 1\n}\n{\n "b": 3\n}\n')

    def test_nested_too_deep(self):
        """What Python cannot parse for its depth is broken, and no crash."""
        assert [1, NO_JSON, 2] == pieces(f"[1, {'[' * 100_000}{']' * 100_000}, 2]")

    @given(
        st.lists(objects, min_size=1, max_size=3), st.integers(0, 200), st.sampled_from('[]{},:"\\ x1\n'), st.booleans()
    )
    def test_it_ends(self, records, place, character, lines):
        """With any character put anywhere, reading comes to an end, and each piece is read or said to be broken."""
        text = "\n".join(map(json.dumps, records)) if lines else json.dumps(records, indent=1)
        text = text[:place] + character + text[place:]
        assert len(pieces(text)) <= len(text)

    def test_no_end_is_looked_for_in_a_huge_piece(self, monkeypatch):
        """A piece with more characters than allowed is given up, so that memory has a bound."""
        monkeypatch.setattr(jsonstream, "CHUNK", 8)
        monkeypatch.setattr(jsonstream, "LARGEST", 64)
        held = []

        class Watched(Buffer):
            def more(self):
                held.append(len(self.text))
                return super().more()

        buffer = Watched(StringIO('[1, {"a": "' + "x" * 10_000))
        buffer.more()
        found = list(jsonstream.documents(buffer))
        values = [item.value for item in found if item.value is not END]
        assert [1, BREAKS_OFF] == [value.why if isinstance(value, Broken) else value for value in values]
        assert max(held) <= 2 * 64


class TestAssembled:
    """Whole records again."""

    def test_a_list_of_messages_is_one_record(self):
        """Messages in an array, or one a line, belong together."""
        talk = [{"role": "user", "content": "a"}, {"role": "assistant", "content": "b"}]
        for text in (json.dumps(talk), "\n".join(map(json.dumps, talk))):
            assert [talk] == [item.value for item in assembled(items(StringIO(text)))]

    def test_records_with_messages_are_records(self):
        """Each by itself."""
        records = [{"role": "x", "messages": []}, {"messages": [1]}]
        assert records == [item.value for item in assembled(items(StringIO(json.dumps(records))))]
