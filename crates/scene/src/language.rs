// SPDX-License-Identifier: GPL-2.0-only
//! Reads a scene.

use std::str::FromStr;
use std::time::Duration;

use crate::check::require_that_it_fits;
use crate::length::parse_time;
use crate::line::statements;
use crate::mistake::Mistake;
use crate::resource::{Resource, require_different};
use crate::scene::Scene;
use crate::script::Script;

/// How long a scene lasts that does not say it.
const DEFAULT_LENGTH: Duration = Duration::from_secs(5);

impl FromStr for Scene {
    type Err = Mistake;

    fn from_str(text: &str) -> Result<Self, Mistake> {
        let all = statements(text);
        let mut lasts = None;
        let (mut resources, mut headers) = (Vec::new(), Vec::new());
        for statement in &all {
            if let Some((who, steps)) = statement.text.split_once(':') {
                headers.push((statement, who, steps));
                continue;
            }
            match statement.text.split_once(' ') {
                Some(("lasts", length)) if lasts.is_none() => {
                    lasts = Some(parse_time(length).map_err(statement.mistake())?);
                }
                Some(("lasts", _)) => return Mistake::at(statement.line, "it lasts twice"),
                _ => resources.push(Resource::parse(statement)?),
            }
        }
        require_different(&resources)?;
        let parse = |(statement, who, steps)| Script::parse(statement, who, steps, &resources);
        let scripts = headers.into_iter().map(parse).collect::<Result<Vec<_>, _>>()?;
        let scene = Self { lasts: lasts.unwrap_or(DEFAULT_LENGTH), resources, scripts };
        require_that_it_fits(&scene)?;
        Ok(scene)
    }
}
