"""The page table: pages are shared, given back and forgotten, and none is lost."""

from hypothesis import given
from hypothesis import strategies as st

from weft_llm.server.pages import PageTable


def fill(table, tokens):
    """Take pages for tokens as the scheduler does, sharing what is known."""
    pages = table.shared(tokens)
    shared = len(pages)
    while len(pages) * table.size < len(tokens):
        page = table.take()
        if page is None:
            table.release(pages)
            return None
        pages.append(page)
    for count in range(shared + 1, len(tokens) // table.size + 1):
        table.publish(pages[:count], tokens[: count * table.size])
    return pages


def test_equal_beginnings_share_pages():
    table = PageTable(10, 2)
    first = fill(table, [1, 2, 3, 4, 5])
    second = fill(table, [1, 2, 3, 4, 6])
    other = fill(table, [3, 4])
    assert first[:2] == second[:2] and first[2] != second[2]
    assert other[0] not in first, "the same tokens after others are another page"
    assert table.used == 5


def test_pages_stay_known_until_they_are_needed():
    table = PageTable(4, 2)
    first = fill(table, [1, 2, 3, 4])
    table.release(first)
    assert table.used == 0 and fill(table, [1, 2, 3, 4]) == first
    table.release(first)
    assert fill(table, [5, 6, 7, 8, 9, 9]) is not None
    assert table.shared([1, 2]) == []


def test_what_comes_after_a_forgotten_page_is_forgotten():
    table = PageTable(4, 1)
    first = fill(table, [1, 2, 3])
    table.release(first)
    kept = [table.take()]  # the end of the prompt goes first
    assert table.shared([1, 2, 3]) == first[:2] and kept == first[2:]


@given(st.lists(st.tuples(st.lists(st.integers(0, 1), max_size=7), st.booleans()), max_size=40))
def test_no_page_is_lost_or_given_twice(steps):
    table = PageTable(6, 2)
    held = []
    for tokens, gives_back in steps:
        if gives_back and held:
            table.release(held.pop(0))
        pages = fill(table, tokens)
        if pages is not None:
            held.append(pages)
        own = {page for pages in held for page in pages}
        assert table.used == len(own) and 0 not in own
        for pages in held:
            assert len(set(pages)) == len(pages)
    for pages in held:
        table.release(pages)
    assert table.available == 5
