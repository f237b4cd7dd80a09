"""The tests that Apache's cluster is asked as well. Its reads are not local, for want of a socket."""

from test_aio import (  # noqa: F401
    test_a_close_after_a_cancelled_one_waits_for_its_end,
    test_a_close_after_one_that_failed_fails_as_well,
    test_an_open_that_is_cancelled_leaves_no_lease,
    test_every_coroutine_is_given_up_and_called_again,
)
from test_aio import test_files as test_files_of_asyncio  # noqa: F401
from test_aio import test_names as test_names_of_asyncio  # noqa: F401
from test_errors import test_a_name_decides_nothing, test_closed_files, test_python_s_own_exceptions, test_two_writers, test_who_may_not_is_told  # noqa: F401
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
from test_objects import test_they_are_pickled_copied_compared_and_hashed  # noqa: F401
from test_replacing import (  # noqa: F401
    failing_reads,
    old,
    test_a_copy_onto_itself_changes_nothing,
    test_a_copy_that_fails_keeps_the_old_target,
    test_a_file_that_a_transaction_makes_replaces_none,
    test_an_append_in_a_transaction,
    test_an_append_in_a_transaction_that_fails,
    test_appends_of_nothing_and_to_nothing_in_a_transaction,
    test_copies_replace_files_and_no_directories,
    test_lists_and_globs_are_deleted,
    test_lists_and_globs_move_by_renames,
)
