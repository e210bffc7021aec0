//! Walks host code to learn with which block shapes and arguments kernels are launched.

use rayon::prelude::*;
use rustc_hash::FxHashSet;

use super::eval::{Eval, LaunchConfig, LaunchSite, Side};
use super::lanes::Block;
use crate::model::project::{DeclId, Project};
use crate::model::visit;
use crate::model::{ExprKind, Name};
use crate::source::Span;

/// Every launch met, in the order the host code makes them, file by file.
pub fn launches(project: &Project) -> Vec<LaunchSite<'_>> {
    let launching: Vec<DeclId> = project
        .all_functions()
        .filter(|(id, f)| f.body.is_some() && project.is_launching(*id))
        .map(|(id, _)| id)
        .collect();
    let called = called_names(project, &launching);
    let roots: Vec<DeclId> = launching
        .iter()
        .copied()
        .filter(|id| !called.contains(&project.function(*id).name) || is_main(project, *id))
        .collect();
    let mut found: Vec<LaunchSite<'_>> = roots.par_iter().flat_map_iter(|id| walk(project, *id)).collect();
    // What no root reaches (virtual methods, callbacks) is walked for itself, with unknown arguments.
    let seen: FxHashSet<Span> = found.iter().map(|l| l.span).collect();
    let rest: Vec<DeclId> =
        launching.into_iter().filter(|id| !roots.contains(id) && has_unseen_launch(project, *id, &seen)).collect();
    let more: Vec<LaunchSite<'_>> =
        rest.par_iter().flat_map_iter(|id| walk(project, *id)).filter(|l| !seen.contains(&l.span)).collect();
    found.extend(more);
    found
}

fn is_main(project: &Project, id: DeclId) -> bool {
    project.function(id).name == "main"
}

fn called_names(project: &Project, functions: &[DeclId]) -> FxHashSet<Name> {
    let mut names = FxHashSet::default();
    for id in functions {
        let own = &project.function(*id).name;
        let Some(body) = &project.function(*id).body else { continue };
        visit::expressions(body, &mut |e| {
            if let ExprKind::Call { callee, .. } = &e.kind {
                let name = match &callee.kind {
                    ExprKind::Name(path) => path.last(),
                    ExprKind::Member { member, .. } => &member.name,
                    _ => return,
                };
                if name != own {
                    names.insert(name.clone());
                }
            }
        });
    }
    names
}

fn has_unseen_launch(project: &Project, id: DeclId, seen: &FxHashSet<Span>) -> bool {
    let Some(body) = &project.function(id).body else { return false };
    let mut unseen = false;
    visit::expressions(body, &mut |e| {
        if let ExprKind::Launch { .. } = &e.kind {
            unseen |= !seen.contains(&e.span);
        }
    });
    unseen
}

fn walk(project: &Project, id: DeclId) -> Vec<LaunchSite<'_>> {
    let mut eval = Eval::new(project, Side::Host, Block::new([1, 1, 1]), LaunchConfig::default());
    eval.run_function(id);
    eval.events.launches
}
