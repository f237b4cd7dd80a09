//! Calls whose outcome their caller does not hear of: given up before the answer, or the answer was lost. On our NameNode and
//! DataNode and on Apache's.

mod file_system;
mod files;
mod given_up;
mod lost_answers;
