//! Declarations of local variables and the objects and regions they make.

use std::rc::Rc;
use std::sync::Arc;

use super::{Eval, RegionKey};
use crate::model::types::{LayoutBuilder, RecordTy, Ty};
use crate::model::{Expr, ExprKind, Init, Record, Scalar, TypeExpr, TypeKind, VarDecl};
use crate::symbolic::term::Poly;
use crate::symbolic::value::{Base, Local, Memory, Place, RecordValue, Rest, Value};
use crate::warp::facts::{Scope, SharedArray, Space};

impl<'p> Eval<'p> {
    pub(super) fn declare_variable(&mut self, decl: &'p VarDecl) {
        let mut ty = self.resolve(&decl.ty);
        ty = self.complete_array(ty, decl.init.as_ref());
        if decl.quals.is_shared {
            let place = self.shared_variable(decl, ty);
            self.declare(&decl.name, Local::Place(place));
            return;
        }
        if let TypeKind::Reference(inner) = &decl.ty.kind {
            self.declare_reference(decl, inner, &ty);
            return;
        }
        if decl.quals.is_extern {
            return;
        }
        match &decl.init {
            Some(Init::Value(e)) => self.taint_name(&decl.name, e),
            Some(Init::Paren(list) | Init::Brace(list)) => list.iter().for_each(|e| self.taint_name(&decl.name, e)),
            None => {}
        }
        let place = self.new_object(decl.name.clone(), ty.clone(), Rest::Uninitialised);
        // The name is in sight of its own initialiser only in odd code; declared after, an inner name may shadow an outer one.
        let is_whole = self.open_whole();
        let value = self.initial_value(decl, &ty);
        let init = decl.init.as_ref().map_or(&[][..], super::whole::initialisers);
        self.start_sign(&place, &ty, init.first());
        if is_whole {
            self.close_initialisers(init);
        }
        self.declare(&decl.name, Local::Place(place.clone()));
        match value {
            Some(value) => self.initialise(&place, value, decl),
            None => self.default_construct(&place, &ty),
        }
    }

    fn declare_reference(&mut self, decl: &'p VarDecl, inner: &'p TypeExpr, ty: &Ty) {
        let init = match &decl.init {
            Some(Init::Value(e)) => Some(e),
            Some(Init::Paren(list) | Init::Brace(list)) => list.first(),
            None => None,
        };
        let Some(init) = init else { return };
        let place = if let Some(place) = self.place(init) {
            place
        } else {
            let value = self.eval(init);
            match value {
                c @ Value::Closure(_) => {
                    self.declare(&decl.name, Local::Value(c));
                    return;
                }
                other => self.materialise(other),
            }
        };
        let ty = ty.value_type().clone();
        let is_auto = ty == Ty::Unknown || matches!(inner.kind, TypeKind::Auto);
        let place = if is_auto { place } else { Place { ty, ..place } };
        self.declare(&decl.name, Local::Place(place));
    }

