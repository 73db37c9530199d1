"""Model files: they come back as they went, and what cannot be read is said clearly."""

from __future__ import annotations

import json
import os
import stat

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from catalpa.errors import ModelFileError
from catalpa.files import write_atomically
from catalpa.model.file import FORMAT, read, write
from catalpa.model.text import from_text, to_text

SCALARS = (
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text()
)
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)
OBJECTS = st.dictionaries(st.text(), VALUES, max_size=3)
DOCUMENTS = st.fixed_dictionaries(
    {
        "catalpa_model": st.just(FORMAT),
        "catalpa_version": st.text(),
        "method": st.text(),
        "parameters": OBJECTS,
        "schema": OBJECTS,
        "scores": OBJECTS,
        "counts": OBJECTS,
        "centers": OBJECTS | st.lists(VALUES, max_size=3),
        "extra": OBJECTS,
        "fit": OBJECTS,
    }
)


@pytest.fixture
def document():
    return {
        "catalpa_model": FORMAT,
        "catalpa_version": "1.0",
        "method": "DISC",
        "parameters": {"n_clusters": 2, "random_state": None},
        "schema": {"columns": ["größe", "\ud800", "line\nbreak"]},
        "scores": {"table": [[0.1, 1e-300], [-0.0, 5e-324]], "empty": [], "none": {}},
        "counts": {"by_category": [[2**63 - 1, -(2**63)]]},
        "centers": [["a", None], [1, True]],
        "extra": {},
        "fit": {"cost": 0.30000000000000004, "history": [{"cost": 1}, {"cost": 2}]},
    }


@pytest.fixture(scope="session")
def place(tmp_path_factory):
    return tmp_path_factory.mktemp("models") / "model.json"


class TestRoundTrip:
    def test_a_document_comes_back_as_it_went(self, document, tmp_path):
        write(tmp_path / "m.json", document)
        again = read(str(tmp_path / "m.json"))
        assert again == document
        assert np.signbit(again["scores"]["table"][1][0])

    @settings(suppress_health_check=[HealthCheck.too_slow])
    @given(DOCUMENTS)
    def test_every_document_comes_back_as_it_went(self, place, document):
        write(place, document)
        assert read(place) == document

    def test_a_person_can_read_it(self, document):
        lines = to_text(document).splitlines()
        assert '  "method": "DISC",' in lines
        assert '    "table": [' in lines
        assert "      [0.1, 1e-300]," in lines
        assert '    "columns": ["größe", "\\ud800", "line\\nbreak"]' in lines
        assert '  "extra": {},' in lines

    def test_other_programs_read_it(self, document):
        assert json.loads(to_text(document)) == document

    def test_numpy_scalars_become_plain_numbers_and_tuples_lists(self):
        text = to_text({"k": np.int64(3), "on": np.bool_(True), "gamma": np.float32(0.5), "pair": (1, 2)})
        assert json.loads(text) == {"k": 3, "on": True, "gamma": 0.5, "pair": [1, 2]}


class TestWhatAFileCannotHold:
    @pytest.mark.parametrize(
        ("value", "came"),
        [(float("nan"), "nan"), (float("inf"), "inf"), (np.zeros(2), "array"), ({1}, "set"), (b"x", "bytes")],
    )
    def test_the_field_is_named(self, document, tmp_path, value, came):
        document["parameters"]["list"] = [1, {"gamma": value}]
        with pytest.raises(ModelFileError, match=rf"'parameters.list\[1\].gamma' .*{came}.* cannot store"):
            write(tmp_path / "m.json", document)
        assert list(tmp_path.iterdir()) == []

    def test_keys_are_text(self, document, tmp_path):
        document["extra"] = {"weights": {1: 2}}
        with pytest.raises(
            ModelFileError, match=r"'extra.weights' of the model has the key 1; keys must be text"
        ):
            write(tmp_path / "m.json", document)

    def test_a_document_without_a_field_is_not_written(self, document, tmp_path):
        del document["scores"]
        with pytest.raises(ModelFileError, match="The model has no field 'scores'"):
            write(tmp_path / "m.json", document)


