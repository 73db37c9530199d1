"""Each rule on generated columns: found just inside its threshold, left alone just outside."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import catalpa
from catalpa.errors import UnknownColumn
from catalpa.inspection.findings import Kind
from catalpa.inspection.scales import by_degrees, by_numbers, by_vocabulary

ROWS = 200


def column(values):
    """A table of one column, with one beside it that nothing is found in."""
    noise = np.random.default_rng(0).choice(["red", "green", "blue"], len(values))
    return pd.DataFrame({"x": values, "colour": noise})


def kinds(values, name="x"):
    """What is found in a column: kind and whether it is safe."""
    seen = catalpa.look(column(values).rename(columns={"x": name}))
    return {(line.kind.value, line.safe) for line in seen.lines if name in line.columns}


def recipe_of(values, name="x"):
    return catalpa.look(column(values).rename(columns={"x": name})).recipe[name]


def mixed(parts, rows=ROWS, seed=1):
    """Values with these counts, in random order; the first fills up to ``rows``."""
    values = [value for value, times in parts.items() for _ in range(times)]
    first = next(iter(parts))
    values += [first] * (rows - len(values))
    order = np.random.default_rng(seed).permutation(len(values))
    return [values[at] for at in order]


def test_a_table_without_findings_is_one_line():
    seen = catalpa.look(column(mixed({"a": 0, "b": 80, "c": 40})))
    assert seen.lines == ()
    assert str(seen) == "200 rows, 2 columns. Nothing found: the table can be clustered as it is."
    assert seen.recipe.fields == ()
    assert len(seen.findings) == 0


def test_a_constant_has_less_than_five_percent_gaps_and_a_tick_box_more():
    assert kinds(mixed({"yes": 0, None: 9})) == {("constant", True)}
    assert kinds(mixed({"yes": 0, None: 10})) == {("tick", True)}
    assert kinds([None] * ROWS) == {("constant", True)}
    assert kinds(mixed({"yes": 0, "no": 1})) == set()


def test_a_few_rows_say_nothing_about_tick_boxes():
    assert kinds([*["yes"] * 10, *[None] * 9]) == set()
    assert kinds([*["yes"] * 10, *[None] * 10]) == {("tick", True)}


def test_a_number_other_than_one_is_no_tick_box():
    assert kinds(mixed({1.0: 0, None: 50})) == {("tick", True)}
    assert kinds(mixed({2.0: 0, None: 50})) == set()


@pytest.mark.parametrize(
    ("name", "scale", "found"),
    [
        ("weight", 1.0, True),
        ("weight", 1.3, False),  # mean above 1.25
        ("weight", 70.0, False),  # of a body
        ("fnlwgt", 200_000.0, True),
        ("height", 1.0, False),
    ],
)
def test_a_weight_is_called_so_and_is_around_one_or_called_as_surveys_do(name, scale, found):
    weights = scale * np.random.default_rng(0).uniform(0.6, 1.4, ROWS)
    assert (("weight", True) in kinds(weights, name)) is found


def test_a_weight_of_whole_numbers_is_none():
    weights = np.where(np.arange(ROWS) % 2 == 0, 1.0, np.random.default_rng(0).uniform(0.6, 1.4, ROWS))
    assert kinds(weights, "weight") == set()  # half of them are whole
    weights[0] = 0.9
    assert kinds(weights, "weight") == {("weight", True)}


DAYS = pd.date_range("2020-01-28", periods=ROWS)


@pytest.mark.parametrize(
    ("form", "recipe"),
    [
        ("%d.%m.%Y", "%d.%m.%Y"),
        ("%Y/%m/%d", "%Y/%m/%d"),
        ("%m/%d/%Y", "%m/%d/%Y"),
        ("%d-%b-%y", "%d-%b-%y"),
        ("%B %d, %Y", "%b %d, %Y"),
        ("%Y-%m-%dT%H:%M:%S", "%Y-%m-%dT%H:%M:%S"),
        ("%b-%Y", "%b-%Y"),
        ("%d/%m/%Y %H:%M", "%d/%m/%Y %H:%M"),
    ],
)
def test_dates_are_found_as_people_write_them(form, recipe):
    texts = DAYS.strftime(form)
    assert recipe_of(texts).format == recipe
    assert kinds(texts) == {("date", True)}


def test_whether_day_or_month_comes_first_is_asked_if_nothing_tells():
    texts = [f"{day}/{month}/2020" for day in range(1, 13) for month in range(1, 13)]
    assert kinds(texts) == {("date", False)}
    assert kinds([*texts, "13/1/2020"]) == {("date", True)}
    assert recipe_of([*texts, "1/13/2020"]).format == "%m/%d/%Y"


def test_other_columns_tell_whether_the_day_comes_first():
    texts = [f"{day}/{month}/2020" for day in range(1, 13) for month in range(1, 13)]
    told = [f"{day}/{month}/2019" for day in range(13, 25) for month in range(1, 13)]
    seen = catalpa.look(pd.DataFrame({"open": texts, "told": told}))
    assert seen.recipe["open"].format == seen.recipe["told"].format == "%d/%m/%Y"


def test_a_few_words_among_dates_become_missing():
    texts = [*DAYS.strftime("%d.%m.%Y")[:190], *["still open"] * 10]
    field = recipe_of(texts)
    assert field.format == "%d.%m.%Y"
    assert field.missing == (("still open", None),)


def test_too_many_words_among_dates_leave_a_column_alone():
    words = [f"word {at % 30}" for at in range(100)]
    assert ("date", True) not in kinds([*DAYS.strftime("%d.%m.%Y")[:100], *words])


def test_compact_dates_are_numbers_of_eight_digits():
    assert kinds([int(text) for text in DAYS.strftime("%Y%m%d")]) == {("date", True)}
    assert ("date", True) not in kinds([20_201_301 + at for at in range(ROWS)])  # a thirteenth month


def test_times_of_day_are_found():
    times = [f"{hour}:{minute:02}" for hour in range(20) for minute in range(0, 60, 6)]
    assert kinds(times) == {("time", True)}
    assert ("time", True) not in kinds(
        [f"{hour}:{minute}" for hour in range(80, 100) for minute in range(60, 70)]
    )


def test_numbers_in_text_need_twelve_different_ones():
    eleven = [f"{at % 11},5 €" for at in range(ROWS)]
    twelve = [f"{at % 12},5 €" for at in range(ROWS)]
    assert ("number", True) not in kinds(eleven)
    assert kinds(twelve) == {("number", True)}
    assert (recipe_of(twelve).decimal, recipe_of(twelve).bare) == (",", False)


def test_the_marks_of_numbers_are_told_from_all_columns():
    open_here = [
        f"{at % 30 + 1},{100 + at % 700:03}" for at in range(ROWS)
    ]  # 3,664: thousands or thousandths
    german = [f"{at % 30 + 1}.{100 + at % 700:03},5" for at in range(ROWS)]
    told = catalpa.look(pd.DataFrame({"open": open_here, "german": german})).recipe
    assert (told["open"].decimal, told["german"].decimal, told["german"].group) == (",", ",", ".")
    assert catalpa.look(column(open_here)).recipe["x"].decimal == "."


def test_leading_zeros_are_codes():
    assert ("number", True) not in kinds([f"0{at % 50 + 1000}" for at in range(ROWS)])


def test_words_among_numbers_are_missing_and_many_of_them_no_numbers():
    numbers = [f"{at % 40 + 1} %" for at in range(ROWS)]
    assert recipe_of(["none", *numbers]).missing == (("none", None),)
    assert ("number", True) not in kinds([*numbers, *(f"word{at}" for at in range(4))])


def test_several_answers_are_split_at_their_mark():
    generator = np.random.default_rng(0)
    tools = ["Python", "R", "SQL", "Excel", "Julia"]
    cells = [
        ";".join(sorted(generator.choice(tools, generator.integers(1, 4), replace=False)))
        for _ in range(ROWS)
    ]
    field = recipe_of(cells)
    assert (field.type, field.delimiter, field.items) == ("list", ";", tuple(sorted(tools)))
    assert kinds(cells) == {("list", True)}


def test_answers_that_hold_the_mark_stay_together():
    generator = np.random.default_rng(0)
    answers = ["Milk, dairy alternative, or creamer", "Sugar", "Nothing", "Honey"]
    cells = [", ".join(generator.permutation(answers)[: generator.integers(1, 4)]) for _ in range(ROWS)]
    assert recipe_of(cells).items == tuple(sorted(answers))


def test_a_comma_in_a_name_is_no_list():
    places = ["Berlin, Germany", "Paris, France", "Rome, Italy", "Vienna, Austria"]
    assert ("list", True) not in kinds([places[at % 4] for at in range(ROWS)])


def test_whole_numbers_that_differ_are_identifiers_if_they_count_or_are_too_rare_to_differ():
    generator = np.random.default_rng(0)
    assert kinds(np.arange(ROWS) + 1) == {("identifier", True)}
    assert kinds(generator.permutation(10**6)[:ROWS] + 10**6) == {("identifier", True)}  # same length
    assert kinds(generator.permutation(ROWS * 4)) == {("identifier", True)}  # would have repeated
    assert kinds(generator.permutation(10**7)[:ROWS] % 9_999_991) == set()  # of any length and far apart


def test_codes_that_differ_are_identifiers_and_names_are_text():
    assert kinds([f"AB-{at:04}" for at in range(ROWS)]) == {("identifier", True)}
    assert kinds([f"Person {at} of Town" for at in range(ROWS)]) == {("text", True)}
    assert ("identifier", True) not in kinds([f"AB-{at % 188:04}" for at in range(ROWS)])  # 94 % different


def test_free_text_is_different_in_half_of_the_cells():
    assert kinds([f"answer {at % 100}" for at in range(ROWS)]) == {("text", True)}
    assert ("text", True) not in kinds([f"answer {at % 99}" for at in range(ROWS)])
    codes = [f"R{at % 100}" for at in range(ROWS)]  # neither words nor different in most rows
    assert kinds(codes) == {("text", False)}
    assert catalpa.look(column(codes)).accept("text").recipe["x"].role == "text"


@pytest.mark.parametrize(
    ("levels", "right"),
    [
        (["18-29", "30-44", "45-60", "> 60"], True),
        (["Less than $25,000", "$25,000 - $49,999", "$50,000 or more"], True),
        (["never", "rarely", "sometimes", "always"], True),
        (["Very unlikely", "Somewhat unlikely", "Somewhat likely", "Very likely"], True),
        (["stimme gar nicht zu", "stimme eher nicht zu", "stimme eher zu", "stimme voll zu"], True),
        (["Less than high school degree", "High school degree", "Bachelor degree", "Graduate degree"], True),
        (["Po", "Fa", "TA", "Gd", "Ex"], True),
        (["Once", "Twice", "Three times", "More than three times"], True),
        (["unter 18 Jahre", "18 bis 29 Jahre", "30 bis 49 Jahre", "50 Jahre und älter"], True),
        (["Berlin", "Paris", "Rome"], False),
        (["yes", "no", "maybe"], False),
        (["cat", "dog", "never"], False),
    ],
)
def test_ordered_words_are_found_in_their_order(levels, right):
    rows = np.random.default_rng(0).choice(levels, ROWS).tolist()
    found = kinds(rows)
    assert (("order", True) in found) is right
    if right:
        assert [value for value, _ in recipe_of(rows).categories] == levels


def test_numbers_alone_are_no_words_in_order():
    assert by_numbers(["01", "02", "03", "12"]) is None
    assert by_numbers(["1", "2", "3 or more"]) == ["1", "2", "3 or more"]


def test_one_level_in_five_may_be_unknown_and_becomes_missing():
    assert by_vocabulary(["never", "rarely", "sometimes", "always", "did not ride"]) == [
        "never",
        "rarely",
        "sometimes",
        "always",
    ]
    assert by_vocabulary(["never", "rarely", "always", "did not ride"]) is None
    rows = np.random.default_rng(0).choice(["0", "1-2", "3-5", "6 or more", "did not drive"], ROWS).tolist()
    assert recipe_of(rows).missing == (("did not drive", None),)


def table_of_grades(rows=400):
    """Three levels without a known order beside columns that go with them."""
    generator = np.random.default_rng(0)
    place = generator.integers(0, 3, rows)
    return pd.DataFrame(
        {
            "state": np.array(["zq", "ab", "mm"])[place],
            "price": place + generator.normal(0, 0.3, rows),
            "size": 2 * place + generator.normal(0, 0.5, rows),
            "colour": generator.choice(["red", "blue"], rows),
        }
    )


def test_the_other_columns_suggest_an_order_if_asked_or_if_a_column_is_called_a_grade():
    table = table_of_grades()
    assert "order" not in catalpa.look(table).recipe.proposed
    (order,) = catalpa.look(table, suggest=["state"]).recipe.proposed["order"].values()
    assert order in (["zq", "ab", "mm"], ["mm", "ab", "zq"])
    called = catalpa.look(table.rename(columns={"state": "quality"}))
    assert called.recipe.proposed["order"]["quality"] == order
    (line,) = [line for line in called.lines if line.kind is Kind.ORDER]
    assert "judging by the other columns" in line.message
    with pytest.raises(UnknownColumn, match="suggest names"):
        catalpa.look(table, suggest=["none"])


def test_two_levels_are_no_scale():
    assert by_numbers(["18-29", "30-44"]) is None
    assert by_vocabulary(["never", "always"]) is None
    assert by_degrees(["agree", "disagree"]) is None


def test_answers_outside_an_order_become_missing():
    rows = np.random.default_rng(0).choice(["never", "rarely", "always", "Don't know"], ROWS).tolist()
    field = recipe_of(rows)
    assert [value for value, _ in field.categories] == ["never", "rarely", "always"]
    assert field.missing == (("Don't know", None),)


@pytest.mark.parametrize(
    ("levels", "name"),
    [
        (["jan", "feb", "mar", "apr"], "x"),
        (["A", "B", "C", "D"], "grade"),
        (["1. Never Married", "2. Married", "3. Widowed"], "x"),
        ([1, 2, 3, 4, 5], "x"),
    ],
)
def test_what_may_be_ordered_is_proposed_and_accepted(levels, name):
    rows = np.random.default_rng(0).choice(np.array(levels, dtype=object), ROWS).tolist()
    seen = catalpa.look(column(rows).rename(columns={"x": name}))
    assert (("order", False)) in kinds(rows, name)
    assert not seen.recipe[name].ordered
    accepted = seen.accept("order").recipe[name]
    assert accepted.ordered
    assert [value for value, _ in accepted.categories] == [str(level) for level in levels]


def test_letters_are_a_grade_only_in_a_column_called_so():
    letters = np.random.default_rng(1).choice(["A", "B", "C"], ROWS).tolist()
    assert kinds(letters, "ward") == set()
    assert kinds(letters, "rating") == {("order", False)}


@pytest.mark.parametrize(
    ("values", "code"),
    [
        ([1, 2, 3, 4, -1], "-1"),
        ([0, 1, 2, -1], None),  # a step of 1: an answer
        ([1, 2, -1], "-1"),
        ([1, -1], None),  # one other value
        ([1, 2, 3, 4, 5, 99], "99"),
        ([1, 20, 25, 99], None),  # 25 is more than a quarter of 99
        ([1, 20, 24, 99], "99"),
        ([1, 2, 3, 4, 5, 9], "9"),
        ([1, 2, 3, 4, 5, 6, 9], None),
        ([-5, 2, 3, -1], None),
        ([1, 2, 3, 4, -8, -9], "-9 -8"),
        ([1, 2, 3, 8, 9], "8 9"),
        ([1, 2, 3, 4, 5, 77, 88, 99], "77 88 99"),
        ([1, 2, 3, 4, 5, 6, 7, 8, 9], None),  # a scale
    ],
)
def test_a_code_for_no_answer_stands_apart(values, code):
    rows = np.random.default_rng(0).choice(values, ROWS)
    proposed = catalpa.look(column(rows)).recipe.proposed.get("sentinel", {})
    assert proposed.get("x") == (None if code is None else code.split())


def test_words_for_missing_are_proposed_and_marks_are_safe():
    rows = mixed({"red": 0, "blue": 80, "unknown": 10, "?": 9})
    assert kinds(rows) == {("unknown", False), ("unknown", True)}
    seen = catalpa.look(column(rows))
    assert seen.recipe["x"].missing == (("?", None),)
    assert {word for word, _ in seen.accept("unknown").recipe["x"].missing} == {"?", "unknown"}


def test_a_mark_among_numbers_leaves_numbers():
    rows = [*(str(at % 50) for at in range(ROWS)), "?"]
    field = recipe_of(rows)
    assert (field.type, field.missing) == ("number", (("?", None),))


def block_of(share_missing, jaccard, columns=3, rows=1000):
    """Columns whose gaps are those of the first but for some rows."""
    generator = np.random.default_rng(0)
    gaps = generator.random(rows) < share_missing
    data = {}
    for at in range(columns):
        own = gaps.copy()
        if at:
            filled = np.flatnonzero(own)[: round((1 - jaccard) * gaps.sum())]
            own[filled] = False
        values = generator.choice(["a", "b", "c"], rows).astype(object)
        values[own] = None
        data[f"q{at}"] = values
    return pd.DataFrame(data)


@pytest.mark.parametrize(
    ("share", "jaccard", "columns", "found"),
    [
        (0.2, 0.9, 3, True),
        (0.2, 0.8, 3, False),
        (0.2, 0.9, 2, False),
        (0.005, 1.0, 3, False),
        (0.99, 1.0, 3, False),
    ],
)
def test_questions_skipped_together_are_a_block(share, jaccard, columns, found):
    seen = catalpa.look(block_of(share, jaccard, columns))
    assert any(line.kind is Kind.BLOCK for line in seen.lines) is found
    assert [len(block.columns) for block in seen.recipe.blocks] == [columns] * found
    assert seen.keep(*seen.recipe.columns).recipe.blocks == ()


def test_rows_that_stop_answering_are_one_block_of_several_steps():
    generator = np.random.default_rng(0)
    stopped = generator.random(ROWS)
    names = [f"q{at}" for at in range(9)]
    data = {name: generator.choice(["a", "b"], ROWS).astype(object) for name in names}
    for at, name in enumerate(names):
        data[name][stopped < 0.1 * (at // 3)] = None
    (block,) = catalpa.look(pd.DataFrame(data)).recipe.blocks
    assert block.steps == (("q3", "q4", "q5"), ("q6", "q7", "q8"))
    # Later questions that fewer rows lack are a block of their own.
    turned = pd.DataFrame({name: data[name] for name in [*names[:3], *names[6:], *names[3:6]]})
    assert [len(block.steps) for block in catalpa.look(turned).recipe.blocks] == [1, 1]


def test_a_list_that_is_missing_counts_once():
    generator = np.random.default_rng(0)
    picked = [";".join(generator.permutation(["saw", "drill", "hammer"])[: 1 + at % 2]) for at in range(ROWS)]
    table = pd.DataFrame({"tools": picked, "colour": generator.choice(["red", "blue"], ROWS)})
    assert catalpa.look(table).recipe.blocks == ()
    table.loc[::10, "tools"] = None
    assert [block.columns for block in catalpa.look(table).recipe.blocks] == [("tools",)]


def test_the_same_word_in_the_same_rows_is_one_fact():
    generator = np.random.default_rng(0)
    without = generator.random(ROWS) < 0.3
    data = {}
    for at in range(3):
        data[f"s{at}"] = np.where(without, "No internet service", generator.choice(["Yes", "No"], ROWS))
    assert catalpa.look(pd.DataFrame(data)).recipe.proposed["word"] == {
        "No internet service": ["s0", "s1", "s2"]
    }
    data["s2"] = np.where(without, "Yes", data["s2"])
    assert "word" not in catalpa.look(pd.DataFrame(data)).recipe.proposed


def test_copies_and_columns_that_follow_are_proposed_to_be_dropped():
    generator = np.random.default_rng(0)
    city = generator.choice(["Berlin", "Munich", "Paris", "Lyon"], ROWS)
    renamed = pd.Series(city).map({"Berlin": "B", "Munich": "M", "Paris": "P", "Lyon": "L"})
    country = pd.Series(city).map({"Berlin": "DE", "Munich": "DE", "Paris": "FR", "Lyon": "FR"})
    table = pd.DataFrame({"city": city, "code": renamed, "country": country})
    seen = catalpa.look(table)
    assert seen.recipe.proposed["copy"] == {"code": ["city"]}
    assert seen.recipe.proposed["follows"] == {"country": ["city", "code"]}
    assert seen.accept("copy", "follows").recipe.drop == ("code", "country")


@pytest.mark.parametrize("filled", [1000, 400])
def test_nothing_follows_from_names_that_hardly_repeat(filled):
    generator = np.random.default_rng(0)
    people = np.array([f"{first} {last}" for first in ("Ann", "Bob", "Eva", "Jon") for last in range(150)])
    sex = np.where(np.char.startswith(people, "Ann") | np.char.startswith(people, "Eva"), "f", "m")
    of_row = generator.integers(0, len(people), 1000)
    names = people[of_row].astype(object)
    names[filled:] = None
    city = generator.choice(list("abcdefgh"), 1000)
    country = np.where(city < "d", "north", "south")
    table = pd.DataFrame({"name": names, "sex": sex[of_row], "city": city, "country": country})
    assert catalpa.look(table).recipe.proposed["follows"] == {"country": ["city"]}


def test_what_overlaps_in_few_rows_is_no_copy():
    generator = np.random.default_rng(0)
    one = generator.choice(["a", "b", "c"], 1000).astype(object)
    other = np.full(1000, None, dtype=object)
    other[:90] = one[:90]
    assert "copy" not in catalpa.look(pd.DataFrame({"one": one, "other": other})).recipe.proposed
    other[:150] = one[:150]
    assert catalpa.look(pd.DataFrame({"one": one, "other": other})).recipe.proposed["copy"] == {
        "other": ["one"]
    }


def test_numbers_that_rise_together_are_proposed():
    generator = np.random.default_rng(0)
    one = generator.normal(size=ROWS)
    rising = catalpa.look(pd.DataFrame({"one": one, "exp": np.exp(one)}))
    assert rising.recipe.proposed["rise"] == {"exp": ["one"]}
    apart = catalpa.look(pd.DataFrame({"one": one, "near": one + 0.3 * generator.normal(size=ROWS)}))
    assert "rise" not in apart.recipe.proposed


def test_more_than_forty_words_can_be_grouped():
    rows = 2000
    forty = [f"w{at % 40}" for at in range(rows)]
    assert kinds(forty) == set()
    many = [*(["often"] * 1000), *(f"w{at % 100}" for at in range(1000))]
    assert kinds(many) == {("many", False)}
    field = catalpa.look(column(many)).accept("many").recipe["x"]
    assert (field.other, [value for value, _ in field.categories]) == ("other", ["often"])