    fn initial_value(&mut self, decl: &'p VarDecl, ty: &Ty) -> Option<Value<'p>> {
        match decl.init.as_ref()? {
            Init::Value(e) => match (&e.kind, ty) {
                (ExprKind::InitList(list), _) => Some(self.list_value(ty, list)),
                _ => Some(self.eval_into(e, ty)),
            },
            Init::Brace(list) => {
                let first = list.first();
                match (ty, first) {
                    (Ty::Scalar(_) | Ty::Pointer(_), Some(e)) => Some(self.eval_into(e, ty)),
                    (Ty::Unknown, Some(e)) if list.len() == 1 => Some(self.eval(e)),
                    _ => Some(self.braced(ty, list)),
                }
            }
            Init::Paren(list) => match (ty, list.as_slice()) {
                (Ty::Scalar(_) | Ty::Pointer(_) | Ty::Unknown, [e]) => Some(self.eval_into(e, ty)),
                _ => Some(self.construct_args(ty, list)),
            },
        }
    }

    fn braced(&mut self, ty: &Ty, list: &'p [Expr]) -> Value<'p> {
        match ty {
            Ty::Array(..) => self.array_value(ty, list),
            _ => self.construct_args(ty, list),
        }
    }

    fn list_value(&mut self, ty: &Ty, list: &'p [Expr]) -> Value<'p> {
        match ty {
            Ty::Array(..) => self.array_value(ty, list),
            Ty::Scalar(_) | Ty::Pointer(_) => match list.first() {
                Some(e) => self.eval_into(e, ty),
                None => self.zero(ty),
            },
            _ => self.construct_args(ty, list),
        }
    }

    /// An array's initialiser as a record of its elements.
    fn array_value(&mut self, ty: &Ty, list: &'p [Expr]) -> Value<'p> {
        let size = ty.size().unwrap_or(0);
        let record = RecordTy {
            name: "array".into(),
            instance: "array".into(),
            size,
            align: ty.align(),
            fields: Vec::new(),
            is_complete: true,
            is_builtin_vector: false,
            declared: None,
            bindings: Vec::new(),
        };
        let mut slots = Vec::new();
        self.fill_array(ty, list, 0, &mut slots);
        Value::Record(Rc::new(RecordValue { ty: Arc::new(record), slots, rest: Rest::Zero, origin: None }))
    }

    fn fill_array(&mut self, ty: &Ty, list: &'p [Expr], at: u64, slots: &mut Vec<(u64, Value<'p>)>) {
        let Ty::Array(element, _) = ty else { return };
        let size = element.size().unwrap_or(0);
        for (i, e) in list.iter().enumerate().take(1024) {
            let offset = at + i as u64 * size;
            match (&e.kind, &**element) {
                (ExprKind::InitList(inner), Ty::Array(..)) => self.fill_array(element, inner, offset, slots),
                (_, element) => {
                    let value = self.eval_into(e, element);
                    let value = self.convert(value, element);
                    slots.push((offset, value));
                }
            }
        }
    }

    fn initialise(&mut self, place: &Place, value: Value<'p>, decl: &'p VarDecl) {
        if let (Ty::Array(..), Value::Record(r), Base::Object(id)) = (&place.ty, &value, place.base) {
            if let Some(object) = self.state.object_mut(id) {
                object.slots.clone_from(&r.slots);
                object.slots.sort_by_key(|s| s.0);
                object.rest = r.rest.clone();
            }
            return;
        }
        if place.ty == Ty::Unknown {
            // `auto`: the object takes the type of its value.
            let ty = value.ty();
            if let (Base::Object(id), Some(frame)) = (place.base, self.frames.last_mut()) {
                if let Some((_, Local::Place(p))) = frame.locals.last_mut() {
                    p.ty = ty.clone();
                }
                if let Some(object) = self.state.object_mut(id) {
                    object.ty = ty.clone();
                }
            }
            let typed = Place { ty, ..place.clone() };
            if matches!(value, Value::Closure(_) | Value::Function(..) | Value::Group(_)) {
                if let Some(frame) = self.frames.last_mut() {
                    frame.locals.pop();
                }
                self.declare(&decl.name, Local::Value(value));
                return;
            }
            self.store(&typed, value, decl.span);
            return;
        }
        if matches!(value, Value::Closure(_) | Value::Function(..) | Value::Group(_)) {
            if let Some(frame) = self.frames.last_mut() {
                frame.locals.pop();
            }
            self.declare(&decl.name, Local::Value(value));
            return;
        }
        self.store(place, value, decl.span);
    }

    /// Members get their default initialisers; a constructor without arguments runs.
    pub(super) fn default_construct(&mut self, place: &Place, ty: &Ty) {
        let Some(record) = ty.as_record().cloned() else { return };
        if record.declared.is_some() && matches!(ty, Ty::Record(_)) {
            self.run_constructor(place, &record, &[]);
        }
        if record.name == "dim3" {
            for at in [0, 4, 8] {
                let part = Place { base: place.base, offset: Poly::constant(at), ty: Ty::UINT };
                let span = crate::source::Span::new(self.file(), 0, 0);
                self.store(&part, Value::int(1, Scalar::UInt), span);
            }
        }
    }

    /// The region of a `__shared__` variable.
    pub(super) fn shared_variable(&mut self, decl: &'p VarDecl, ty: Ty) -> Place {
        let key = RegionKey::Declared(decl.name_span);
        if let Some(i) = self.region_of.get(&key) {
            let base = Base::Memory(*i);
            let ty = self.padded_type(base, ty);
            return Place { base, offset: Poly::zero(), ty };
        }
        let explicit =
            decl.align.as_ref().and_then(|e| self.constant(e)).and_then(|a| u64::try_from(a).ok()).unwrap_or(0);
        let is_dynamic = decl.quals.is_extern || matches!(ty, Ty::Array(_, None));
        let align = ty.align().max(explicit).max(if is_dynamic { 16 } else { 1 });
        let (dims, element) = array_shape(&ty);
        self.shared_arrays.push(SharedArray {
            name: decl.name.clone(),
            decl_span: decl.span,
            dims,
            element_bytes: element.size().unwrap_or(0),
            padding: None,
        });
        let index = self.shared_arrays.len() - 1;
        let base = self.new_memory(Memory {
            space: Space::Shared,
            name: decl.name.clone(),
            span: Some(decl.name_span),
            align,
            scope: Scope::Block,
            is_restrict: true,
            is_const: false,
            shared: Some(index),
            align_is_assumed: false,
            ty: ty.clone(),
            global: None,
        });
        self.remember_region(key, base);
        let ty = self.padded_type(base, ty);
        Place { base, offset: Poly::zero(), ty }
    }

    /// The type with the padding that is being tried.
    fn padded_type(&self, base: Base, ty: Ty) -> Ty {
        let (Some(trial), Some(memory)) = (self.padding, self.memory(base)) else { return ty };
        if memory.shared == Some(trial.array) { pad_innermost(&ty, trial.elements) } else { ty }
    }

    /// A record defined inside a function.
    pub(super) fn local_record(&mut self, record: &'p Record) -> Ty {
        let mut layout = LayoutBuilder::new(record.is_union, record.is_packed);
        for field in &record.fields {
            let ty = self.resolve(&field.ty);
            layout.push(field.name.clone(), ty, 0);
        }
        let align = record.align.as_ref().and_then(|e| self.constant(e)).unwrap_or(0);
        let (fields, size, align, is_complete) = layout.finish(u64::try_from(align).unwrap_or(0));
        Ty::Record(Arc::new(RecordTy {
            name: record.name.clone(),
            instance: record.name.clone(),
            size,
            align,
            fields,
            is_complete,
            is_builtin_vector: false,
            declared: None,
            bindings: Vec::new(),
        }))
    }
}

/// Lengths from the outermost dimension inwards, and the element.
fn array_shape(ty: &Ty) -> (Option<Vec<u64>>, Ty) {
    let mut dims = Vec::new();
    let mut at = ty.clone();
    let mut is_known = true;
    while let Ty::Array(element, length) = &at {
        match length {
            Some(n) => dims.push(*n),
            None => is_known = false,
        }
        let next = (**element).clone();
        at = next;
    }
    (is_known.then_some(dims), at)
}

fn pad_innermost(ty: &Ty, elements: u64) -> Ty {
    match ty {
        Ty::Array(element, length) => match &**element {
            Ty::Array(..) => Ty::Array(Arc::new(pad_innermost(element, elements)), *length),
            _ => Ty::Array(element.clone(), length.map(|n| n + elements)),
        },
        other => other.clone(),
    }
}
