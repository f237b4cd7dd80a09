//! `/jmx`: the beans that people's scripts read, under Hadoop's names.

mod figures;
mod info;
mod others;
mod system;

use super::page::text;
use crate::core::Core;
use axum::extract::{RawQuery, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use figures::Figures;
use std::sync::Arc;
use zerohop_transport::beans;

pub(super) async fn page(State(core): State<Arc<Core>>, RawQuery(raw): RawQuery) -> Response {
    // The sizes of the name folders are asked of the disk.
    let made = tokio::task::spawn_blocking(move || {
        beans::page(raw.as_deref().unwrap_or_default(), || {
            let figures = Figures::take(&core);
            vec![
                info::bean_of(&core, &figures),
                system::system(&core, &figures),
                system::state(&core, &figures),
                system::replicated(&figures),
                others::status(&core),
                others::activity(&core),
                others::runtime(&core),
            ]
        })
    });
    let Ok(page) = made.await else { return StatusCode::INTERNAL_SERVER_ERROR.into_response() };
    let status = StatusCode::from_u16(page.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    (status, text("application/json; charset=utf8", page.body)).into_response()
}
