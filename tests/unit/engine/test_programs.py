"""Programs and their two caches."""

import sqlite3

from weft import Tensor
from weft.base.disk_cache import DiskCache
from weft.base.settings import settings
from weft.engine import forget_programs, lower_schedule_item, program_for
from weft.testing.running import DEVICE, floats, scheduled


def test_equal_kernels_are_one_program():
    (first,), _ = scheduled(floats(1, 2) * 7.0)
    (second,), _ = scheduled(floats(3, 4) * 7.0)
    assert first.ast is second.ast
    assert program_for(first.ast, DEVICE) is program_for(second.ast, DEVICE)
    kept = program_for(first.ast, DEVICE)
    forget_programs()
    assert program_for(first.ast, DEVICE) is not kept


def test_a_damaged_cache_entry_is_compiled_again(tmp_path):
    """Every byte that is turned makes the entry a miss, never a binary that runs."""
    with settings.override(CACHE_DIR=str(tmp_path)):
        cache = DiskCache("binaries_test", 1)
        cache.put("kernel", b"machine code")
        assert cache.get("kernel") == b"machine code"
        (file,) = tmp_path.glob("*.sqlite3")
        with sqlite3.connect(file) as connection:
            ((table,),) = connection.execute(
                "select name from sqlite_master where type = 'table' and name like 'binaries_test%'"
            ).fetchall()
            columns = [row[1] for row in connection.execute(f"pragma table_info('{table}')")]
            connection.execute(f"update '{table}' set {columns[1]} = ?", (b"evil code",))
        assert cache.get("kernel") is None


def test_devices_of_one_kind_share_what_is_generated():
    forget_programs()
    first, second = Tensor([1.0, 2.0], device="REF"), Tensor([1.0, 2.0], device="REF:1")
    programs = [lower_schedule_item((x * 3).schedule()[-1]).prg.program for x in (first, second)]
    assert programs[0] is not programs[1]
    assert programs[0].p.program is programs[1].p.program
    other = (Tensor([1.0, 2.0], device="REF:vector") * 3).schedule()[-1]
    assert lower_schedule_item(other).prg.program.p.program is not programs[0].p.program
