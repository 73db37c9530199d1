"""The report in a real browser: drawn, quiet, offline, and doing what it is told."""

from __future__ import annotations

import itertools

import pytest

pytestmark = pytest.mark.browser

WIDTHS = (1280, 390)
LABELS = "[...document.querySelectorAll('.trees figure:not([hidden]) text.category')]"
NAMES = f"{LABELS}.map(e => e.firstChild.data)"
ORDER = "[...document.querySelectorAll('table.clusters tbody tr')].map(e => Number(e.cells[0].dataset.value))"


def unfolded(page):
    """The page with all of its parts open."""
    page.driver.execute_async_script(
        "const done = arguments[0]; document.querySelectorAll('details.fold').forEach((fold) => "
        "{ fold.open = true; }); requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(done)));"
    )
    return page


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_page_opens_without_a_complaint_or_a_request(open_page, zoo_report, width, scheme):
    page = open_page(zoo_report, width=width, scheme=scheme)
    page.shoot(f"zoo-{width}-{scheme}")
    assert page.complaints() == []
    asked = page.requests()
    assert asked
    assert all(address.startswith(("file://", "data:")) for address in asked)


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize(
    "name", ["zoo_report", "wide_report", "split_report", "weighed_report", "survey_report"]
)
def test_nothing_is_wider_than_the_window(open_page, request, name, width):
    page = unfolded(open_page(request.getfixturevalue(name), width=width))
    page.shoot(f"{name}-{width}")
    assert page.ask("document.documentElement.scrollWidth") <= width


def test_the_charts_are_drawn(open_page, zoo_report):
    page = unfolded(open_page(zoo_report))
    assert page.ask("document.querySelectorAll('#map .mark-symbol path').length") == 101
    assert page.ask("document.querySelectorAll('#fit svg').length") == 2
    assert page.ask("document.querySelectorAll('#fit .mark-rect path').length") == 101
    assert page.ask("document.querySelectorAll('#fit .mark-symbol path').length") > 2
    drawn = page.ask("document.querySelectorAll('.trees figure circle').length")
    assert drawn == len(page.ask(NAMES)) >= 4
    assert page.ask("document.querySelectorAll('table.heat tbody td').length") == 8 * 36


@pytest.mark.parametrize("width", WIDTHS)
def test_branches_stand_further_in_than_those_above_and_their_bars_in_line(open_page, split_report, width):
    page = open_page(split_report, width=width, scheme="dark")
    page.shoot(f"splits-{width}-dark")
    places = page.ask(
        "[...document.querySelectorAll('.splits li')].map(e => [Number(getComputedStyle(e)"
        ".getPropertyValue('--d')), e.querySelector('.asked').getBoundingClientRect().left, "
        "e.querySelector('.bar').getBoundingClientRect().left])"
    )
    assert len(places) == 11
    assert len({depth for depth, _, _ in places}) == len({round(left) for _, left, _ in places}) == 4
    assert sorted(places) == sorted(places, key=lambda place: place[1:2] + place[:1])
    assert len({round(left) for _, _, left in places}) == 1


def option(page, name):
    """Value of a column in the chooser."""
    found = f"[...document.querySelectorAll('#choose-column option')].find(e => e.textContent === '{name}')"
    return page.ask(f"{found}.value")


def test_choosing_another_column_and_cluster_changes_the_tree(open_page, zoo_report):
    page = unfolded(open_page(zoo_report))
    assert page.ask(NAMES) == ["2", "4", "2", "4"]  # legs that animals of the two clusters have, in order
    page.choose("choose-column", option(page, "tail"))
    assert page.ask(NAMES) == ["0", "1", "1"]
    page.choose("choose-cluster", "4")
    assert page.ask(NAMES) == ["0", "1", "1"]
    assert page.ask("document.querySelector('.trees figcaption .told').textContent") == "tail in cluster 4"
    page.choose("choose-other", "")
    assert page.ask(NAMES) == ["0", "1"]


def test_the_table_of_clusters_sorts_both_ways(open_page, zoo_report):
    page = open_page(zoo_report)
    assert page.ask(ORDER) == list(range(7))
    rows = (
        "[...document.querySelectorAll('table.clusters tbody tr')].map(e => Number(e.cells[1].dataset.value))"
    )
    button = page.driver.find_elements("css selector", "table.clusters th button")[1]
    button.click()
    assert page.ask(rows) == sorted(page.ask(rows), reverse=True)
    assert (
        page.ask("document.querySelectorAll('table.clusters th')[1].getAttribute('aria-sort')")
        == "descending"
    )
    button.click()
    assert page.ask(rows) == sorted(page.ask(rows))


