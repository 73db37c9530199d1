"""Dates as people write them are read, and numbers, ranges and versions are left alone."""

from datetime import date, datetime, time

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from catalpa.table.written_dates import DAYS, DateFormat, decide_dates, detect_dates, parse_dates

READ = {
    "dots": (["31.01.2024", "1.2.2024"], [date(2024, 1, 31), date(2024, 2, 1)]),
    "month first, two digits": (["1/21/77", "9/3/23", "open"], [date(1977, 1, 21), date(2023, 9, 3), None]),
    "day first, with a time": (
        ["01/01/2009 03:01", "22/01/2009 21:35:10"],
        [datetime(2009, 1, 1, 3, 1), datetime(2009, 1, 22, 21, 35, 10)],
    ),
    "ISO with T and zone": (["2019-03-23T20:21:09Z"], [datetime(2019, 3, 23, 20, 21, 9)]),
    "slashes, year first": (["2019/3/23", "2020/12/1"], [date(2019, 3, 23), date(2020, 12, 1)]),
    "names of months": (["January 1, 2020", "Sept. 3, 2020"], [date(2020, 1, 1), date(2020, 9, 3)]),
    "German names": (["3. März 2021", "4.Mai 2021"], [date(2021, 3, 3), date(2021, 5, 4)]),
    "day, name and year": (["4th July 2020", "1 May 2020"], [date(2020, 7, 4), date(2020, 5, 1)]),
    "databases": (["12-Jan-2020"], [date(2020, 1, 12)]),
    "months alone": (["1939, May", "1986, October"], [date(1939, 5, 1), date(1986, 10, 1)]),
    "months and years": (["Mar-2018", "Feb-2018"], [date(2018, 3, 1), date(2018, 2, 1)]),
    "weekdays before": (["Fri Aug 07, 2020 05:12 UTC"], [datetime(2020, 8, 7, 5, 12)]),
    "digits alone": (["20200131", "20201231"], [date(2020, 1, 31), date(2020, 12, 31)]),
    "times of day": (["8:15", "20:30:05"], [time(8, 15), time(20, 30, 5)]),
    "halves of the day": (["8:15 PM", "12:00 am"], [time(20, 15), time(0, 0)]),
}


@pytest.mark.parametrize(("texts", "moments"), READ.values(), ids=READ)
def test_written_dates_are_read(texts, moments):
    assert parse_dates(pa.array(texts), detect_dates(texts)).to_pylist() == moments


@pytest.mark.parametrize(
    "texts",
    [
        *(["1.5", "2.3"], ["12345678"], ["30.02.2020"], ["40-49", "50-59"], ["2008/09"], ["1.2.3"]),
        *(["192.168.1.1"], ["25:10"], ["13:15 pm"], ["red"], []),
    ],
)
def test_what_is_no_date_is_left_alone(texts):
    assert detect_dates(texts) is None


def test_days_and_months_are_told_apart_by_any_part_beyond_twelve():
    assert detect_dates(["1/5/2019", "1/27/2019"]) == DateFormat("%m/%d/%Y")
    assert detect_dates(["1/5/2019", "27/1/2019"]) == DateFormat("%d/%m/%Y")
    assert not detect_dates(["1/5/2019", "3/8/2019"]).decided


def test_undecided_dates_follow_the_other_columns_of_the_file():
    undecided = detect_dates(["1/5/2019"])
    american, german = detect_dates(["12/24/2021"]), detect_dates(["24/12/2021"])
    assert decide_dates([undecided, american])[0] == DateFormat("%m/%d/%Y")
    assert decide_dates([None, undecided, german])[1] == DateFormat("%d/%m/%Y")
    assert decide_dates([undecided, american, german])[0] == undecided
    assert decide_dates([undecided, detect_dates(["2019-01-31"])])[0] == undecided


@given(
    st.sampled_from([shape for shape in DAYS if "%B" not in shape]),
    st.lists(st.dates(date(1970, 1, 1), date(2068, 12, 31)), min_size=1, max_size=10),
)
def test_dates_written_in_any_shape_come_back(shape, days):
    if "%d" not in shape:
        days = [day.replace(day=1) for day in days]
    texts = [day.strftime(shape) for day in days]
    assert parse_dates(pa.array(texts), DateFormat(shape)).to_pylist() == days
