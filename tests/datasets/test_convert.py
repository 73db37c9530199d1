"""First lines as UCI publishes them, and what they must become."""

from __future__ import annotations

import pytest

from catalpa.datasets.fetch import canonical_csv
from catalpa.datasets.registry import DownloadRecipe, dataset_info, registry
from catalpa.errors import DatasetError

AMPHIBIANS = """\
Integer;Categorical;Numerical;Numerical;{kinds}
ID;Motorway;SR;NR;TR;VR;SUR1;SUR2;SUR3;UR;FR;OR;RR;BR;MR;CR;Green frogs;Brown frogs
1;A1;600;1;1;4;6;2;10;0;0;50;0;0;0;1;0;0
2;A1;700;1;5;1;10;6;10;3;1;75;1;1;0;1;1;1
""".format(kinds=";".join(["Categorical"] * 14))
AUCTION = """\
process.b1.capacity,process.b2.capacity,process.b3.capacity,process.b4.capacity,property.price,\
property.product,property.winner,verification.result,verification.time
0,0,2,1,59,1,0,False,163.3
"""
BANK = """\
"age";"job";"marital";"education";"default";"balance";"housing";"loan";"contact";"day";"month";"duration";\
"campaign";"pdays";"previous";"poutcome";"y"
58;"management";"married";"tertiary";"no";2143;"yes";"no";"unknown";5;"may";261;1;-1;0;"unknown";"no"
"""
OBESITY = """\
Gender,Age,Height,Weight,family_history_with_overweight,FAVC,FCVC,NCP,CAEC,SMOKE,CH2O,SCC,FAF,TUE,CALC,MTRANS,NObeyesdad
Female,21,1.62,64,yes,no,2,3,Sometimes,no,2,no,0,1,no,Public_Transportation,Normal_Weight
"""
SOYBEAN = "charcoal-rot,6,0,0,2,0,1,3,1,1,0,1,1,0,2,2,0,0,0,1,0,0,3,0,0,0,2,1,0,4,0,0,0,0,0,0\n"
SIGNS = "2,2,0,3,0,0,0,0,1,0,0,0,0,0,0,3,2,0,0,0,0,0,0,0,0,0,0,3,0,0,0,1,0"


def rows_of(name, published, variant="paper"):
    table = canonical_csv(published.encode(), dataset_info(name).recipe, variant).decode()
    return [line.split(",") for line in table.splitlines()][1:]


def test_amphibians_keep_the_green_frogs():
    assert rows_of("amphibians", AMPHIBIANS, "mixed") == [
        ["1", "4", "6", "2", "10", "0", "0", "50", "0", "0", "0", "1", "600", "1", "absent"],
        ["5", "1", "10", "6", "10", "3", "1", "75", "1", "1", "0", "1", "700", "1", "present"],
    ]


def test_auctions_leave_out_price_and_time():
    assert rows_of("auction", AUCTION) == [["0", "0", "2", "1", "1", "0", "False"]]
    assert rows_of("auction", AUCTION, "mixed") == [["0", "0", "2", "1", "1", "0", "59", "False"]]


def test_bank_keeps_unknown_as_a_category():
    texts = ["management", "married", "tertiary", "no", "yes", "no", "unknown", "may", "unknown"]
    assert rows_of("bank", BANK) == [[*texts, "no"]]
    numbers = ["58", "2143", "5", "261", "1", "-1", "0"]
    assert rows_of("bank", BANK, "mixed") == [[*texts, *numbers, "no"]]


def test_obesity_keeps_the_texts():
    expected = [
        "Female",
        "yes",
        "no",
        "Sometimes",
        "no",
        "no",
        "no",
        "Public_Transportation",
        "Normal_Weight",
    ]
    assert rows_of("obesity", OBESITY) == [expected]


def test_contraceptive_moves_the_husband_first_and_names_codes():
    expected = ["2", "2", "3", "islam", "no", "3", "good", "no-use"]
    assert rows_of("contraceptive", "24,2,3,3,1,1,2,3,0,1\n") == [expected]
    with_numbers = ["2", "2", "3", "islam", "no", "3", "good", "24", "3", "no-use"]
    assert rows_of("contraceptive", "24,2,3,3,1,1,2,3,0,1\n", "mixed") == [with_numbers]


def test_soybean_drops_rows_with_missing_cells_and_names_values():
    incomplete = SOYBEAN.replace("charcoal-rot,6,0", "herbicide-injury,1,?")
    (row,) = rows_of("soybean", incomplete + SOYBEAN)
    assert row[:6] == ["october", "normal", "lt-norm", "gt-norm", "yes", "same-lst-yr"]
    assert row[28:30] == ["dna", "norm"]
    assert row[-2:] == ["norm", "charcoal-rot"]


def test_dermatology_drops_rows_of_unknown_age_only():
    (row,) = rows_of("dermatology", f"{SIGNS},?,1\n{SIGNS},55,2\n", "mixed")
    assert row[:4] == ["no", "2", "2", "0"]
    assert row[-2:] == ["55", "seboreic_dermatitis"]


def test_votes_keep_rows_with_missing_cells():
    votes = ",".join(["y", "?"] * 8)
    assert rows_of("votes", f"democrat,{votes}\n") == [[*["y", ""] * 8, "democrat"]]


def test_blank_lines_and_spaces_do_not_matter():
    assert rows_of("car", "vhigh, med,2,4 ,big,low,unacc\n\n") == [
        ["vhigh", "med", "2", "4", "big", "low", "unacc"]
    ]


def test_every_data_set_has_a_recipe_of_its_columns():
    for facts in registry().values():
        recipe = facts.recipe
        assert len(recipe.keep) == facts.columns
        assert bool(recipe.numbers) == ("mixed" in facts.sha256)
        assert not recipe.fields or {*recipe.keep, *recipe.numbers, recipe.target} <= set(recipe.fields)


def test_a_column_that_is_gone_is_named():
    with pytest.raises(DatasetError, match=r"no column job, marital.*it has age, y"):
        canonical_csv(b'"age";"y"\n58;"no"\n', dataset_info("bank").recipe, "paper")


def test_rows_of_another_length_are_refused():
    recipe = DownloadRecipe(fields=("size", "class"), keep=("size",))
    with pytest.raises(DatasetError, match="rows without 2 fields"):
        canonical_csv(b"big,yes\nsmall\n", recipe, "paper")
