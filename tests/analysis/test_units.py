from firsthand.analysis.units import units_of


def test_rows_that_share_a_name_are_one_unit_and_so_are_those_that_a_third_one_ties_together() -> None:
    found = units_of([("a",), ("b",), ("a", "c"), ("c", "b"), ("d",), ()])
    assert len(set(found[:4])) == 1
    assert len(set(found)) == 3
    assert sorted(set(found)) == [0, 1, 2]


def test_no_rows_make_no_units() -> None:
    assert len(units_of([])) == 0
