"""What random cases are drawn from."""

from cases.random_source import RandomSource


def drawn(seed):
    made = RandomSource()
    made.begin(seed)
    return [made.choice("abcdefgh"), made.integer(3, 900), made.chance(), *made.numbers.random(3)]


def test_a_seed_says_all_of_it():
    assert drawn(7) == drawn(7) != drawn(8)


def test_both_ends_are_among_the_integers_and_shares_are_kept():
    made = RandomSource()
    made.begin(1)
    assert {made.integer(2, 4) for _ in range(100)} == {2, 3, 4}
    assert not made.chance(0) and made.chance(1.0)
    assert 150 < sum(made.chance(0.2) for _ in range(1000)) < 250
