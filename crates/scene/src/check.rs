// SPDX-License-Identifier: GPL-2.0-only
//! Whether the parts of a scene fit together, so that each actor can go on.

use crate::held::require_balance;
use crate::mistake::Mistake;
use crate::resource::Kind;
use crate::scene::Scene;
use crate::script::Script;
use crate::step::Step;

/// Refuses what would never begin, wait for nobody, or repeat what takes no time.
pub fn require_that_it_fits(scene: &Scene) -> Result<(), Mistake> {
    if scene.scripts.is_empty() {
        return Mistake::at(1, "nobody does anything: add a line NAME: STEP, STEP, ...");
    }
    for (index, script) in scene.scripts.iter().enumerate() {
        if let Some(first) = scene.scripts[..index].iter().find(|other| other.name == script.name) {
            let what = format!("line {} has a script of {} already", first.line, script.name);
            return Mistake::at(script.line, what);
        }
        require_other_actors(scene, script)?;
        require_begun(scene, script)?;
        require_awaited(script)?;
        require_exec(scene, script)?;
        require_single(scene, script)?;
        require_exit(script)?;
        require_time(script)?;
        require_balance(scene, script)?;
    }
    require_partners(scene)
}

/// No actor has the name of one of a script of several.
fn require_other_actors(scene: &Scene, script: &Script) -> Result<(), Mistake> {
    for several in scene.scripts.iter().filter(|other| other.count > 1) {
        let number = script.name.strip_prefix(&several.name).unwrap_or_default();
        let is_one = number.parse::<usize>().is_ok_and(|number| number < several.count);
        if is_one || (script.count > 1 && number.parse::<usize>().is_ok()) {
            let what =
                format!("{} is one of the {} of line {}", script.name, several.name, several.line);
            return Mistake::at(script.line, what);
        }
    }
    Ok(())
}

/// What it begins is there, is not itself, and does not grow without end.
fn require_begun(scene: &Scene, script: &Script) -> Result<(), Mistake> {
    let who = &script.name;
    for (index, (step, &line)) in script.steps.iter().zip(&script.lines).enumerate() {
        let Some(name) = step.begun() else { continue };
        if scene.find(name).is_none() {
            return Mistake::at(line, format!("{who} begins {name}, and there is no script of it"));
        }
        let awaited = script.again().iter().any(|step| *step == Step::Await(name.to_owned()));
        if index >= script.once().len() && !awaited {
            let what =
                format!("{who} would begin {name} without end: await {name} in what it repeats");
            return Mistake::at(line, what);
        }
    }
    match scene.begins_itself(script) {
        true => Mistake::at(script.line, format!("{who} begins itself")),
        false => Ok(()),
    }
}

/// It awaits only what it has begun.
fn require_awaited(script: &Script) -> Result<(), Mistake> {
    for (index, (step, &line)) in script.steps.iter().zip(&script.lines).enumerate() {
        let Step::Await(name) = step else { continue };
        if !script.steps[..index].iter().any(|step| step.begun() == Some(name)) {
            let what = format!("{} waits for {name}, and has begun none", script.name);
            return Mistake::at(line, what);
        }
    }
    Ok(())
}

/// A new program has one thread, and knows of no children.
fn require_exec(scene: &Scene, script: &Script) -> Result<(), Mistake> {
    let Some(index) = script.steps.iter().position(|step| *step == Step::Exec) else {
        return Ok(());
    };
    let who = &script.name;
    let starts = |step: &Step| step.begun().is_some() || *step == Step::Vfork;
    if script.steps.iter().any(starts) {
        return Mistake::at(script.lines[index], format!("{who} cannot exec and begin others too"));
    }
    match scene.is_thread(script) {
        true => Mistake::at(script.lines[index], format!("{who} is a thread, and cannot exec")),
        false => Ok(()),
    }
}

/// A process with threads does not fork: the new one would have only the thread that forked.
fn require_single(scene: &Scene, script: &Script) -> Result<(), Mistake> {
    let forks = |step: &Step| matches!(step, Step::Fork(_));
    let Some(index) = script.steps.iter().position(forks) else { return Ok(()) };
    let has_threads = script.steps.iter().any(|step| matches!(step, Step::Thread(_)));
    if has_threads || scene.is_thread(script) {
        let what = format!("{} cannot fork: its process has threads", script.name);
        return Mistake::at(script.lines[index], what);
    }
    Ok(())
}

fn require_exit(script: &Script) -> Result<(), Mistake> {
    match script.steps.iter().position(|step| *step == Step::Exit) {
        Some(index) if index + 1 < script.steps.len() => {
            let what = format!("{} has ended before this step", script.name);
            Mistake::at(script.lines[index + 1], what)
        }
        _ => Ok(()),
    }
}

fn require_time(script: &Script) -> Result<(), Mistake> {
    let again = script.again();
    let ends = |step: &Step| step.takes_time() || *step == Step::Exit;
    if again.is_empty() || again.iter().any(ends) {
        return Ok(());
    }
    let what = format!("{} repeats nothing that takes time: add sleep, timer or run", script.name);
    Mistake::at(script.lines[script.once().len()], what)
}

/// For each actor that waits there is another that lets it go on.
fn require_partners(scene: &Scene) -> Result<(), Mistake> {
    for script in &scene.scripts {
        for (step, &line) in script.steps.iter().zip(&script.lines) {
            require_partner(scene, script, step, line)?;
        }
    }
    let used = |resource: usize| {
        scene
            .scripts
            .iter()
            .flat_map(|script| &script.steps)
            .any(|step| step.resource() == Some(resource))
    };
    for (index, resource) in scene.resources.iter().enumerate() {
        if !used(index) {
            let what = format!("nobody uses the {} {}", resource.kind, resource.name);
            return Mistake::at(resource.line, what);
        }
        let Kind::Barrier { count } = resource.kind else { continue };
        let meets = |script: &&Script| script.steps.contains(&Step::Meet(index));
        let coming: usize = scene.scripts.iter().filter(meets).map(|script| script.count).sum();
        if coming < count {
            let what = format!("{} waits for {count} actors, and {coming} come", resource.name);
            return Mistake::at(resource.line, what);
        }
    }
    Ok(())
}

fn require_partner(scene: &Scene, who: &Script, step: &Step, line: usize) -> Result<(), Mistake> {
    let (resource, what, is_partner): (usize, &str, fn(&Step) -> bool) = match step {
        Step::Wait(event) => {
            (*event, "signals it", |step| matches!(step, Step::Signal(_) | Step::Broadcast(_)))
        }
        Step::Receive { from, .. } => {
            (*from, "sends into it", |step| matches!(step, Step::Send { .. }))
        }
        Step::Send { to, .. } => {
            (*to, "receives from it", |step| matches!(step, Step::Receive { .. }))
        }
        _ => return Ok(()),
    };
    let helps = |step: &Step| is_partner(step) && step.resource() == Some(resource);
    let is_other = |script: &Script| script.name != who.name || script.count > 1;
    if scene.scripts.iter().any(|script| is_other(script) && script.steps.iter().any(helps)) {
        return Ok(());
    }
    let name = &scene.resources[resource].name;
    let verb = if what.starts_with("receives") { "sends into" } else { "waits for" };
    Mistake::at(line, format!("{} {verb} {name}, and nobody else {what}", who.name))
}
