//! Where a walk begins: a kernel with the arguments of a launch, or a host function.

use super::{Argument, Eval, Frame, LaunchSite, RegionKey};
use crate::model::project::DeclId;
use crate::model::types::{Binding, Ty};
use crate::model::{Function, Name, Param, TypeKind};
use crate::symbolic::term::Poly;
use crate::symbolic::value::{Base, Closure, Local, Memory, Place, Rest, Value};
use crate::warp::facts::{Scope, Space};

impl<'p> Eval<'p> {
    fn enter_function(&mut self, id: DeclId, bindings: &[Binding]) -> &'p Function {
        let function = self.project.function(id);
        self.frames.push(Frame {
            file: id.file,
            scope: &function.scope,
            function: function.name.clone(),
            locals: Vec::new(),
            bindings: Vec::new(),
            this: None,
            class: None,
            call_site: None,
            returns: Vec::new(),
            loops: Vec::new(),
            returns_ty: Ty::Unknown,
            launch_known: Vec::new(),
        });
        if function.template.len() <= bindings.len() {
            let pairs: Vec<(Name, Binding)> =
                function.template.iter().map(|t| t.name.clone()).zip(bindings.iter().cloned()).collect();
            self.push_bindings(&pairs);
        } else {
            self.bind_values(&function.template, bindings);
        }
        function
    }

    /// Walks a host function whose arguments are not known.
    pub fn run_function(&mut self, id: DeclId) {
        let function = self.enter_function(id, &[]);
        for param in &function.params {
            let ty = self.resolve(&param.ty);
            self.bind_unknown(param, &ty);
        }
        if let Some(body) = function.body.as_deref() {
            self.exec_all(body);
        }
        self.frames.clear();
    }

    /// Walks a kernel; `launch` gives what is known of its arguments.
    pub fn run_kernel(&mut self, id: DeclId, bindings: &[Binding], args: &[Argument<'p>]) {
        let function = self.enter_function(id, bindings);
        if let Some(frame) = self.frames.last_mut() {
            frame.launch_known = function.params.iter().map(|p| p.name.clone()).collect();
        }
        for (i, param) in function.params.iter().enumerate() {
            let ty = self.resolve(&param.ty);
            self.bind_kernel_param(param, &ty, args.get(i));
        }
        if let Some(body) = function.body.as_deref() {
            self.exec_all(body);
        }
    }

    fn bind_unknown(&mut self, param: &'p Param, ty: &Ty) {
        let ty = match ty.value_type() {
            Ty::Array(inner, _) => Ty::Pointer(inner.clone()),
            other => other.clone(),
        };
        let place = self.new_object(param.name.clone(), ty, Rest::Parameter(param.name.clone()));
        self.declare(&param.name, Local::Place(place));
    }

    fn bind_kernel_param(&mut self, param: &'p Param, ty: &Ty, arg: Option<&Argument<'p>>) {
        let ty = match ty.value_type() {
            Ty::Array(inner, _) => Ty::Pointer(inner.clone()),
            other => other.clone(),
        };
        if let Some(Argument::Closure { lambda, file, captured }) = arg {
            let closure = self.rebuild_closure(lambda, *file, captured);
            self.declare(&param.name, Local::Value(closure));
            return;
        }
        if let Some(Argument::Function(id, bindings)) = arg {
            self.declare(&param.name, Local::Value(Value::Function(*id, bindings.as_slice().into())));
            return;
        }
        let place = self.new_object(param.name.clone(), ty.clone(), Rest::Parameter(param.name.clone()));
        self.declare(&param.name, Local::Place(place.clone()));
        let Base::Object(object) = place.base else { return };
        if let Ty::Pointer(inner) = &ty {
            let value = self.pointer_param(param, inner, arg);
            if let Some(o) = self.state.object_mut(object) {
                o.set(0, value);
            }
            return;
        }
        if let Some(arg) = arg {
            self.set_known(object, 0, &ty, arg);
        }
    }

    fn set_known(&mut self, object: u32, at: u64, ty: &Ty, arg: &Argument<'p>) {
        let value = match arg {
            Argument::Int(v) => {
                let scalar = ty.as_scalar().unwrap_or(crate::model::Scalar::Int);
                self.convert(Value::int(*v, scalar), ty)
            }
            Argument::Float(v) => match ty.as_scalar() {
                Some(s) => self.convert(Value::Float { ty: s, scope: Scope::Grid, constant: Some(*v) }, ty),
                None => return,
            },
            Argument::Pointer { allocation, offset, name, align } => {
                let element = ty.pointee().cloned().unwrap_or(Ty::Unknown);
                Value::Pointer(self.allocation_place(*allocation, *offset, name, *align, &element, false))
            }
            Argument::Record(parts) => {
                let mut scalars = Vec::new();
                crate::model::types::flatten(0, ty, &mut scalars);
                for (offset, part) in parts {
                    if let Some((_, t)) = scalars.iter().find(|(o, _)| o == offset) {
                        let t = t.clone();
                        self.set_known(object, at + offset, &t, part);
                    }
                }
                return;
            }
            _ => return,
        };
        if let Some(o) = self.state.object_mut(object) {
            o.set(at, value);
        }
    }

    /// The region behind a pointer argument; the same allocation given twice is one region.
    fn allocation_place(
        &mut self,
        allocation: u32,
        offset: Option<i64>,
        name: &Name,
        align: u64,
        element: &Ty,
        is_restrict: bool,
    ) -> Place {
        let key = RegionKey::Allocation(allocation);
        let base = if let Some(i) = self.region_of.get(&key) { Base::Memory(*i) } else {
            let base = self.new_memory(Memory {
                space: Space::Global,
                name: name.clone(),
                span: None,
                align,
                scope: Scope::Grid,
                is_restrict,
                is_const: false,
                shared: None,
                align_is_assumed: false,
                ty: element.clone(),
                global: None,
            });
            self.remember_region(key, base);
            base
        };
        let offset = match offset {
            Some(bytes) => Poly::constant(bytes),
            None => self.unknown_int(Scope::Grid, "the offset of a pointer argument"),
        };
        Place { base, offset, ty: element.clone() }
    }

    fn pointer_param(&mut self, param: &'p Param, inner: &Ty, arg: Option<&Argument<'p>>) -> Value<'p> {
        let is_const = matches!(&param.ty.kind, TypeKind::Pointer(t) if t.is_const);
        if let Some(Argument::Pointer { allocation, offset, align, .. }) = arg {
            let place = self.allocation_place(*allocation, *offset, &param.name, *align, inner, param.ty.is_restrict);
            if let Base::Memory(i) = place.base
                && let Some(m) = self.memories.get_mut(i as usize) {
                    m.span.get_or_insert(param.span);
                    m.is_const |= is_const;
                }
            return Value::Pointer(place);
        }
        let base = self.new_memory(Memory {
            space: Space::Global,
            name: param.name.clone(),
            span: Some(param.span),
            align: 256,
            scope: Scope::Grid,
            is_restrict: param.ty.is_restrict,
            is_const,
            shared: None,
            align_is_assumed: true,
            ty: inner.clone(),
            global: None,
        });
        Value::Pointer(Place { base, offset: Poly::zero(), ty: inner.clone() })
    }

    fn rebuild_closure(
        &mut self,
        lambda: &'p crate::model::Lambda,
        file: crate::source::FileId,
        captured: &[(Name, Ty, Argument<'p>)],
    ) -> Value<'p> {
        let mut names = Vec::new();
        for (name, ty, arg) in captured {
            let place = self.new_object(name.clone(), ty.clone(), Rest::Parameter(name.clone()));
            if let Base::Object(object) = place.base {
                self.set_known(object, 0, ty, arg);
            }
            names.push((name.clone(), Local::Place(place)));
        }
        Value::Closure(std::rc::Rc::new(Closure { lambda, names, file, this: None }))
    }

    /// Whether a launch's argument lists agree; what differs becomes unknown.
    pub fn widen(a: &mut LaunchSite<'p>, b: &LaunchSite<'p>) {
        for (x, y) in a.args.iter_mut().zip(&b.args) {
            widen_argument(x, y);
        }
        for (x, y) in a.grid.iter_mut().zip(b.grid) {
            if *x != y {
                *x = None;
            }
        }
    }
}

fn widen_argument<'p>(a: &mut Argument<'p>, b: &Argument<'p>) {
    match (&mut *a, b) {
        (x, y) if *x == *y => {}
        (Argument::Record(x), Argument::Record(y)) => {
            x.retain(|part| y.contains(part));
        }
        // Other allocations of the same shape do not change what a warp does.
        (Argument::Pointer { offset, .. }, Argument::Pointer { offset: other, .. }) => {
            if *offset != *other {
                *offset = None;
            }
        }
        _ => *a = Argument::Unknown,
    }
}