class TestReadingWhatIsNotAModel:
    def test_every_file_that_was_cut_off_is_called_incomplete(self, document, tmp_path):
        write(tmp_path / "m.json", document)
        content = (tmp_path / "m.json").read_bytes()
        cut = tmp_path / "cut.json"
        for length in range(len(content) - 1):  # only the last line feed may be lost
            cut.write_bytes(content[:length])
            with pytest.raises(ModelFileError):
                read(cut)
        for length in (0, 30, len(content) // 2, len(content) - 2):
            cut.write_bytes(content[:length])
            with pytest.raises(ModelFileError, match=r"cut.json' is not a complete model file"):
                read(cut)

    @given(st.binary(max_size=200))
    def test_random_bytes_are_refused(self, place, content):
        place.write_bytes(content)
        with pytest.raises(ModelFileError):
            read(place)

    @pytest.mark.parametrize("content", ['{"a": 1}', "[1, 2]", "3", '"catalpa_model"', "null"])
    def test_foreign_json_is_not_a_model(self, tmp_path, content):
        (tmp_path / "x.json").write_text(content)
        with pytest.raises(ModelFileError, match=r"x.json' is not a Catalpa model: it is JSON, but"):
            read(tmp_path / "x.json")

    @pytest.mark.parametrize(
        "content", [b"a,b\n1,2\n", b"\x89PNG\xff", b"[" * 100_000, b"NaN", b'{"a": Infinity}']
    )
    def test_other_files_are_not_models(self, tmp_path, content):
        (tmp_path / "x.csv").write_bytes(content)
        with pytest.raises(ModelFileError, match=r"x.csv' is not a Catalpa model: it is not JSON"):
            read(tmp_path / "x.csv")

    @pytest.mark.parametrize("number", ["1", 0, -1, 1.0, True, None])
    def test_a_format_that_is_no_number_is_not_a_model(self, tmp_path, number):
        (tmp_path / "x.json").write_text(json.dumps({"catalpa_model": number}))
        with pytest.raises(ModelFileError, match=r"'catalpa_model' is .*, not a format number"):
            read(tmp_path / "x.json")

    def test_a_newer_format_asks_for_an_upgrade(self, document, tmp_path):
        (tmp_path / "x.json").write_text(json.dumps({**document, "catalpa_model": FORMAT + 2}))
        with pytest.raises(
            ModelFileError,
            match=rf"newer Catalpa \(format {FORMAT + 2}, this one reads up to {FORMAT}\): upgrade",
        ):
            read(tmp_path / "x.json")

    @pytest.mark.parametrize(
        ("field", "value", "expected"),
        [
            ("method", 3, "has int in field 'method'; text is expected"),
            ("schema", [], "has list in field 'schema'; an object is expected"),
            ("centers", "x", "has str in field 'centers'; an object or a list is expected"),
            ("fit", None, "has NoneType in field 'fit'; an object is expected"),
        ],
    )
    def test_a_field_of_the_wrong_type_is_named(self, document, tmp_path, field, value, expected):
        (tmp_path / "x.json").write_text(json.dumps({**document, field: value}))
        with pytest.raises(ModelFileError, match=f"x.json' is damaged: it {expected}"):
            read(tmp_path / "x.json")

    def test_a_field_that_is_missing_is_named(self, document, tmp_path):
        del document["counts"]
        (tmp_path / "x.json").write_text(json.dumps(document))
        with pytest.raises(ModelFileError, match="is damaged: it has no field 'counts'"):
            read(tmp_path / "x.json")

    def test_no_file_and_a_folder_are_said(self, tmp_path):
        with pytest.raises(ModelFileError, match=r"There is no model file .*absent.json"):
            read(tmp_path / "absent.json")
        with pytest.raises(ModelFileError, match="cannot be read: Is a directory"):
            read(tmp_path)

    def test_constants_that_are_not_json_are_refused(self):
        with pytest.raises(ValueError, match="NaN is not JSON"):
            from_text('{"a": NaN}')


class TestWritingInOneStep:
    def test_an_old_file_is_replaced_and_nothing_else_is_left(self, document, tmp_path):
        (tmp_path / "m.json").write_text("old")
        write(tmp_path / "m.json", document)
        assert [file.name for file in tmp_path.iterdir()] == ["m.json"]
        assert read(tmp_path / "m.json") == document

    def test_a_folder_that_is_not_there_is_said(self, document, tmp_path):
        with pytest.raises(ModelFileError, match=r"cannot be written to .*No such file or directory"):
            write(tmp_path / "none" / "m.json", document)

    def test_a_failure_leaves_the_old_file_and_no_draft(self, tmp_path):
        (tmp_path / "m.json").write_text("old")
        with pytest.raises(TypeError):
            write_atomically(tmp_path / "m.json", "text where bytes belong")
        assert [(file.name, file.read_text()) for file in tmp_path.iterdir()] == [("m.json", "old")]

    def test_an_interrupt_leaves_the_old_file_and_no_draft(self, tmp_path, monkeypatch):
        def interrupted(_):
            raise KeyboardInterrupt

        (tmp_path / "m.json").write_text("old")
        monkeypatch.setattr(os, "fsync", interrupted)
        with pytest.raises(KeyboardInterrupt):
            write_atomically(tmp_path / "m.json", b"new")
        assert [(file.name, file.read_text()) for file in tmp_path.iterdir()] == [("m.json", "old")]

    def test_a_folder_in_the_place_of_the_file_stays(self, document, tmp_path):
        (tmp_path / "m.json").mkdir()
        with pytest.raises(ModelFileError, match="cannot be written"):
            write(tmp_path / "m.json", document)
        assert [file.name for file in tmp_path.iterdir()] == ["m.json"]

    @pytest.mark.skipif(os.name == "nt", reason="rights and links are those of POSIX")
    def test_rights_are_those_of_the_old_file_or_of_any_new_one(self, tmp_path):
        plain, kept, fresh = tmp_path / "plain", tmp_path / "kept", tmp_path / "fresh"
        plain.write_bytes(b"")
        kept.write_bytes(b"")
        kept.chmod(0o640)
        write_atomically(kept, b"new")
        write_atomically(fresh, b"new")
        assert stat.S_IMODE(kept.stat().st_mode) == 0o640
        assert fresh.stat().st_mode == plain.stat().st_mode

    @pytest.mark.skipif(os.name == "nt", reason="rights and links are those of POSIX")
    def test_a_link_is_followed(self, tmp_path):
        (tmp_path / "real").write_bytes(b"old")
        (tmp_path / "link").symlink_to(tmp_path / "real")
        write_atomically(tmp_path / "link", b"new")
        assert (tmp_path / "link").is_symlink()
        assert (tmp_path / "real").read_bytes() == b"new"

    @pytest.mark.skipif(os.name == "nt", reason="pipes with names are those of POSIX")
    def test_a_pipe_is_written_to_and_stays_a_pipe(self, tmp_path):
        os.mkfifo(tmp_path / "pipe")
        reader = os.open(tmp_path / "pipe", os.O_RDONLY | os.O_NONBLOCK)
        try:
            write_atomically(tmp_path / "pipe", b"new")
            assert os.read(reader, 10) == b"new"
        finally:
            os.close(reader)
        assert stat.S_ISFIFO((tmp_path / "pipe").stat().st_mode)
        assert [file.name for file in tmp_path.iterdir()] == ["pipe"]


@pytest.mark.parametrize("name", ["a\0b", "a\ud800b"], ids=["NUL", "half a character"])
def test_a_name_that_no_file_can_have_is_said(document, name):
    with pytest.raises(ModelFileError, match=r"cannot be read: (embedded null|'utf-8' codec)"):
        read(name)
    with pytest.raises(ModelFileError, match=r"cannot be written to .*: no file can have that name"):
        write(name, document)