def test_the_keyboard_reaches_sorting_choosing_and_rows(open_page, zoo_report):
    from selenium.webdriver.common.keys import Keys

    page = unfolded(open_page(zoo_report))
    head = page.driver.find_elements("css selector", "table.clusters th button")[1]
    head.send_keys(Keys.ENTER)
    assert page.ask(ORDER) != list(range(7))
    page.driver.find_element("id", "choose-cluster").send_keys(Keys.HOME)
    assert page.ask("document.querySelector('.trees figcaption .told').textContent").endswith("cluster 0")
    shut = page.driver.find_elements("css selector", "#rows details:not([open]) summary")[0]
    shut.send_keys(Keys.ENTER)
    assert page.ask("document.querySelectorAll('#rows details[open]').length") == 2


def test_a_press_on_a_number_shows_its_cluster_alone(open_page, zoo_report):
    page = open_page(zoo_report)
    page.do("document.querySelector('.legend').scrollIntoView({behavior: 'instant', block: 'center'})")
    button = page.driver.find_elements("css selector", ".legend button")[6]
    size = page.ask("Number(document.querySelectorAll('table.clusters tbody tr')[6].cells[1].dataset.value)")
    button.click()
    assert page.ask("document.querySelectorAll('.map .faded').length") == 101 - size
    button.click()
    assert page.ask("document.querySelectorAll('.map .faded').length") == 0


def test_pointing_at_a_row_of_the_map_tells_its_cells(open_page, zoo_report):
    from selenium.webdriver import ActionChains

    page = open_page(zoo_report)
    dot = page.driver.find_elements("css selector", "#map .mark-symbol path")[0]
    page.do("document.querySelector('#map').scrollIntoView({behavior: 'instant'})")
    ActionChains(page.driver).move_to_element(dot).perform()
    assert page.ask("document.getElementById('tip').hidden") is False
    assert "legs" in page.ask("document.getElementById('tip').textContent")


def test_arrow_keys_go_from_row_to_row_of_the_map(open_page, zoo_report):
    from selenium.webdriver.common.keys import Keys

    page = unfolded(open_page(zoo_report))
    page.do("document.querySelector('#map .map').focus()")
    drawn = page.driver.find_element("css selector", "#map .map")
    drawn.send_keys(Keys.ARROW_RIGHT)
    place = "document.querySelector('#map .current').getBoundingClientRect().left"
    first, told = page.ask(place), page.ask("document.getElementById('told').textContent")
    assert "legs" in told
    assert page.ask("document.getElementById('tip').textContent") == told
    drawn.send_keys(Keys.ARROW_RIGHT)
    assert page.ask(place) >= first
    assert page.ask("document.querySelectorAll('#map .current').length") == 1
    drawn.send_keys(Keys.END)
    assert page.ask(place) > first
    drawn.send_keys(Keys.ESCAPE)
    assert page.ask("document.querySelector('#map .current')") is None
    assert page.ask("document.getElementById('tip').hidden") is True
    page.do("document.querySelectorAll('.legend button')[6].click()")
    drawn.send_keys(Keys.HOME)
    assert page.ask("document.querySelector('#map .current.faded')") is None


@pytest.mark.parametrize("width", WIDTHS)
def test_text_from_the_data_stays_text(open_page, wide_report, width):
    page = unfolded(open_page(wide_report, width=width))
    for column in range(page.ask("document.querySelectorAll('#choose-column option').length")):
        page.choose("choose-column", str(column))
    assert page.ask("window.hacked === undefined")
    assert page.complaints() == []
    assert page.ask("document.querySelector('h1').textContent") == "<script>window.hacked = true</script>"
    bold = "[...document.querySelectorAll('b')].filter(e => e.textContent === 'bold').length"
    assert page.ask(bold) == 0


@pytest.mark.parametrize("width", WIDTHS)
def test_names_in_a_tree_of_forty_categories_do_not_overlap(open_page, wide_report, width):
    page = unfolded(open_page(wide_report, width=width))
    page.choose(
        "choose-column",
        option(page, "forty"),
    )
    boxes = page.ask(
        "[...document.querySelectorAll('.trees figure:first-child svg text.category')]"
        ".map(e => { const b = e.getBoundingClientRect(); return [b.top, b.bottom, b.left, b.right]; })"
    )
    left = page.ask("document.querySelector('.trees figure svg').getBoundingClientRect().left")
    assert len(boxes) > 1
    boxes.sort()
    assert all(one[1] <= other[0] + 3 for one, other in itertools.pairwise(boxes))
    assert all(box[2] >= left - 1 for box in boxes)
    assert not page.ask(
        "[...document.querySelectorAll('.trees figure:first-child svg circle')].some(c => "
        "[...document.querySelectorAll('.trees figure:first-child svg text.category')].some(t => { "
        "const a = c.getBoundingClientRect(), b = t.getBoundingClientRect(); "
        "return a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom; }))"
    )


