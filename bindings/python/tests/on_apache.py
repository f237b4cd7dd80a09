"""The tests that Apache's cluster is asked as well. Its reads are not local, for want of a socket."""

from test_aio import test_files as test_files_of_asyncio  # noqa: F401
from test_aio import test_names as test_names_of_asyncio  # noqa: F401
from test_errors import test_closed_files, test_python_s_own_exceptions, test_two_writers, test_who_may_not_is_told  # noqa: F401
from test_files import (  # noqa: F401
    test_a_file_may_be_read_from_anywhere,
    test_checksums_tell_files_apart,
    test_flushed_bytes_are_seen_and_appended_ones_follow,
    test_lines_text_and_archives,
    test_names_are_found,
    test_names_change,
    test_options_of_files_that_are_made,
    test_ranges_are_read_together,
    test_what_is_written_is_read,
)
from test_fsspec import hdfs, test_listing_and_glob, test_names_move_and_go, test_urls_text_and_pickles  # noqa: F401
