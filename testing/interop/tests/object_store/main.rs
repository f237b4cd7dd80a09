//! HDFS as an object store, on our NameNode and DataNode and on Apache's: the conformance suite of the crate `object_store`, and
//! what is HDFS's own.

mod conditional;
mod conformance;
mod given_up;
mod kept_open;
mod listed;
mod lost_answers;
mod names;
mod place;
mod staged;

use place::run;
use zerohop_interop::Kind;

/// Tests by these names in the modules of these names, each on both kinds of clusters.
macro_rules! on_both {
    ($($module:ident { $($name:ident)* })*) => {
        mod on_ours {
            $(mod $module {
                $(#[test]
                fn $name() {
                    crate::run(crate::Kind::Ours, stringify!($name), |place| {
                        Box::pin(crate::$module::$name(place))
                    });
                })*
            })*
        }

        mod on_apaches {
            $(mod $module {
                $(#[test]
                fn $name() {
                    crate::run(crate::Kind::Apache, stringify!($name), |place| {
                        Box::pin(crate::$module::$name(place))
                    });
                })*
            })*
        }
    };
}

on_both! {
    conformance {
        put_get_delete_list
        get_opts
        list_uses_directories_correctly
        list_with_delimiter
        list_with_offset_exclusivity
        rename_and_copy
        copy_if_not_exists
        copy_rename_nonexistent_object
        stream_get
        multipart_out_of_order
        put_opts_with_updates
        the_last_of_two_uploads_wins
        get_nonexistent_object
        attributes_kept_and_refused
        multipart_store
        list_paginated
    }
    conditional {
        an_update_sees_what_others_did_with_the_file
        what_hdfs_cannot_do_is_refused
        no_update_replaces_what_was_put_without_a_condition
    }
    listed {
        in_order_from_any_name_on
        page_by_page
        the_next_page_of_a_directory_that_is_gone_fails
    }
    kept_open {
        a_file_is_opened_once
        an_object_that_another_program_replaces
        changes_through_the_store_are_seen_at_once
        a_read_that_fails_opens_the_file_again
        a_file_that_grows_is_opened_each_time
    }
    lost_answers {
        an_object_that_was_put_is_not_said_to_be_another_s
        objects_of_others_are_left_alone
        an_object_that_was_renamed_is_renamed
        an_upload_that_was_joined_is_complete
        a_deletion_without_an_answer_is_not_judged
    }
    given_up {
        every_async_method
    }
    names {
        a_file_and_a_directory_cannot_have_one_name
        names_that_hdfs_refuses_are_refused_and_not_found
        renames_to_the_name_itself
    }
    staged {
        a_put_that_is_given_up_leaves_nothing
        readers_see_an_object_whole_or_not_at_all
        large_objects_are_read_as_they_were_written
        an_upload_with_parts_missing_or_empty
        ids_of_uploads_are_no_paths
        parts_are_joined_by_their_numbers
        an_upload_whose_directory_cannot_be_deleted_is_complete
    }
}
