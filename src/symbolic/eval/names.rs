//! What a name means: a local, a member, a template parameter, a builtin, a global or an enumerator.

use super::{Eval, RegionKey, Side};
use crate::model::project::DeclId;
use crate::model::types::{Binding, Ty};
use crate::model::{Global, Init, Name, Path, Scalar};
use crate::source::{FileId, Span};
use crate::symbolic::term::Poly;
use crate::symbolic::value::{Base, Local, Memory, Place, Rest, Value};
use crate::warp::facts::{Scope, Space};

/// What a name resolved to.
pub(super) enum Named<'p> {
    Place(Place),
    Value(Value<'p>),
}

impl<'p> Eval<'p> {
    pub(super) fn is_variable(&self, name: &Name) -> bool {
        let Some(frame) = self.frame() else { return false };
        frame.locals.iter().rev().find(|(n, _)| n == name).is_some_and(|(_, l)| !matches!(l, Local::Type(_)))
    }

    pub(super) fn lookup(&mut self, path: &'p Path, span: Span) -> Option<Named<'p>> {
        if let Some(name) = path.as_simple() {
            if let Some(found) = self.lookup_simple(name) {
                return Some(found);
            }
        } else if let Some(found) = self.lookup_qualified(path) {
            return Some(found);
        }
        let file = self.file();
        let globals = self.project.globals_named(path.last(), file);
        if let Some(id) = self.nearest_in_scope(globals, |p, id| &p.global(id).scope, path) {
            return self.global(id);
        }
        let enumerators = self.project.enumerators_named(path.last(), file);
        if let Some((id, position)) = enumerators.first().copied() {
            let definition = self.project.enumeration(id);
            let value =
                self.resolve_in(id, &definition.scope, |eval| eval.enumerator(definition, position as usize))?;
            return Some(Named::Value(Value::int(value, Scalar::Int)));
        }
        let _ = span;
        None
    }

    /// The value of a name, loaded where it is a variable.
    pub(super) fn name_value(&mut self, path: &'p Path, span: Span) -> Option<Value<'p>> {
        match self.lookup(path, span)? {
            Named::Value(v) => Some(v),
            Named::Place(place) => Some(self.load(&place, span)),
        }
    }

    fn lookup_simple(&mut self, name: &Name) -> Option<Named<'p>> {
        let frame = self.frames.last()?;
        for (n, local) in frame.locals.iter().rev() {
            if n == name {
                return match local {
                    Local::Place(place) => Some(Named::Place(place.clone())),
                    Local::Value(value) => Some(Named::Value(value.clone())),
                    Local::Pack(values) => values.first().cloned().map(Named::Value),
                    Local::Type(_) => None,
                };
            }
        }
        for (n, binding) in frame.bindings.iter().rev() {
            if n == name {
                return match binding {
                    Binding::Value(v) => Some(Named::Value(Value::int(*v, Scalar::Int))),
                    Binding::Unknown => {
                        let key = (u32::MAX, hash_name(name));
                        if let Some(v) = self.parts.get(&key) {
                            return Some(Named::Value(v.clone()));
                        }
                        let text = name.clone();
                        let atom = self.size_atom(&text, 1, i64::from(i32::MAX), true);
                        let value = Value::Int { poly: Poly::atom(atom), ty: Scalar::Int };
                        self.parts.insert(key, value.clone());
                        Some(Named::Value(value))
                    }
                    Binding::Function(f) => {
                        let id = self.project.functions_named(f, self.file()).first().copied()?;
                        Some(Named::Value(Value::Function(id, std::rc::Rc::from([]))))
                    }
                    _ => None,
                };
            }
        }
        if let Some(this) = frame.this.clone()
            && let Some((offset, ty)) = this.ty.as_record().and_then(|r| r.field(name)) {
                let offset = self.terms.add_constant(&this.offset, offset as i64);
                return Some(Named::Place(Place { base: this.base, offset, ty }));
            }
        if let Some(found) = self.class_static(name) {
            return Some(found);
        }
        self.builtin_variable(name)
    }

    /// A static member of the class whose method is being walked.
    fn class_static(&mut self, name: &Name) -> Option<Named<'p>> {
        let class = self.frame()?.class.clone()?;
        let (unit, index) = class.declared?;
        let id = DeclId { file: FileId(unit), index };
        self.static_member(id, &class.bindings, name)
    }