def test_the_page_prints(open_page, zoo_report):
    page = open_page(zoo_report)
    page.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "print"})
    assert page.ask("getComputedStyle(document.querySelector('nav')).display") == "none"
    printed = page.driver.print_page()
    assert len(printed) > 20_000
    page.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": ""})


def test_shares_are_found_by_column_or_category_and_saved_whole(open_page, wide_report):
    page = open_page(wide_report)
    groups = "[...document.querySelectorAll('.shares tbody.group')].filter(e => !e.hidden).length"
    everything = page.ask(groups)
    field = page.driver.find_element("id", "find-share")
    field.send_keys("forty")
    assert page.ask(groups) == 1
    assert page.ask("document.getElementById('found-shares').textContent") == f"1 of {everything} columns"
    field.clear()
    page.do("document.getElementById('find-share').dispatchEvent(new Event('input'))")
    assert page.ask(groups) == everything
    page.do("URL.createObjectURL = (blob) => { window.saved = blob; return 'data:,'; }")
    page.do("document.getElementById('save-shares').click()")
    lines = page.ask("window.saved.text()").splitlines()
    assert lines[0].startswith('"column","category","all","cluster 0"')
    assert sum(line.startswith('"forty",') for line in lines) == 40
    assert sum(line.startswith('"seven","\'=s') for line in lines) == 7  # no formula for a spreadsheet
    assert page.complaints() == []


def test_what_is_wider_than_a_narrow_page_fades_where_it_goes_on(open_page, zoo_report):
    page = unfolded(open_page(zoo_report, width=390))
    marked = "document.querySelector('.map').hasAttribute('data-more')"
    assert page.ask(marked)
    page.driver.execute_async_script(
        "const done = arguments[0], map = document.querySelector('.map');"
        "map.addEventListener('scroll', () => setTimeout(done, 50)); map.scrollLeft = 9999;"
    )
    assert not page.ask(marked)
    assert not unfolded(open_page(zoo_report, width=1280)).ask(marked)


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", WIDTHS)
def test_pages_without_a_script_fit_the_window_and_show_where_a_table_goes_on(
    open_page, still_pages, width, scheme
):
    for path in still_pages:
        page = open_page(path, width=width, scheme=scheme)
        page.shoot(f"{path.stem}-{width}-{scheme}")
        assert page.complaints() == []
        assert page.ask("document.documentElement.scrollWidth") <= width
        # A shadow that stays at the edge, and a cover that scrolls away with the table.
        attached = page.ask("getComputedStyle(document.querySelector('.scroll')).backgroundAttachment")
        assert attached == "local, local, scroll, scroll"


def test_names_of_clusters_do_not_press_on_their_bars(open_page, survey_report):
    page = open_page(survey_report, width=390)
    bars = page.ask(
        "[...document.querySelectorAll('.clusters .bar')].map((bar) => bar.getBoundingClientRect().width)"
    )
    assert len(bars) == 12
    assert min(bars) >= 60


def test_a_link_opens_the_part_it_leads_to(open_page, zoo_report):
    page = open_page(zoo_report)
    fold = "document.querySelector('#reuse details').open"
    assert not page.ask(fold)
    page.do("document.querySelector('nav a[href=\"#reuse\"]').click()")
    assert page.ask(fold)
    page.do("dispatchEvent(new Event('beforeprint'))")
    assert page.ask("[...document.querySelectorAll('details.fold')].every((one) => one.open)")
    assert page.ask("document.querySelectorAll('.trees figure circle').length") >= 4


def test_the_first_screen_says_who_the_clusters_are(open_page, zoo_report):
    page = open_page(zoo_report)
    verdict = page.ask("document.querySelector('.verdict').getBoundingClientRect().bottom")
    assert verdict < 300
    assert page.ask("document.querySelector('table.clusters').getBoundingClientRect().top") < 500
    reasons = page.ask("[...document.querySelectorAll('td.reasons')].map((cell) => cell.textContent)")
    assert all("elsewhere" in text for text in reasons)
