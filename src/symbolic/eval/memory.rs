//! Loads and stores: objects keep what is put into them, memory regions count who touches them.

use std::rc::Rc;
use std::sync::Arc;

use super::{Eval, RegionKey, Touch, TypeTag};
use crate::model::types::{RecordTy, Ty, flatten};
use crate::model::{Init, Name, Scalar};
use crate::source::Span;
use crate::symbolic::term::{AtomKind, HIGH, LOW, Poly};
use crate::symbolic::value::{Base, Memory, Object, Place, RecordValue, Rest, Value};
use crate::warp::facts::{Operation, Scope, Space};

/// Parts of one object that are kept apart; an object with more becomes unknown as a whole.
const SLOT_LIMIT: usize = 256;

impl<'p> Eval<'p> {
    /// The value at a place; counts as an access where the place is in memory.
    pub(super) fn load(&mut self, place: &Place, span: Span) -> Value<'p> {
        match place.base {
            Base::Object(id) => self.load_object(id, place, span),
            Base::Memory(_) => self.load_memory(place, span),
            Base::Nowhere => {
                self.touch(place, span, Operation::Load);
                let scope = self.terms.scope(&place.offset).max(Scope::Lane);
                self.fresh(&place.ty, scope, "an unknown pointer's target")
            }
        }
    }

    fn load_object(&mut self, id: u32, place: &Place, span: Span) -> Value<'p> {
        if let Ty::Array(element, _) = place.ty.value_type() {
            return Value::Pointer(Place { base: place.base, offset: place.offset.clone(), ty: (**element).clone() });
        }
        let Some(offset) = place.offset.as_constant() else {
            self.touch_local(id, place, span, Operation::Load);
            let scope = self.object_scope(id).max(self.terms.scope(&place.offset));
            return self.fresh(&place.ty, scope, "an element of a local array");
        };
        let offset = u64::try_from(offset).unwrap_or(u64::MAX);
        match place.ty.value_type() {
            Ty::Record(record) => Value::Record(Rc::new(self.read_record(id, offset, record))),
            ty => self.read_scalar(id, offset, &ty.clone()),
        }
    }

    fn read_record(&mut self, id: u32, offset: u64, record: &Arc<RecordTy>) -> RecordValue<'p> {
        let Some(object) = self.state.object(id) else {
            return RecordValue {
                ty: record.clone(),
                slots: Vec::new(),
                rest: Rest::Clobbered(Scope::Lane),
                origin: None,
            };
        };
        let end = offset + record.size;
        let slots =
            object.slots.iter().filter(|s| s.0 >= offset && s.0 < end).map(|s| (s.0 - offset, s.1.clone())).collect();
        RecordValue { ty: record.clone(), slots, rest: object.rest.clone(), origin: Some((id, offset)) }
    }

    fn read_scalar(&mut self, id: u32, offset: u64, ty: &Ty) -> Value<'p> {
        let Some(object) = self.state.object(id).cloned() else {
            return self.fresh(ty, Scope::Lane, "a variable out of sight");
        };
        if let Some(value) = object.slot(offset) {
            return match (value, ty) {
                (Value::Closure(_) | Value::Function(..) | Value::Void, _) | (_, Ty::Unknown | Ty::Function) => {
                    value.clone()
                }
                (Value::Pointer(p), Ty::Pointer(inner)) if **inner != Ty::Unknown && p.ty != **inner => {
                    Value::Pointer(Place { ty: (**inner).clone(), ..p.clone() })
                }
                _ => self.convert(value.clone(), ty),
            };
        }
        // Bytes of something wider (a union, a reinterpreted vector).
        if object.slots.iter().any(|(at, v)| *at < offset && v.ty().size().is_some_and(|s| at + s > offset)) {
            return self.fresh(ty, self.object_scope(id), "part of another value");
        }
        self.rest_of(id, &object, offset, ty)
    }

    /// A part that was never written.
    fn rest_of(&mut self, id: u32, object: &Object<'p>, offset: u64, ty: &Ty) -> Value<'p> {
        match &object.rest {
            Rest::Zero => self.zero(ty),
            Rest::Uninitialised => self.fresh(ty, Scope::Grid, "an uninitialised variable"),
            Rest::Clobbered(scope) => {
                let scope = *scope;
                let name = object.name.clone();
                self.fresh(ty, scope, &name)
            }
            Rest::Parameter(name) => {
                if let Some(value) = self.parts.get(&(id, offset)) {
                    return value.clone();
                }
                let part = field_path(&object.ty, offset);
                let name = format!("{name}{part}");
                let value = self.parameter_value(ty, &name);
                self.parts.insert((id, offset), value.clone());
                value
            }
        }
    }

    /// An unknown kernel argument.
    pub(super) fn parameter_value(&mut self, ty: &Ty, name: &str) -> Value<'p> {
        match ty.value_type() {
            Ty::Pointer(inner) => {
                let memory = Memory {
                    space: Space::Global,
                    name: name.into(),
                    span: None,
                    align: 256,
                    scope: Scope::Grid,
                    is_restrict: false,
                    is_const: false,
                    shared: None,
                    align_is_assumed: true,
                    ty: (**inner).clone(),
                    global: None,
                };
                let base = self.new_memory(memory);
                Value::Pointer(Place { base, offset: Poly::zero(), ty: (**inner).clone() })
            }
            Ty::Scalar(s) if s.is_float() => Value::Float { ty: *s, scope: Scope::Grid, constant: None },
            Ty::Scalar(s) => {
                let (low, high) = s.range();
                let is_flag = *s == Scalar::Bool;
                let poly = if is_flag {
                    self.terms.data(Scope::Grid, 0, 1, name)
                } else {
                    Poly::atom(self.size_atom(name, low.max(0), high, low < 0))
                };
                Value::Int { poly, ty: *s }
            }
            other => Value::unknown(other.clone(), Scope::Grid),
        }
    }

    /// A value of which only type and scope are known.
    pub(super) fn fresh(&mut self, ty: &Ty, scope: Scope, name: &str) -> Value<'p> {
        match ty.value_type() {
            Ty::Scalar(s) if s.is_float() => Value::Float { ty: *s, scope, constant: None },
            Ty::Scalar(Scalar::Void) => Value::Void,
            Ty::Scalar(s) => {
                let (low, high) = s.range();
                let poly = self.terms.data(scope, low, high, name);
                Value::Int { poly, ty: *s }
            }
            Ty::Pointer(inner) => {
                let memory = Memory {
                    space: Space::Global,
                    name: name.into(),
                    span: None,
                    align: 256,
                    scope,
                    is_restrict: false,
                    is_const: false,
                    shared: None,
                    align_is_assumed: true,
                    ty: (**inner).clone(),
                    global: None,
                };
                let base = self.new_memory(memory);
                Value::Pointer(Place { base, offset: Poly::zero(), ty: (**inner).clone() })
            }
            Ty::Record(record) => Value::Record(Rc::new(RecordValue {
                ty: record.clone(),
                slots: Vec::new(),
                rest: Rest::Clobbered(scope),
                origin: None,
            })),
            other => Value::unknown(other.clone(), scope),
        }
    }

    pub(super) fn zero(&mut self, ty: &Ty) -> Value<'p> {
        match ty.value_type() {
            Ty::Scalar(s) if s.is_float() => Value::Float { ty: *s, scope: Scope::Grid, constant: Some(0.0) },
            Ty::Scalar(s) => Value::int(0, *s),
            Ty::Record(record) => Value::Record(Rc::new(RecordValue {
                ty: record.clone(),
                slots: Vec::new(),
                rest: Rest::Zero,
                origin: None,
            })),
            other => Value::unknown(other.clone(), Scope::Grid),
        }
    }

    pub(super) fn object_scope(&self, id: u32) -> Scope {
        let Some(object) = self.state.object(id) else { return Scope::Lane };
        let rest = match object.rest {
            Rest::Clobbered(scope) => scope,
            _ => Scope::Grid,
        };
        object.slots.iter().map(|(_, v)| self.value_scope(v)).max().unwrap_or(Scope::Grid).max(rest)
    }

    pub(super) fn value_scope(&self, value: &Value<'p>) -> Scope {
        match value {
            Value::Int { poly, .. } => self.terms.scope(poly),
            Value::Float { scope, .. } | Value::Unknown { scope, .. } => *scope,
            Value::Pointer(place) => {
                let base = self.memory(place.base).map_or(Scope::Grid, |m| m.scope);
                base.max(self.terms.scope(&place.offset))
            }
            Value::Record(r) => {
                let rest = match r.rest {
                    Rest::Clobbered(scope) => scope,
                    _ => Scope::Grid,
                };
                r.slots.iter().map(|(_, v)| self.value_scope(v)).max().unwrap_or(Scope::Grid).max(rest)
            }
            _ => Scope::Grid,
        }
    }

    fn load_memory(&mut self, place: &Place, span: Span) -> Value<'p> {
        match place.ty.value_type().clone() {
            Ty::Array(element, _) => {
                Value::Pointer(Place { base: place.base, offset: place.offset.clone(), ty: (*element).clone() })
            }
            Ty::Record(record) => self.load_record(place, &record, span),
            ty => {
                self.touch(place, span, Operation::Load);
                self.loaded(place, &ty)
            }
        }
    }

    /// What a load from memory yields: the same unknown for the same address until something is stored.
    pub(super) fn loaded(&mut self, place: &Place, ty: &Ty) -> Value<'p> {
        if let Some(value) = self.table_element(place, ty) {
            return value;
        }
        let key = (place.base, place.offset.clone(), TypeTag::of(ty));
        if let Some(value) = self.loads.get(&key) {
            return value.clone();
        }
        let memory = self.memory(place.base);
        let (base_scope, name) = memory.map_or((Scope::Lane, Name::default()), |m| (m.scope, m.name.clone()));
        let is_shared = memory.is_some_and(|m| m.space == Space::Shared);
        let scope =
            self.terms.scope(&place.offset).max(base_scope).max(if is_shared { Scope::Block } else { Scope::Grid });
        let value = self.fresh(ty, scope, &format!("{name}[...]"));
        self.loads.insert(key, value.clone());
        value
    }

    /// An element of a constant table at a known index.
    fn table_element(&mut self, place: &Place, ty: &Ty) -> Option<Value<'p>> {
        let id = self.memory(place.base).filter(|m| m.is_const && m.space == Space::Constant)?.global?;
        let global = self.project.global(id);
        if global.decl.quals.is_constant {
            return None;
        }
        let at = u64::try_from(place.offset.as_constant()?).ok()?;
        let size = ty.size()?;
        let index = usize::try_from(at / size).ok()?;
        let list = match global.decl.init.as_ref()? {
            Init::Brace(list) => list,
            Init::Value(e) => match &e.kind {
                crate::model::ExprKind::InitList(list) => list,
                _ => return None,
            },
            Init::Paren(_) => return None,
        };
        let element = list.get(index)?;
        if matches!(element.kind, crate::model::ExprKind::InitList(_)) {
            return None;
        }
        let value = self.resolve_in(id, &global.scope, |eval| eval.constant(element))?;
        Some(Value::int(value, ty.as_scalar()?))
    }

    /// Loads a whole record: in pieces as wide as its alignment allows for what the compiler moves whole, else member by member.
    fn load_record(&mut self, place: &Place, record: &Arc<RecordTy>, span: Span) -> Value<'p> {
        self.touch_record(place, record, span, Operation::Load);
        let mut slots = Vec::new();
        let mut parts = Vec::new();
        flatten(0, &Ty::Record(record.clone()), &mut parts);
        for (at, ty) in parts {
            let offset = self.terms.add_constant(&place.offset, at as i64);
            let part = Place { base: place.base, offset, ty: ty.clone() };
            slots.push((at, self.loaded(&part, &ty)));
        }
        Value::Record(Rc::new(RecordValue {
            ty: record.clone(),
            slots,
            rest: Rest::Clobbered(Scope::Lane),
            origin: None,
        }))
    }

    fn touch_record(&mut self, place: &Place, record: &Arc<RecordTy>, span: Span, operation: Operation) {
        if !record.is_complete || record.size == 0 {
            self.touch_why(place, span, operation, 0, Some("the layout of the record is not known"));
            return;
        }
        let chunk = record.align.min(16);
        let is_whole = record.is_builtin_vector
            || record.align >= 8 && record.scalars().iter().all(|(_, t)| t.size().unwrap_or(0) <= record.align);
        if is_whole && record.size.is_multiple_of(chunk) && record.size / chunk <= 16 {
            for piece in 0..record.size / chunk {
                let offset = self.terms.add_constant(&place.offset, (piece * chunk) as i64);
                let part = Place { base: place.base, offset, ty: Ty::Record(record.clone()) };
                self.touch_sized(&part, span, operation, chunk, Some(record.clone()), None);
            }
            return;
        }
        for (at, ty) in record.scalars().into_iter().take(64) {
            let offset = self.terms.add_constant(&place.offset, at as i64);
            let bytes = ty.size().unwrap_or(4);
            let part = Place { base: place.base, offset, ty };
            self.touch_sized(&part, span, operation, bytes, Some(record.clone()), None);
        }
    }

    pub(super) fn store(&mut self, place: &Place, value: Value<'p>, span: Span) {
        match place.base {
            Base::Object(id) => self.store_object(id, place, value, span),
            Base::Memory(_) => {
                match place.ty.value_type() {
                    Ty::Record(record) => self.touch_record(place, &record.clone(), span, Operation::Store),
                    _ => self.touch(place, span, Operation::Store),
                }
                self.forget_loads(place.base);
            }
            Base::Nowhere => {
                self.touch(place, span, Operation::Store);
                self.loads.clear();
            }
        }
    }

    /// After a store, loads from what it may have changed yield new values.
    pub(super) fn forget_loads(&mut self, base: Base) {
        let space = self.memory(base).map(|m| m.space);
        let memories = &self.memories;
        self.loads.retain(|(b, ..), _| match b {
            Base::Memory(i) => memories.get(*i as usize).map(|m| m.space) != space,
            _ => true,
        });
    }

    fn store_object(&mut self, id: u32, place: &Place, value: Value<'p>, span: Span) {
        let Some(offset) = place.offset.as_constant() else {
            self.touch_local(id, place, span, Operation::Store);
            let scope = self.value_scope(&value).max(self.terms.scope(&place.offset)).max(self.object_scope(id));
            if let Some(object) = self.state.object_mut(id) {
                object.slots.clear();
                object.rest = Rest::Clobbered(scope);
            }
            return;
        };
        let offset = u64::try_from(offset).unwrap_or(u64::MAX);
        let ty = place.ty.value_type().clone();
        match (&ty, value) {
            (Ty::Record(record), Value::Record(new)) => self.write_record(id, offset, record, &new),
            (Ty::Record(record), other) => {
                let scope = self.value_scope(&other);
                let unknown =
                    RecordValue { ty: record.clone(), slots: Vec::new(), rest: Rest::Clobbered(scope), origin: None };
                if record.size <= 8 && matches!(other, Value::Int { .. } | Value::Float { .. }) {
                    self.write_scalar(id, offset, other);
                } else {
                    self.write_record(id, offset, record, &unknown);
                }
            }
            (Ty::Unknown | Ty::Function, value) => {
                // A variable declared `auto` takes the type of its first value.
                let real = value.ty();
                if let Value::Record(new) = &value {
                    self.write_record(id, offset, &new.ty.clone(), new);
                } else {
                    self.write_scalar(id, offset, value);
                }
                if let Some(object) = self.state.object_mut(id)
                    && object.ty == Ty::Unknown && offset == 0 {
                        object.ty = real;
                    }
            }
            (_, value) => {
                let value = self.convert(value, &ty);
                self.write_scalar(id, offset, value);
            }
        }
    }

    fn write_scalar(&mut self, id: u32, offset: u64, value: Value<'p>) {
        let size = value.ty().size().unwrap_or(1);
        if let Some(object) = self.state.object_mut(id) {
            if size > 1 && object.slots.len() > 1 {
                object.slots.retain(|(at, _)| *at <= offset || *at >= offset + size);
            }
            if object.slots.len() < SLOT_LIMIT {
                object.set(offset, value);
            } else {
                object.slots.clear();
                object.rest = Rest::Clobbered(Scope::Lane);
            }
        }
    }

    fn write_record(&mut self, id: u32, offset: u64, record: &Arc<RecordTy>, new: &RecordValue<'p>) {
        let mut parts = Vec::new();
        flatten(0, &Ty::Record(record.clone()), &mut parts);
        let mut values = Vec::with_capacity(parts.len());
        for (at, ty) in parts {
            let known = new.slots.binary_search_by_key(&at, |s| s.0).ok().map(|i| new.slots[i].1.clone());
            let value = match known {
                Some(v) => v,
                None => self.record_part(new, at, &ty),
            };
            values.push((offset + at, value));
        }
        if let Some(object) = self.state.object_mut(id) {
            object.slots.retain(|(at, _)| *at < offset || *at >= offset + record.size.max(1));
            for (at, value) in values {
                if object.slots.len() < SLOT_LIMIT {
                    object.set(at, value);
                }
            }
        }
    }

    /// A part of a record value, as an object would hold it.
    pub(super) fn record_part(&mut self, record: &RecordValue<'p>, at: u64, ty: &Ty) -> Value<'p> {
        if let Ok(i) = record.slots.binary_search_by_key(&at, |s| s.0) {
            return record.slots[i].1.clone();
        }
        if let (Rest::Parameter(_), Some((id, offset))) = (&record.rest, record.origin) {
            return self.read_scalar(id, offset + at, ty);
        }
        match &record.rest {
            Rest::Zero => self.zero(ty),
            Rest::Clobbered(scope) => self.fresh(ty, *scope, "part of a record"),
            _ => self.fresh(ty, Scope::Grid, "an uninitialised member"),
        }
    }

    pub(super) fn touch(&mut self, place: &Place, span: Span, operation: Operation) {
        let bytes = place.ty.value_type().size();
        match bytes {
            Some(b) if b > 0 => self.touch_sized(place, span, operation, b, None, None),
            _ => self.touch_why(place, span, operation, 0, Some("the type of the element is not known")),
        }
    }

    pub(super) fn touch_why(
        &mut self,
        place: &Place,
        span: Span,
        operation: Operation,
        bytes: u64,
        why: Option<&'static str>,
    ) {
        self.touch_sized(place, span, operation, bytes, None, why);
    }

    fn touch_local(&mut self, id: u32, place: &Place, span: Span, operation: Operation) {
        let is_array = self.state.object(id).is_some_and(|o| matches!(o.ty, Ty::Array(..)));
        if is_array {
            self.touch(place, span, operation);
        }
    }

    pub(super) fn touch_sized(
        &mut self,
        place: &Place,
        span: Span,
        operation: Operation,
        bytes: u64,
        record: Option<Arc<RecordTy>>,
        why: Option<&'static str>,
    ) {
        if self.is_quiet() || self.state.exit.is_some() || self.side == super::Side::Host {
            return;
        }
        let conditions = self.open_conditions();
        let touch = Touch {
            span,
            called_from: self.call_path(),
            function: self.function_name(),
            base: place.base,
            offset: place.offset.clone(),
            bytes,
            operation,
            ty: place.ty.clone(),
            active: self.state.active,
            conditions,
            straight: self.straight,
            order: self.order,
            region: self.region.clone(),
            in_loop: self.loop_depth > 0,
            record,
            why,
            is_volatile: false,
            is_launch_scaled: self.launch_spans.contains(&span),
        };
        self.events.touches.push(touch);
    }

    /// The place behind a pointer value.
    pub(super) fn target(&mut self, value: &Value<'p>) -> Place {
        match value {
            Value::Pointer(place) => Place { ty: self.completed(place.ty.clone()), ..place.clone() },
            other => {
                let ty = other.ty().pointee().cloned().unwrap_or(Ty::Unknown);
                Place { base: Base::Nowhere, offset: Poly::zero(), ty }
            }
        }
    }

    /// `place + n` elements of its type.
    pub(super) fn advance(&mut self, place: &Place, count: &Poly) -> Place {
        let size = place.ty.value_type().size().unwrap_or(1) as i64;
        let bytes = self.terms.scale(count, size);
        let offset = self.terms.add(&place.offset, &bytes);
        Place { base: place.base, offset, ty: place.ty.clone() }
    }

    /// The member of a place that holds a record.
    pub(super) fn member(&mut self, place: &Place, name: &str) -> Option<Place> {
        let (offset, ty) = place.ty.as_record()?.field(name)?;
        let offset = self.terms.add_constant(&place.offset, offset as i64);
        Some(Place { base: place.base, offset, ty })
    }

    /// A pointer that is one of two, depending on something.
    pub(super) fn either_pointer(&mut self, a: &Place, b: &Place, scope: Scope) -> Place {
        let key = RegionKey::Either(a.base, b.base);
        let base = if let Some(i) = self.region_of.get(&key) { Base::Memory(*i) } else {
            let (Some(x), Some(y)) = (self.memory(a.base).cloned(), self.memory(b.base).cloned()) else {
                return Place { base: Base::Nowhere, offset: Poly::zero(), ty: a.ty.clone() };
            };
            let name: Name = if x.name.len() + y.name.len() < 40 {
                format!("{} or {}", x.name, y.name).into()
            } else {
                x.name.clone()
            };
            let memory = Memory {
                space: if x.space == y.space { x.space } else { Space::Unknown },
                name,
                align: x.align.min(y.align),
                scope: x.scope.max(y.scope).max(scope),
                is_restrict: false,
                is_const: x.is_const && y.is_const,
                align_is_assumed: x.align_is_assumed || y.align_is_assumed,
                global: None,
                ..x
            };
            let base = self.new_memory(memory);
            self.remember_region(key, base);
            base
        };
        let offset = if a.offset == b.offset {
            a.offset.clone()
        } else {
            let scope = scope.max(self.terms.scope(&a.offset)).max(self.terms.scope(&b.offset));
            Poly::atom(self.terms.leaf(AtomKind::Data, scope, LOW, HIGH, "a chosen offset"))
        };
        Place { base, offset, ty: a.ty.clone() }
    }
}

/// `.field` of the part at an offset, for the names of unknowns.
fn field_path(ty: &Ty, offset: u64) -> String {
    match ty {
        Ty::Record(r) => {
            let field = r.fields.iter().rev().find(|f| f.offset <= offset);
            match field {
                Some(f) if f.name.is_empty() => field_path(&f.ty, offset - f.offset),
                Some(f) => format!(".{}{}", f.name, field_path(&f.ty, offset - f.offset)),
                None => String::new(),
            }
        }
        Ty::Array(element, _) => {
            let size = element.size().unwrap_or(1).max(1);
            format!("[{}]{}", offset / size, field_path(element, offset % size))
        }
        _ => String::new(),
    }
}