    fn static_member(&mut self, id: DeclId, bindings: &[(Name, Binding)], name: &Name) -> Option<Named<'p>> {
        let record = self.project.record(id);
        let decl = record.statics.iter().find(|d| d.name == *name)?;
        let mark = self.bindings_len();
        self.push_bindings(bindings);
        let value = self.resolve_in(id, &record.scope, |eval| eval.initial_constant(decl.init.as_ref()));
        self.unbind(mark);
        Some(Named::Value(Value::int(value?, Scalar::Int)))
    }

    fn initial_constant(&mut self, init: Option<&'p Init>) -> Option<i64> {
        match init? {
            Init::Value(e) => self.constant(e),
            Init::Brace(list) | Init::Paren(list) => self.constant(list.first()?),
        }
    }

    /// `Class<args>::member`, `T::member`.
    fn lookup_qualified(&mut self, path: &'p Path) -> Option<Named<'p>> {
        let owner = path.segments.get(path.segments.len().checked_sub(2)?)?;
        let file = self.file();
        let ty = self
            .frame()
            .and_then(|f| f.bindings.iter().rev().find(|(n, _)| *n == owner.name))
            .and_then(|(_, b)| if let Binding::Type(t) = b { Some(t.clone()) } else { None });
        let ty = if let Some(t) = ty { t } else {
            let mut id = None;
            for candidate in self.project.records_named(&owner.name, file) {
                let record = self.project.record(candidate);
                if record.specialisation.is_none() || id.is_none() {
                    id = Some(candidate);
                }
            }
            let id = id?;
            self.record_type(id, owner.args.as_deref())
        };
        let record = ty.as_record()?.clone();
        let (unit, index) = record.declared?;
        self.static_member(DeclId { file: FileId(unit), index }, &record.bindings, path.last())
    }

    fn builtin_variable(&mut self, name: &str) -> Option<Named<'p>> {
        let slot = match name {
            "threadIdx" => 0,
            "blockIdx" => 1,
            "blockDim" => 2,
            "gridDim" => 3,
            "warpSize" => return Some(Named::Value(Value::int(32, Scalar::Int))),
            "NULL" => return Some(Named::Value(Value::int(0, Scalar::Int))),
            "INT_MAX" => return Some(Named::Value(Value::int(i64::from(i32::MAX), Scalar::Int))),
            "RAND_MAX" => return Some(Named::Value(Value::int(i64::from(i32::MAX), Scalar::Int))),
            "FLT_MAX" | "FLT_MIN" | "FLT_EPSILON" | "INFINITY" | "NAN" => {
                return Some(Named::Value(Value::Float { ty: Scalar::Float, scope: Scope::Grid, constant: None }));
            }
            "M_PI" | "M_E" | "DBL_MAX" | "DBL_MIN" => {
                return Some(Named::Value(Value::Float { ty: Scalar::Double, scope: Scope::Grid, constant: None }));
            }
            _ => return None,
        };
        if self.side == Side::Host {
            return None;
        }
        let id = self.builtins[slot];
        let ty = self.state.object(id)?.ty.clone();
        Some(Named::Place(Place { base: Base::Object(id), offset: Poly::zero(), ty }))
    }

    fn global(&mut self, id: DeclId) -> Option<Named<'p>> {
        let global = self.project.global(id);
        if !global.decl.quals.is_constant && !global.decl.quals.is_shared {
            let ty = self.resolve_in(id, &global.scope, |eval| eval.resolve(&global.decl.ty));
            let is_fixed = global.decl.ty.is_const || global.decl.quals.is_constexpr || self.side == Side::Host;
            if is_fixed && !matches!(ty, Ty::Array(..))
                && let Some(value) = self.global_constant(id, global, &ty) {
                    return Some(Named::Value(value));
                }
        }
        Some(Named::Place(self.global_place(id)))
    }

    fn global_constant(&mut self, id: DeclId, global: &'p Global, ty: &Ty) -> Option<Value<'p>> {
        if let Some(known) = self.global_values.get(&id) {
            return known.clone();
        }
        if self.open_globals.contains(&id) || self.open_globals.len() > 32 {
            return None;
        }
        self.open_globals.push(id);
        self.quiet += 1;
        let value = self.resolve_in(id, &global.scope, |eval| {
            let init = match global.decl.init.as_ref()? {
                Init::Value(e) => e,
                Init::Brace(list) | Init::Paren(list) if list.len() == 1 => list.first()?,
                _ => return None,
            };
            let value = eval.eval(init);
            let value = if matches!(ty, Ty::Unknown) { value } else { eval.convert(value, ty) };
            match &value {
                Value::Int { poly, .. } if poly.as_constant().is_some() => Some(value),
                Value::Float { constant: Some(_), .. } => Some(value),
                _ => None,
            }
        });
        self.quiet -= 1;
        self.open_globals.pop();
        self.global_values.insert(id, value.clone());
        value
    }

    /// The memory region of a variable at namespace scope.
    pub(super) fn global_place(&mut self, id: DeclId) -> Place {
        let global = self.project.global(id);
        let ty = self.resolve_in(id, &global.scope, |eval| {
            let ty = eval.resolve(&global.decl.ty);
            eval.complete_array(ty, global.decl.init.as_ref())
        });
        if self.side == Side::Host {
            return self.host_global(id, global, ty);
        }
        let quals = global.decl.quals;
        let space = if quals.is_constant {
            Space::Constant
        } else if quals.is_device || quals.is_managed {
            Space::Global
        } else if quals.is_shared {
            Space::Shared
        } else {
            // A const table of the file: the compiler puts it into constant or global memory as it likes.
            Space::Constant
        };
        if space == Space::Shared {
            return self.shared_variable(&global.decl, ty);
        }
        let key = RegionKey::Global(id);
        let base = if let Some(i) = self.region_of.get(&key) { Base::Memory(*i) } else {
            let memory = Memory {
                space,
                name: global.decl.name.clone(),
                span: Some(global.decl.name_span),
                align: ty.align().max(if ty.size().unwrap_or(0) >= 256 { 256 } else { 16 }),
                scope: Scope::Grid,
                is_restrict: false,
                is_const: global.decl.ty.is_const || quals.is_constant,
                shared: None,
                align_is_assumed: true,
                ty: ty.clone(),
                global: Some(id),
            };
            let base = self.new_memory(memory);
            self.remember_region(key, base);
            base
        };
        Place { base, offset: Poly::zero(), ty }
    }

    fn host_global(&mut self, id: DeclId, global: &'p Global, ty: Ty) -> Place {
        let key = RegionKey::Global(id);
        if let Some(i) = self.region_of.get(&key) {
            return Place { base: Base::Object(*i), offset: Poly::zero(), ty };
        }
        let place = self.new_object(global.decl.name.clone(), ty.clone(), Rest::Clobbered(Scope::Grid));
        if let Base::Object(i) = place.base {
            self.region_of.insert(key, i);
        }
        if let Some(value) = self.global_constant(id, global, &ty) {
            self.store(&place, value, global.decl.span);
        }
        place
    }

    pub(super) fn remember_region(&mut self, key: RegionKey, base: Base) {
        if let Base::Memory(i) = base {
            self.region_of.insert(key, i);
        }
    }

    /// `T a[] = {1, 2, 3}` has as many elements as its initialiser.
    pub(super) fn complete_array(&mut self, ty: Ty, init: Option<&'p Init>) -> Ty {
        let Ty::Array(element, None) = &ty else { return ty };
        let list = match init {
            Some(Init::Brace(list)) => list.len(),
            Some(Init::Value(e)) => match &e.kind {
                crate::model::ExprKind::InitList(list) => list.len(),
                _ => return ty,
            },
            _ => return ty,
        };
        Ty::Array(element.clone(), Some(list as u64))
    }
}

fn hash_name(name: &str) -> u64 {
    use std::hash::{Hash, Hasher};
    let mut hasher = rustc_hash::FxHasher::default();
    name.hash(&mut hasher);
    hasher.finish()
}
